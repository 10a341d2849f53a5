"""Do the tests notice small faults? `make mutants [SAMPLE=400] [ONLY=core/claim]` plants one at a time and runs them.

Only tests that run the changed line are run. Survivors that are not faults are in accepted.json, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutations import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
ACCEPTED = Path(__file__).parent / "accepted.json"
MODULES = (
    "core/claim", "core/content", "core/epochs", "core/receipts", "core/reconcile", "core/records", "core/window",
    "evidence", "after_compaction", "hosts/claude_rows", "hosts/claude_chain", "hosts/claude_window",
    "hosts/claude_signs", "hosts/claude_failures", "hosts/claude_mentions", "hosts/claude_transcript",
)  # fmt: skip
TESTS = ("tests/core", "tests/hosts", "tests/hostile", "tests/test_evidence.py", "tests/store", "tests/preload", "tests/gates", "tests/handlers", "tests/cli/test_audit.py",
         "tests/test_after_compaction.py", "tests/test_pipeline_missed.py", "tests/test_pipeline_rewind.py", "tests/test_two_clients.py", "tests/test_pipeline.py", "tests/test_pipeline_compaction.py", "tests/test_pipeline_faults.py", "tests/test_any_session.py")  # fmt: skip
LEAST = 0.90
_MOST_TESTS = 60
_SECONDS = 60


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="test only this many, chosen by --seed (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    args = parser.parse_args()
    found = [one for module in MODULES for one in mutants(module, _source(ROOT, module).read_text(encoding="utf-8"))]
    found = [one for one in found if args.only in one.name]
    if args.sample and args.sample < len(found):
        found = random.Random(args.seed).sample(found, args.sample)
    with tempfile.TemporaryDirectory(prefix="handbill-mutants-") as folder:
        covering = _coverage(Path(folder))
        print(f"{len(found)} mutants, {args.jobs} at a time", flush=True)
        killed = _judged(found, covering, Path(folder), args.jobs)
    return _report(found, killed)


def _source(root: Path, module: str) -> Path:
    return root / "src" / "handbill" / f"{module}.py"


def _coverage(folder: Path) -> dict[tuple[str, int], list[str]]:
    """(module, line) -> the tests that run it."""
    print("which test runs which line …", flush=True)
    settings = folder / "coverage.ini"
    settings.write_text(
        f"[run]\ndynamic_context = test_function\nsource = {ROOT}/src/handbill\ndata_file = {folder}/data\n"
    )
    command = [
        sys.executable,
        "-m",
        "coverage",
        "run",
        f"--rcfile={settings}",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:xdist",
        *TESTS,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the tests fail without a mutant:\n{done.stdout[-3000:]}")
    import coverage

    data = coverage.CoverageData(f"{folder}/data")
    data.read()
    files = {path.stem: path for place in TESTS for path in _test_files(ROOT / place)}
    found: dict[tuple[str, int], list[str]] = {}
    for module in MODULES:
        for line, contexts in data.contexts_by_lineno(str(_source(ROOT, module))).items():
            tests = [context.rpartition(".") for context in contexts if context]
            ids = [
                f"{files[name.rpartition('.')[2]]}::{test}"
                for name, _, test in tests
                if name.rpartition(".")[2] in files
            ]
            found[module, line] = sorted(
                ids, key=lambda id: (module.rpartition("/")[2].removesuffix("s") not in id, id)
            )
    return found


def _test_files(place: Path) -> list[Path]:
    return sorted(place.rglob("test_*.py")) if place.is_dir() else [place]


def _judged(
    found: list[Mutant], covering: dict[tuple[str, int], list[str]], folder: Path, jobs: int
) -> dict[str, bool]:
    trees = [folder / f"tree{number}" for number in range(jobs)]
    for tree in trees:
        shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    killed: dict[str, bool] = {}

    def work(number: int) -> None:
        for mutant in found[number::jobs]:
            module = mutant.name.partition(":")[0]
            killed[mutant.name] = _is_killed(mutant, covering.get((module, mutant.line), []), trees[number])
            if not killed[mutant.name]:
                print(
                    f"survived  {mutant.name}  line {mutant.line}: {mutant.before[:70]}  ->  {mutant.after[:70]}",
                    flush=True,
                )
            if len(killed) % 50 == 0:
                print(f"  {len(killed)} of {len(found)}, {sum(killed.values())} killed", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, range(jobs)))
    return killed


def _name(mutant: Mutant) -> str:
    """What the tests of its module are called after."""
    return mutant.name.partition(":")[0].rpartition("/")[2].removesuffix("s")


def _is_killed(mutant: Mutant, tests: list[str], tree: Path) -> bool:
    if not tests:
        return False
    path = _source(tree, mutant.name.partition(":")[0])
    before = path.read_text(encoding="utf-8")
    path.write_text(mutant.text, encoding="utf-8")
    near = [test for test in tests if _name(mutant) in test][:_MOST_TESTS]
    far = [test for test in tests if test not in near][: _MOST_TESTS - len(near)]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider"]
    try:
        for some in filter(None, (near, far)):  # the module's own tests first: they are quick
            done = subprocess.run(
                [*command, *some], cwd=ROOT, env=environment, capture_output=True, timeout=_SECONDS, check=False
            )
            if done.returncode in (1, 2):  # 2: not even collected. Others: the tests could not be run
                return True
            if done.returncode:
                raise SystemExit(
                    f"pytest ended with {done.returncode} for {mutant.name}:\n{done.stdout.decode()[-2000:]}"
                )
        return False
    except subprocess.TimeoutExpired:
        return True  # it hangs: noticed
    finally:
        path.write_text(before, encoding="utf-8")


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
