"""A file over the cap arrives whole, in labelled parts; the host's preview never takes its place."""

from __future__ import annotations

from sandbox import STANDARDS, assert_extends, assert_once

from conftest import Make
from handbill.text.blocks import read_title

TAKE_TURNS = True


def lines_of(count: int, word: str) -> str:
    return "".join(f"{word} {number:05d}: a rule that must not be lost on the way\n" for number in range(count))


def test_35000_characters_arrive_whole_in_four_events(make: Make, version: str) -> None:
    box = make(version)
    text = lines_of(690, "rule")
    assert 35_000 < len(text) < 36_500
    box.write("big/.directives/AGENTS.md", text)
    box.write("big/.directives/INVARIANTS.md", "MARK-SMALL\n")
    box.write("big/f.py", "x\n")
    run = box.run(box.read("big/f.py"), *[box.bash(f"echo {n}") for n in range(5)], "done")
    requests = run.of()
    assert_once(requests[1], "MARK-SMALL")  # whole files do not wait behind the big one
    assert requests[3].text.count("rule 00") < 690
    last = requests[4].text  # read + three more batches: the fewest possible
    assert "persisted-output" not in last
    for number in range(690):
        assert last.count(f"rule {number:05d}:") == 1
    labels = [read_title(line.partition("context: ")[2] or line) for line in last.split("\n") if "part " in line]
    assert [(label[2], label[3]) for label in labels if label] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    resumed = box.run(box.read("big/f.py"), "done", args=("--resume", run.session))
    for request in resumed.of():
        assert request.text.count("rule 00689:") == request.text.count("rule 00000:") == 1
    assert_extends(requests[-1], resumed.of()[0])


def test_large_standards_use_the_lanes_at_session_start(make: Make, version: str) -> None:
    box = make(version, install=False)
    for name in ("one", "two", "three"):
        box.write(f"std/{name}.md", lines_of(150, name))
    box.write(".handbill.toml", '[standards]\nfiles = ["./std/one.md", "./std/two.md", "./std/three.md"]\n')
    box.engine("install", "--project", str(box.project), "--lanes", "3")
    run = box.run(box.bash(), "done")
    first = run.of()[0]
    for name in ("one", "two", "three"):
        assert_once(first, f"{name} 00000:", f"{name} 00149:")
    assert "persisted-output" not in first.text
    resumed = box.run(box.bash(), "done", args=("--resume", run.session))
    assert_once(resumed.of()[-1], *(f"{name} 00149:" for name in ("one", "two", "three")))
    assert not any(mark in first.text for mark in STANDARDS)
