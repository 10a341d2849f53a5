"""Extract the current content of a Claude Code window from its transcript, in order.

Every check of a window's content uses this module.
"""

from __future__ import annotations

from handbill.digest import digest_of
from handbill.hosts.claude_code.branch import drop_rows_of_others
from handbill.hosts.claude_code.chain import beside_chain, chain_from, drop_foreign_compactions, leaf_of, relinked
from handbill.hosts.claude_code.files_shown import files_shown
from handbill.hosts.claude_code.rows import (
    attachment_of,
    blocks_of,
    calls_in,
    first_of,
    has_result,
    injected,
    is_answer,
    is_boundary,
    is_summary,
    joined_prompt,
    message_id,
    preserved,
    prompt_of,
    read,
    record_of,
    typed_in,
)
from handbill.hosts.claude_code.signs import line_around
from handbill.hosts.claude_code.skills_shown import folder_in, is_called, names_called, put_back
from handbill.hosts.claude_code.tools import is_denial
from handbill.ledger.content import Content
from handbill.ledger.own_rows import OwnRows
from handbill.text.blocks import BETWEEN, bodies_in, joined, read_title, same_rules_as, unescaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.hosts.claude_code.chain import Loader
    from handbill.hosts.claude_code.rows import Row, Rows
    from handbill.text.blocks import Title

_CUT = "<persisted-output>"
_BOUNDARY = b'"compact_boundary"'
_COMMAND = ("<command-name>", "</command-name>")  # around the command name that the user typed
_STARTS = ("SessionStart", "SubagentStart")
_TYPED_COMMAND = ("<command-name>", "<command-message>")
_TRIES = 50  # lines of a denial that may begin its blocks
# The error of another tool may contain any text.
_FILE_TOOLS = ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "NotebookRead")
# In a larger file, older clients read only the chain, not the rows beside it.
BIG = 5 << 20


def content(
    data: bytes, loader: Loader | None = None, *, start: int = 0, agent: bool = False, own: OwnRows | None = None
) -> Content | None:
    """Return the window's content. `data` is the transcript from byte `start` on.

    None: it must be read from further back.
    """
    own = own or OwnRows()
    # After another client joined, the newest compaction may be that client's.
    began = _began(data[: min(own.joined, default=len(data))]) if not start else 0
    rows = read(data[began:], start + began, agent=agent)
    found = _content(rows, loader, len(data), partial=bool(start or began), own=own)
    # The rows that the newest compaction kept, or that a rewind returned to, are older.
    if found is None and began:
        return _content(read(data, agent=agent), loader, len(data), partial=False, own=own)
    return found


def _began(data: bytes) -> int:
    """Return where the newest compaction's row begins, or the first row that it kept.

    Older rows are not in the window unless that row names them.
    """
    at = data.rfind(_BOUNDARY)
    while at != -1:
        start, end = line_around(data, at)
        # otherwise, it is still being written
        row = record_of(data[start:end]) if end < len(data) else None
        if row is not None and is_boundary(row):
            first, _ = line_around(data, first_of(data, preserved(row), start))
            return max(first - 1, 0)  # A reader skips the incomplete first line.
        at = data.rfind(_BOUNDARY, 0, start)
    return 0


class Selection:
    """The rows of a window. `chain`: from first to leaf. `inside`: also the rows beside it."""

    __slots__ = ("chain", "inside", "whole")

    def __init__(self, chain: list[str], inside: set[str], whole: bool) -> None:
        self.chain = chain
        self.inside = inside
        self.whole = whole


def select(
    rows: Rows, own: OwnRows, loader: Loader | None = None, *, size: int = 0, partial: bool = False
) -> Selection | None:
    """Return the rows of this window, or None if more rows must be read."""
    if loader is None:
        drop_rows_of_others(rows, own)
    if loader is None and drop_foreign_compactions(rows, own) and partial:
        return None  # This window began before the part that was read.
    compacted = any(map(is_boundary, rows.by_id.values()))
    kept = relinked(rows, live=loader is None, partial=partial)
    if kept is None:
        return None
    chain = chain_from(rows, leaf_of(rows, kept, loader, own.marks), live=loader is None)
    before = rows.parent[chain[0]] if chain else ""
    leads_back = partial and before != "" and before not in rows.by_id
    if leads_back and compacted:
        return None  # The chain continues past a compaction, so everything must be read.
    inside = set(chain)
    if loader is None or loader.siblings or kept or size <= BIG:
        inside |= beside_chain(rows, inside, chain, loader)
    return Selection(chain, inside, not leads_back)


