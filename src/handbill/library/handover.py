"""Build a handover for the next agent: a page with the state of the work, and its files by content.

A project's `_resume.md` after a compaction and a suspended session use the same form.
"""

from __future__ import annotations

from handbill.fast_json import dumps
from handbill.ledger.window import HANDOVER_PAGE, TAKEN_UP
from handbill.library.bundle import Bundle, size_of
from handbill.library.messages import bullets, say
from handbill.library.skills import skill_file
from handbill.paths import join, name, parent, under
from handbill.plan import Plan
from handbill.text.blocks import one_line, shown
from handbill.work.detect_project import CONTEXT, HEAD, MEDIUM, Layout
from handbill.work.schema import problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from handbill.settings import Settings
    from handbill.world import World

# Questions that the agent must be able to answer, and the file that usually has the answer.
QUESTIONS = {
    "What problem are we solving?": "overview.md",
    "What is the next task?": "steps.md",
    "What is the approach?": "plan.md",
}


class Files:
    """The files that a handover names: those that may be given and those that may not."""

    __slots__ = ("named", "refused")

    def __init__(self, names: Iterable[str], places: tuple[str, ...], world: World, settings: Settings) -> None:
        self.named: list[str] = []
        self.refused: list[str] = []
        for written in names:
            path = _meant(written, places, world)
            if path and _is_inside(path, world, settings):
                self.named += [path] if path not in self.named else []
            else:
                self.refused.append(f"{shown(written)} leads out of the project; it is not read")


def _meant(written: str, places: tuple[str, ...], world: World) -> str:
    """Return the file of that name from the first place that has it, else its expected path."""
    if "\0" in written or len(written) > 4096:
        return ""
    candidates = [join(place, written) for place in places]
    return next((path for path in candidates if world.is_file(path)), candidates[0])


def _is_inside(path: str, world: World, settings: Settings) -> bool:
    return any(under(world.real(path), world.real(root)) for root in (world.project, *settings.allowed))


class ResumeFile:
    """A project's `_resume.md`: its errors, or its contents and the files that it names."""

    __slots__ = ("action", "bundle", "files", "head", "path", "wrong")

    def __init__(self, project: str, layout: Layout, world: World, settings: Settings) -> None:
        self.path = layout.resume_file(project)
        self.head, problem = world.frontmatter(self.path)
        self.wrong = [problem] if problem else [f"{self.path}: {line}" for line in problems(self.head, HEAD)]
        names = () if self.wrong else self.head["files_to_load"]
        self.files = Files(names, (layout.home(project), parent(self.path), world.project), world, settings)
        paths = () if self.wrong else (self.path, *self.files.named)
        self.bundle = Bundle(paths, world, settings.gate("resume")["budget"])
        # An invalid value may be of any length.
        self.action = "" if self.wrong else str(self.head.get("next_action") or "")

    @property
    def unusable(self) -> list[str]:
        return [*self.files.refused, *self.bundle.refusals()]


def resumed(
    project: str, state: dict[str, Any], layout: Layout, world: World, settings: Settings
) -> tuple[Plan, dict[str, Any]]:
    """Return the plan and the mode for a project's own resume file and the files it names."""
    found = ResumeFile(project, layout, world, settings)
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
    text = [
        say(
            "resume", "resume", world, settings, mode=dumps(mode), project=project, confidence=state["confidence"],
            position=_position(head),
        )
    ]  # fmt: skip
    text += [say("resume", "doubt", world, settings, project=project)] if state["confidence"] == MEDIUM else []
    text += _files(bundle, files, world, settings)
    questions = head.get("validation_questions") or _usual_questions([*bundle.given, *bundle.left])
    if questions:
        lines = "\n".join(f"{number}. {one_line(line)}" for number, line in enumerate(questions, 1))
        text.append(say("resume", "questions", world, settings, questions=lines))
    checklist = head.get("checklist") or _usual_checklist(len(bundle.left), len(questions))
    text.append(
        say("resume", "checklist", world, settings, checklist="\n".join(f"[ ] {one_line(line)}" for line in checklist))
    )
    text.append(say("resume", "next", world, settings, next_action=next_step(action, world)))
    plan = Plan()
    plan.say("resume", "\n\n".join(text), "resume gate")
    bundle.want(plan, f"resume {project}")
    plan.awaited += bundle.left
    return plan, mode


