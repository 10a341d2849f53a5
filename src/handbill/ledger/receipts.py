"""Claims become confirmed when the host's own record shows them; else they go back to pending."""

from __future__ import annotations

from handbill.event import TOOL_BATCH_FINISHED
from handbill.ledger import window as window_states
from handbill.ledger.epochs import within
from handbill.ledger.window import NOT_SENT, SENT, UNRECORDED, with_letter
from handbill.text.blocks import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event
    from handbill.ledger.window import Record, Window
    from handbill.text.blocks import Title

CONFIRMED, LOST, TRUNCATED, ASSUMED = "confirmed", "lost", "truncated", "assumed"

# Without any record to read, a later event is believed only after the host had time to write one.
PATIENCE = 2.0

_MOST_LOST = 2  # times that a file is sent again before that is concluded


class Evidence:
    """What a host's record says about the deliveries that are on their way."""

    __slots__ = ("arrived", "cut", "dropped", "lines", "passed", "readable", "records", "understood", "untrue")

    def __init__(
        self,
        arrived: set[Title] | None = None,
        cut: set[Title] | None = None,
        passed: set[int] | None = None,
        dropped: set[int] | None = None,
        lines: set[Title] | None = None,
        *,
        readable: bool = True,
        records: bool = True,
        understood: bool = False,
        untrue: set[tuple[str, str]] | None = None,
    ) -> None:
        self.arrived = arrived or set()
        self.cut = cut or set()
        self.passed = passed or set()  # claim ids: the record goes on behind the place where they should stand
        self.dropped = dropped or set()  # claim ids: the host never took the prompt or batch that they came with
        self.lines = lines or set()  # titles that have only a line about another file there, not the text
        self.readable = readable  # the transcript exists
        self.untrue = untrue or set()  # (file, digest) whose parts are all there, and are not that file's text
        self.understood = understood  # it shows a delivery of ours, or that one failed: in a form that we know
        self.records = records  # this host version writes injections of this kind of window to it


class Outcome:
    __slots__ = ("part", "parts", "path", "reason", "result")

    def __init__(self, path: str, reason: str, result: str, part: int = 0, parts: int = 0) -> None:
        self.path = path
        self.reason = reason
        self.result = result
        self.part = part  # of `parts`; 0: the whole file
        self.parts = parts


def settle(window: Window, evidence: Evidence, event: Event, now: float) -> tuple[Window, list[Outcome]]:
    """Judge every open claim; the same window comes back when nothing can be said yet."""
    outcomes: list[Outcome] = []
    still_open: list[Record] = []
    after = window.copy()
    for claim in window.claims:
        left = []
        for item in claim["items"]:
            path, part, digest, parts = item
            record = _claimed(after.files.get(path), digest, parts)
            if record is None:
                continue  # begun again since, with other text: that delivery has a claim of its own
            name = (shown(path), digest, part, parts)
            is_line = name in evidence.lines and not record.get("same")  # that came before the text
            verdict = _verdict(claim, None if is_line else name, evidence, event, now)
            dropped = claim["id"] in evidence.dropped
            if verdict == LOST and not dropped and not evidence.understood and _is_unrecorded(after, record):
                verdict, after.flags[UNRECORDED] = ASSUMED, True
            elif verdict == CONFIRMED:
                after.flags.pop(UNRECORDED, None)
            forged = verdict == LOST and (shown(path), digest) in evidence.untrue
            if forged:
                record = {**record, "parts": NOT_SENT * parts}  # one part is false: all of them are sent again
            if verdict:
                _keep(after, path, _judged(record, part, verdict, counts=not dropped), verdict)
                outcomes.append(Outcome(path, record["reason"], verdict, 0 if forged else part, parts))
            else:
                left.append(item)
        if left:
            still_open.append({**claim, "items": left})
    if still_open == window.claims:
        return window, []
    after.claims = still_open
    return after, outcomes


def survived(before: Window, after: Window) -> list[Outcome]:
    """What a resume says about the files that were in a window."""
    gone = [path for path in after.pending if path not in before.pending]
    found = [Outcome(path, "did not survive the resume", LOST) for path in gone]
    for path, record in before.files.items():
        if SENT in record["parts"] and path in after.files and SENT not in after.files[path]["parts"]:
            found += [Outcome(path, record["reason"], CONFIRMED)] if path not in gone else []
    return found


def _verdict(claim: Record, name: Title | None, evidence: Evidence, event: Event, now: float) -> str:
    if name in evidence.arrived:
        return CONFIRMED
    if name in evidence.cut:
        return TRUNCATED
    if event.is_moment(claim["batch"]):
        return ""  # its own moment: the host has not taken our output yet
    if claim["id"] in evidence.passed:
        return LOST
    later = event.kind == TOOL_BATCH_FINISHED
    if later and not evidence.records:
        return ASSUMED if claim.get("printed") else LOST  # printing is the last thing that its hook did
    if later and not evidence.readable and not within(claim["at"], now, PATIENCE):
        return ASSUMED
    return ""


def _is_unrecorded(window: Window, record: Record) -> bool:
    """Nothing of ours was ever seen in this window's record: the host may write it down in a form that is new to us.
    To send it again and again would fill the window."""
    if window.flags.get(UNRECORDED):
        return True
    often = record.get("lost", 0) >= _MOST_LOST
    return often and not any(window_states.CONFIRMED in other["parts"] for other in window.files.values())


_LETTER = {
    CONFIRMED: window_states.CONFIRMED,
    TRUNCATED: window_states.CUT,
    ASSUMED: window_states.ASSUMED,
    LOST: NOT_SENT,
}


def _claimed(record: Record | None, digest: str, parts: int) -> Record | None:
    """The record of the delivery that was claimed. The host may show that file, too, and take it back later."""
    for one in (record, record.get("ours") if record is not None else None):
        if one is not None and one["hash"] == digest and len(one["parts"]) == parts:
            return one
    return None


def _judged(record: Record, part: int, verdict: str, *, counts: bool) -> Record:
    """`counts`: a loss says something about how the host records deliveries."""
    if record.get("before"):  # of a state that a newer one will replace: only what the window holds meanwhile changes
        held = with_letter({**record, "parts": record["before"]}, part, _LETTER[verdict])["parts"]
        return {**record, "before": held if NOT_SENT not in held else ""}
    after = with_letter(record, part, _LETTER[verdict])
    if verdict == LOST:
        after["lost"] = record.get("lost", 0) + counts
    return after


def _keep(after: Window, path: str, judged: Record, verdict: str) -> None:
    record = after.files[path]
    if record["via"] == "host":  # the host shows it now: what we delivered is wanted only if that goes
        after.files[path] = {**record, "ours": judged}
        return
    after.files[path] = judged
    if verdict == LOST and not record.get("before"):
        after.pending.setdefault(path, judged["reason"])
