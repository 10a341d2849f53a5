"""Which settings files the client reads: those that we edit. It ignores those that we refuse."""

from __future__ import annotations

import pytest
from sandbox import MIDDLE, NEW, OLD, STANDARDS, assert_absent, assert_once

from conftest import Make

ALL = pytest.mark.parametrize("client", [OLD, MIDDLE, NEW])


@ALL
def test_odd_files_that_the_client_reads_are_edited_in_place(make: Make, client: str) -> None:
    numbers = b'"n": ' + b"9" * 5000 + b', "n": 1e999, "deep": ' + b"[" * 2000 + b"]" * 2000
    before = b'\xef\xbb\xbf {\r\n\t"hooks" : { "Stop":[ ] },' + numbers + b', "latin": "\xe9",\r\n\t"hooks":{}}'
    box = make(client, install=False)
    box.write(".claude/settings.local.json", before)
    box.engine("install")
    assert_once(box.run(box.bash(), "done").of()[-1], *STANDARDS)
    box.engine("uninstall")
    assert box.settings().read_bytes() == before
    assert_absent(box.run(box.bash(), "done").of()[-1], *STANDARDS)


@pytest.mark.parametrize(
    "client, change",
    [
        (OLD, ("{", "// mine\n{", 1)),
        (MIDDLE, ('"hooks": {', '"hooks": { /* mine */', 1)),
        (NEW, ("\n}\n", ",\n}\n", 1)),
        (NEW, ("{", '{"x": NaN,', 1)),
    ],
)
def test_files_that_the_client_does_not_read_are_refused(make: Make, client: str, change: tuple[str, str, int]) -> None:
    box = make(client)
    odd = box.settings().read_text().replace(*change)
    box.settings().write_text(odd)
    assert_absent(box.run(box.bash(), "done").of()[-1], *STANDARDS)
    refused = box.engine("install", expect=1)["error"]
    assert refused["code"] == "odd-settings" and "not valid JSON at line" in refused["message"]
    assert box.settings().read_text() == odd
