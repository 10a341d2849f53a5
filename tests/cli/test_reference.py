from __future__ import annotations

from pathlib import Path

from handbill.cli.reference import markdown
from handbill.cli.verb_table import VERBS
from handbill.cli.verbs.session import ACTIONS as SESSION

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_commands_is_in_step() -> None:
    assert (DOCS / "cli.md").read_text() == markdown(), "run: make docs"


def test_it_has_every_verb() -> None:
    text = markdown()
    assert all(f"\n### engine {verb}\n" in text for verb in VERBS)
    assert all(f"\n#### engine session {verb}\n" in text for verb in SESSION)


def test_links_between_documents_lead_somewhere() -> None:
    import re

    for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page}: {link}"
