"""Do the tests notice small faults? `make mutants [SAMPLE=400] [ONLY=ledger/claim]` plants one at a time and runs them.

Only tests that run the changed line are run. Survivors that are not faults are in accepted.json, with the reason.
"""

from __future__ import annotations

import argparse
import compileall
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NoReturn

import hypothesis  # noqa: F401  loaded once, not in every test run
import pytest
from mutations import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
ACCEPTED = Path(__file__).parent / "accepted.json"
MODULES = (
    "ledger/claim", "ledger/content", "ledger/epochs", "ledger/host_files", "ledger/own_rows", "ledger/receipts",
    "ledger/reconcile", "ledger/records", "ledger/window", "flow/after_compaction", "flow/findings", "flow/late_record",
    "flow/missed_calls", "flow/terminals", "flow/window_changes", "hosts/claude_code/branch", "hosts/claude_code/chain",
    "hosts/claude_code/failed_hooks", "hosts/claude_code/files_shown", "hosts/claude_code/mentioned_files",
    "hosts/claude_code/rows", "hosts/claude_code/signs", "hosts/claude_code/transcript", "hosts/claude_code/window",
)  # fmt: skip
FOLDERS = ("flow", "handlers", "hostile", "hosts", "ledger", "library", "scenarios", "store", "text")
TESTS = (*(f"tests/{name}" for name in FOLDERS), "tests/cli/test_audit.py")
LEAST = 0.90
PYTEST = ("pytest", "-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider")
_MOST_SMALL, _MOST_SESSIONS = 100, 60  # tests outside the module's own
_SECONDS = 40  # of CPU time


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="test only this many, chosen by --seed (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="names that contain one of these, separated by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    args = parser.parse_args()
    found = [one for module in MODULES for one in mutants(module, _source(ROOT, module).read_text(encoding="utf-8"))]
    found = [one for one in found if any(words in one.name for words in args.only.split(","))]
    if args.sample and args.sample < len(found):
        found = random.Random(args.seed).sample(found, args.sample)
    if not found:
        parser.error(f"no mutant is named like {args.only!r}; the modules are: {', '.join(MODULES)}")
    with tempfile.TemporaryDirectory(prefix="handbill-mutants-") as folder:
        covering = _coverage(Path(folder))
        print(f"{len(found)} mutants, {args.jobs} at a time", flush=True)
        killed = _judged(found, covering, Path(folder), args.jobs)
    return _report(found, killed)


def _source(root: Path, module: str) -> Path:
    return root / "src" / "handbill" / f"{module}.py"


def _coverage(folder: Path) -> dict[tuple[str, int], list[str]]:
    """Return (module, line) -> the tests that run it."""
    print("which test runs which line …", flush=True)
    settings = folder / "coverage.ini"
    settings.write_text(f"[run]\ndynamic_context = test_function\nsource = {ROOT}/src/handbill\n")
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}"]
    halves = [(folder / f"data{number}", TESTS[number::2]) for number in range(2)]
    running = [
        subprocess.Popen([*command, f"--data-file={data}", "-m", *PYTEST, *tests], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for data, tests in halves
    ]  # fmt: skip
    for process in running:
        printed, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"the tests fail without a mutant:\n{printed[-3000:]}")
    import coverage

    found: dict[tuple[str, int], list[str]] = {}
    for path, tests in halves:
        data = coverage.CoverageData(str(path))
        data.read()
        files = {_module_of(file): file for place in tests for file in _test_files(ROOT / place)}
        for module in MODULES:
            for line, contexts in data.contexts_by_lineno(str(_source(ROOT, module))).items():
                found.setdefault((module, line), []).extend(filter(None, (_test_id(one, files) for one in contexts)))
    return found


def _test_id(context: str, files: dict[str, Path]) -> str:
    """Return a pytest id for a coverage context; empty if it is not a test.

    `tests.ledger.test_claim.test_x` -> `…/tests/ledger/test_claim.py::test_x`
    """
    module, _, test = context.rpartition(".")
    file = files.get(module)
    return f"{file}::{test}" if file else ""


def _module_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def _test_files(place: Path) -> list[Path]:
    return sorted(place.rglob("test_*.py")) if place.is_dir() else [place]


