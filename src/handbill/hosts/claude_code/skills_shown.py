"""Find skills in a Claude Code transcript: those called, and those whose bodies were added."""

from __future__ import annotations

from handbill.hosts.claude_code.rows import attachment_of, calls_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.hosts.claude_code.rows import Row

_BODY = "Base directory for this skill: "


def folder_in(text: object) -> str:
    return text[len(_BODY) :].partition("\n")[0] if isinstance(text, str) and text.startswith(_BODY) else ""


def names_called(row: Row) -> list[str]:
    """Return the names of the skills that the model called.

    The calls are needed because another text may imitate the body of a skill.
    """
    inputs = [call.get("input") for call in calls_in(row) if call.get("name") == "Skill"]
    names = [values.get("skill") for values in inputs if isinstance(values, dict)]
    return [name for name in names if isinstance(name, str)]


def is_called(folder: str, commands: set[str]) -> bool:
    """Whether the skill in this folder was called.

    A project's `/other:review` is not the user's `review`. A plugin's skill is in that plugin's
    folder.
    """
    own = folder.rpartition("/")[2]
    plugins = [name.rpartition(":")[0] for name in commands if name.rpartition(":")[2] == own]
    return any(not plugin or ("/plugins/" in folder and f"/{plugin}/" in folder) for plugin in plugins)


def put_back(row: Row) -> list[object]:
    """Return the skills that the client puts back after a compaction."""
    attachment = attachment_of(row)
    skills = attachment.get("skills") if attachment.get("type") == "invoked_skills" else ()
    return [one.get("content") for one in skills if isinstance(one, dict)] if isinstance(skills, list) else []
