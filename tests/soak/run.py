"""`make soak SESSIONS=…`: random sessions on the real clients.

It prints each violation with the seed that reproduces it.

python tests/soak/run.py --sessions 30 --seed 1000 --jobs 2 [--version 2.1.325]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "e2e")]

from sandbox import MIDDLE, NEW, OLD

from soak.session import Session

VERSIONS = (OLD, MIDDLE, NEW)


def play(version: str, seed: int, keep: bool = False) -> tuple[str, int, list[str], list[str]]:
    root = Path(tempfile.mkdtemp(prefix=f"handbill-soak-{seed}-"))
    session = Session(root, version, seed)
    violations = session.play()
    if violations or keep:
        session.story.append(f"its folder: {root}")
    else:
        shutil.rmtree(root, ignore_errors=True)
    return version, seed, violations, session.story


def main() -> int:
    parser = argparse.ArgumentParser(description="Random sessions on the real clients, judged by recorded requests.")
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1, help="of the first session; the others follow")
    parser.add_argument("--version", choices=VERSIONS, help="one client only (default: all, in turn)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--keep", action="store_true", help="leave every session's folder for a look, not only those with a violation"
    )
    args = parser.parse_args()
    versions = [args.version] if args.version else list(VERSIONS)
    plan = [(versions[number % len(versions)], args.seed + number) for number in range(args.sessions)]
    started, bad = time.monotonic(), 0
    with ProcessPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(play, version, seed, args.keep) for version, seed in plan]
        for number, job in enumerate(as_completed(jobs), 1):
            version, seed, violations, story = job.result()
            if violations:
                bad += 1
                print(f"\nseed {seed} on {version}:", *story, *(f"VIOLATION {one}" for one in violations), sep="\n  ")
            print(f"{number}/{len(plan)} sessions, {bad} with violations", end="\r", flush=True)
    seconds = time.monotonic() - started
    print(f"{len(plan)} sessions on {', '.join(versions)}: {bad} with violations, {seconds:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
