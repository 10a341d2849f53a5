"""Files that cannot be delivered: report each state to the model, and retry a file when it changes.

The reports name at most twenty files of a project.
"""

from __future__ import annotations

from handbill.ledger.host_files import look_again
from handbill.ledger.window import NOT_SENT, UNDELIVERABLE
from handbill.paths import name, under
from handbill.plan import Want
from handbill.text.document import UNDELIVERABLE_PAGE, Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from handbill.ledger.window import Record, Window
    from handbill.text.document import Document

_MOST = 20  # files of the project that the reports to one window name
_AND_MORE = "There are more files that Handbill could not deliver. Ask the user to run `engine doctor`."


class Refusals:
    """The refused files of one event. `wants`: the pages that report them to the model."""

    def __init__(
        self, documents: Mapping[str, Document | Refusal], window: Window, project: str, outdated: Mapping[str, str]
    ) -> None:
        self._sheets = documents
        self._outdated = outdated
        self._pages: dict[str, Want] = {}
        self.wants: list[Want] = []
        known = window.flags.get(UNDELIVERABLE, {})
        named = sum(under(path, project) for path in known)
        for path, refusal in documents.items():
            if not isinstance(refusal, Refusal) or not _is_loud(refusal, window.files.get(path)):
                continue
            named += under(path, project) and path not in known
            is_many = under(path, project) and named > _MOST and path not in known
            self._add(refusal, _AND_MORE if is_many else refusal.report(outdated=outdated.get(path, "")))

    def _add(self, refusal: Refusal, text: str) -> None:
        want = next((want for want in self.wants if want.text == text), None)
        if want is None:
            want = Want(UNDELIVERABLE_PAGE, "cannot be delivered", text)
            self.wants.append(want)
        self._pages[refusal.path] = want

    def forget_solved(self, window: Window) -> Window:
        """Remove pending reports about files that can be delivered now, because they would be
        wrong."""
        known = window.flags.get(UNDELIVERABLE, {})
        left = {path: entry for path, entry in known.items() if isinstance(self._sheets.get(path, _NO_NEWS), Refusal)}
        still_true = {page for _, _, page in left.values()}
        wrong = [page for page in window.pending if is_report(page) and page not in still_true]
        if len(left) == len(known) and not wrong:
            return window
        after = window.copy()
        after.flags[UNDELIVERABLE] = left
        for page in wrong:
            del after.pending[page]
        return after

    def note(self, window: Window, refused: Iterable[Refusal], wanted: Iterable[tuple[str, str]]) -> None:
        """Note in a new window which files to retry, and the page that reports each to the model.

        `wanted`: (path, reason).
        """
        reasons, found = dict(wanted), {}
        for refusal in refused:
            if refusal.path in self._pages and (refusal.path in self._outdated or not window.holds(refusal.path)):
                found[refusal.path] = [refusal.stamp, reasons.get(refusal.path, ""), self._pages[refusal.path].path]
            if refusal.quiet:  # it is gone or empty now: check it again when it is touched
                look_again(window, refusal.path)
        if found:
            window.flags[UNDELIVERABLE] = {**window.flags.get(UNDELIVERABLE, {}), **found}


_NO_NEWS = Refusal("", "was not read in this event")


def is_report(path: str) -> bool:
    return name(path).startswith(f"{UNDELIVERABLE_PAGE}-")


def _is_loud(refusal: Refusal, record: Record | None) -> bool:
    """Whether to report the refusal.

    A file that is gone or empty is not reported unless a part of it was delivered and the rest
    never will be.
    """
    parts = record["parts"] if record is not None else ""
    if refusal.quiet and NOT_SENT in parts and parts.strip(NOT_SENT):
        refusal.quiet = False
        refusal.why += ", and only some of its parts were delivered"
    return not refusal.quiet
