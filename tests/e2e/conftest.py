from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox import MIDDLE, NEW, OLD, Sandbox, binary

Make = Callable[..., Sandbox]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `version` runs on all pinned clients, or on those that its module names as VERSIONS.

    In a module that says TAKE_TURNS, the versions take turns from test to test, unless EVERY_VERSION is set: what such
    a module tests hardly depends on the client, and a client takes seconds to start.
    """
    own = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "version" not in metafunc.fixturenames or any("version" in names for names in own):
        return
    versions = getattr(metafunc.module, "VERSIONS", (OLD, MIDDLE, NEW))
    if getattr(metafunc.module, "TAKE_TURNS", False) and not os.environ.get("EVERY_VERSION"):
        tests = [name for name in vars(metafunc.module) if name.startswith("test_")]
        versions = (versions[tests.index(metafunc.function.__name__) % len(versions)],)
    metafunc.parametrize("version", versions)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    made = 0

    def sandbox(version: str = NEW, **more: bool) -> Sandbox:
        nonlocal made
        made += 1
        if not binary(version).exists():
            message = f"Claude Code {version} is not installed: make clients"
            pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
        return Sandbox(tmp_path / f"box{made}", version, **more)

    return sandbox


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in str(item.path):
            item.add_marker(pytest.mark.client)
    items.sort(key=lambda item: item.get_closest_marker("long") is None)  # else one of them ends alone, last
