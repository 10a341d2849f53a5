"""Settle claims: recorded deliveries are confirmed, and lost ones become pending again."""

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

# If no record can be read, a later event counts as proof only after the host had time to write one.
PATIENCE = 2.0

_MOST_LOST = 2  # losses of a file before we conclude that the host does not record deliveries


class Evidence:
    """What a host's record shows about open deliveries."""

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
        # claim ids: the record continues after their expected position
        self.passed = passed or set()
        # claim ids: the host never took the prompt or batch of the delivery
        self.dropped = dropped or set()
        # titles under which only a line about another file is there, not the text
        self.lines = lines or set()
        self.readable = readable  # the transcript exists
        # (file, digest): all parts are there, but are not that file's text
        self.untrue = untrue or set()
        # the record shows a delivery or a failure of ours in a known form
        self.understood = understood
        self.records = records  # this host version records injections into this kind of window


class Outcome:
    __slots__ = ("part", "parts", "path", "reason", "result")

    def __init__(self, path: str, reason: str, result: str, part: int = 0, parts: int = 0) -> None:
        self.path = path
        self.reason = reason
        self.result = result
        self.part = part  # of `parts`; 0: the whole file
        self.parts = parts


def settle(window: Window, evidence: Evidence, event: Event, now: float) -> tuple[Window, list[Outcome]]:
    """Judge every open claim; return the same window if nothing can be decided yet."""
    outcomes: list[Outcome] = []
    still_open: list[Record] = []
    after = window.copy()
    for claim in window.claims:
        left = []
        for item in claim["items"]:
            path, part, digest, parts = item
            record = _claimed(after.files.get(path), digest, parts)
            if record is None:
                continue  # another text of it is being delivered, with a claim of its own
            name = (shown(path), digest, part, parts)
            # the line that preceded the text
            is_line = name in evidence.lines and not record.get("same")
            verdict = _verdict(claim, None if is_line else name, evidence, event, now)
            dropped = claim["id"] in evidence.dropped
            if verdict == LOST and not dropped and not evidence.understood and _is_unrecorded(after, record):
                verdict, after.flags[UNRECORDED] = ASSUMED, True
            elif verdict == CONFIRMED:
                after.flags.pop(UNRECORDED, None)
            forged = verdict == LOST and (shown(path), digest) in evidence.untrue
            if forged:
                # one part is false: send all of them again
                record = {**record, "parts": NOT_SENT * parts}
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
    """Return the outcomes of a resume for the files that were in a window."""
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
        return ""  # the same moment: the host has not taken our output yet
    if claim["id"] in evidence.passed:
        return LOST
    later = event.kind == TOOL_BATCH_FINISHED
    if later and not evidence.records:
        return ASSUMED if claim.get("printed") else LOST  # printing is the last step of its hook
    if later and not evidence.readable and not within(claim["at"], now, PATIENCE):
        return ASSUMED
    return ""


def _is_unrecorded(window: Window, record: Record) -> bool:
    """Whether the host may record our deliveries in a form that we do not know.

    This window's record has never shown one. Repeated deliveries would fill the window.
    """
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
    """Return the record of the claimed delivery, even if the host now shows the file as well.

    The message in which the host shows the file may go away later.
    """
    for one in (record, record.get("ours") if record is not None else None):
        if one is not None and one["hash"] == digest and len(one["parts"]) == parts:
            return one
    return None


def _judged(record: Record, part: int, verdict: str, *, counts: bool) -> Record:
    """Return the record after the verdict. `counts`: count a loss as a sign of missing host
    records."""
    # A newer state will replace this one: update only the parts that the window has meanwhile.
    if record.get("before"):
        held = with_letter({**record, "parts": record["before"]}, part, _LETTER[verdict])["parts"]
        return {**record, "before": held if NOT_SENT not in held else ""}
    after = with_letter(record, part, _LETTER[verdict])
    if verdict == LOST:
        after["lost"] = record.get("lost", 0) + counts
    return after


def _keep(after: Window, path: str, judged: Record, verdict: str) -> None:
    record = after.files[path]
    # the host shows it now: our delivery is wanted only if that message goes away
    if record["via"] == "host":
        after.files[path] = {**record, "ours": judged}
        return
    after.files[path] = judged
    if verdict == LOST and not record.get("before"):
        after.pending.setdefault(path, judged["reason"])
