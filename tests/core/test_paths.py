from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.core import paths

words = st.lists(st.sampled_from(["a", "b c", ".", "..", "", "x.md", "🙂", "..."]), max_size=8)


@given(words=words)
def test_normal_agrees_with_posixpath(words: list[str]) -> None:
    path = "/" + "/".join(words)
    expected = posixpath.normpath(path)
    assert paths.normal(path) == (expected[1:] if expected.startswith("//") else expected)


@given(base=words, path=words)
def test_join_and_parent(base: list[str], path: list[str]) -> None:
    root = paths.normal("/" + "/".join(base))
    joined = paths.join(root, "/".join(path) or ".")
    assert joined == paths.normal(joined)
    assert paths.parent(joined) == posixpath.dirname(joined)
    assert paths.name(joined) == posixpath.basename(joined)


@pytest.mark.parametrize(
    "path, root, inside, rest",
    [
        ("/a/b", "/a", True, ["b"]), ("/a", "/a", True, []), ("/ab", "/a", False, None), ("/x", "/", True, ["x"]),
        ("/", "/", True, []), ("/a/b/c", "/a", True, ["b", "c"]), ("/", "/a", False, None),
    ],
)  # fmt: skip
def test_under_and_below(path: str, root: str, inside: bool, rest: list[str] | None) -> None:
    assert paths.under(path, root) is inside
    if rest is not None:
        assert paths.below(path, root) == rest


@pytest.mark.parametrize(
    "path, private",
    [
        ("/p/.env", True), ("/p/.env.local", True), ("/p/.env.example", False), ("/p/.environment", False),
        ("/p/.git/config", True), ("/p/git/config", False), ("/p/.claude/settings.local.json", True),
        ("/p/settings.json", False), ("/p/id_rsa", True), ("/p/id_rsa.pub", False), ("/p/x.pem", True), ("/p/keys.md", False),
        ("/p/prod.env", True), ("/p/.ENV", True), ("/p/.env-prod", True), ("/p/.env~", True), ("/p/.envrc.local", True),
        ("/p/.aws/x", True), ("/p/aws/x", False), ("/p/.kube/config", True), ("/p/.ssh/known", True), ("/p/x.PEM", True),
        ("/p/secrets.yml", True), ("/p/secrets.md", False), ("/p/.mcp.json", True), ("/p/id_rsa.bak", True),
        ("/p/terraform.tfstate", True), ("/p/.claude/.credentials.json", True), ("/p/credentials", True),
    ],
)  # fmt: skip
def test_files_that_usually_hold_secrets(path: str, private: bool) -> None:
    assert paths.is_private(path) is private
