"""Names of files that usually hold secrets."""

from __future__ import annotations

from handbill.core.paths import name

_KEYS = (
    ".pem", ".key", ".p8", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".env", ".tfstate", ".kdbx", ".gpg",
    ".tfstate.backup", ".yml.enc", ".tfvars", ".tfvars.json", "_history",
)  # fmt: skip
_STARTS = (
    ".env.", ".env-", ".env_", ".env~", ".env ", ".envrc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
    "client_secret",
)  # fmt: skip
_PRIVATE = frozenset({
    ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", ".vault-token", ".dockercfg", ".my.cnf",
    ".boto", ".s3cfg", ".authinfo", ".terraformrc", ".yarnrc.yml", ".mcp.json", ".claude.json", ".credentials.json",
    "auth.json", "token.json", "tokens.json", "service-account.json", "service_account.json", "serviceaccountkey.json",
    "local.settings.json", "kubeconfig", "hgrc",
    ".dev.vars", ".vault_pass", ".databrickscfg", ".renviron", "_netrc",
})  # fmt: skip
_WORDS = frozenset({"credentials", "secrets", "secret"})  # alone, or with one of these endings
_DATA = (".json", ".yml", ".yaml", ".toml", ".ini", ".cfg", ".conf", ".txt", ".properties", ".xml", "")
_PLACES = ("/.git/", "/.ssh/", "/.gnupg/", "/.aws/", "/.kube/", "/.docker/", "/.envs/", "/.secrets/")
_SAMPLES = (".example", ".sample", ".template", ".dist")
_COPIES = ("~", ".bak", ".old", ".orig", ".save", ".swp", ".backup")


def is_private(path: str) -> bool:
    """Does a file of this name usually hold secrets of the user's? `path`: with links followed.

    A project may be somebody else's work, but such files in its folder are the user's.
    """
    path = path.lower()
    last = name(path).strip("#")  # an editor's copy
    for ending in _COPIES * 2:
        last = last.removesuffix(ending) or last
    if last.endswith(".pub") and not last.startswith(".env"):
        return False
    if any(place in path for place in _PLACES):
        return True
    if last.removeprefix(".env") in _SAMPLES or (last.endswith(_SAMPLES) and not last.startswith(".env")):
        return False
    settings = last.startswith("settings") and last.endswith(".json") and "/.claude/" in path
    named = last in _PRIVATE or last.startswith(_STARTS) or last.endswith(_KEYS)
    word, dot, rest = last.removeprefix(".").partition(".")
    ending = rest.rpartition(".")[2]  # secrets.prod.yml
    if "/secrets/" in path and last.endswith(_DATA[:-1]):
        return True
    return settings or named or (word in _WORDS and (dot + rest in _DATA or dot + ending in _DATA))
