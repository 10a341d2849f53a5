"""`engine glob PATTERN [PATH]`: finds files by pattern, follows links, lists the newest first."""

from __future__ import annotations

import argparse
import fnmatch
import os
from collections.abc import Iterator

from handbill.cli.clean import one_line
from handbill.cli.result import Result
from handbill.errors import HandbillError

_MOST_CHOICES = 12


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pattern", help="e.g. '**/*.md'; ** matches any number of folders, {a,b} matches a or b")
    parser.add_argument("path", nargs="?", default=".", help="where to look (default: here)")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="only the newest N")


def run(args: argparse.Namespace) -> Result:
    if not os.path.isdir(args.path):
        raise HandbillError(f"there is no folder {args.path}", "name the folder to look in")
    found = sorted(matching(args.pattern, args.path), key=lambda path: (-os.stat(path).st_mtime_ns, path))
    found = found[: args.limit] if args.limit > 0 else found
    return Result(
        {"files": found}, text="\n".join(map(one_line, found)) or f"nothing matches {args.pattern} in {args.path}",
        exit_code=0 if found else 1,
    )  # fmt: skip


_MOST_FOLDERS, _MOST_FOUND = 100_000, 100_000


def matching(pattern: str, root: str) -> set[str]:
    found: set[str] = set()
    if pattern.count(",") > _MOST_CHOICES:
        raise HandbillError(f"{pattern!r} has too many choices", f"at most {_MOST_CHOICES} commas in braces")
    for one in _without_braces(pattern):
        segments = [segment for segment in one.split("/") if segment not in ("", ".")]
        if ".." in segments:
            raise HandbillError(f"{pattern!r} leads out of the folder", "name the folder as the second argument")
        start = "/" if one.startswith("/") else root
        for number, path in enumerate(_walk(start, segments, frozenset(), [_MOST_FOLDERS])):
            if number >= _MOST_FOUND:
                raise HandbillError(
                    f"{pattern!r} finds more than {_MOST_FOUND:,} files", "name a subfolder, or use a narrower pattern"
                )
            found.add(path)
    return found


def _without_braces(pattern: str) -> list[str]:
    start = pattern.find("{")
    end = pattern.find("}", start)
    if start < 0 or end < 0:
        return [pattern]
    return [
        made for choice in pattern[start + 1 : end].split(",")
        for made in _without_braces(pattern[:start] + choice + pattern[end + 1 :])
    ]  # fmt: skip


def _walk(folder: str, segments: list[str], above: frozenset[tuple[int, int]], left: list[int]) -> Iterator[str]:
    """Yield the files that match.

    `above`: the folders around this one, so that circular links end. `left`: how many more folders
    may be visited, because links between folders can create many paths to each of them.
    """
    if not segments:
        return
    left[0] -= 1
    if left[0] < 0:
        raise HandbillError(f"the search would visit more than {_MOST_FOLDERS:,} folders", "name a subfolder")
    first, rest = segments[0], segments[1:]
    try:
        status = os.stat(folder)
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # unreadable or deleted
    own = (status.st_dev, status.st_ino)
    if own in above:
        return
    left[0] -= len(entries) // 5  # many files take time, too
    inside = above | {own}
    if first == "**":
        yield from _walk(folder, rest or ["*"], above, left)
    for entry in entries:
        if entry.name.startswith(".") and not first.startswith("."):
            continue
        path = os.path.join(folder, entry.name) if folder != "." else entry.name
        directory = _is(entry, directory=True)
        if first == "**":
            if directory:
                yield from _walk(path, segments, inside, left)
        elif fnmatch.fnmatchcase(entry.name, first):
            if rest and directory:
                yield from _walk(path, rest, inside, left)
            elif not rest and _is(entry, directory=False):
                yield path


def _is(entry: os.DirEntry[str], *, directory: bool) -> bool:
    try:
        return entry.is_dir() if directory else entry.is_file()
    except OSError:
        return False  # a circular link
