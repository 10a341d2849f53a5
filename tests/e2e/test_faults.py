"""Whatever goes wrong: the client goes on, each file is there exactly once in the end, and doctor shows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faults import break_hooks
from sandbox import (
    ALMOST_FULL,
    COMPACTION,
    MIDDLE,
    NEW,
    OLD,
    ROOT,
    STANDARDS,
    Sandbox,
    assert_absent,
    assert_once,
    copies,
)

from conftest import Make
from handbill.cli.launcher import Launcher
from handbill.lab.live_client import Reply

VERSIONS = (OLD, NEW)
ALL = pytest.mark.parametrize("client", [OLD, MIDDLE, NEW])  # who was compacted, or what a subagent got, differs on all

KILLS = ["before-claim", "after-claim", "after-print"]
HANGS = ["hang-before-claim", "hang-after-claim"]


def directories(box: Sandbox, *names: str) -> tuple[str, ...]:
    names = names or ("one", "two")
    for name in names:
        box.write(f"{name}/.directives/AGENTS.md", f"MARK-{name.upper()}.\n")
        box.write(f"{name}/f.py", "x\n")
    return tuple(f"MARK-{name.upper()}." for name in names)


@pytest.mark.parametrize("faults", [KILLS, HANGS], ids=["dies", "hangs"])
def test_hook_fails_at_a_batch(make: Make, version: str, faults: list[str]) -> None:
    """One fault after the other; two events without one lie between them."""
    box = make(version)
    marks = directories(box, *faults, "last")
    env = break_hooks(box, {f"PostToolBatch:{1 + 3 * number}": fault for number, fault in enumerate(faults)})
    steps = [[box.read(f"{fault}/f.py"), box.bash(f"echo {fault}"), box.bash()] for fault in faults]
    run = box.run(*(step for three in steps for step in three), box.read("last/f.py"), box.bash(), "done", env=env)
    for number in range(len(faults)):
        assert_once(run.of()[3 + 3 * number], *marks[: number + 1])
    assert_once(run.of()[-1], *STANDARDS, *marks)
    resumed = box.run(*(box.read(f"{fault}/f.py") for fault in faults), "done", args=("--resume", run.session))
    assert_once(resumed.of()[-1], *STANDARDS, *marks)
    assert sum("PostToolBatch hook" in finding for finding in box.traces()) >= 1


@ALL
@pytest.mark.parametrize("fault", KILLS)
def test_hook_dies_in_a_subagent(make: Make, client: str, fault: str) -> None:
    """Older clients write neither the injection nor the failure to the subagent's transcript."""
    box = make(client)
    marks = directories(box)
    env = break_hooks(box, {"PostToolBatch:1": fault})
    steps = box.read("one/f.py"), box.bash("echo 1"), box.read("two/f.py"), box.bash("echo 2"), box.bash("echo 3")
    run = box.run(box.agent(), box.bash(), "done", agent=(*steps, "sub"), env=env)
    assert_absent(run.of()[-1], *marks)
    if client == OLD and fault == "after-print":
        # Nothing on this client tells a hook that died after printing from one that died before:
        # a second copy is the lesser evil.
        assert copies(run.of(None)[-1], *marks) == dict(zip(marks, (2, 1)))
    else:
        assert_once(run.of(None)[-1], *marks, "# Invariants\n")


@pytest.mark.parametrize("fault", [*KILLS, "hang-before-claim"])
def test_hook_dies_at_session_start(make: Make, version: str, fault: str) -> None:
    box = make(version)
    marks = directories(box)
    env = break_hooks(box, {"SessionStart:1": fault})
    run = box.run(box.read("one/f.py"), box.bash("echo 1"), box.read("two/f.py"), box.bash("echo 2"), "done", env=env)
    assert_once(run.of()[-1], *STANDARDS, *marks)
    assert any("SessionStart hook" in finding for finding in box.traces())


