"""How much fits: sizes in tokens (an estimate, no host tells its own), and what to take of several pages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PER_TOKEN = 4.3  # characters of plain English or code


def tokens(text: str) -> int:
    """About so many; what is not ASCII costs nearly one each."""
    plain = len(text.encode("ascii", "ignore"))
    return round(plain / PER_TOKEN + 0.85 * (len(text) - plain)) if text else 0


def taken(sizes: Iterable[tuple[str, int]], budget: int) -> list[str]:
    """Names in the order of their importance, as far as the budget goes; a later one that fits is still taken."""
    found = []
    for name, size in sizes:
        if size <= budget:
            found.append(name)
            budget -= size
    return found
