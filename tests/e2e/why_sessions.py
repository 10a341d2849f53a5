"""Sessions on the real client that show what becomes of a rule at each moment in docs/why.md."""

from __future__ import annotations

import time
from collections.abc import Callable

from sandbox import ALMOST_FULL, COMPACTION, Sandbox
from talk import Talk
from terminal import Obedient, Terminal
from why_rules import NEW_TEXT, PROJECTS, use_skill, write_rules
from why_words import Found, again, arrival, counts_of, size, stays

from handbill.lab.live_client import Block, Reply, Request, call

Session = Callable[[Sandbox, str], Found]
_WATCHED = 2.5  # seconds until the client's watcher of skills has seen a change


def reading(box: Sandbox, project: str) -> Found:
    skill = use_skill(box, project)
    run = box.run(box.read("web/a.py"), box.bash(), box.read("web/b.py"), skill, {**skill}, "done")
    found = {}
    for rule in PROJECTS[project]:
        counts = counts_of(rule, run.of())
        found[f"{rule.key}.first_read"] = arrival(rule, counts, counts[2], counts[4])
        found[f"{rule.key}.second_read"] = ("no", "one copy", "two copies")[counts[5 if rule.is_skill else 3]]
    return found


def writing(box: Sandbox, project: str) -> Found:
    write = call("Write", file_path=box.path("web/new.py"), content="x\n")
    run = box.run(write, box.bash(), use_skill(box, project), "done")
    when = "after the write" if (box.project / "web/new.py").exists() else "before the write"
    found = {}
    for rule in PROJECTS[project]:
        counts = counts_of(rule, run.of())
        found[f"{rule.key}.new_file"] = arrival(rule, counts, counts[2], counts[3], when)
    return found


def subagents(box: Sandbox, project: str) -> Found:
    def task(kind: str) -> Block:
        more = {"subagent_type": kind, "run_in_background": False}
        return call("Agent", description="d", prompt="look at web/a.py", **more)

    steps = [box.read("web/a.py"), box.bash(), use_skill(box, project)]
    agent = (*steps, "sub done", *({**step} for step in steps), "sub done")
    run = box.run(task("general-purpose"), task("Explore"), "done", agent=agent)
    names = list(dict.fromkeys(request.agent for request in run.of(None)))
    assert len(names) == 2
    found = {}
    for moment, name in zip(("subagent", "explore"), names):
        requests = [request for request in run.of(None) if request.agent == name]
        for rule in PROJECTS[project]:
            counts = counts_of(rule, requests)
            found[f"{rule.key}.{moment}"] = arrival(rule, counts, counts[2], counts[3], "with its first read")
    return found


def resuming(box: Sandbox, project: str) -> Found:
    first = box.run(box.read("web/a.py"), use_skill(box, project), "done")
    more = (box.read("web/b.py"), use_skill(box, project), "done")
    second = box.run(*more, args=("--resume", first.session))
    return stays(project, "resume", first.of()[-1], second.of(), "kept")


def compaction_of_few_files(box: Sandbox, project: str) -> Found:
    before, after = _compacted(
        box, project, box.bash("cat web/h.py"), box.bash(), box.read("web/a.py"), use_skill(box, project), box.bash()
    )
    found = stays(project, "compaction_few", before[-1], after, "at once")
    for rule in PROJECTS[project]:
        counts = counts_of(rule, before)
        found[f"{rule.key}.cat"] = arrival(rule, counts, counts[2], counts[4])
    return found


def compaction_of_many_files(box: Sandbox, project: str) -> Found:
    reads = [box.read(f"lib/{name}.py") for name in "abcdefg"]
    before, after = _compacted(box, project, box.read("web/a.py"), use_skill(box, project), *reads)
    return stays(project, "compaction_many", before[-1], after, "at once")


