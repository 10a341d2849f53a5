from __future__ import annotations

import os
from pathlib import Path

import pytest

from handbill.text.document import Document, Refusal
from handbill.world import World
from handbill.world.documents import MOST_BYTES, real_path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def load(project: Path, name: str) -> Document | Refusal:
    return World([str(project)]).load(str(project / name))


@pytest.mark.parametrize(
    "data, text",
    [
        (b"plain\n", "plain"), (b"\xef\xbb\xbfwith mark", "with mark"), (b"a\r\nb\r\n", "a\nb"),
        ("Grüße 🙂\n".encode(), "Grüße 🙂"), (b"\n\nkept  \n indent\n\n", "kept  \n indent"),
        (b"a\x1b[31m\x07", r"a\x1b[31m\x07"), ("é\x7f".encode(), r"é\x7f"),
    ],
)  # fmt: skip
def test_text_as_delivered(project: Path, data: bytes, text: str) -> None:
    (project / "x.md").write_bytes(data)
    document = load(project, "x.md")
    assert isinstance(document, Document) and document.text == text and len(document.digest) == 16


@pytest.mark.parametrize(
    "data, why, quiet",
    [
        (b"", "is empty", True), (b" \n\t\n", "is empty", True), (b"bin\0ary", "is binary", False),
        (b"\xff\xfe\xfa", "is not UTF-8 text", False), (b"x" * (MOST_BYTES + 1), "1,048,577 bytes", False),
    ],
)  # fmt: skip
def test_what_is_no_page(project: Path, data: bytes, why: str, quiet: bool) -> None:
    (project / "x.md").write_bytes(data)
    refusal = load(project, "x.md")
    assert isinstance(refusal, Refusal) and why in refusal.why and refusal.quiet is quiet


def test_the_largest_page(project: Path) -> None:
    (project / "x.md").write_bytes(b"x" * MOST_BYTES)
    assert isinstance(load(project, "x.md"), Document)


def test_gone_directory_and_fifo(project: Path) -> None:
    os.mkfifo(project / "fifo")
    (project / "dir").mkdir()
    (project / "loop").symlink_to(project / "loop")
    for name, why in [
        ("gone", "does not exist"),
        ("dir", "not a regular file"),
        ("fifo", "not a regular file"),
        ("loop", "cannot be read"),
        ("x\0y", "cannot be read"),
    ]:
        refusal = load(project, name)
        assert isinstance(refusal, Refusal) and why in refusal.why


def test_links_may_not_lead_out(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (project / "inside.md").write_text("fine")
    (project / "out").symlink_to(tmp_path / "secret")
    (project / "in").symlink_to(project / "inside.md")
    (project / "folder").symlink_to(tmp_path)
    assert isinstance(load(project, "in"), Document)
    for name in ("out", "folder/secret", "../secret"):
        refusal = load(project, name)
        assert isinstance(refusal, Refusal) and "leads out" in refusal.why


def test_a_project_that_is_itself_a_link(project: Path, tmp_path: Path) -> None:
    (project / "x.md").write_text("fine")
    (tmp_path / "link").symlink_to(project)
    assert isinstance(World([str(tmp_path / "link")]).load(str(tmp_path / "link" / "x.md")), Document)


@pytest.mark.parametrize("path", ["/", "/tmp", "/no/such/../thing", "/usr/bin/python3", "/./etc//hosts"])
def test_real_path_agrees_with_the_library(path: str) -> None:
    assert real_path(path) == os.path.realpath(path)


def test_real_path_of_relative_links(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "up").symlink_to("../a/b")
    (tmp_path / "two").symlink_to("a/up")
    for name in ("a/up", "two", "two/../x"):
        assert real_path(str(tmp_path / name)) == os.path.realpath(tmp_path / name)


def test_tail(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"0123456789")
    world = World([])
    assert world.tail(str(path), 4) == b"456789"
    assert world.tail(str(path), -3) == b"789"
    assert world.tail(str(path), -99) == b"0123456789"
    assert world.tail(str(path), 99) == b"0123456789"  # shorter than it was: rewritten
    assert world.tail(str(path), 10) == b""
    assert world.tail(str(tmp_path / "none"), 0) is None
    assert world.size(str(path)) == 10 and world.size(str(tmp_path / "none")) == -1


def test_an_added_root_allows_only_what_stays_in_it(tmp_path: Path) -> None:
    for name in ("project", "added", "elsewhere"):
        (tmp_path / name / ".directives").mkdir(parents=True)
        for page in ("page.md", "AGENTS.md", ".directives/page.md"):
            (tmp_path / name / page).write_text(name)
    (tmp_path / "added/.directives/out.md").symlink_to(tmp_path / "elsewhere/.directives/page.md")
    (tmp_path / "added/.directives/in.md").symlink_to(tmp_path / "added/page.md")
    (tmp_path / "project/into.md").symlink_to(tmp_path / "added/.directives/page.md")
    world = World([str(tmp_path / "project")])
    assert isinstance(world.load(str(tmp_path / "added/AGENTS.md")), Refusal)
    world.add_roots([str(tmp_path / "added")])
    assert isinstance(world.load(str(tmp_path / "added/AGENTS.md")), Document)
    assert isinstance(world.load(str(tmp_path / "added/.directives/page.md")), Document)
    assert isinstance(world.load(str(tmp_path / "added/page.md")), Refusal), "only rules are delivered from there"
    assert isinstance(world.load(str(tmp_path / "added/.directives/out.md")), Refusal)
    assert isinstance(world.load(str(tmp_path / "added/.directives/in.md")), Refusal), "a rule by its name only"
    assert isinstance(world.load(str(tmp_path / "project/into.md")), Refusal), (
        "a link of the project stays in the project"
    )
    assert isinstance(world.load(str(tmp_path / "elsewhere/page.md")), Refusal)


def test_a_path_of_too_many_parts_is_not_followed() -> None:
    assert real_path("/" + "x/" * 150) == "/" + "/".join(["x"] * 150)
    with pytest.raises(OSError, match="more than 200 parts"):
        real_path("/" + "x/" * 200)
    assert World(()).real("/" + "x/" * 200) == ""
