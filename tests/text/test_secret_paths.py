from __future__ import annotations

import pytest

from handbill.text.secret_paths import is_private


@pytest.mark.parametrize(
    "path, private",
    [
        ("/p/.env", True), ("/p/.env.local", True), ("/p/.env.example", False), ("/p/.environment", False),
        ("/p/.git/config", True), ("/p/git/config", False), ("/p/.claude/settings.local.json", True),
        ("/p/settings.json", False), ("/p/id_rsa", True), ("/p/id_rsa.pub", False), ("/p/x.pem", True), ("/p/keys.md", False),
        ("/p/prod.env", True), ("/p/.ENV", True), ("/p/.env-prod", True), ("/p/.env~", True), ("/p/.envrc.local", True),
        ("/p/.aws/x", True), ("/p/aws/x", False), ("/p/.kube/config", True), ("/p/.ssh/known", True), ("/p/x.PEM", True),
        ("/p/secrets.yml", True), ("/p/secrets.md", False), ("/p/.mcp.json", True), ("/p/id_rsa.bak", True),
        ("/p/.dev.vars", True), ("/p/terraform.tfvars", True), ("/p/x.auto.tfvars", True), ("/p/.envs/a/b", True),
        ("/p/credentials.toml", True), ("/p/.secrets", True), ("/p/.secrets.toml", True), ("/p/secrets.ini", True),
        ("/p/.vault_pass", True), ("/p/.bash_history", True), ("/p/serviceAccountKey.json", True), ("/p/kubeconfig", True),
        ("/p/local.settings.json", True), ("/p/.databrickscfg", True), ("/p/.Renviron", True), ("/p/_netrc", True),
        ("/p/.netrc~", True), ("/p/key.pem.bak", True), ("/p/prod.env.bak", True), ("/p/.env.local.dist", True),
        ("/p/.env.dist", False), ("/p/.env.example.bak", False), ("/p/credentials.py", False), ("/p/history.md", False),
        ("/p/secrets.toml.example", False), ("/p/.aws/x.example", True), ("/p/~", False), ("/p/.env.pub.bak", True), ("/p/.aws/.env.example.bak", True), ("/p/.ssh/id_rsa.pub", False), ("/p/a.tfvars.example", False),
        ("/p/#.env#", True), ("/p/.env copy", True), ("/p/AuthKey.p8", True), ("/p/client_secret_1.json", True), ("/p/secrets.prod.yml", True),
        ("/p/rootkey.csv", True), ("/p/secrets/db_password", True), ("/p/secrets/x", True), ("/p/secrets/x.md", False),
        ("/p/prod.env.local", True), ("/p/kubeconfig.yaml", True), ("/p/application_default_credentials.json", True),
        ("/p/passwords.txt", True), ("/p/accessKeys.csv", True), ("/p/aws_credentials", True), ("/p/x-service-account.json", True),
        ("/p/firebase-adminsdk-1.json", True), ("/p/access_token", True), ("/p/.token", True), ("/p/token.md", False),
        ("/p/tokenizer.txt", False), ("/p/password.py", False), ("/p/prod.env.example", False), ("/p/AGENTS", False),
        ("/p/secrets.prod.md", False), ("/p/secretary.yml", False), ("/p/terraform.tfstate", True), ("/p/.claude/.credentials.json", True), ("/p/credentials", True),
    ],
)  # fmt: skip
def test_files_that_usually_hold_secrets(path: str, private: bool) -> None:
    assert is_private(path) is private
