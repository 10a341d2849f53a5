"""The model of a window against what the real client sent, in recorded sessions of every version in the suite.

Each file holds a transcript (texts cut to marks) and, for each recorded request, how much of the transcript was
written by then and which marks the request held. The sessions rewind, summarize, interrupt, compact and resume.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from handbill.digest import digest_of
from handbill.hosts.claude_code.chain import Loader
from handbill.hosts.claude_code.window import content
from handbill.text.blocks import BETWEEN, block

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.jsonl"))
MARK = re.compile(r"\[\[MARK ([^\]]*)\]\]")


def as_block(mark: str) -> str:
    return block(f"/{mark}", digest_of("text"), "text")


def load(path: Path) -> tuple[list[bytes], list[dict[str, Any]]]:
    """The transcript's lines with a block of ours for each mark; the requests."""
    *rows, last = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        if row.get("attachment", {}).get("content"):
            texts = [BETWEEN.join(map(as_block, MARK.findall(text))) for text in row["attachment"]["content"]]
            row["attachment"]["content"] = texts
    lines = [json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows]
    return lines, last["requests"]


def shown(lines: list[bytes], loader: Loader | None) -> set[str]:
    found = content(b"".join(lines), loader)
    assert found is not None
    return {path[1:] for path, _, _, _ in found.blocks}


def test_every_version_and_kind_is_recorded() -> None:
    assert {path.name.partition("-")[0] for path in RECORDINGS} == {"2.1.197", "2.1.260", "2.1.325"}
    assert len(RECORDINGS) >= 24


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_the_model_is_what_the_next_request_holds(path: Path) -> None:
    lines, requests = load(path)
    loader = Loader(siblings=path.name.startswith("2.1.325"))
    assert len(requests) > 3
    for number, request in enumerate(requests):
        wanted = set(MARK.findall(" ".join(request["marks"])))
        if "live" in request:
            visible = request["live"]
            rows = lines[:visible] if isinstance(visible, int) else [lines[index] for index in visible]
            assert shown(rows, None) == wanted, f"request {number}"
        else:  # what a new process rebuilds; its own start and prompt come on top
            rebuilt = shown(lines[: request["resumed"]], loader)
            assert rebuilt <= wanted, f"request {number}"
            assert all(mark.startswith(("SessionStart:resume", "UserPromptSubmit")) for mark in wanted - rebuilt)
            assert len(wanted - rebuilt) <= 2
