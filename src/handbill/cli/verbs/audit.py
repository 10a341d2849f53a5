"""`engine window --audit`: does the ledger of a window say what the client's own record shows?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handbill.cli.project import Project
from handbill.cli.result import Result
from handbill.cli.screen import count, safe, short, table
from handbill.errors import HandbillError
from handbill.ledger.host_files import hidden
from handbill.ledger.reconcile import denied_calls, left
from handbill.text.blocks import meant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from handbill.ledger.content import Content
    from handbill.ledger.window import Window
    from handbill.store.api import Key


def audit(window: Window, content: Content | None, key: Key, project: Project) -> Result:
    if content is None:
        raise HandbillError(
            f"there is no transcript to compare with ({window.transcript or 'its path is unknown'})",
            "the client keeps transcripts only for a few weeks",
        )
    rows = differences(window, content)
    if rows:
        project.store.note_missed(key)  # the window's next event compares again, and repairs
    ours = {title[0] for title in content.titles(denied_calls(window))}
    data: dict[str, Any] = {
        "window": ".".join(key), "transcript": window.transcript, "blocks": len(content.blocks), "differences": rows,
        "delivered": len(ours), "unsettled": sorted(window.from_last_epoch),
    }  # fmt: skip

    def show(screen: Console) -> None:
        if not rows and window.from_last_epoch:
            doubtful = count(len(window.from_last_epoch), "file")
            screen.print(f"{safe('.'.join(key))}: not decided yet: {doubtful} may have survived the compaction")
            return
        if not rows:
            screen.print(
                f"{safe('.'.join(key))}: the ledger and the client's record agree: "
                f"{count(len(ours), 'delivered file')} in the window"
            )
            return
        drawn = table("file|p", "ledger|n", "client's record|n")
        for row in rows:
            drawn.add_row(short(row["file"], project.root), row["ledger"], row["record"])
        screen.print(drawn)

    step = "the next event in this window repairs this; run the audit again after it" if rows else ""
    if window.from_last_epoch and not rows:
        step = "the next event in this window decides this; run the audit again after it"
    return Result(data, show, exit_code=1 if rows else 0, next_step=step)


def audit_all(windows: Iterable[tuple[Key, Window, Content | None]], project: Project) -> Result:
    rows: list[dict[str, Any]] = []
    for key, window, content in windows:
        found = differences(window, content) if content is not None else []
        if found:
            project.store.note_missed(key)
        rows.append({
            "session": key[0], "agent": key[1], "files": len(window.files), "compared": content is not None,
            "differences": found, "unsettled": sorted(window.from_last_epoch),
        })  # fmt: skip
    bad = sum(bool(row["differences"]) for row in rows)

    def show(screen: Console) -> None:
        drawn = table("session|n", "agent", "files|r-", "client's record|+")
        for row in rows:
            agrees = "not decided yet" if row["unsettled"] else "agrees"
            said = count(len(row["differences"]), "difference") if row["differences"] else agrees
            drawn.add_row(
                safe(row["session"]), safe(row["agent"]), str(row["files"]), said if row["compared"] else "missing"
            )
        screen.print(drawn if rows else "there is no window to compare here")

    step = "engine window SESSION --audit shows the differences; the window's next event repairs them" if bad else ""
    return Result({"windows": rows}, show, exit_code=1 if bad else 0, next_step=step)


def differences(window: Window, content: Content) -> list[dict[str, str]]:
    gone = [*left(window, content), *hidden(window, content)]
    rows = [{"file": path, "ledger": "in the window", "record": "not there"} for path in gone]
    titles = content.titles(denied_calls(window))
    for path in dict.fromkeys(meant(title[0]) for title in titles):
        if path not in window.files and path not in window.from_last_epoch:
            rows.append({"file": path, "ledger": "not known", "record": "in the window"})
    return rows