def _compacted(box: Sandbox, project: str, *steps: Block) -> tuple[list[Request], list[Request]]:
    """Requests before and after an automatic compaction. The rule is not in the message that the client keeps."""
    full = Reply([box.bash("echo full")], input_tokens=ALMOST_FULL)
    later = box.bash("echo 2"), box.read("web/b.py"), use_skill(box, project), box.bash("echo 3")
    requests = box.run(*steps, full, *later, "done", env=COMPACTION).of()
    before = [request for request in requests if "THE SUMMARY" not in request.text]
    return before, requests[len(before) :]


def large_files(box: Sandbox, project: str) -> Found:
    write_rules(box, project, large=True)
    waiting = [box.bash(f"echo {number}") for number in range(4)]
    run = box.run(box.read("web/a.py"), use_skill(box, project), *waiting, "done")
    return {f"{rule.key}.large": size(rule, run.of()) for rule in PROJECTS[project]}


def rewinding(box: Sandbox, project: str) -> Found:
    terminal = Terminal(box)
    terminal.model.more = {"skill": lambda _: use_skill(box, project)}
    terminal.start()
    try:
        terminal.say("one DO: bash true")
        before = _turn(box, terminal.say, "two DO: read web/a.py; skill; bash true")[-1]
        terminal.rewind(up=1)
        after = _turn(box, terminal.say, "three DO: bash true; read web/b.py; skill; bash true")
    finally:
        terminal.close()
    assert "two DO" in before.text and "two DO" not in after[0].text
    return stays(project, "rewind", before, after, "kept")


def changed_on_screen(box: Sandbox, project: str) -> Found:
    terminal = Terminal(box)
    terminal.start()
    try:
        return _changed(box, project, "changed", terminal.model, terminal.say)
    finally:
        terminal.close()


def changed_in_print_mode(box: Sandbox, project: str) -> Found:
    model = box.client.model.script = Obedient(box)
    talk = Talk(box)
    try:
        return _changed(box, project, "changed_print", model, talk.say)
    finally:
        talk.kill()


def _changed(box: Sandbox, project: str, moment: str, model: Obedient, speak: Callable[[str], object]) -> Found:
    """Somebody else changes every rule while the agent works."""

    def change(_: str) -> Block:
        write_rules(box, project, NEW_TEXT)
        time.sleep(_WATCHED)
        return box.bash("echo changed")

    model.more = {"skill": lambda _: use_skill(box, project), "change": change}
    speak("one DO: read web/a.py; skill")
    turn = _turn(box, speak, "two DO: bash true; change; bash echo 1; read web/b.py; skill; bash echo 2")
    last = _turn(box, speak, "three DO: bash echo 3; skill")[-1]
    found = {}
    for rule in PROJECTS[project]:
        new = [rule.copies(request, NEW_TEXT) for request in turn]
        words = {"at once": new[3], again(rule): new[-1], "with the next prompt": rule.copies(last, NEW_TEXT)}
        found[f"{rule.key}.{moment}"] = next((word for word, copies in words.items() if copies), "no")
    return found


def _turn(box: Sandbox, speak: Callable[[str], object], prompt: str) -> list[Request]:
    """The main window's requests that one prompt leads to."""
    made = len(box.client.model.requests)
    speak(prompt)
    new = box.client.model.requests[made:]
    return [request for request in new if request.body.get("tools") and not request.agent and not request.is_summary]


# session -> the columns that it measures
HEADLESS: dict[Session, tuple[str, ...]] = {
    reading: ("first_read", "second_read"),
    writing: ("new_file",),
    subagents: ("subagent", "explore"),
    compaction_of_few_files: ("cat", "compaction_few"),
    compaction_of_many_files: ("compaction_many",),
    resuming: ("resume",),
    large_files: ("large",),
    changed_in_print_mode: ("changed_print",),
}
ON_SCREEN: dict[Session, tuple[str, ...]] = {rewinding: ("rewind",), changed_on_screen: ("changed",)}
