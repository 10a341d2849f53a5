"""Faults in our hooks, made from outside."""

from __future__ import annotations

import json

from sandbox import ROOT, Sandbox


def break_hooks(box: Sandbox, fault: str, at: str) -> dict[str, str]:
    """Put the faulty twin into the settings; returns the environment that makes the fault."""
    settings = json.loads(box.settings().read_text())
    for groups in settings["hooks"].values():
        for handler in groups[0]["hooks"]:
            code = handler["args"].index("-c") + 1
            paths = [str(ROOT / "src"), str(ROOT / "tests" / "e2e")]
            handler["args"][code] = (
                f"import sys;sys.path[:0]={paths!r}\n# handbill.hook\nimport faulty_hook\nfaulty_hook.main()"
            )
            handler["timeout"] = 3
    settings["hooks"]["SessionStart"][0]["hooks"] = settings["hooks"]["SessionStart"][0]["hooks"][:1]
    box.settings().write_text(json.dumps(settings))
    return {"FAULT": fault, "FAULT_AT": at, "FAULT_COUNT": str(box.project.parent / "count")}
