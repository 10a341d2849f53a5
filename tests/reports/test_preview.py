"""What would be delivered now: the real pipeline, and nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handbill.errors import HandbillError
from handbill.reports.preview import NO_WINDOW, Occasion, Preview, preview
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


@pytest.fixture
def box(make_project: Make, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedProject]:
    """At the end, nothing has changed on the disk."""
    made = make_project()
    made.skill("mine", {"label": "0", "steps": ["§CMD_A"]}, {"label": "1", "steps": ["§CMD_B"]})
    made.sim.start()
    made.sim.skill("mine")
    made.shell("engine session activate S mine")
    monkeypatch.chdir(made.project)
    before = on_disk(made)
    yield made
    assert on_disk(made) == before


def on_disk(box: SimulatedProject) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in box.project.parent.rglob("*") if path.is_file()}


def previewed(box: SimulatedProject, occasion: Occasion) -> Preview:
    project, key = box.opened(), (box.sim.session, "main")
    return preview(project, key, project.store.read(key), occasion)


def when(found: Preview) -> dict[str, str]:
    return {row.file.rpartition("/")[2]: row.when for row in found.files}


@pytest.mark.parametrize(
    "occasion, expected",
    [
        (Occasion(), {}), (Occasion(["one/f.py"]), {"AGENTS.md": "now"}), (Occasion(phase="1"), {"CMD_B.md": "now"}),
        (Occasion(phase="1: Anything"), {"CMD_B.md": "now"}), (Occasion(write="two/new.py"), {"AGENTS.md": "now"}),
    ],
)  # fmt: skip
def test_what_an_occasion_would_bring(box: SimulatedProject, occasion: Occasion, expected: dict[str, str]) -> None:
    found = previewed(box, occasion)
    assert when(found) == expected and found.held is bool(occasion.write)
    assert found.window == f"{box.sim.session}.main" and all(row.chars > 0 for row in found.files)


def test_a_start_forgets_what_is_in_the_window(box: SimulatedProject) -> None:
    found = previewed(box, Occasion(start=True))
    assert len(found.files) == 6 and set(when(found).values()) == {"now"}


def test_a_window_that_has_just_begun(box: SimulatedProject) -> None:
    found = preview(box.opened(), NO_WINDOW, None, Occasion(["one/f.py"]))
    assert when(found) == {"AGENTS.md": "now"}, "the standards are there already"


@pytest.mark.parametrize(
    "occasion, message, hint",
    [
        (Occasion(phase="99"), "mine has no phase '99'", "declared: 0, 1"), (Occasion(skill="none"), "there is no skill 'none'", "engine skills"),
    ],
)  # fmt: skip
def test_what_cannot_happen(box: SimulatedProject, occasion: Occasion, message: str, hint: str) -> None:
    with pytest.raises(HandbillError, match=message) as error:
        previewed(box, occasion)
    assert hint in error.value.hint


def test_a_phase_without_a_skill(make_project: Make) -> None:
    with pytest.raises(HandbillError, match="no skill is active"):
        preview(make_project().opened(), NO_WINDOW, None, Occasion(phase="1"))


def test_what_waits(make_project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    box = make_project()
    for name in ("one", "two", "three"):
        box.write(f"{name}/.directives/AGENTS.md", f"rules of {name}\n" * 500)
    box.sim.start()
    box.sim.read("one/f.py")
    monkeypatch.chdir(box.project)
    rows = previewed(box, Occasion(["two/f.py", "three/f.py", "one/f.py"])).files
    found = {row.file.split("/")[-3]: (row.when, row.chars > 0) for row in rows}
    assert found == {"two": ("now", True), "three": ("later", False)}


def test_a_skill_that_a_user_types(make_project: Make) -> None:
    box = make_project()
    box.skill("mine", {"label": "0", "steps": ["§CMD_A"]})
    box.sim.start()
    assert when(previewed(box, Occasion(skill="mine"))) == {"CMD_A.md": "now", "SKILL.md": "by the host"}
