"""`engine deliveries`: the log, filtered, followed, and added up."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

from command import engine, run, state_of
from looked_at import project

from handbill.flow.log_lines import _claim_rows
from handbill.ledger.claim import Claim

__all__ = ["project"]  # the fixture


def test_deliveries_filters(project: Path) -> None:
    rows = engine("deliveries", "--file", "one/", "--event", "claim-deliver", cwd=project)["data"]["deliveries"]
    assert [row["file"].rsplit("/project/")[-1] for row in rows] == ["one/.directives/AGENTS.md"]
    assert len(engine("deliveries", "--last", "3", cwd=project)["data"]["deliveries"]) == 3
    assert engine("deliveries", "--session", "nobody", cwd=project)["data"]["deliveries"] == []
    assert "delivered" in run("deliveries", cwd=project).stdout
    assert "the log has no matching entries" in run("deliveries", "--session", "nobody", cwd=project).stdout


def test_deliveries_follow(project: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "handbill.cli.main", "deliveries", "--follow", "--json", "--file", "marker"],
        cwd=project, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(process.stdout.readline() if process.stdout else ""))
    reader.start()
    for _ in range(100):  # lines that were there before it started are not followed
        with open(state_of(project) / ".engine" / "deliveries.jsonl", "a") as log:
            log.write(json.dumps({"ts": 1, "event": "lost", "file": "/marker", "window": "w.main"}) + "\n")
        reader.join(0.3)
        if received:
            break
    assert json.loads(received[0])["file"] == "/marker"
    process.terminate()


def test_duplicates_report(project: Path) -> None:
    assert engine("deliveries", "--duplicates", cwd=project)["data"] == {"duplicates": [], "deliveries": 8}
    with open(state_of(project) / ".engine" / "deliveries.jsonl", "a") as log:
        log.write(json.dumps({"ts": 1, "window": "abc-session.main", "handler": "x", "event": "claim-deliver",
                              "file": str(project / "one/.directives/AGENTS.md"), "source": "y"}) + "\n")  # fmt: skip
    found = engine("deliveries", "--duplicates", cwd=project, expect=1)["data"]["duplicates"]
    assert found[0]["copies"] == 2


def test_each_line_says_call_session_and_dedup(project: Path) -> None:
    lines = engine("deliveries", "--last", "0", cwd=project)["data"]["deliveries"]
    start = [line for line in lines if line["handler"] == "session_started" and line["event"] == "direct-deliver"]
    batch = [line for line in lines if line["file"].endswith("one/.directives/AGENTS.md")]
    assert {(line["tool"], line["call"], line["session"], line["dedup"]) for line in start} == {("", "", False, "new")}
    assert batch[0]["tool"] == "Read" and batch[0]["call"] and batch[0]["dedup"] == "new"


def test_the_summary_of_a_run(project: Path) -> None:
    data = engine("deliveries", "--summary", cwd=project)["data"]
    assert data["deliveries"] == data["files"] == 8 and data["windows"] == 1 and data["duplicates"] == []
    assert data["per_handler"] == {"session_started": 6, "tool_batch_finished": 2} and data["without_session"] == 8
    said = run("deliveries", "--summary", cwd=project).stdout
    assert "8 deliveries of 8 files into 1 window" in said and "duplicates         0" in said


def test_the_summary_counts_what_is_there_already_and_twice(project: Path) -> None:
    log = state_of(project) / ".engine" / "deliveries.jsonl"
    lines = log.read_text().splitlines()
    again = next(line for line in lines if "one/.directives/AGENTS.md" in line and "claim-deliver" in line)
    skipped = again.replace("claim-deliver", "skip-dedup")
    log.write_text("\n".join([*lines, again, skipped]) + "\n")
    data = engine("deliveries", "--summary", cwd=project, expect=1)["data"]
    assert data["skipped"] == 1 and [one["copies"] for one in data["duplicates"]] == [2]


def test_the_lanes_of_a_start_log_a_skip_once() -> None:
    claim = Claim()
    claim.skipped.append(("/a", "skip-dedup", "why"))
    turns = [SimpleNamespace(event=SimpleNamespace(kind="session_started", lane=lane)) for lane in (1, 2)]
    assert [_claim_rows(turn, claim) for turn in turns] == [[("skip-dedup", "/a", "why", 0)], []]  # type: ignore[arg-type]