@ALL
@pytest.mark.parametrize("fault", ["before-claim", "hang-before-claim"])
def test_hook_dies_at_the_start_after_a_compaction(make: Make, client: str, fault: str) -> None:
    box = make(client)
    marks = directories(box)
    env = {**break_hooks(box, {"SessionStart:2": fault}), **COMPACTION}
    full = Reply([box.bash("echo full")], input_tokens=ALMOST_FULL)
    steps = (
        box.read("one/f.py"),
        full,
        box.bash("echo 1"),
        box.bash("echo 2"),
        box.read("one/f.py"),
        box.read("two/f.py"),
    )
    run = box.run(*steps, box.bash("echo 3"), "done", env=env)
    assert "THE SUMMARY" in run.of()[-1].text
    assert_once(run.of()[-1], *STANDARDS, *marks)


GARBAGE = [b"", b'{"v":1,"preloadedFi', b"\x00\xff garbage \xfe", b"[]", b'{"v":1,"epoch":"x"}']


def test_state_file_broken_between_two_batches(make: Make, version: str) -> None:
    """Again and again, each time in another way."""
    box = make(version)
    marks = directories(box, *(f"d{number}" for number in range(len(GARBAGE))))
    windows = box.state_folder / ".windows"
    steps = [box.read("a.py")]
    for number, garbage in enumerate(GARBAGE):
        octal = "".join(f"{chr(92)}{byte:03o}" for byte in garbage)
        breaking = f"for f in {windows}/*.jsonl; do printf '{octal}' > $f; done"
        steps += [box.bash(breaking), box.read(f"d{number}/f.py"), box.read("d0/f.py")]
    run = box.run(*steps, box.bash(), "done")
    for number in range(len(GARBAGE)):
        assert_once(run.of()[3 + 3 * number], *STANDARDS, *marks[: number + 1])
    assert_once(run.of()[-1], *STANDARDS, *marks)
    assert list(windows.glob("*.corrupt-*")), "put aside, never overwritten"
    assert any(".corrupt-" in finding for finding in box.traces())


def test_state_file_broken_between_two_runs(make: Make, version: str) -> None:
    box = make(version)
    marks = directories(box)
    first = box.run(box.read("one/f.py"), "done")
    for window in box.windows():
        window.write_bytes(b"garbage")
    second = box.run(box.read("one/f.py"), box.read("two/f.py"), box.bash(), "done", args=("--resume", first.session))
    assert_once(second.of()[-1], *STANDARDS, *marks)


