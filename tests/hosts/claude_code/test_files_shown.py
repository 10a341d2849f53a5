"""Files that the client itself shows in full, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from handbill.hosts.claude_code.files_shown import files_shown


def whole(path: str, **more: Any) -> dict[str, Any]:
    file = {"filePath": path, "content": "x", "numLines": 2, "startLine": 1, "totalLines": 2, **more}
    return {"type": "text", "file": file}


def attached(type: str, **values: Any) -> dict[str, Any]:
    return {"type": "attachment", "attachment": {"type": type, **values}}


def nested(path: object, content: object) -> dict[str, Any]:
    return attached("nested_memory", path=path, content=content)


def hook(name: str, *texts: object) -> dict[str, Any]:
    return attached("hook_additional_context", hookName=name, content=list(texts))


BARE = "Contents of /p/AGENTS.md:\n\nbe:\n\nbrief\n"
CUT = "The beginning of /p/AGENTS.md:\n\nbe\n"


@pytest.mark.parametrize(
    "row, files",
    [
        (attached("file", filename="/a", content=whole("/a")), {"/a": "x"}),
        (attached("file", filename="/a", content=whole("/a"), truncated=True), {}),
        (attached("file", filename="/a", content="odd"), {}),
        (attached("compact_file_reference", filename="/a", content=whole("/a")), {}),
        ({"toolUseResult": whole("/a")}, {"/a": "x"}),
        ({"toolUseResult": whole("/a", content=None)}, {"/a": ""}),
        ({"toolUseResult": whole("/a", startLine=2)}, {}),
        ({"toolUseResult": whole("/a", totalLines=9)}, {}),
        ({"toolUseResult": whole("/a", numLines=None, totalLines=None)}, {}),
        ({"toolUseResult": whole("/a", filePath=5)}, {}),
        ({"toolUseResult": {"type": "file_unchanged", "file": {"filePath": "/a"}}}, {}),
        ({"toolUseResult": "text"}, {}),
        ({"toolUseResult": {"file": "/a"}}, {}),
        (nested("/p/CLAUDE.md", {"content": "be brief"}), {"/p/CLAUDE.md": "be brief"}),
        (nested("/p/CLAUDE.md", {"content": "be", "contentDiffersFromDisk": True}), {"/p/CLAUDE.md": ""}),
        (nested("/p/CLAUDE.md", {"content": 5}), {"/p/CLAUDE.md": ""}),
        (nested("/p/CLAUDE.md", "odd"), {"/p/CLAUDE.md": ""}),
        (nested(5, {"content": "be brief"}), {}),
        (hook("tool.call", BARE), {"/p/AGENTS.md": "be:\n\nbrief\n"}),
        (hook("prompt.mention", BARE), {"/p/AGENTS.md": "be:\n\nbrief\n"}),
        (hook("tool.call", CUT, "no heading", 5, BARE), {"/p/AGENTS.md": "be:\n\nbrief\n"}),
        (hook("tool.call", "Contents of /p/AGENTS.md"), {}),
        (hook("PostToolUse:Read", BARE), {}),  # somebody else's words
        (attached("hook_success", hookName="tool.call", content=[BARE]), {}),
        ({"attachment": "odd"}, {}),
        ({}, {}),
    ],
)
def test_which_files_a_row_shows(row: dict[str, Any], files: dict[str, str]) -> None:
    assert files_shown(row) == files
