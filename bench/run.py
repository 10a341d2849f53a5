"""Run benchmarks: `.venv/bin/python bench/run.py [instructions|scale|latency|parallel ...] [--json]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import report
import subject

NAMES = ("instructions", "scale", "latency", "parallel")


def main() -> int:
    parser = argparse.ArgumentParser(description="What Handbill costs. Exit 1: a limit was exceeded.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(NAMES)} (default: all)")
    parser.add_argument("--json", action="store_true", help="for programs")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(NAMES)}")
    reports = []
    with tempfile.TemporaryDirectory(prefix="handbill-bench-") as folder:
        root = Path(folder)
        measured = subject.prepared(root)
        for name in args.names or NAMES:
            print(f"bench: {name} …", file=sys.stderr, flush=True)
            (root / name).mkdir()
            reports.append(__import__(name).measure(root / name, measured))
            if not args.json:
                report.show(reports[-1:])
    if args.json:
        print(report.as_json(reports))
    return 1 if any(one.failures for one in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
