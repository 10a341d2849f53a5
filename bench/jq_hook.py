"""The usual kind of hook, for comparison: a shell script that calls jq."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

MISSING = "bash + jq: skipped, one of them is not installed"

# It answers the same question as our idle event: whether this folder's directive was delivered.
_SCRIPT = """#!/usr/bin/env bash
input=$(cat)
session=$(jq -r '.session_id' <<<"$input")
path=$(jq -r '.tool_input.file_path // .tool_calls[0].tool_input.file_path // empty' <<<"$input")
[ -n "$path" ] || exit 0
state="$(dirname "$0")/$session.json"
[ -f "$state" ] || echo '{"touchedDirs":{}}' >"$state"
jq -e --arg dir "${path%/*}" '.touchedDirs | has($dir)' "$state" >/dev/null && exit 0
exit 0
"""


def available() -> bool:
    return all(shutil.which(tool) for tool in ("bash", "jq"))


def name() -> str:
    """Return the name with the version: jq 1.6 starts ten times slower than later versions."""
    version = subprocess.run(["jq", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return f"bash + 3 calls of {version}"


def written(folder: Path) -> str:
    path = folder / "jq_hook.sh"
    path.write_text(_SCRIPT)
    path.chmod(0o755)
    return str(path)
