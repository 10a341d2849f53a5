"""How a simulated client runs hooks: the registered commands as processes, or the code directly."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from handbill.hosts.claude_code import registration

Raw = dict[str, Any]
Hooks = Callable[[str, Raw], list[str]]  # host event name, event -> the output of each handler


class ProcessHooks:
    """Runs the commands of a settings file as the client does: as real processes, all at once."""

    def __init__(self, settings: str, environ: Mapping[str, str]) -> None:
        with open(settings, encoding="utf-8") as file:
            written = json.load(file)
        self.registered = registration.registered(written)
        self.held = "|".join(registration.matchers(written, "PreToolUse"))
        self.environ = dict(environ)

    def __call__(self, name: str, raw: Raw) -> list[str]:
        if name == "PreToolUse" and self.held and raw.get("tool_name") not in self.held.split("|"):
            return []
        handlers = self.registered.get(name, [])
        with ThreadPoolExecutor(max(1, len(handlers))) as pool:
            return list(pool.map(lambda handler: self._run(handler, raw), handlers))

    def _run(self, handler: Raw, raw: Raw) -> str:
        done = subprocess.run(
            [handler["command"], *handler["args"]], input=json.dumps(raw).encode(), capture_output=True,
            env=self.environ, timeout=handler.get("timeout", 60), check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"a hook must exit 0, this one: {done.returncode} {done.stderr!r}")
        return done.stdout.decode()


def direct_hooks(environ: Mapping[str, str], lanes: Mapping[str, int] | None = None) -> Hooks:
    """Return hooks that run the same code without a process, for replays and pipeline tests.

    `lanes`: event -> how many handlers are registered for it; the default is one.
    """
    from handbill.hook import respond

    def call(name: str, raw: Raw) -> list[str]:
        count = (lanes or {}).get(name, 1)
        words = [["--lane", f"{number}/{count}"] for number in range(1, count + 1)] if count > 1 else [[]]
        return [respond(json.dumps(raw).encode(), ["claude-code", *lane], environ) for lane in words]

    return call
