"""Files that cannot be delivered: the model gets their names, with the reason and what to do."""

from __future__ import annotations

from handbill.core.pack import shown
from handbill.core.plan import Want
from handbill.core.sheet import Refusal
from handbill.handlers.wording import bullets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from handbill.core.sheet import Sheet

PAGE = "undeliverable"  # begins the name of that page
_MOST = 20  # files that one page names


def report(sheets: Mapping[str, Sheet | Refusal]) -> Want:
    refused = [sheet for sheet in sheets.values() if isinstance(sheet, Refusal) and not sheet.quiet]
    lines = [f"{shown(one.path)} {one.why}" for one in refused[:_MOST]]
    if len(refused) > _MOST:
        lines.append(f"and {len(refused) - _MOST:,} more; `engine doctor` lists them")
    text = f"Handbill could not deliver the following. Tell the user what is missing and why:\n{bullets(lines)}"
    return Want(PAGE, "cannot be delivered", text)