def can_mount() -> bool:
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="needs mount namespaces")
@pytest.mark.parametrize("spare", [True, False], ids=["spare", "nowhere"])
@pytest.mark.parametrize("options", ["ro", "size=4k"], ids=["read-only", "full"])
def test_state_folder_cannot_be_written(make: Make, version: str, options: str, spare: bool, tmp_path: Path) -> None:
    """A file system of its own where the state is kept, which is read-only or has no room."""
    box = make(version)
    marks = directories(box)
    wrapper = tmp_path / "claude"
    state = box.state_folder
    fill = f"mkdir -m 700 {state}/.windows {state}/.engine; head -c 1m /dev/zero > {state}/fill 2>/dev/null;"
    wrapper.write_text(
        "#!/bin/sh\nexec unshare -m sh -c '"
        f"mount -t tmpfs -o size=64k none {state} && {fill if options != 'ro' else f'mkdir -m 700 {state}/.windows;'}"
        f"{f'mount -o remount,ro {state};' if options == 'ro' else ''}"
        f'exec "$@"\' sh {box.client.binary} "$@"\n'
    )
    wrapper.chmod(0o755)
    box.client.binary = str(wrapper)
    if spare:
        (tmp_path / "run").mkdir(mode=0o700)
        box.more = {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
        box.client.extra.update(box.more)
    run = box.run(box.read("one/f.py"), box.read("two/f.py"), box.read("one/f.py"), box.bash(), "done")
    if spare:
        assert_once(run.of()[-1], *STANDARDS, *marks)
        assert any("could not be written" in finding for finding in box.traces())
    else:  # the transcript alone tells what is there, and it is written late
        assert all(count >= 1 for count in copies(run.of()[-1], *STANDARDS, *marks).values())


def test_directives_that_are_no_pages(make: Make, version: str) -> None:
    """A link out of the project, a directory, a FIFO, binary, too large: refused, shown, and the rest goes on."""
    box = make(version)
    marks = directories(box)
    secret = box.project.parent / "secret.md"
    secret.write_text("MARK-SECRET\n")
    folder = box.project / "odd" / ".directives"
    folder.mkdir(parents=True)
    box.write("odd/f.py", "x\n")
    (folder / "AGENTS.md").symlink_to(secret)
    os.mkfifo(folder / "INVARIANTS.md")
    (folder / "ARCHITECTURE.md").mkdir()
    box.write("large/.directives/AGENTS.md", os.urandom(5 << 20))
    box.write("large/.directives/INVARIANTS.md", "MARK-BESIDE\n")
    box.write("large/f.py", "x\n")
    run = box.run(
        box.read("odd/f.py"), box.read("large/f.py"), [box.read("one/f.py"), box.read("two/f.py")], box.bash(), "done"
    )
    assert_once(run.of()[-1], *STANDARDS, *marks, "MARK-BESIDE")
    assert_absent(run.of()[-1], "MARK-SECRET")
    shown = "\n".join(box.traces())
    for words in ("leads out of the project", "not a regular file", "5,242,880 bytes"):
        assert words in shown


def test_directive_deleted_before_its_turn(make: Make, version: str) -> None:
    """A part is on its way, the rest is pending, and the file goes away: no error, nothing twice."""
    box = make(version)
    directories(box)
    box.write("big/.directives/AGENTS.md", "".join(f"line {n:05d} of a long page\n" for n in range(900)))
    box.write("big/f.py", "x\n")
    gone = box.bash(f"rm {box.path('big/.directives/AGENTS.md')}")
    run = box.run(box.read("big/f.py"), gone, box.read("one/f.py"), box.bash(), "done")
    assert_once(run.of()[-1], *STANDARDS, "MARK-ONE.", "line 00000 of")
    assert_absent(run.of()[-1], "line 00899 of")


def break_installation(box: Sandbox, what: str) -> None:
    """A copy of the package is installed, with an interpreter of its own, and used once; then a part is removed."""
    copy = box.project.parent / "copy"
    python = box.project.parent / "python"
    shutil.copytree(ROOT / "src", copy)
    python.symlink_to(os.path.realpath(sys.executable))
    record = box.state_folder.parent / "installed.json"
    values = json.loads(record.read_text())
    [known] = values.values()
    launcher = Launcher(str(python), str(copy), known["packages"])
    made = Path(launcher.path.replace(os.environ["HOME"], str(box.home)))
    made.write_text(launcher.text)
    made.chmod(0o700)
    box.settings().write_text(box.settings().read_text().replace(known["command"][0], str(made)))
    known.update({"interpreter": str(python), "folder": str(copy), "command": [str(made)]})
    record.write_text(json.dumps(values))
    assert_once(box.run(box.bash(), "done").of()[-1], *STANDARDS)
    if what == "package":
        shutil.rmtree(copy / "handbill")
    else:
        {"interpreter": python, "launcher": made}[what].unlink()


@pytest.mark.parametrize("what", ["package", "interpreter", "launcher"])
def test_removed_after_install(make: Make, version: str, what: str) -> None:
    """As if nothing were registered: prompts, tool calls and turns go on."""
    box = make(version)
    directories(box)
    break_installation(box, what)
    run = box.run(
        box.read("one/f.py"), [box.read("two/f.py"), box.agent()], box.bash("echo fine"), "the end", agent=("sub",)
    )
    assert json.loads(run.stdout)["result"] == "the end"
    assert "fine" in run.of()[-1].text
    assert not any("hook error" in request.text for request in run.requests)
    assert_absent(run.of()[-1], *STANDARDS, "MARK-ONE.")
    found = box.engine("doctor", "--project", str(box.project), expect=1)
    assert any(
        check["state"] == "bad" and "so the hooks do nothing" in check["text"] for check in found["data"]["checks"]
    )
