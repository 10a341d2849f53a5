from __future__ import annotations

from types import SimpleNamespace

import pytest

from builders import DictWorld, config, window
from handbill.handlers.load_gate import _confirmation
from handbill.handlers.reread_gate import _is_listed, missing
from handbill.library import handover
from handbill.paths import SHIPPED_SKILLS
from handbill.settings import ProcessContext


def test_a_link_that_leads_out_is_refused() -> None:
    world = DictWorld({"/p/out.md": "x"}, {"/p/out.md": "/etc/passwd"})
    found = handover.Files(["out.md"], ("/p",), world, config())  # type: ignore[arg-type]
    assert found.named == [] and "leads out" in found.refused[0]


def test_phase_and_task_may_be_zero() -> None:
    assert handover._position({"current_phase": 0, "current_task": 0}) == ", phase 0, task 0"
    assert handover._position({"current_phase": None, "current_task": ""}) == ""


def test_refused_files_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[object, ...]] = []
    monkeypatch.setattr(
        handover, "say", lambda gate, kind, *_, **facts: said.append((kind, facts["given"], facts["count"])) or ""
    )
    bundle = SimpleNamespace(count=1, given=["/p/a"], names=lambda _: "", leftovers=lambda *_: [])
    handover._files(bundle, SimpleNamespace(refused=["x leads out"]), None, None)  # type: ignore[arg-type]
    assert said == [("files", 1, 2)]


def test_what_waits_for_the_clients_record_is_not_missing() -> None:
    carried = {"/a": {"via": "tool_batch_finished", "parts": "k"}}
    assert missing({"given": ["/a", "/b"]}, window(from_last_epoch=carried)) == ["/b"]


def test_a_list_that_was_lost_was_not_said() -> None:
    world = DictWorld({})
    world.process = ProcessContext("/p", "/home/u", state="/st")
    path = f"{world.process.page_folders[0]}/reread-x.md"
    for parts, listed in (("k", True), (".", False)):
        assert _is_listed(window(files={path: {"parts": parts}}), world) is listed  # type: ignore[arg-type]


def test_what_an_agent_says_is_kept_short() -> None:
    said = _confirmation("Context Loaded\nRead: a\n" + "\n".join(["- " + "x" * 200] * 30))
    assert said is not None and len(said["read"]) == 1000


@pytest.mark.parametrize("folder, expected", [("/p/.claude/skills", "invoke the skill x"), ("", "x")])
def test_only_a_skill_that_the_client_knows_can_be_invoked(folder: str, expected: str) -> None:
    world = DictWorld({f"{folder or SHIPPED_SKILLS}/x/SKILL.md": "# x"})
    assert handover.next_step("x", world) == expected  # type: ignore[arg-type]
