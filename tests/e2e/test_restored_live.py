"""Files that the client itself puts back after a compaction are not delivered a second time by a gate."""

from __future__ import annotations

from sandbox import COMPACTION, assert_absent, assert_once
from test_compaction_gate_live import HELD, full, handler

from conftest import Make
from handbill.lab.live_client import Request, Run


def after_compaction(run: Run) -> list[Request]:
    return [request for request in run.of() if "THE SUMMARY" in request.text]


def test_a_role_file_that_the_client_restores(make: Make, version: str) -> None:
    box = handler(make(version))
    run = box.run(
        box.read("handler-state.md"), full(box.bash("echo 1")), box.bash("touch ran"), box.bash(), "done",
        prompt="/handler", env=COMPACTION,
    )  # fmt: skip
    for request in after_compaction(run):
        assert_once(request, "MARK-STATE", "MARK-TASK", "role is handler")
    assert_absent(run.of()[-1], HELD)
    assert (box.project / "ran").exists()
    assert_once(box.run(box.bash(), "done", args=("--resume", run.session)).of()[-1], "MARK-STATE", "MARK-TASK")


def test_a_role_file_in_the_messages_that_the_client_keeps(make: Make, version: str) -> None:
    box = handler(make(version))
    run = box.run(
        box.bash("echo 0"), full(box.read("handler-state.md")), box.bash("touch ran"), box.bash(), "done",
        prompt="/handler", env=COMPACTION,
    )  # fmt: skip
    for request in after_compaction(run):
        assert_once(request, "MARK-STATE", "MARK-TASK")
    assert_absent(run.of()[-1], HELD)


def test_a_role_file_that_was_read_and_is_not_restored(make: Make, version: str) -> None:
    """Five other files were read since, and the client puts back only five: the first call waits for the file."""
    box = handler(make(version))
    for number in range(6):
        box.write(f"other{number}.txt", f"other {number}\n")
    others = [box.read(f"other{number}.txt") for number in range(6)]
    run = box.run(
        box.read("handler-state.md"), others, full(box.bash("echo 1")), box.bash("touch no"), box.bash("touch yes"),
        "done", prompt="/handler", env=COMPACTION,
    )  # fmt: skip
    first, *rest = after_compaction(run)
    assert_absent(first, "MARK-STATE")
    for request in rest:
        assert_once(request, "MARK-STATE", "MARK-TASK", HELD)
    assert not (box.project / "no").exists() and (box.project / "yes").exists()
