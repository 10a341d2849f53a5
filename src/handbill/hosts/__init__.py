"""The hosts that Handbill works with, by the name that `engine install` writes.

The table is here and not in a module of its own, because loading another module takes longer than
using the table.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

HOSTS = {"claude-code": "handbill.hosts.claude_code"}


def host(name: str) -> ModuleType:
    module: ModuleType = __import__(HOSTS[name], fromlist=("parse",))
    return module
