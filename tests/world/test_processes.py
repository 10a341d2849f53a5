from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from handbill.world.processes import is_running, read_kernel_file


@pytest.mark.parametrize("process, running", [(0, True), (1, True), (1 << 22, False), (1 << 70, False)])
def test_numbers(process: int, running: bool) -> None:
    assert is_running(process or os.getpid()) is running


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only Linux shows the state of a process as a file")
def test_a_process_that_has_ended_and_that_nobody_asked_about() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_running(child.pid)
    child.stdin.close()  # type: ignore[union-attr]
    end = time.monotonic() + 20
    while is_running(child.pid):  # this test is its parent, and has not waited for it
        assert time.monotonic() < end
        time.sleep(0.01)
    assert os.path.exists(f"/proc/{child.pid}"), "it is still in the table"
    child.wait()


def test_a_name_with_a_bracket_does_not_hide_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, running in ((b"7 (a) Z b) S 1 2", True), (b"7 (a) S) Z 1 2", False), (b"", True)):
        monkeypatch.setattr("handbill.world.processes.read_kernel_file", lambda path, text=text: text)
        assert is_running(os.getpid()) is running


@pytest.mark.parametrize("path", ["/proc/nothing", "/a\0b", "/proc"])
def test_a_file_that_cannot_be_read(path: str) -> None:
    assert read_kernel_file(path) == b""
