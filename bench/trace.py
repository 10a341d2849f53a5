"""Traces one event through the code: `bench/trace.py [--source DIR] [--verbose]`.

It plays a PostToolBatch event that delivers one rule. It counts the files whose functions run, and
how often a call leads from one file to another. `--source` measures another copy of the package
(its `src` folder).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def traced(source: Path, folder: Path) -> list[str]:
    """Return the file of each call in our code, in order."""
    sys.path.insert(0, str(source))
    from handbill import hook

    project, home = folder / "project", folder / "home"
    (project / "api" / ".directives").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / "api" / ".directives" / "AGENTS.md").write_text("# Rules of the API\n")
    (project / "api" / "x.py").write_text("x = 1\n")
    home.mkdir()
    environ = {
        "HOME": str(home), "CLAUDE_PROJECT_DIR": str(project), "AI_AGENT": "claude-code_2-1-325_x",
        "CLAUDE_PID": str(os.getpid()),
    }  # fmt: skip

    def event(name: str, **more: Any) -> bytes:
        raw = {"session_id": "s", "cwd": str(project), "prompt_id": "p", "hook_event_name": name, **more}
        return json.dumps({**raw, "transcript_path": str(folder / "t.jsonl")}).encode()

    (folder / "t.jsonl").write_text("")
    hook.respond(event("SessionStart", source="startup"), ["claude-code"], environ)
    _settle(home)
    call = {"tool_name": "Read", "tool_input": {"file_path": str(project / "api" / "x.py")}, "tool_use_id": "t1"}
    files: list[str] = []

    def profile(frame: FrameType, kind: str, _: object) -> None:
        name = frame.f_code.co_filename
        if kind == "call" and name.startswith(f"{source}/handbill/") and frame.f_code.co_name != "<module>":
            files.append(name[len(f"{source}/handbill/") :])

    data = event("PostToolBatch", tool_calls=[{**call, "tool_response": "1\tx = 1"}])
    sys.setprofile(profile)
    try:
        answer = hook.respond(data, ["claude-code"], environ)
    finally:
        sys.setprofile(None)
    assert "Rules of the API" in answer, answer
    return files


def _settle(home: Path) -> None:
    """Mark the standards as confirmed by the client's record."""
    (window,) = home.rglob("s.jsonl")
    head, _, rest = window.read_text().partition("\n")
    window.write_text(json.dumps({**json.loads(head), "openClaims": []}, separators=(",", ":")) + "\n" + rest)


def main() -> int:
    parser = argparse.ArgumentParser(description="The way of one delivering event through the code.")
    parser.add_argument("--source", type=Path, default=ROOT / "src")
    parser.add_argument("--verbose", action="store_true", help="list the files, and the most frequent switches")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="handbill-trace-") as folder:
        files = traced(args.source.resolve(), Path(folder))
    switches = [(one, other) for one, other in zip(files, files[1:]) if one != other]
    print(f"{len(set(files))} files, {len(switches)} switches between files, {len(files)} calls")
    if args.verbose:
        for name, count in Counter(files).most_common():
            print(f"  {count:4}  {name}")
        for (one, other), count in Counter(switches).most_common(25):
            print(f"  {count:4}  {one} -> {other}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
