"""What one stretch of work leaves for the next: a page that says where it stands, and its files by content.

The same for a project's `_resume.md` after a compaction and for a session that was set down.
"""

from __future__ import annotations

from handbill.core.pack import shown
from handbill.core.paths import join, name, parent, under
from handbill.core.plan import Plan
from handbill.core.resuming import CONTEXT, HEAD, MEDIUM
from handbill.core.schema import problems
from handbill.handlers.bundle import Bundle
from handbill.handlers.wording import bullets, say
from handbill.hotjson import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from handbill.config import Config
    from handbill.core.resuming import Layout
    from handbill.world import World

NEXT = "execute-project"
QUESTIONS = {  # what to be sure of, and where it usually stands
    "What problem are we solving?": "overview.md",
    "What is the next task?": "steps.md",
    "What is the approach?": "plan.md",
}


class Files:
    """What a handover names: those that may be given, and those that may not be."""

    __slots__ = ("named", "refused")

    def __init__(self, names: Iterable[str], places: tuple[str, ...], world: World, config: Config) -> None:
        self.named: list[str] = []
        self.refused: list[str] = []
        for written in names:
            path = _meant(written, places, world)
            if path and _is_inside(path, world, config):
                self.named += [path] if path not in self.named else []
            else:
                self.refused.append(f"{shown(written)} leads out of the project; it is not read")


def _meant(written: str, places: tuple[str, ...], world: World) -> str:
    """The file of that name, seen from the nearest place that has it; else where it should be."""
    if "\0" in written or len(written) > 4096:
        return ""
    candidates = [join(place, written) for place in places]
    return next((path for path in candidates if world.is_file(path)), candidates[0])


def _is_inside(path: str, world: World, config: Config) -> bool:
    return any(under(world.real(path), world.real(root)) for root in (config.project, *config.allowed))


class ResumeFile:
    """A project's `_resume.md`: what is wrong with it, else what it says and the files that it names."""

    __slots__ = ("action", "bundle", "files", "head", "path", "wrong")

    def __init__(self, project: str, layout: Layout, world: World, config: Config) -> None:
        self.path = layout.resume_file(project)
        self.head, problem = world.frontmatter(self.path)
        self.wrong = [problem] if problem else [f"{self.path}: {line}" for line in problems(self.head, HEAD)]
        names = () if self.wrong else self.head["files_to_load"]
        self.files = Files(names, (layout.home(project), parent(self.path), config.project), world, config)
        paths = () if self.wrong else (self.path, *self.files.named)
        self.bundle = Bundle(paths, world, config.gate("resume")["budget"])
        self.action = NEXT if self.wrong else str(self.head.get("next_action") or NEXT)  # a wrong one may be endless

    @property
    def unusable(self) -> list[str]:
        return [*self.files.refused, *self.bundle.refusals()]


def resumed(
    project: str, state: dict[str, Any], layout: Layout, world: World, config: Config
) -> tuple[Plan, dict[str, Any]]:
    """A project's own resume file, and what it asks to load."""
    found = ResumeFile(project, layout, world, config)
    path, head, files, bundle, action = found.path, found.head, found.files, found.bundle, found.action
    if found.wrong:
        return Plan(), {"active": False, "project_id": project, "error": found.wrong[0], "file": path}
    mode: dict[str, Any] = {
        "active": True, "project_id": project, "confidence": state["confidence"],
        "detection_method": state.get("detection_method", ""), "resume_file": path,
        "files_to_load": head["files_to_load"], "next_action": action, "current_task": head.get("current_task"),
        "current_section": head.get("current_section"),
    }  # fmt: skip
    if found.unusable:
        mode["problems"] = found.unusable
    count = len(files.named) + len(files.refused)
    questions = head.get("validation_questions") or _usual_questions(files.named)
    checklist = head.get("checklist") or (
        f"{shown(path)} is given above, or read", f"all files of files_to_load ({count}) are given or read",
        f"the questions ({len(questions)}) can be answered", "the current task and its context are understood",
        f"ready for {action}",
    )  # fmt: skip
    text = say(
        "resume", "resume", world, config, mode=dumps(mode), project=project, confidence=state["confidence"],
        phase=_word(head.get("current_phase")), task=_word(head.get("current_task")), resume_file=shown(path),
        count=count, files=bullets(map(shown, bundle.given)), next_action=action,
        questions="\n".join(f"{number}. {line}" for number, line in enumerate(questions, 1)),
        checklist="\n".join(f"[ ] {line}" for line in checklist),
    )  # fmt: skip
    doubt = [say("resume", "doubt", world, config, project=project)] if state["confidence"] == MEDIUM else []
    rest = bundle.leftovers("resume", world, config, files.refused)
    plan = Plan()
    plan.say("resume", "\n\n".join([text, *doubt, *rest]), "resume gate")
    bundle.want(plan, f"resume {project}")
    return plan, mode


def set_down(left: dict[str, Any], world: World, config: Config) -> Plan:
    """A session that its agent set down: the next one that starts here takes it up."""
    said = left.get("context")
    session = str(left.get("session", ""))
    plan = Plan()
    wrong = problems(said, CONTEXT)
    if wrong or not isinstance(said, dict):
        plan.notes.append(f"what {session} set down cannot be used: {wrong[0]}")
        return plan
    files = Files(
        said.get("requiredFiles", ()), (config.project, f"{config.project}/sessions/{session}"), world, config
    )
    bundle = Bundle(files.named, world, config.gate("resume")["budget"])
    text = say(
        "resume", "restore", world, config, session=session, summary=said["summary"],
        last_action=_word(said.get("lastAction")), next_steps=bullets(said.get("nextSteps", ())),
        instructions=_word(said.get("handoverInstructions")), history=_word(said.get("userHistory")),
        count=len(files.named) + len(files.refused), files=bullets(map(shown, bundle.given)),
        next_action=f"engine session continue {session}",
    )  # fmt: skip
    rest = bundle.leftovers("resume", world, config, files.refused)
    plan.say("restore", "\n\n".join([text, *rest]), f"set down by {session}")
    bundle.want(plan, f"set down by {session}")
    plan.flags["taken_up"] = session
    plan.notes += [f"handover of {session}: {line}" for line in (*files.refused, *bundle.refusals())]
    return plan


def _usual_questions(files: list[str]) -> list[str]:
    names = {name(path) for path in files}
    return [f"{text} ({file})" if file in names else text for text, file in QUESTIONS.items()]


def _word(value: Any) -> str:
    return str(value) if value not in (None, "", []) else "unknown"
