from __future__ import annotations

import os

from handbill import handlers
from handbill.handlers.table import HANDLERS, handler


def test_every_row_names_a_handler_and_every_handler_has_a_row() -> None:
    named = {name for names in HANDLERS.values() for name in names}
    for name in named:
        assert callable(handler(name))
    modules = {file[:-3] for file in os.listdir(handlers.__path__[0]) if file.endswith(".py")}
    parts = {
        "native",
        "levels",
        "library",
        "expansion",
        "skills",
        "notices",
        "bundle",
        "handover",
        "reading",
        "resuming",
        "roles",
        "roots",
        "wording",
        "worktrees",
    }
    assert named == modules - {"__init__", "table"} - parts
