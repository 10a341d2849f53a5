"""Inputs of a repository that are made to be slow, endless, or to hide what was not checked."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.cli import settings_file
from handbill.errors import HandbillError
from handbill.hosts.claude_code.registration import handlers
from handbill.hosts.claude_code.settings_text import added
from handbill.lab.recorded_files import files_of
from handbill.store import disk
from handbill.text.json_tree import parse
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]
GROUPS = {event: {"hooks": made} for event, made in handlers(["/x/handbill.hook-1"], 2).items()}


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc here")
def test_a_file_of_the_kernel_that_says_it_is_empty() -> None:
    assert os.stat("/proc/self/environ").st_size == 0
    with pytest.raises(OSError) as failure:
        disk.read_regular("/proc/self/environ", 5)
    assert failure.value.errno == errno.EFBIG


def test_settings_stay_small_enough_to_be_removed_again(tmp_path: Path) -> None:
    path = tmp_path / "settings.local.json"
    path.write_text(json.dumps({"a": "x" * (settings_file._MOST - 100)}))
    with pytest.raises(HandbillError, match="bytes allowed"):
        settings_file.installation(str(path), GROUPS)  # type: ignore[arg-type]


def test_a_deep_indentation_is_not_repeated() -> None:
    text = "{\n" + " " * 20_000 + '"a": 1\n}'
    assert len(added(text, GROUPS)) < 3 * len(text)  # type: ignore[arg-type]


def test_thousands_of_entries_that_look_like_ours(tmp_path: Path) -> None:
    path = tmp_path / "settings.local.json"
    group = {"hooks": [{"command": "handbill.hook"}]}
    path.write_text(json.dumps({"hooks": {"Foo": [group] * 1000}}))
    for edit in (lambda: settings_file.installation(str(path), {}), lambda: settings_file.removal(str(path), "/none")):
        with pytest.raises(HandbillError, match="1,000 times"):
            edit()


@pytest.mark.parametrize("piece", ["\\n", "\\n\u2222", "\\u2222"])
def test_a_string_of_escapes(piece: str) -> None:
    text = '"' + piece * 5000 + '"'
    assert parse(text).end == len(text)


def test_what_was_not_checked_is_an_error(make_project: Make) -> None:
    box = make_project()
    for number in range(501):
        (box.project / ".claude" / "skills" / f"a{number:04}").mkdir(parents=True)
    done = box.process("engine check")
    assert done.returncode == 1 and "only 500 were checked" in " ".join(done.stdout.split())


def test_a_recording_takes_no_file_of_the_users(make_project: Make) -> None:
    box = make_project()
    own = Path(box.environ["HOME"]) / ".claude" / "skills" / "mine" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("MY PRIVATE SKILL\n")
    (box.project / "CLAUDE.md").symlink_to(own)
    project = box.opened()
    assert "PRIVATE" not in json.dumps(files_of([], project.world(), project.settings))
