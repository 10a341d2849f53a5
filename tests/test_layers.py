"""The import rule of the house: core < handlers < pipeline < hook; core < hosts, store; hot < cli."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "handbill"

# layer -> what it may import at run time, besides itself
MAY: dict[str, set[str]] = {
    "core": set(),
    "hotjson": set(),
    "errors": set(),
    "handlers": {"core", "hotjson", "errors"},
    "hosts": {"core", "hotjson", "errors"},
    "frontmatter": set(),
    "world": {"core", "frontmatter"},
    "store": {"core", "hotjson", "errors", "world"},
    "config": {"core", "hotjson", "configfile"},
    "configfile": {"config", "hotjson", "store"},
    "evidence": {"core"},
    "turn": {"core", "errors"},
    "logbook": {"core", "store"},
    "recall": {"core", "errors"},
    "delivery": {"core", "handlers", "hotjson", "errors", "evidence", "turn", "world"},
    "pipeline": {"core", "handlers", "errors", "evidence", "turn", "logbook", "delivery", "recall"},
    "prune": {"hotjson", "world"},
    "hook": {"core", "errors", "hotjson", "config", "store", "hosts", "pipeline", "world", "prune"},
}
COLD = {"cli", "simulate", "live"}


def layer(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Layers that a module imports, type-checking blocks left out."""
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


HOT = [path for path in SOURCE.rglob("*.py") if layer(path) not in COLD and path.name != "__init__.py"]


@pytest.mark.parametrize("path", HOT, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_what_is_below_it(path: Path) -> None:
    own = layer(path)
    assert imported(path) <= MAY[own] | {own}


@pytest.mark.parametrize("path", list((SOURCE / "core").glob("*.py")), ids=lambda path: path.name)
def test_core_is_pure(path: Path) -> None:
    """No disk, clock or environment: it imports nothing but itself."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            pytest.fail(f"core imports {[alias.name for alias in node.names]}")
        if isinstance(node, ast.ImportFrom) and node.module not in ("__future__", "typing", "collections.abc"):
            assert (node.module or "").startswith("handbill.core"), node.module


def test_sizes() -> None:
    """Small and named: a module has at most 300 lines, a function at most 60."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= 300, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{path}: {node.name}"
