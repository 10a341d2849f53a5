"""Search the newest part of a transcript on every message: compare bytes, parse nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbill.flow.event_context import Asked

MARK = b"handbill.hook"  # part of every command line that `engine install` registers
_LARGE = 256 << 10  # bytes that may be searched repeatedly before the end is noted
# The last one is for a hook that died after its answer was accepted. The client records it as a
# success with an exit code.
_FAILURES = (b'"hook_non_blocking_error"', b'"hook_cancelled"', b'"exitCode":1')
_INTERRUPTED = b"[Request interrupted by user"
_DEQUEUED = b'"operation":"dequeue"'
_JOINED = b'"type":"queued_command"'  # a queued prompt that joined the running turn
_PROMPT = b'"promptId":"'
_ANSWER = b'"type":"assistant"'
_SUMMARY = b'"isCompactSummary":true'
COMPACTED = b'"subtype":"compact_boundary"'


def search(data: bytes, new: int, asked: Asked, *, prompt: str = "", agent: bool = False) -> None:
    """Search `data` from byte `new` on. The part before it helps to find the parent of a row.

    `prompt`: the id of a prompt that is being submitted.
    """
    new = new if new <= len(data) else 0  # The file was rewritten.
    asked.failed = data.find(MARK, new) != -1 and any(_is_ours(data, sign, new) for sign in _FAILURES)
    is_joined = any(_has_mention(line) for line in _lines_with(data, _JOINED, new))
    asked.unannounced = data.find(_INTERRUPTED, new) != -1 or is_joined or _brings_a_queued_mention(data, new)
    asked.queued = bool(prompt) and data.find(_PROMPT + prompt.encode() + b'"', new) != -1
    asked.moved = not agent and went_back(data, new)
    asked.compacted = data.find(COMPACTED, new) != -1
    if asked or len(data) - new > _LARGE:
        asked.scanned = data.rfind(b"\n") + 1


def _has_mention(line: bytes) -> bool:
    """Whether a person's queued prompt mentions a file.

    Notifications join the running turn in the same way, but do not count.
    """
    at = line.find(b'"prompt":"')
    return b'"commandMode":"prompt"' in line and b"@" in line[at : line.find(b'","', at)]


def _is_ours(data: bytes, sign: bytes, at: int) -> bool:
    """Whether this sign of failure is in a row about one of our hooks. Others may fail often."""
    return any(MARK in line for line in _lines_with(data, sign, at))


def _lines_with(data: bytes, words: bytes, at: int) -> Iterator[bytes]:
    at = data.find(words, at)
    while at != -1:
        start, end = line_around(data, at)
        yield data[start:end]
        at = data.find(words, end)


def line_around(data: bytes, at: int) -> tuple[int, int]:
    """Return the start and end of the line with this byte. The last line may be incomplete."""
    end = data.find(b"\n", at)
    return data.rfind(b"\n", 0, at) + 1, end if end != -1 else len(data)


def _brings_a_queued_mention(data: bytes, at: int) -> bool:
    """Whether a queued prompt that has started mentions files.

    Newer clients announce such a prompt when it is typed, not when its turn starts.
    """
    at = data.find(_DEQUEUED, at)
    while at != -1:
        row = data.find(_PROMPT, at)
        if row == -1:
            return False
        start, end = line_around(data, row)
        if b"@" in data[start:end]:
            return True
        at = data.find(_DEQUEUED, row)
    return False


def went_back(data: bytes, at: int) -> bool:
    """Whether a prompt after `at` has a parent that is not the newest message before it."""
    at = data.find(_PROMPT, at)
    while at != -1:
        start, end = line_around(data, at)
        if end == len(data):
            return False  # The row is still being written.
        line = data[start:end]
        if start and b'"type":"tool_result"' not in line and b'"type":"user"' in line:
            _, found, rest = line.partition(b'"parentUuid":"')
            if found and not _follows(data, rest[:36], start):
                return True
            if b'"parentUuid":null' in line and data.rfind(_ANSWER, 0, start) != -1:
                return True  # A rewind went back to before the first message.
        at = data.find(_PROMPT, end)
    return False


def _follows(data: bytes, parent: bytes, start: int) -> bool:
    """Whether no message is between the row `parent` and the line that begins at `start`."""
    place = data.rfind(b'"uuid":"' + parent + b'"', 0, start)
    if place == -1:
        return False  # The parent is before the part that was read, so the record must be read.
    begins, ends = line_around(data, place)
    if _SUMMARY in data[begins:ends]:
        return False  # Messages that the compaction kept may have been between the two.
    between = data[ends:start]
    return _ANSWER not in between and _PROMPT not in between
