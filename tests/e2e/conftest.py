from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox import MIDDLE, NEW, OLD, Sandbox, binary

Make = Callable[..., Sandbox]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `version` runs on all pinned clients, or on those that its module names as VERSIONS."""
    own = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "version" in metafunc.fixturenames and not any("version" in names for names in own):
        metafunc.parametrize("version", getattr(metafunc.module, "VERSIONS", (OLD, MIDDLE, NEW)))


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
