"""Findings about the gates: their texts and files, what was not resumed, and waiting handovers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from handbill.reports.findings import Finding, gates
from handbill.reports.store_files import forget_errors
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    return make_project()


def wording(box: SimulatedProject, text: str) -> list[str]:
    box.write(".handbill.messages.json", text)
    return [f"{one.state}: {one.text}" for one in gates.wording(box.opened())]


def test_texts_that_can_be_used(box: SimulatedProject) -> None:
    assert list(gates.wording(box.opened())) == []
    used, shown = wording(box, '{"load_gate": {"factual": {"direct": "{count:file} {paths}"}}}')
    assert (
        used.startswith("ok")
        and shown.startswith("note")
        and shown.endswith("load_gate.factual.direct: {count:file} {paths}")
    )


@pytest.mark.parametrize(
    "text, why",
    [
        ("{half", "bad"), ('{"load_gate": {"direct": "{count} {paths}"}}', "one of factual, mandatory"), ('{"resume": "x"}', "section"),
        ('{"load_gate": {"factual": {"direct": 5}}}', "must be text"), ("[]", "one JSON object"),
        ('{"load_gate": {"factual": {"direct": "{count} {paths} {nonsense}"}}}', "{nonsense}, which is unknown"),
        ('{"load_gate": {"factual": {"direct": "Read!"}}}', "does not name {count}, {paths}"),
        ('{"load_gate": {"factual": {"dircet": "x"}}}', "dircet is unknown"),
        ('{"resume": {"factual": {"restore": "x"}}}', "cannot be changed by a project"),
        (json.dumps({"load_gate": {"factual": {"direct": "{count} {paths}" + "x" * 5000}}}), "is too long"),
    ],
)  # fmt: skip
def test_texts_that_cannot_be_used(box: SimulatedProject, text: str, why: str) -> None:
    found = wording(box, text)
    assert found[0].startswith("bad") and why in found[0]


def test_texts_behind_a_link(box: SimulatedProject) -> None:
    (box.project.parent / "elsewhere.json").write_text("{}")
    (box.project / ".handbill.messages.json").symlink_to(box.project.parent / "elsewhere.json")
    (found,) = gates.wording(box.opened())
    assert (found.state, found.fix) == ("bad", "replace the link")


@pytest.mark.parametrize(
    "file, settings, notes", [("NOTES.md", "", 1), ("TASKS.md", "", 0), ("NOTES.md", '[load_gate]\nmode = "off"\n', 0)]
)
def test_a_context_folder_without_its_files(box: SimulatedProject, file: str, settings: str, notes: int) -> None:
    box.write(f".context/{file}", "x\n")
    box.write(".handbill.toml", settings)
    assert [one.state for one in gates.context(box.opened())] == ["note"] * notes


def test_a_resume_that_failed_until_it_is_forgotten(box: SimulatedProject) -> None:
    box.write("02-projects/p/01-planning/_resume.md", "no head")
    box.sim.start()
    box.sim.read("02-projects/p/a.md", "02-projects/p/b.md")
    box.idle()
    box.sim.compact()
    (found,) = gates.resumption(box.opened())
    assert (
        found.state == "bad"
        and found.text.startswith(f"{box.sim.session[:8]}: not resumed: ")
        and "does not begin" in found.text
    )
    forget_errors(box.opened().store)
    assert list(gates.resumption(box.opened())) == []


def test_a_project_that_was_resumed(box: SimulatedProject) -> None:
    box.write("02-projects/p/01-planning/_resume.md", "---\nfiles_to_load: [gone.md]\n---\n")
    box.sim.start()
    box.sim.read("02-projects/p/a.md", "02-projects/p/b.md")
    box.idle()
    box.sim.compact()
    (found,) = gates.resumption(box.opened())
    assert found.state == "bad" and "p was resumed, but" in found.text and found.fix == "engine resume check p"


def test_handovers_that_wait(box: SimulatedProject) -> None:
    assert list(gates.handovers(box.opened())) == []
    box.sim.start()
    path = box.state_folder / ".engine" / "handovers.json"
    path.write_text(json.dumps({"waiting": [{"session": "A"}, {"session": "B"}]}))
    text = "2 handovers for the next agent that starts here: A, B"
    assert list(gates.handovers(box.opened())) == [Finding("handovers", "note", text)]
    path.write_text("{half")
    (found,) = gates.handovers(box.opened())
    assert found.state == "bad" and "handovers.json" in found.text and found.fix == "move it elsewhere"
