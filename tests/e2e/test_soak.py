"""A dozen random sessions on the real clients; and the same judge on a product that is broken on purpose.

More of them: make soak SESSIONS=150 SEED=1
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from sandbox import MIDDLE, NEW, OLD, ROOT, binary

from soak.session import Session

pytestmark = pytest.mark.long

# Seed 13 takes a minute and a half: one client is enough for it.
SEEDS = [(version, seed) for version in (OLD, MIDDLE, NEW) for seed in (11, 12, 14)]
SEEDS += [(OLD, 15), (MIDDLE, 16), (NEW, 13)]


@pytest.mark.parametrize("version, seed", SEEDS)
def test_a_random_session(tmp_path: Path, version: str, seed: int) -> None:
    if not binary(version).exists():
        message = f"Claude Code {version} is not installed: make clients"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    session = Session(tmp_path / "box", version, seed)
    assert session.play() == [], "\n".join(session.story)


# what is broken -> (file, before, after) of each change that breaks it
FAULTS = {
    "delivers what is there": [
        ("ledger/claim.py", "if after.holds(path):", "if False:"),
        ("ledger/claim.py", 'if record["parts"][number - 1] != NOT_SENT:', "if False:"),
    ],
    "forgets directives": [("library/directive_levels.py", 'look.plan.want(path, f"directive of {level}")', "pass")],
    "loses what waits": [("ledger/claim.py", "after.pending[document.path] = candidate.reason", "pass")],
    "never looks again": [
        ("ledger/epochs.py", 'after.pending, after.touched = {}, Records("dir")', "after.pending = {}"),
    ],
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_judge_finds_a_fault(tmp_path: Path, name: str) -> None:
    if not binary(NEW).exists():
        pytest.skip(f"Claude Code {NEW} is not installed: make clients")
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for file, before, after in FAULTS[name]:
        broken = source / "handbill" / file
        text = broken.read_text()
        assert text.count(before) >= 1, f"{file} has changed: this fault must be made elsewhere"
        broken.write_text(text.replace(before, after))
    for seed in range(300, 312):
        session = Session(tmp_path / f"box{seed}", NEW, seed)
        for launcher in session.box.home.rglob("handbill.hook-*"):
            launcher.write_text(launcher.read_text().replace(str(ROOT / "src"), str(source)))
        if session.play():
            return
    pytest.fail(f"twelve sessions with a product that {name}, and nothing was found ({sys.version})")
