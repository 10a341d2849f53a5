from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.settings import state_roots

HOME = {"HOME": "/home/u"}


@pytest.mark.parametrize(
    "project, folder",
    [("/home/u/app", "home+u+app"), ("/srv/a b", "srv+a b")],
)
def test_the_state_folder_tells_whose_it_is(project: str, folder: str) -> None:
    assert state_roots(project, HOME) == (f"/home/u/.local/state/handbill/{folder}", "")


@pytest.mark.parametrize("project", ["/", "/a+b", "/a%b", "/new\nline", "/é", "/" + "x" * 300])
def test_a_path_that_is_no_folders_name_goes_by_its_digest(project: str) -> None:
    assert state_roots(project, HOME)[0].startswith("/home/u/.local/state/handbill/%")


@given(st.lists(st.text("ab+/%.", max_size=8).map(lambda text: f"/{text}"), min_size=2, max_size=2, unique=True))
def test_no_two_projects_share_a_folder(projects: list[str]) -> None:
    assert state_roots(projects[0], HOME) != state_roots(projects[1], HOME)


def test_the_spare_folder() -> None:
    environ = {"HOME": "/home/u", "XDG_STATE_HOME": "/state", "XDG_RUNTIME_DIR": "/run/u"}
    assert state_roots("/p/x", environ) == ("/state/handbill/p+x", "/run/u/handbill/p+x")
    assert state_roots("/p/x", {**environ, "XDG_RUNTIME_DIR": "relative"})[1] == ""
