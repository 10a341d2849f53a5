"""Which part of the program may import which other part, and what each part may not use."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "handbill"

TOOLS = {"digest", "errors", "fast_json", "paths", "trace"}
# part -> the parts that it may import at run time, besides itself
MAY: dict[str, set[str]] = {
    "errors": set(),
    "fast_json": set(),
    "paths": set(),
    "trace": set(),
    "digest": {"text"},
    "event": set(),
    "plan": set(),
    "gates": {"event", "ledger", "library", "paths"},
    "text": {"paths"},
    "ledger": {"errors", "event", "paths", "text"},
    "work": {"event", "paths", "text"},
    "settings": {*TOOLS, "gates", "store"},
    "world": {*TOOLS, "text"},
    "store": {*TOOLS, "event", "ledger", "settings", "work", "world"},
    "library": {*TOOLS, "event", "gates", "ledger", "plan", "text", "work"},
    "hosts": {*TOOLS, "event", "gates", "ledger", "library", "plan", "text", "work"},
    "handlers": {*TOOLS, "event", "gates", "ledger", "library", "plan", "text"},
    "flow": {*TOOLS, "event", "gates", "handlers", "ledger", "library", "plan", "store", "text", "world"},
    "hook": {*TOOLS, "flow", "hosts", "settings", "store", "world"},
    "project": {"errors", "hosts", "ledger", "settings", "store", "world"},
    "reports": {
        *TOOLS - {"trace"}, "event", "flow", "handlers", "hosts", "ledger", "library", "plan", "gates", "project", "settings",
        "store", "text", "work", "world",
    },
}  # fmt: skip
ANYTHING = {"cli", "lab"}  # parts that may import every other part
# These parts do not use the disk, clock or environment, and import only each other.
PURE = {"errors", "event", "ledger", "paths", "plan", "text", "work"}
IMPURE_FILES = {"text/frontmatter.py"}  # it loads PyYAML, if available


def layer(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Return the layers that a module imports, except for type checking."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    found = set()
    for node in ast.walk(tree):
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        if isinstance(node, ast.ImportFrom) and node.module == "handbill":
            names = [f"handbill.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("handbill.")}
    return found


LAYERED = [path for path in SOURCE.rglob("*.py") if layer(path) not in ANYTHING and path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", LAYERED, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_what_is_below_it(path: Path) -> None:
    own = layer(path)
    assert imported(path) <= MAY[own] | {own}


@pytest.mark.parametrize("path", sorted((SOURCE / "lab").glob("*.py")), ids=lambda path: path.name)
def test_the_laboratory_draws_nothing(path: Path) -> None:
    assert "cli" not in imported(path), "commands show what it returns"


@pytest.mark.parametrize(
    "path",
    [path for path in LAYERED if layer(path) in PURE and str(path.relative_to(SOURCE)) not in IMPURE_FILES],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_pure_parts_use_no_disk_clock_or_environment(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            pytest.fail(f"{path.name} imports {[alias.name for alias in node.names]}")
        if isinstance(node, ast.ImportFrom) and node.module not in ("__future__", "typing", "collections.abc"):
            assert (node.module or "").startswith("handbill."), node.module
            assert (node.module or "").split(".")[1] in PURE, node.module


# Only `cli/` uses terminals, arguments, other programs and other processes.
OF_A_TERMINAL = {"argparse", "curses", "readline", "rich", "shutil", "subprocess", "sys", "termios", "textwrap"}
CALLS_OF_A_TERMINAL = {"print", "input", "breakpoint"}
FROM_THE_SYSTEM = {"environ", "environb", "get_terminal_size", "getenv", "isatty", "kill", "system"}
STYLED = re.compile(r"\x1b|\[/\w*\]|\[(?:bold|dim|italic|red|green|yellow|blue|cyan|magenta)\b")


def drawing(tree: ast.Module) -> list[str]:
    """Return what a report must not import, even for types.

    A report does not draw, read arguments or the environment, or ask for processes.
    """
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names):
                modules = [f"{module}.{alias.name}" for alias in names]
            case _:
                modules = []
        found += [name for name in modules if name.split(".")[0] in OF_A_TERMINAL]
        found += [name for name in modules if name.startswith(("handbill.cli", "handbill.lab"))]
        found += [name for name in modules if name.startswith("handbill.world.processes")]
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in CALLS_OF_A_TERMINAL:
                found.append(f"{name}()")
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in FROM_THE_SYSTEM:
                found.append(f"os.{name}")
            case ast.Constant(value=str(text)) if STYLED.search(text):
                found.append(repr(text))
    return found


@pytest.mark.parametrize(
    "source, expected",
    [
        ("import os\nfrom handbill.text.tokens import tokens", []),
        ("f'{row[0]} of [load_gate]'", []),
        ("import rich", ["rich"]),
        ("from rich.table import Table", ["rich.table.Table"]),
        ("import argparse", ["argparse"]),
        ("from handbill.cli.screen import count", ["handbill.cli.screen.count"]),
        ("from handbill import cli", ["handbill.cli"]),
        ("if TYPE_CHECKING:\n    from rich.console import Console", ["rich.console.Console"]),
        ("from handbill.world.processes import is_running", ["handbill.world.processes.is_running"]),
        ("def f(): print('x')", ["print()"]),
        ("os.environ['HOME']", ["os.environ"]),
        ("f'[bold]{x}[/]'", ["'[bold]'", "'[/]'"]),
        ("'\\x1b[1mx'", [repr("\x1b[1mx")]),
    ],
)
def test_the_rule_for_reports_finds_what_it_is_for(source: str, expected: list[str]) -> None:
    assert drawing(ast.parse(source)) == expected


def test_reports_know_nothing_about_terminals() -> None:
    found = {path.name: drawing(ast.parse(path.read_text())) for path in (SOURCE / "reports").rglob("*.py")}
    assert len(found) > 10 and {name: what for name, what in found.items() if what} == {}


def test_sizes() -> None:
    """A module has at most 300 lines, and a function at most 60."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= 300, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{path}: {node.name}"


def module_names(tree: ast.Module) -> set[str]:
    """Return the functions, classes, imports and values that a module defines at its top level."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def shadowing(tree: ast.Module) -> list[str]:
    known = module_names(tree)
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    return [
        f"line {node.lineno}: {name.id}"
        for node in ast.walk(tree)
        if isinstance(node, comprehensions)
        for generator in node.generators
        for name in ast.walk(generator.target)
        if isinstance(name, ast.Name) and name.id in known
    ]


def test_the_shadowing_rule_finds_what_it_is_for() -> None:
    assert shadowing(ast.parse("def tool(): ...\ndef f(x): return [tool.id for tool in x]")) == ["line 2: tool"]


@pytest.mark.parametrize("folder", ["src", "tests", "bench"])
def test_no_comprehension_shadows_a_name_of_its_module(folder: str) -> None:
    """Python 3.12.1 inlines comprehensions, so a later use of the name raises UnboundLocalError."""
    found = {str(path): shadowing(ast.parse(path.read_text())) for path in (ROOT / folder).rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}
