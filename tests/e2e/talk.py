"""A conversation with one client process: prompts go in one by one, as a person types them."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from sandbox import Sandbox


class Talk:
    def __init__(self, box: Sandbox, *arguments: str, env: dict[str, str] | None = None) -> None:
        self.box = box
        words = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        self.process = subprocess.Popen(
            [box.client.binary, "-p", *words, *arguments, "--dangerously-skip-permissions"],
            cwd=box.project, env={**box.client.environment(), **(env or {})}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def say(self, prompt: str) -> dict[str, Any]:
        """One turn; returns the client's closing record of it."""
        self.send(prompt)
        assert self.process.stdout is not None
        for answer in self.process.stdout:
            record: dict[str, Any] = json.loads(answer)
            if record.get("type") == "result":
                return record
        raise AssertionError(f"the client ended during {prompt!r}")

    def send(self, prompt: str) -> None:
        """Without waiting for an answer."""
        assert self.process.stdin is not None
        line = json.dumps({"type": "user", "message": {"role": "user", "content": prompt}})
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=60)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)
