"""Find files that the Claude Code client itself shows in full, and the text that it shows."""

from __future__ import annotations

from handbill.hosts.claude_code.rows import attachment_of, injected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.hosts.claude_code.rows import Row

_AGENTS_MD = ("tool.call", "prompt.mention")  # the client's own hooks for AGENTS.md
_CONTENTS = "Contents of "


def files_shown(row: Row) -> dict[str, str]:
    """Return path -> text of the files that this row shows in full.

    The text is empty where the client does not record it. The client shows a file because it was
    read or mentioned, because a compaction restored it, or because it holds the instructions for a
    folder.
    """
    attachment = attachment_of(row)
    if attachment.get("type") == "nested_memory":
        return _instructions(attachment)
    if attachment.get("hookName") in _AGENTS_MD:
        return _agents_md(row)
    shown = attachment.get("content") if attachment.get("type") == "file" else row.get("toolUseResult")
    file = shown.get("file") if isinstance(shown, dict) else None
    if not isinstance(file, dict) or attachment.get("truncated") is True:
        return {}
    path, lines = file.get("filePath"), file.get("numLines")
    is_whole = file.get("startLine") == 1 and isinstance(lines, int) and lines == file.get("totalLines")
    text = file.get("content")
    return {path: text if isinstance(text, str) else ""} if isinstance(path, str) and is_whole else {}


def _instructions(attachment: Row) -> dict[str, str]:
    """Return a nested CLAUDE.md or a file that it imports.

    The client may leave out parts of it, such as comments.
    """
    path, content = attachment.get("path"), attachment.get("content")
    text = content.get("content") if isinstance(content, dict) and not content.get("contentDiffersFromDisk") else ""
    return {path: text if isinstance(text, str) else ""} if isinstance(path, str) else {}


def _agents_md(row: Row) -> dict[str, str]:
    """Return a nested AGENTS.md.

    If it is too long, the client shows only its beginning, under another heading.
    """
    heads = [(head, body) for text in injected(row) for head, colon, body in [text.partition(":\n\n")] if colon]
    return {head[len(_CONTENTS) :]: body for head, body in heads if head.startswith(_CONTENTS)}
