"""A project as commands and reports use it: its folder, state, settings and host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbill.errors import CorruptState
from handbill.hosts import HOSTS, host
from handbill.store.files import REBUILT, FileStore
from handbill.world import World, deliverable_roots

if TYPE_CHECKING:
    from handbill.ledger.window import Window
    from handbill.settings import ProcessContext, Settings
    from handbill.store.api import Key


HOST = host(next(iter(HOSTS)))  # commands support one host so far


class CheckedStore(FileStore):
    """A store that parses a whole ledger at once.

    Hooks parse a ledger's lines on demand, but a person wants to know at once if one is broken.
    """

    def read(self, key: Key) -> Window | None:
        window = super().read(key)
        try:
            if window is not None:
                window.files.items()
                window.touched.items()
        except CorruptState as error:
            raise CorruptState(f"{self._path(key)}: {error}", REBUILT) from None
        return window


class Project:
    def __init__(self, process: ProcessContext, store: FileStore, settings: Settings) -> None:
        self.process = process
        self.root = process.project
        self.store = store
        self.settings = settings
        self.host = HOST

    def world(self) -> World:
        return World(deliverable_roots(self.process, self.host, self.settings.allowed), self.host, self.process)


def session_of(key: Key) -> str:
    """Return the host's session. A second terminal's window has the session's name and its process
    id."""
    return key[0].partition("~")[0]
