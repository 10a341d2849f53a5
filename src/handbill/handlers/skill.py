"""When a skill or one of its phases starts, request its command pages, templates and directives."""

from __future__ import annotations

from handbill.event import DONE, LOADS_SKILL
from handbill.ledger.window import UNDOABLE, begun
from handbill.library.directive_search import DirectiveSearch
from handbill.library.named_pages import pages_named
from handbill.library.notices import belongs
from handbill.library.skills import pages_of, skill_at, skill_file, template
from handbill.paths import name as base_name
from handbill.paths import parent
from handbill.plan import WARNING, Plan
from handbill.text.document import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.work.skill_file import Skill
    from handbill.world import World

    Notice = dict[str, Any]


MOST_PAGES = 200  # the most pages reached from a phase's pages, by following names
_MOST_TEXT = 1 << 19  # the most characters of those pages that one event searches for names


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


class SkillPlanner:
    """Collect in one plan what an event requests for skills."""

    def __init__(self, event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> None:
        self.event = event
        self.inbox = inbox
        self.window = window
        self.world = world
        self.settings = settings
        self.plan = Plan()
        self.work = dict(window.work)

    def invoked(self, name: str, how: str, *, now: bool = True) -> None:
        """Handle a skill whose body the host added, typed by the user or called by the model.

        `now` is False for a call from before this event. It is checked because its own event may
        have been missed.
        """
        path = skill_file(name, self.world, shipped=False)
        if not path or (not now and path in self.window.files):
            return  # A skill that is built into the host, or a plain command, has no files of ours.
        if path not in self.window.files:
            self.plan.seen.append((path, f"skill {name}, {how}"))
        skill = self._opened(path)
        if skill is None:
            return
        # A lightweight helper does not replace the current work.
        if skill.values or not self.work.get("skill"):
            at_work = self.work.get("skill") == name and self.work.get("session")
            first = skill.phases[0].label if skill.phases else ""
            if not at_work:
                self.work = begun(self.window.work, self.event.batch)
            self._begin(name, path, skill, str(self.work.get("phase", "")) if at_work else first)
        self._references(path)

    def told(self, notice: Notice) -> None:
        """Handle a command that activated, continued, advanced or ended the session."""
        verb, name, label = notice["verb"], str(notice.get("skill", "")), str(notice.get("phase", ""))
        if verb in ("idle", "deactivate"):
            self.work = {}
            return
        if verb == "restore":
            for file in _texts(notice.get("files")):
                self.plan.want(file, "restored after the compaction")
            return
        # The session continues, even if a rewind undoes the rest.
        self.work["session"] = notice.get("session", "")
        self.work = {name: value for name, value in self.work.items() if name not in UNDOABLE}
        path = skill_file(name, self.world)
        skill = self._opened(path) if path else None
        if not path:
            self.plan.notes.append(f"the skill {name} of {notice.get('session')} was not found in any library")
        elif skill is not None:
            if verb == "phase":
                self._enter(name, path, skill, label)
            elif verb != "update":
                self._body(name, path)
                self._begin(name, path, skill, label)
                self._references(path)
        for file in _texts(notice.get("files")):
            self.plan.want(file, f"{name}, {notice.get('why', verb)}")
        look = DirectiveSearch(
            self.event, self.inbox, self.window, self.world, self.settings, tuple(self.work.get("directives", ()))
        )
        for directory in _texts(notice.get("dirs")):
            look.at(directory)
        self.plan.add(look.plan)

    def again(self) -> None:
        """After a compaction, request the files of the current phase that are gone."""
        name = str(self.work.get("skill", ""))
        path = skill_file(name, self.world)
        skill = self._opened(path) if path else None
        if skill is None:
            return
        self._body(name, path)
        self._enter(name, path, skill, str(self.work.get("phase", "")))
        self._templates(name, path, skill)
        self._references(path)
        self.work.setdefault("directives", skill.directives)
        waiting = [want.path for want in self.plan.wants]
        seen, left = set(waiting), _MOST_TEXT
        # Only requested pages are searched for names. A page that is still in the window is not.
        while waiting and len(seen) < MOST_PAGES:
            document = self.world.load(waiting.pop())
            if isinstance(document, Refusal) or len(document.text) > left:
                continue
            left -= len(document.text)
            for file in pages_named(document, self.world):
                if file not in seen:
                    seen.add(file)
                    waiting.append(file)
                    self.plan.want(file, f"named by {base_name(document.path)}")

    def _body(self, name: str, path: str) -> None:
        """Request SKILL.md itself, unless the host added it.

        The host may have added it without an event, for example in a fork or when a hook died.
        """
        if path not in self.window.files and parent(path) in self.inbox.skills:
            self.plan.seen.append((path, f"skill {name}, found in the transcript"))
        else:
            self.plan.want(path, f"skill {name}")

    def _opened(self, path: str) -> Skill | None:
        skill, problems = skill_at(path, self.world)
        self.plan.notes += problems
        return skill

    def _begin(self, name: str, path: str, skill: Skill, label: str) -> None:
        self._enter(name, path, skill, label)
        self._templates(name, path, skill)
        self.work["directives"] = skill.directives
        # These directories were searched before a skill requested these types.
        for directory, record in self.window.touched.items():
            known = self.settings.core_types + self.settings.skill_types
            for file in skill.directives:
                there = file in record.get("found", ()) if file in known else True
                place = f"{directory}/.directives/{file}"
                if there and file not in self.settings.core_types and self.world.is_file(place):
                    self.plan.want(place, f"directive of {directory}, for {name}")

    def _enter(self, name: str, path: str, skill: Skill, label: str) -> None:
        self.work["skill"], self.work["phase"] = name, label
        phase = skill.phase(label)
        if phase is None:
            if label and skill.phases:
                self.plan.notes.append(f"{path} declares no phase {label}")
            return
        for file in pages_of(phase, path, self.world)[0]:
            self.plan.want(file, f"{name}, phase {phase}")

    def _templates(self, name: str, path: str, skill: Skill) -> None:
        for written in skill.templates():
            file = template(path, written, self.world)
            if self.world.is_file(file):
                self.plan.want(file, f"{name}, template")
            else:
                self.plan.notes.append(f"{path} names the template {written}, which does not exist")

    def _references(self, path: str) -> None:
        document = self.world.load(path)
        for file in pages_named(document, self.world) if not isinstance(document, Refusal) else ():
            self.plan.want(file, f"named by {base_name(path)}")


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    reader = SkillPlanner(event, inbox, window, world, settings)
    if event.skill:
        reader.invoked(event.skill, "typed")
    for tool in event.tools:
        if tool.does == LOADS_SKILL and tool.outcome == DONE:
            reader.invoked(tool.skill, "called by the model", now=tool.id in event.calls)
    for notice in inbox.notices:
        if notice["verb"] != WARNING and belongs(notice, event, world):
            reader.told(notice)
            reader.plan.settled.append(notice["id"])
    if window.work.get("skill") and window.flags.get("work") != window.epoch:
        reader.again()
    if reader.work != window.work:
        reader.plan.work = reader.work
    if reader.work.get("skill") and window.flags.get("work") != window.epoch:
        reader.plan.flags["work"] = window.epoch
    return reader.plan or None
