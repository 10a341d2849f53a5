"""The hosts we speak to, by the name that `engine install` writes into their settings.

Here, and not in a module of its own: to load one more takes longer than all that it does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

HOSTS = {"claude-code": "claude_code"}


def host(name: str) -> ModuleType:
    module: ModuleType = __import__(f"handbill.hosts.{HOSTS[name]}", fromlist=("parse",))
    return module
