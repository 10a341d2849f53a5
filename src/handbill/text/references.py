"""Names of pages (§CMD_X, §FMT_X, §INV_X): where a text uses them, and the files they may mean."""

from __future__ import annotations

from handbill.paths import parent
from handbill.text.markdown import live

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDERS = {"CMD": "commands", "FMT": "formats", "INV": "invariants"}
DIRECTIVES = ".directives"

_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def page_name(word: str) -> str:
    """Return `CMD_GENERATE_DEBRIEF` for `§CMD_GENERATE_DEBRIEF_file`; "" if no page is named.

    A lower-case ending selects one of the page's results. With any other ending, above all a path,
    the word is not a page name.
    """
    word = word.removeprefix("§")
    end = 0
    while end < len(word) and word[end] in _NAME:
        end += 1
    rest = word[end:]
    if rest and not (rest.isascii() and rest.replace("_", "").isalnum() and rest[0].islower()):
        return ""
    return _checked(word[:end])


def _checked(run: str) -> str:
    run = run.rstrip("_")
    kind, _, own = run.partition("_")
    return run if kind in FOLDERS and own and own[0].isalpha() and len(run) <= 120 else ""


def references(text: str) -> list[str]:
    """Return the pages that a text uses, in order; those in fences or backticks are only
    mentioned."""
    if "§" not in text:
        return []
    body = live(text)
    found: dict[str, None] = {}
    at = body.find("§")
    while at >= 0:
        end = at + 1
        while end < len(body) and body[end] in _NAME:
            end += 1
        name = _checked(body[at + 1 : end])
        if name:
            found[name] = None
        at = body.find("§", end)
    return list(found)


def candidates(name: str, start: str, stop: str, libraries: Iterable[str]) -> Iterator[str]:
    """Yield the files that a name may mean, nearest first: from `start` up to `stop`, then
    libraries."""
    file = f"{FOLDERS[name.partition('_')[0]]}/{name}.md"
    level = start
    while level:
        yield f"{level}/{DIRECTIVES}/{file}"
        if level in (stop, "/"):
            break
        level = parent(level)
    for library in libraries:
        yield f"{library}/{file}"
