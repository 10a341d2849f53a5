"""Files that cannot be delivered: the model is told once about each, and each is tried again when it changes."""

from __future__ import annotations

from handbill.core.host_files import look_again
from handbill.core.paths import under
from handbill.core.plan import Want
from handbill.core.sheet import UNDELIVERABLE_PAGE, Refusal
from handbill.core.window import UNDELIVERABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from handbill.core.sheet import Sheet
    from handbill.core.window import Record, Window

_MOST = 20  # files of the project that one window is told about by name
_AND_MORE = "There are more files that Handbill could not deliver. Ask the user to run `engine doctor`."


class Refusals:
    """The refused files of one event. `wants`: the pages that report them to the model."""

    def __init__(self, sheets: Mapping[str, Sheet | Refusal], window: Window, project: str) -> None:
        self._sheets = sheets
        self._pages: dict[str, Want] = {}
        self.wants: list[Want] = []
        known = window.flags.get(UNDELIVERABLE, {})
        named = sum(under(path, project) for path in known)
        for path, refusal in sheets.items():
            if not isinstance(refusal, Refusal) or not _is_loud(refusal, window.files.get(path)):
                continue
            named += under(path, project) and path not in known
            is_many = under(path, project) and named > _MOST and path not in known
            self._add(refusal, _AND_MORE if is_many else refusal.report(outdated=_outdated(window.files.get(path))))

    def _add(self, refusal: Refusal, text: str) -> None:
        want = next((want for want in self.wants if want.text == text), None)
        if want is None:
            want = Want(UNDELIVERABLE_PAGE, "cannot be delivered", text)
            self.wants.append(want)
        self._pages[refusal.path] = want

    def forget_solved(self, window: Window) -> Window:
        """Files that can be delivered now: a report about them that still waits would be wrong."""
        known = window.flags.get(UNDELIVERABLE, {})
        solved = [path for path in known if path in self._sheets and not isinstance(self._sheets[path], Refusal)]
        if not solved:
            return window
        after = window.copy()
        after.flags[UNDELIVERABLE] = {path: entry for path, entry in known.items() if path not in solved}
        still_told = {page for _, _, page in after.flags[UNDELIVERABLE].values()}
        for page in {known[path][2] for path in solved} - still_told:
            after.pending.pop(page, None)
        return after

    def note(self, window: Window, refused: Iterable[Refusal], wanted: Iterable[tuple[str, str]]) -> None:
        """In a window that is being made: what is to be tried again, and by which page the model knows of it.

        `wanted`: (path, why).
        """
        reasons, found = dict(wanted), {}
        for refusal in refused:
            if refusal.path in self._pages and not window.holds(refusal.path):
                found[refusal.path] = [refusal.stamp, reasons.get(refusal.path, ""), self._pages[refusal.path].path]
            if refusal.quiet:  # gone or empty now: a later touch looks again
                look_again(window, refusal.path)
        if found:
            window.flags[UNDELIVERABLE] = {**window.flags.get(UNDELIVERABLE, {}), **found}


def _outdated(record: Record | None) -> str:
    """The window holds an older state of the file, and a newer one was on its way."""
    return "some point" if record is not None and record.get("before") else ""


def _is_loud(refusal: Refusal, record: Record | None) -> bool:
    """A file that is gone or empty is no loss, unless a part of it was delivered and the rest will never be."""
    parts = record["parts"] if record is not None else ""
    if refusal.quiet and "." in parts and parts.strip("."):
        refusal.quiet = False
        refusal.why += ", and only some of its parts were delivered"
    return not refusal.quiet
