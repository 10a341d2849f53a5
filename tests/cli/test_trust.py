from __future__ import annotations

from pathlib import Path

import pytest

from handbill.cli.trust import search_path


def test_a_folder_that_leads_nowhere_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.setenv("PATH", f"{tmp_path}/loop:/usr/bin:bin")
    monkeypatch.chdir(tmp_path)
    assert search_path(str(tmp_path)) == ["/usr/bin"]
