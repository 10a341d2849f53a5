from __future__ import annotations

import pytest

from handbill.core.private import is_private


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
    assert is_private(path) is private
