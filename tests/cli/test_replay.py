from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import engine

STREAMS = sorted((Path(__file__).parents[1] / "events").glob("*.jsonl"))


@pytest.mark.parametrize("stream", STREAMS, ids=lambda path: path.stem)
def test_recorded_streams_deliver_what_they_did(stream: Path) -> None:
    answer = engine("replay", str(stream))
    assert answer["data"]["differences"] == 0
    assert any(row["delivered"] for row in answer["data"]["events"])


def test_another_delivery_is_told(tmp_path: Path) -> None:
    copy = tmp_path / "stream.jsonl"
    shutil.copy(STREAMS[0], copy)
    lines = copy.read_text().splitlines()
    changed = json.loads(lines[1])
    changed["out"] = changed["out"][1:]
    copy.write_text("\n".join([lines[0], json.dumps(changed), *lines[2:]]))
    assert engine("replay", str(copy), expect=1)["data"]["differences"] == 1
    engine("replay", str(copy), "--update")
    assert engine("replay", str(copy))["data"]["differences"] == 0


@pytest.mark.parametrize(
    "text, where",
    [
        ("{", ":1:"),
        ("{}\n", ":1:"),
        ('{"hook_event_name": "Stop"}\n[]\n', ":2:"),
        ('{"hook_event_name": "PostToolBatch", "tool_calls": "x"}', ":1:"),
    ],
)
def test_what_is_no_stream_is_named_by_line(tmp_path: Path, text: str, where: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    assert where in engine("replay", str(path), expect=1)["error"]["message"]
    assert "No such file" in engine("replay", str(tmp_path / "none"), expect=1)["error"]["message"]
