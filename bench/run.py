"""Run benchmarks: `.venv/bin/python bench/run.py [NAME ...] [--json] [--source DIR]`.

bench/README.md lists them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import report
import subject

NAMES = ("instructions", "scale", "session", "latency", "parallel", "tokens", "bounded")


def main() -> int:
    parser = argparse.ArgumentParser(description="What Handbill costs. Exit 1: a limit was exceeded.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(NAMES)} (default: all)")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--source", type=Path, default=subject.SOURCE, help="folder that holds the package to measure")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; the benchmarks are {', '.join(NAMES)}")
    reports = []
    with tempfile.TemporaryDirectory(prefix="handbill-bench-") as folder:
        root = Path(folder)
        measured = subject.prepared(root, args.source)
        for name in args.names or NAMES:
            print(f"bench: {name} …", file=sys.stderr, flush=True)
            reports.append(_measured(name, root / name, measured))
            if not args.json:
                report.show(reports[-1:])
    if args.json:
        print(report.as_json(reports))
    return 1 if any(one.failures for one in reports) else 0


def _measured(name: str, folder: Path, measured: subject.Subject) -> report.Report:
    again = f".venv/bin/python bench/run.py {name}"
    folder.mkdir()
    try:
        found: report.Report = __import__(name).measure(folder, measured)
    except RuntimeError as error:  # the other benchmarks can still run
        return report.Report(name, again, (), failures=[str(error)])
    found.command = f"{again}  # {found.command}"
    return found


if __name__ == "__main__":
    sys.exit(main())