def _judged(
    found: list[Mutant], covering: dict[tuple[str, int], list[str]], folder: Path, jobs: int
) -> dict[str, bool]:
    """Return name -> whether the tests noticed it.

    Each job is a process that has the test tools loaded, and forks for each test run.
    """
    fork = multiprocessing.get_context("fork")
    lines = Counter(test for tests in covering.values() for test in tests)
    answers: multiprocessing.SimpleQueue[tuple[int, bool | str]] = fork.SimpleQueue()

    def work(number: int) -> None:
        tree = folder / f"tree{number}"
        shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(tree, quiet=2)
        for place in range(number, len(found), jobs):
            tests = covering.get((found[place].module, found[place].line), [])
            try:
                answers.put((place, _is_killed(found[place], _in_order(found[place], tests, lines), tree)))
            except (OSError, RuntimeError) as error:  # else the main process waits for ever
                answers.put((place, f"{found[place].name}: {error}"))

    processes = [fork.Process(target=work, args=(number,)) for number in range(jobs)]
    for process in processes:
        process.start()
    killed: dict[str, bool] = {}
    for done in range(1, len(found) + 1):
        place, noticed = answers.get()
        if isinstance(noticed, str):
            for process in processes:
                process.kill()
            raise SystemExit(noticed)
        mutant = found[place]
        killed[mutant.name] = noticed
        if not noticed:
            print(
                f"survived  {mutant.name}  line {mutant.line}: {mutant.before[:70]}  ->  {mutant.after[:70]}",
                flush=True,
            )
        if done % 50 == 0:
            print(f"  {done} of {len(found)}, {sum(killed.values())} killed", flush=True)
    return killed


def _in_order(mutant: Mutant, tests: list[str], lines: Counter[str]) -> tuple[list[str], list[str]]:
    """Return the tests of the mutant's own module, then others: small ones and whole sessions.

    Small tests run few lines.
    """
    # The tests of a module are named after it.
    name = mutant.module.rpartition("/")[2].removesuffix("s")
    names = (name, *_CALLED.get(name, ()))
    near = [test for test in tests if any(one in test for one in names)]
    far = sorted((test for test in tests if test not in near), key=lines.__getitem__)
    small = far[:_MOST_SMALL]
    sessions = [test for test in far[_MOST_SMALL:] if any(kind in test for kind in _SESSIONS)]
    return near, small + sessions[:_MOST_SESSIONS]


_CALLED = {
    "terminal": ("two_clients",), "branch": ("two_clients",), "window": ("test_chain", "test_leaf", "two_clients"),
    "host_file": ("pipeline_shown", "pipeline_undone", "pipeline_changes", "pipeline_follow_up"),
    "finding": ("pipeline_follow_up",),
}  # fmt: skip
_SESSIONS = ("test_pipeline", "test_two_clients", "test_any_")


def _is_killed(mutant: Mutant, tests: tuple[list[str], list[str]], tree: Path) -> bool:
    path = _source(tree, mutant.module)
    before = path.read_text(encoding="utf-8")
    path.write_text(mutant.text, encoding="utf-8")
    try:
        return any(_fails(some, tree) for some in tests if some)
    finally:
        path.write_text(before, encoding="utf-8")


def _fails(tests: list[str], tree: Path) -> bool:
    child = os.fork()
    if not child:
        _test(tests, tree)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    # 2: the tests could not be collected
    if code not in (0, 1, 2, -signal.SIGALRM, -signal.SIGXCPU, -signal.SIGKILL):
        raise RuntimeError(f"pytest ended with {code}")
    return code != 0


def _test(tests: list[str], tree: Path) -> NoReturn:
    """Run the tests in this process. A limit ends a process that hangs."""
    signal.alarm(5 * _SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 1))
    os.chdir(ROOT)
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silence, stream)
    os.environ |= {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(tree / "src"))
    code = 3
    try:
        code = int(pytest.main([*PYTEST[1:], *tests]))
    finally:
        os._exit(code)


def _report(found: list[Mutant], killed: dict[str, bool]) -> int:
    accepted: dict[str, str] = json.loads(ACCEPTED.read_text(encoding="utf-8"))
    survivors = [one for one in found if not killed[one.name]]
    open_ones = [one for one in survivors if one.name not in accepted]
    for one in survivors:
        print(f"{one.name}: {one.before} -> {one.after}\n    {accepted.get(one.name, 'NO REASON GIVEN')}")
    share = 1 - len(survivors) / max(len(found), 1)
    print(
        f"{len(found)} mutants, {len(found) - len(survivors)} killed: {share:.1%}; survivors without a reason: {len(open_ones)}"
    )
    return 0 if share >= LEAST and not open_ones else 1


if __name__ == "__main__":
    sys.exit(main())
