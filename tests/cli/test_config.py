"""`engine config`: what applies, and where it is from."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command import engine, run

from handbill import gates
from handbill.cli.project import at
from handbill.handlers.standards import standard_names
from handbill.reports.effective_settings import effective
from handbill.settings.toml_files import sections


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def user_file(text: str) -> Path:
    path = Path(os.environ["HOME"]) / ".config/handbill/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def rows(project: Path, *words: str) -> dict[str, tuple[object, str]]:
    found = engine("config", *words, cwd=project)["data"]["settings"]
    return {row["key"]: (row["value"], row["origin"]) for row in found}


def test_without_files_everything_is_shipped(project: Path) -> None:
    found = rows(project)
    assert {origin for _, origin in found.values()} == {"shipped"}
    assert [key for key in found if not key.startswith("roles.")] == [
        f"{section}.{field}" for section, fields in sections().items() for field in fields
    ]
    assert found["write_gate.mode"] == ("new", "shipped") and found["resume.budget"] == (15_000, "shipped")
    assert found["roles.worker.dispatch"] == (True, "shipped")


def test_each_value_names_its_file(project: Path) -> None:
    own = user_file(
        '[write_gate]\nmode = "edits"\n[load_gate]\nbudget = 10\n[roles.lead]\nenv = ["A=b"]\ntargets = ["u"]\n'
    )
    (project / ".handbill.toml").write_text('[load_gate]\nbudget = 20\ndenials = 99\n[roles.lead]\ntargets = ["p"]\n')
    found = rows(project)
    assert found["write_gate.mode"] == ("edits", "user") and found["load_gate.budget"] == (20, "project")
    assert found["load_gate.denials"] == (20, "project"), "a project's is limited"
    assert found["roles.lead.env"] == (["A=b"], "user") and found["roles.lead.targets"] == (["p"], "project")
    assert found["load_gate.mode"] == ("deliver", "shipped")
    assert rows(project, "write_gate.mode") == {"write_gate.mode": ("edits", "user")}
    assert set(rows(project, "roles.lead")) == {"roles.lead.env", "roles.lead.targets"}
    assert run("config", "write_gate.mode", cwd=project).stdout == f'write_gate.mode = "edits"  # user: {own}\n'


def test_values_that_are_not_used(project: Path) -> None:
    user_file("[resume]\nbudgt = 1\n")
    (project / ".handbill.toml").write_text('[files]\nallow = ["/"]\n[nonsense]\nx = 1\n')
    answer = engine("config", cwd=project)
    said = " ".join(answer["warnings"])
    assert all(word in said for word in ("resume.budgt is unknown", "files.allow counts only", "[nonsense] is unknown"))
    assert rows(project)["files.allow"] == ([], "shipped")
    assert engine("config", "files.allow", cwd=project)["warnings"] == [
        one for one in answer["warnings"] if "allow" in one
    ]
    assert "(not used)" not in run("config", "-q", cwd=project).stdout


def test_what_is_shown_is_what_applies(project: Path) -> None:
    user_file('[standards]\nfiles = ["INVARIANTS.md"]\n[write_gate]\nmode = "off"\n[files]\nallow = ["/srv"]\n')
    (project / ".handbill.toml").write_text('[resume]\nmode = "off"\n[directives]\nalways = ["TESTING.md"]\n')
    found = at(str(project))
    settings = found.settings
    shown = {one.key: one.value for one in effective(found.world()).values}
    assert shown["standards.files"] == standard_names(found.world(), settings, subagent=False)
    assert shown["files.allow"] == list(settings.allowed)
    assert set(shown["directives.always"]) <= set(settings.core_types)
    for gate in (one.name for one in gates.ALL):
        assert {name: json.loads(json.dumps(value)) for name, value in settings.gate(gate).items()} == {
            key.partition(".")[2]: value for key, value in shown.items() if key.startswith(f"{gate}.")
        }


def test_a_section_by_its_former_name(project: Path) -> None:
    (project / ".handbill.toml").write_text("[compaction]\nbudget = 10\n")
    assert rows(project, "compaction.budget") == {"reread_gate.budget": (10, "project")}
    assert set(rows(project, "compaction")) == {"reread_gate.budget", "reread_gate.wording"}


def test_a_setting_that_there_is_not(project: Path) -> None:
    assert (
        "(did you mean write_gate.mode?)"
        in engine("config", "writegate.mode", cwd=project, expect=1)["error"]["message"]
    )
    assert "(did you mean resume?)" in engine("config", "resme", cwd=project, expect=1)["error"]["message"]
