"""Faults in our hooks, made from outside."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping

from sandbox import ROOT, Sandbox


def break_hooks(box: Sandbox, faults: Mapping[str, str]) -> dict[str, str]:
    """Put the faulty twin into the settings; returns the environment that makes the faults.

    {"PostToolBatch:2": "before-claim"} kills the hook of the second batch before it claims anything.
    """
    settings = json.loads(box.settings().read_text())
    for groups in settings["hooks"].values():
        for handler in groups[0]["hooks"]:
            paths = [str(ROOT / "src"), str(ROOT / "tests" / "e2e")]
            code = f"import sys;sys.path[:0]={paths!r}\n# handbill.hook\nimport faulty_hook\nfaulty_hook.main()"
            handler["command"], words = sys.executable, ["-I", "-S", "-X", "utf8", "-c", code]
            handler["args"] = [*words, *handler["args"]]
            handler["timeout"] = 3
    settings["hooks"]["SessionStart"][0]["hooks"] = settings["hooks"]["SessionStart"][0]["hooks"][:1]
    box.settings().write_text(json.dumps(settings))
    return {"FAULTS": json.dumps(faults), "EVENTS_SEEN": tempfile.mkdtemp(dir=box.project.parent)}
