"""The Markdown that Handbill needs: fences, backtick spans, and sections under headings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKERS = ("- ", "* ", "+ ")
_DEEPEST = 12  # nested lists


class Fence:
    """A fenced block: its info string, its text, and the number of its first line of text."""

    __slots__ = ("info", "line", "lines")

    def __init__(self, info: str, line: int) -> None:
        self.info = info
        self.line = line
        self.lines: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def scan(text: str) -> Iterator[tuple[int, str, Fence | None]]:
    """Yield (number, line, None) for lines outside of fences, and (number, "", fence) at a fence's
    end."""
    fence: Fence | None = None
    mark, quoted = "", False
    number = 0
    for number, line in enumerate(text.split("\n"), 1):
        if fence is not None and quoted and not line.lstrip().startswith(">"):
            yield number, "", fence  # the end of a quote also ends its fence
            fence = None
        if fence is None:
            mark, info = _opening(line)
            if mark:
                fence, quoted = Fence(info, number + 1), line.lstrip().startswith(">")
            else:
                yield number, line, None
        elif _closes(line, mark):
            yield number, "", fence
            fence = None
        else:
            fence.lines.append(line)
    if fence is not None:  # never closed: it contains the rest
        yield number, "", fence


def _opening(line: str) -> tuple[str, str]:
    """Return (run of backticks or tildes, info string) if the line opens a fence, however
    indented."""
    rest = line.lstrip(" \t>")
    for _ in range(_DEEPEST):
        width = list_marker(rest)
        if not width:
            break
        rest = rest[width:].lstrip(" \t>")
    if not rest.startswith(("```", "~~~")):
        return "", ""
    info = rest.lstrip(rest[0])
    if rest[0] == "`" and "`" in info:
        return "", ""  # a span that begins with three backticks
    return rest[: len(rest) - len(info)], info.strip()


def list_marker(text: str) -> int:
    """Return the length of the list marker at the beginning of a text; 0 if it has none."""
    if text.startswith(_MARKERS):
        return 2
    digits = len(text[:10]) - len(text[:10].lstrip("0123456789"))
    return digits + 2 if digits and text[digits : digits + 2] in (". ", ") ") else 0


def _closes(line: str, mark: str) -> bool:
    rest = line.strip(" \t>")
    return len(rest) >= len(mark) and not rest.strip(mark[0])


def live(text: str) -> str:
    """Return the text outside of fences and backtick spans.

    A span may continue over lines, but not over an empty one.
    """
    found: list[str] = []
    paragraph: list[str] = []
    for _, line, fence in scan(text):
        if fence is None and line.strip():
            paragraph.append(line)
            continue
        found.append(_without_spans("\n".join(paragraph)))
        paragraph = []
    found.append(_without_spans("\n".join(paragraph)))
    return "\n\n".join(found)


def _without_spans(text: str) -> str:
    """Remove spans. A span ends at the next run of the same size; a run without such an end is
    text."""
    if "`" not in text:
        return text
    runs = _runs(text)
    later: dict[int, list[int]] = {}  # size -> starts of runs of that size, the nearest last
    for start, size in reversed(runs):
        later.setdefault(size, []).append(start)
    kept: list[str] = []
    at = 0
    for start, size in runs:
        if start < at:
            continue  # inside a span
        ends = later[size]
        while ends and ends[-1] <= start:
            ends.pop()
        kept.append(text[at:start])
        at = (ends[-1] if ends else start) + size
    kept.append(text[at:])
    return "".join(kept)


def _runs(text: str) -> list[tuple[int, int]]:
    """Return (start, size) of every run of backticks."""
    found: list[tuple[int, int]] = []
    start = text.find("`")
    while start >= 0:
        end = start + 1
        while text[end : end + 1] == "`":
            end += 1
        if start and text[start - 1] == "\\":
            start += 1  # the first backtick is escaped, so it is text
        if end > start:
            found.append((start, end - start))
        start = text.find("`", end)
    return found


def heading(line: str) -> tuple[int, str]:
    """Return (level, title) of an ATX heading; (0, "") for any other line."""
    title = line.lstrip("#")
    level = len(line) - len(title)
    return (level, title.strip()) if 1 <= level <= 6 and title.startswith((" ", "\t")) else (0, "")


def _holds(title: str, words: str) -> bool:
    """Whether a title contains these words: `PROOF FOR §CMD_RUN_CHECKS` lacks `PROOF FOR
    §CMD_RUN`."""
    at = title.find(words)
    after = title[at + len(words) : at + len(words) + 1]
    return at >= 0 and not (after == "_" or after.isalnum())


def block_under(text: str, words: str, info: str = "json") -> Fence | None:
    """Return the first fenced block of that kind in the section whose heading contains these
    words."""
    inside = 0
    for _, line, fence in scan(text):
        if fence is not None:
            if inside and fence.info.split(" ")[0].lower() == info:
                return fence
            continue
        level, title = heading(line) if line.startswith("#") else (0, "")
        if level and _holds(title, words):
            inside = level
        elif level and level <= inside:
            inside = 0
    return None
