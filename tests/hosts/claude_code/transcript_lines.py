"""Lines of a transcript, and the window that they make."""

from __future__ import annotations

import json
from typing import Any

from handbill.digest import digest_of
from handbill.hosts.claude_code.chain import Loader
from handbill.hosts.claude_code.window import content
from handbill.ledger.content import Content
from handbill.text.blocks import block

DIGEST = "0123456789abcdef"


def ours(path: str, text: str) -> str:
    """A block whose title says what its text is."""
    return block(path, digest_of(text), text)


A = ours("/a", "text\nof a")
B = block("/b", DIGEST, "text of b", 2, 3)
TITLE = ("/a", digest_of("text\nof a"), 1, 1)
OLD, NEW = Loader(siblings=False), Loader(siblings=True)


def line(type: str, uuid: str, parent: str | None = None, **more: Any) -> bytes:
    return (
        json.dumps({"parentUuid": parent, "type": type, "uuid": uuid, **more}, separators=(",", ":")).encode() + b"\n"
    )


def injection(uuid: str, parent: str | None, *texts: str, kind: str = "hook_additional_context") -> bytes:
    return line("attachment", uuid, parent, attachment={"type": kind, "content": list(texts)})


def call(uuid: str, parent: str | None, id: str, name: str = "Read", **values: Any) -> bytes:
    blocks = [{"type": "tool_use", "id": id, "name": name, "input": values}]
    return line("assistant", uuid, parent, message={"id": f"m-{uuid}", "content": blocks})


def answer(uuid: str, parent: str | None, **message: Any) -> bytes:
    return line("assistant", uuid, parent, message={"id": f"m-{uuid}", "content": [], **message})


def result(uuid: str, parent: str | None, id: str, text: str = "", **more: Any) -> bytes:
    found = {"tool_use_id": id, "type": "tool_result", "content": text, **more}
    return line("user", uuid, parent, message={"content": [found]})


def prompt(uuid: str, parent: str | None, text: str = "go") -> bytes:
    return line("user", uuid, parent, promptId=f"p-{uuid}", message={"content": text})


def denied(uuid: str, parent: str, id: str, text: str, before: str = "") -> bytes:
    return result(uuid, parent, id, f"{before}[Held by Handbill] x\n\n{text}", is_error=True)


def window(data: bytes, loader: Loader | None = None, **more: Any) -> Content:
    found = content(data, loader, **more)
    assert found is not None
    return found


def titles(data: bytes, loader: Loader | None = None) -> set[str]:
    found = window(data, loader)
    return {name[0] for name in found.titles(found.denials)}


def boundary(uuid: str, head: str, tail: str, anchor: str = "s", uuids: list[str] | None = None) -> bytes:
    metadata: dict[str, Any] = {"preservedSegment": {"headUuid": head, "anchorUuid": anchor, "tailUuid": tail}}
    if uuids is not None:
        metadata["preservedMessages"] = {"anchorUuid": anchor, "uuids": uuids}
    row = line("system", uuid, None, subtype="compact_boundary", compactMetadata=metadata)
    return row + line("user", "s", uuid, isCompactSummary=True, message={"content": "summary"})


CHAIN = prompt("0", None) + call("1", "0", "t1") + result("2", "1", "t1") + injection("3", "2", A) + answer("4", "3")
ROWS = prompt("1", None) + answer("2", "1") + prompt("3", "2") + answer("4", "3")