def _content(rows: Rows, loader: Loader | None, size: int, *, partial: bool, own: OwnRows) -> Content | None:
    chosen = select(rows, own, loader, size=size, partial=partial)
    if chosen is None:
        return None
    found = Content(whole=chosen.whole)
    found.leaf = chosen.chain[-1] if chosen.chain else ""
    for number, (uuid, row) in enumerate(rows.by_id.items()):
        if uuid in chosen.inside:
            _take(row, found, number, rows.at[uuid])
    _order(rows, chosen.chain, found)
    texts = _drop_false_parts(found)
    if found.whole:  # Otherwise, the text may be before the part that was read.
        _drop_unfounded_lines(found, texts)
    return found


def _drop_false_parts(found: Content) -> set[str]:
    """Drop blocks whose parts do not match their digests.

    Parts can be checked only if all parts of a file are there. Return the digests of files that are
    completely there in parts.
    """
    there: dict[tuple[str, str, int], int] = {}
    for path, digest, _, parts in found.parts:
        there[path, digest, parts] = there.get((path, digest, parts), 0) + 1
    complete = {one for one, count in there.items() if count == one[2]}
    whole = {one for one in complete if _is_joined(found, *one)}
    false = complete - whole
    untrue = {title for title in found.parts if (*title[:2], title[3]) in false}
    found.untrue = {title[:2] for title in untrue}
    for blocks in (found.blocks, *found.denials.values()):
        for title in untrue.intersection(blocks):
            del blocks[title]
    return {digest for _, digest, _ in whole}


def _drop_unfounded_lines(found: Content, texts: set[str]) -> None:
    """Drop lines that refer to a file whose text is not there."""
    everywhere = [("", found.blocks), *found.denials.items()]
    whole = [(call, title) for call, blocks in everywhere for title in blocks if title[3] == 1]
    texts = texts | {title[1] for call, title in whole if (call, title) not in found.same}
    for call, blocks in everywhere:
        for title in [title for title in blocks if (call, title) in found.same and title[1] not in texts]:
            del blocks[title], found.same[call, title]


def _is_joined(found: Content, path: str, digest: str, parts: int) -> bool:
    """Whether the parts, which are all there, form the text that their titles promise."""
    text = joined([found.parts[path, digest, part, parts] for part in range(1, parts + 1)])
    return digest in (digest_of(text), digest_of(unescaped(text)))


def _take(row: Row, found: Content, number: int, at: int) -> None:
    """Add one row. `number`: its place among the rows. `at`: the byte where it begins."""
    texts_of, cut = blocks_and_cuts(row)
    whole = {title: len(body) for title, body in texts_of.items()}
    found.order.update({("", title): number for title in whole})
    found.blocks.update(whole)
    _note_texts(found, "", texts_of)
    if attachment_of(row).get("hookEvent") in _STARTS:
        found.started.update(texts_of)
    found.cut |= cut
    for denied, reason in denials(row):
        found.order.update({(denied, title): number for title in reason})
        found.denials.setdefault(denied, {}).update({title: len(body) for title, body in reason.items()})
        _note_texts(found, denied, reason)
    for call in calls_in(row):
        found.calls.append(call["id"])
        (found.file_calls if call.get("name") in _FILE_TOOLS else found.other_calls).add(call["id"])
    files = files_shown(row)
    if files and not any(str(block.get("tool_use_id")) in found.other_calls for block in blocks_of(row)):
        found.files.update(files)
    if prompt_of(row):
        found.prompts.setdefault(row["promptId"], at)
        if not has_result(row) and not is_summary(row):
            found.typed.add(row["promptId"])
    joined_id, _ = joined_prompt(row)
    if joined_id:
        found.prompts.setdefault(joined_id, at)
        found.typed.add(joined_id)
    texts = [block.get("text") for block in blocks_of(row)] if row.get("type") == "user" else []
    for text in typed_in(row):
        if text.lstrip().startswith(_TYPED_COMMAND) and _COMMAND[0] in text:
            found.commands.add(text.partition(_COMMAND[0])[2].partition(_COMMAND[1])[0].lstrip("/"))
    found.commands.update(names_called(row))
    found.skills += [folder for folder in map(folder_in, texts) if is_called(folder, found.commands)]
    found.skills += filter(None, map(folder_in, put_back(row)))


