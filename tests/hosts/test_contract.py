"""Every host fulfils the contract of `hosts/api.py`.

A new host needs a row in `HOSTS` and one in `samples.SAMPLES`.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from samples import SAMPLES

from handbill import hook, hosts
from handbill.event import (
    PROMPT_SUBMITTED,
    READS,
    RUNS,
    SEARCHES,
    SESSION_ENDED,
    SESSION_STARTED,
    TOOL_BATCH_FINISHED,
    TOOL_CALLED,
    WRITES,
    Event,
)
from handbill.hosts.api import Host, lacking
from handbill.plan import BLOCK, Plan

NAMES = sorted(SAMPLES)
MADE_UP = {**hosts.HOSTS, "made-up": "made_up"}


@pytest.fixture(autouse=True)
def with_a_made_up_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the one row that a new host needs."""
    monkeypatch.setattr(hosts, "HOSTS", MADE_UP)


def parsed(name: str, *moment: Any, **more: str) -> Event:
    host = hosts.host(name)
    raw, environ = SAMPLES[name](*moment, **more)
    event: Event | None = host.parse(raw, host.identify(raw, environ), environ)
    assert event is not None
    return event


def test_every_host_has_samples() -> None:
    assert sorted(MADE_UP) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_host_has_every_member_with_its_arguments(name: str) -> None:
    host = hosts.host(name)
    assert lacking(host) == []
    for member, wanted in vars(Host).items():
        if inspect.isfunction(wanted) and not member.startswith("_"):
            arguments = list(inspect.signature(wanted).parameters)[1:]
            assert list(inspect.signature(getattr(host, member)).parameters) == arguments, member


def test_a_host_that_lacks_a_member_is_noticed() -> None:
    assert "parse" in lacking(ModuleType("empty"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("agent", ["", "a1"])
@pytest.mark.parametrize(
    "kind", [SESSION_STARTED, PROMPT_SUBMITTED, TOOL_CALLED, TOOL_BATCH_FINISHED, SESSION_ENDED]
)  # fmt: skip
def test_it_identifies_the_caller(name: str, kind: str, agent: str) -> None:
    event = parsed(name, kind, "/p", agent=agent)
    assert (event.kind, event.host, event.project) == (kind, name, "/p")
    assert event.window == ("s1", agent or "main")
    assert (event.client, event.names_client) == (77, True)
    assert event.version == hosts.host(name).NEWEST


@pytest.mark.parametrize("name", NAMES)
def test_a_version_may_be_unknown(name: str) -> None:
    event = parsed(name, SESSION_STARTED, "/p", version="")
    assert event.version is None
    # A rule that is delivered twice is better than one that is never delivered.
    assert not event.reads_agents_md


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "does, value, files, paths",
    [
        (READS, "/p/a.py", ("/p/a.py",), ()), (WRITES, "/p/a.py", ("/p/a.py",), ()), (SEARCHES, "/p/src", (), ("/p/src",)),
        (RUNS, "make test", (), ()),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [TOOL_CALLED, TOOL_BATCH_FINISHED])
def test_it_says_what_a_call_does(
    name: str, kind: str, does: str, value: str, files: tuple[str, ...], paths: tuple[str, ...]
) -> None:
    tool = parsed(name, kind, "/p", (does, "t1", value)).tools[0]
    assert (tool.does, tool.id, tool.files, tool.paths) == (does, "t1", files, paths)
    assert tool.command == (value if does == RUNS else "")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "raw", [{}, {"what": 7, "hook_event_name": 7}, {"session_id": [], "talk": {}, "cwd": 3, "folder": 3}]
)
def test_an_event_that_is_not_known_is_no_error(name: str, raw: dict[str, Any]) -> None:
    host = hosts.host(name)
    assert host.parse(raw, host.identify(raw, {}), {}) is None


@pytest.mark.parametrize("name", NAMES)
def test_its_answers(name: str) -> None:
    host = hosts.host(name)
    before, after = parsed(name, TOOL_CALLED, "/p", (WRITES, "t1", "/p/x")), parsed(name, TOOL_BATCH_FINISHED, "/p")
    assert host.render(after, "", None) == {}
    assert "the pages" in json.dumps(host.render(after, "the pages", Plan()))
    assert "to the person" in json.dumps(host.render(after, "", None, "to the person"))
    plan = Plan()
    plan.gate(BLOCK, "read this first")
    assert "read this first" in json.dumps(host.render(before, "the pages", plan))
    assert "allow" not in json.dumps([host.render(before, "x", Plan()), host.render(before, "x", plan)])


@pytest.mark.parametrize("name", NAMES)
def test_its_folders_are_below_the_project_or_the_home_folder(name: str) -> None:
    host = hosts.host(name)
    assert host.user_folder("/h").startswith("/h/")
    assert all(folder.startswith("/h/") for folder in host.library_folders("/h"))
    assert all(folder.startswith(("/h/", "/p/")) for folder in host.skill_folders("/p", "/h"))


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_delivered_once_through_the_hook(name: str, tmp_path: Path) -> None:
    """Only the host's folder and its row are needed for this."""
    project = tmp_path / "project"
    (project / "api" / ".directives").mkdir(parents=True)
    (project / "api" / ".directives" / "AGENTS.md").write_text("RULE-OF-THE-API\n")
    (project / "api" / "x.py").write_text("x\n")
    environ = {"HOME": str(tmp_path / "home")}

    def answer(kind: str, *calls: Any) -> str:
        raw, own = SAMPLES[name](kind, str(project), *calls)
        return hook.respond(json.dumps(raw).encode(), [name], {**own, **environ})

    assert "RULE-OF-THE-API" not in answer(SESSION_STARTED)
    read = [answer(TOOL_BATCH_FINISHED, (READS, f"t{number}", f"{project}/api/x.py")) for number in range(3)]
    copies = [text.count("RULE-OF-THE-API") for text in read]
    assert copies == [1, 0, 0]
    assert not list((tmp_path / "home").rglob("errors.jsonl"))