def _files(bundle: Bundle, files: Files, world: World, settings: Settings) -> list[str]:
    count = bundle.count + len(files.refused)
    facts = {"given": len(bundle.given), "count": count, "files": bundle.names(world)}
    given = [say("resume", "files", world, settings, **facts)] if bundle.given else []
    return [*given, *bundle.leftovers("resume", world, settings, files.refused)]


def next_step(action: str, world: World) -> str:
    """Describe the next step in words. It is called a skill only if that skill exists."""
    if not action:
        return "continue with the current task"
    return f"invoke the skill {action}" if skill_file(action, world, shipped=False) else one_line(action).rstrip(".")


def _position(head: dict[str, Any]) -> str:
    named = {"phase": head.get("current_phase"), "task": head.get("current_task")}
    return "".join(f", {what} {one_line(value)}" for what, value in named.items() if value not in (None, ""))


def _usual_checklist(left: int, questions: int) -> list[str]:
    found = [f"{left} {'file above has' if left == 1 else 'files above have'} been read"] if left else []
    found += (
        ["the question above is answered" if questions == 1 else "the questions above are answered"]
        if questions
        else []
    )
    return [*found, "the current task is clear, or you have asked the user"]


def set_down(left: dict[str, Any], world: World, settings: Settings) -> Plan:
    """Return the plan that hands a suspended session to the next agent that starts here."""
    said = left.get("context")
    session = str(left.get("session", ""))
    plan = Plan()
    plan.flags[TAKEN_UP] = session
    wrong = problems(said, CONTEXT)
    if wrong or not isinstance(said, dict):
        plan.notes.append(f"the handover of {session} cannot be used: {wrong[0]}")
        return plan
    files = Files(
        said.get("requiredFiles", ()), (world.project, f"{world.project}/sessions/{session}"), world, settings
    )
    bundle = Bundle(files.named, world, settings.gate("resume")["budget"])
    text = [
        say(
            "resume", "restore", world, settings, session=session, summary=said["summary"], details=_details(said),
        ),
        *_files(bundle, files, world, settings),
        say("resume", "next", world, settings, next_action=f"run `engine session continue {session}`"),
    ]  # fmt: skip
    plan.say(HANDOVER_PAGE, "\n\n".join(text), f"handover of {session}")
    bundle.want(plan, f"handover of {session}")
    plan.notes += [f"handover of {session}: {line}" for line in (*files.refused, *bundle.refusals())]
    return plan


def _details(said: dict[str, Any]) -> str:
    """Return the optional fields of a handover that are present."""
    named = {
        "Last action": said.get("lastAction"), "Next steps": "\n" + bullets(said.get("nextSteps", ())),
        "Instructions": said.get("handoverInstructions"), "What the user said": said.get("userHistory"),
    }  # fmt: skip
    return "\n\n".join(f"{what}: {value}".replace(": \n", ":\n") for what, value in named.items() if value)


def _usual_questions(files: list[str]) -> list[str]:
    """Return the default questions that these files can answer."""
    names = {name(path) for path in files}
    return [f"{text} ({file})" for text, file in QUESTIONS.items() if file in names]


def resume_size(project: str, world: World, settings: Settings) -> int:
    """Return the characters that a project's resume file adds to a window, within the budget."""
    layout = Layout(world.project, settings.gate("resume")["layout"])
    if not world.is_file(layout.resume_file(project)):
        return 0
    found = ResumeFile(project, layout, world, settings)
    # includes the gate's own message
    return sum(size_of(path, world) for path in found.bundle.given) + 2000
