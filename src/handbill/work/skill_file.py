"""Parse SKILL.md: its frontmatter, and the first JSON block under "Session Parameters"."""

from __future__ import annotations

from handbill.text.blocks import one_line
from handbill.text.markdown import block_under, heading, scan
from handbill.text.references import page_name
from handbill.work.phases import MOST_PAGES, MOST_PHASES, Phase, key, ordered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SECTION = "Session Parameters"
TEMPLATES = ("logTemplate", "planTemplate", "debriefTemplate", "requestTemplate", "responseTemplate")
# These are delivered when the skill begins; the others belong to delegation.
NEEDED_TEMPLATES = TEMPLATES[:3]
_MOST_TYPES = 100  # directives that one skill may request
_LONGEST = 500  # characters of a name or a step
_MOST_HEAD = 20_000  # characters of a skill's frontmatter
_TEXTS, _LISTS = ("taskType", *TEMPLATES), ("nextSkills", "directives")
_FIELDS = ("phases", *_LISTS, "modes", *_TEXTS)
_OF_A_PHASE = ("label", "name", "steps", "commands", "proof", "gate", "invariants", "major", "minor")


class Skill:
    __slots__ = ("about", "broken", "hints", "phases", "problems", "values")

    def __init__(self) -> None:
        self.about: dict[str, str] = {}  # frontmatter
        self.values: dict[str, Any] = {}  # valid session parameters without phases
        self.phases: list[Phase] = []  # in order
        self.problems: list[tuple[int, str]] = []  # (line, fault)
        # (line, unused field, which is probably a typing error)
        self.hints: list[tuple[int, str]] = []
        self.broken = False  # its parameters could not be read

    @property
    def directives(self) -> list[str]:
        """Return the directive types that this skill requests, as file names."""
        return [
            name if name.endswith(".md") else f"{name}.md" for name in self.values.get("directives", [])[:_MOST_TYPES]
        ]

    def phase(self, label: str) -> Phase | None:
        return next((phase for phase in self.phases if phase.label == label), None)

    def templates(self, names: tuple[str, ...] = NEEDED_TEMPLATES) -> list[str]:
        """Return paths as the skill wrote them, relative to its folder."""
        return [self.values[name] for name in names if self.values.get(name)]


def parse(text: str, loads: Callable[[str], Any]) -> Skill:
    """Return the skill. This never fails: each unreadable part becomes a problem with its line."""
    skill = Skill()
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    skill.about = frontmatter(text)
    block = block_under(text, SECTION)
    if block is None:
        line = next((number for number, line, _ in scan(text) if SECTION in heading(line)[1]), 0)
        if line:
            skill.hints.append((line, f"no ```json block follows the heading {SECTION}: the skill has no phases"))
        return skill
    try:
        values = loads(block.text)
    except (ValueError, RecursionError) as error:
        line = block.line + block.text.count("\n", 0, getattr(error, "pos", 0))
        skill.problems.append((line, getattr(error, "why", "") or f"not JSON: {error}"))
        skill.broken = True
        return skill
    if not isinstance(values, dict):
        skill.broken = True
        skill.problems.append((block.line, f"{SECTION} must be a JSON object"))
        return skill
    _take(skill, values, block.line)
    return skill


def _take(skill: Skill, values: dict[str, Any], line: int) -> None:
    skill.hints += [
        (line, f"{name} is not a parameter; the parameters are {', '.join(_FIELDS)}")
        for name in values
        if name not in _FIELDS
    ]
    for name in _TEXTS:
        value = values.get(name)
        if isinstance(value, str) and value:
            skill.values[name] = value
        elif value:
            skill.problems.append((line, f"{name} must be text"))
    for name in _LISTS:
        value = values.get(name, [])
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            skill.values[name] = value
        else:
            skill.problems.append((line, f"{name} must be a list of texts"))
    modes = values.get("modes", {})
    if isinstance(modes, dict) and all(isinstance(mode, dict) for mode in modes.values()):
        skill.values["modes"] = modes
    else:
        skill.problems.append((line, "modes must map each mode to {label, description, file}"))
    phases = values.get("phases", [])
    if not isinstance(phases, list):
        skill.problems.append((line, "phases must be a list"))
        phases = []
    found: dict[str, Phase] = {}
    if len(phases) > MOST_PHASES:
        skill.problems.append((line, f"there are more than {MOST_PHASES} phases; the rest is not used"))
    for number, entry in enumerate(phases[:MOST_PHASES], 1):
        _add_phase(skill, found, number, entry, line)
    skill.phases = ordered(found.values())


def _add_phase(skill: Skill, found: dict[str, Phase], number: int, entry: Any, line: int) -> None:
    def problem(text: str) -> None:
        skill.problems.append((line, f"phases[{number}]: {text}"))

    if not isinstance(entry, dict):
        return problem("must be an object")
    for name in entry:
        if name not in _OF_A_PHASE:
            fields = ", ".join(_OF_A_PHASE)
            skill.hints.append((line, f"phases[{number}]: {name} is not a field; the fields are {fields}"))
    label = label_of(entry)
    try:
        key(label)
    except ValueError as error:
        return problem(str(error))
    if label in found:
        return problem(f"the label {label} is declared twice; the first counts")
    lists: dict[str, tuple[str, ...]] = {}
    for field in ("steps", "commands", "proof", "invariants"):
        value = entry.get(field) or []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            problem(f"{field} must be a list of texts")
            value = []
        if len(value) > MOST_PAGES:
            problem(f"{field} has more than {MOST_PAGES} entries; the rest is not used")
            value = value[:MOST_PAGES]
        lists[field] = tuple(one_line(one, _LONGEST) for one in value)
        for one in value:
            if field != "proof" and not page_name(one):
                problem(f"{field} has {one!r}, which is not a page name like §CMD_X")
    gate = entry.get("gate", True)
    gate = gate if isinstance(gate, bool) else one_line(gate, _LONGEST) if isinstance(gate, str) else True
    found[label] = Phase(label, one_line(entry.get("name", ""), _LONGEST), gate=gate, **lists)
    return None


def label_of(entry: dict[str, Any]) -> str:
    """Return `label`, or the older `major` and `minor`."""
    if "label" in entry:
        return str(entry["label"])
    major, minor = entry.get("major", ""), entry.get("minor", 0)
    return f"{major}.{minor}" if minor else str(major)


def frontmatter(text: str) -> dict[str, str]:
    """Return the top-level fields as text. No other part of YAML is needed here."""
    if not text.startswith("---\n"):
        return {}
    end = text.find("\n---", 3)
    found: dict[str, str] = {}
    name = ""
    for line in text[4 : min(end, _MOST_HEAD) if end >= 0 else 0].split("\n"):
        if line[:1] in (" ", "\t", "-") and name:  # a folded text continues
            found[name] = f"{found[name]} {line.strip()}".strip()
        elif ":" in line and not line.startswith("#"):
            name, _, value = line.partition(":")
            name, value = name.strip(), value.strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            found[name] = "" if value in (">", "|", ">-", "|-") else value
    return found
