"""Names of files that usually hold secrets."""

from __future__ import annotations

from handbill.core.paths import name

_KEYS = (
    ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".env", ".tfstate", ".kdbx", ".gpg",
    ".tfstate.backup", ".yml.enc",
)  # fmt: skip
_STARTS = (".env.", ".env-", ".env_", ".env~", ".envrc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")
_PRIVATE = frozenset({
    ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", ".vault-token", ".dockercfg", ".my.cnf",
    ".boto", ".s3cfg", ".authinfo", ".terraformrc", ".yarnrc.yml", ".mcp.json", ".claude.json", ".credentials.json",
    "auth.json", "credentials", "credentials.json", "service-account.json", "secrets.yml", "secrets.yaml",
    "secrets.json", "secrets.toml", "hgrc",
})  # fmt: skip
_PLACES = ("/.git/", "/.ssh/", "/.gnupg/", "/.aws/", "/.kube/", "/.docker/")
_SAMPLES = (".example", ".sample", ".template", ".dist")


def is_private(path: str) -> bool:
    """Does a file of this name usually hold secrets of the user's? `path`: with links followed.

    A project may be somebody else's work, but such files in its folder are the user's.
    """
    path = path.lower()
    last = name(path)
    if last.endswith((*_SAMPLES, ".pub")):
        return False
    settings = last.startswith("settings") and last.endswith(".json") and "/.claude/" in path
    named = last in _PRIVATE or last.startswith(_STARTS) or last.endswith(_KEYS)
    return settings or named or any(place in path for place in _PLACES)