def _note_texts(found: Content, call: str, texts: dict[Title, str]) -> None:
    for title, body in texts.items():
        # A rule file may consist of exactly that line.
        other = same_rules_as(body) if title[1] != digest_of(body) else ""
        if other:
            found.same[call, title] = other
        else:
            # The text itself was added later, under the same title.
            found.same.pop((call, title), None)
        if title[3] > 1:
            found.parts[title] = body


def blocks_and_cuts(row: Row) -> tuple[dict[Title, str], set[Title]]:
    """Return our blocks in one injection: the complete ones, and those cut to a preview."""
    whole: dict[Title, str] = {}
    cut: set[Title] = set()
    for text in injected(row):  # The client cuts each value independently.
        if text.startswith(_CUT):
            cut.update(filter(None, map(read_title, text.split("\n"))))
        else:
            whole.update({title: body for title, body in bodies_in(text) if _is_true(title, body)})
    return whole, cut


def _is_true(title: Title, body: str) -> bool:
    """Whether the text matches its title. Another hook may print a title.

    A part alone cannot be checked.
    """
    return title[3] > 1 or bool(same_rules_as(body)) or title[1] in (digest_of(body), digest_of(unescaped(body)))


def denials(row: Row) -> list[tuple[str, dict[Title, str]]]:
    """Return (tool call, our blocks in it) for results that look like our denial."""
    found = []
    for block in blocks_of(row) if row.get("type") == "user" else ():
        call, inner = block.get("tool_use_id"), block.get("content")
        if block.get("type") != "tool_result" or block.get("is_error") is not True or not isinstance(call, str):
            continue
        parts = inner if isinstance(inner, list) else [{"text": inner}]
        for text in [part.get("text") for part in parts if isinstance(part, dict)]:
            if isinstance(text, str) and is_denial(text):
                blocks = {title: body for title, body in _first_blocks(text) if _is_true(title, body)}
                if blocks:
                    found.append((call, blocks))
    return found


def _first_blocks(text: str) -> list[tuple[Title, str]]:
    """Return the first blocks of a denial.

    The text before them was escaped, so none of its lines look like a title.
    """
    at = text.find(f"{BETWEEN}[")
    for _ in range(_TRIES):
        found = bodies_in(text, at + len(BETWEEN)) if at != -1 else []
        if found or at == -1:
            return found
        at = text.find(f"{BETWEEN}[", at + 1)
    return []


def _order(rows: Rows, chain: list[str], found: Content) -> None:
    """Record the order of events: the calls and prompts after which the model answered again."""
    answers = [i for i, uuid in enumerate(chain) if is_answer(rows.by_id[uuid])]
    for uuid in [uuid for uuid in rows.by_id if is_boundary(rows.by_id[uuid]) and rows.at[uuid] > found.boundary]:
        found.boundary, found.boundary_row = rows.at[uuid], uuid
    if not answers:
        return
    last = rows.by_id[chain[answers[-1]]]
    found.last_answer = max(rows.at[chain[i]] for i in answers)
    for uuid in chain[: answers[-1]]:
        row = rows.by_id[uuid]
        if prompt_of(row):
            found.answered.add(prompt_of(row))
        if not message_id(row):
            found.answered.update(call["id"] for call in calls_in(row))
    speakers = {message_id(rows.by_id[u]) for u in chain[: answers[-1]]} - {message_id(last), ""}
    for row in rows.by_id.values():  # Parallel calls are beside the chain.
        if message_id(row) in speakers:
            found.answered.update(call["id"] for call in calls_in(row))
