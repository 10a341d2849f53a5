"""Names of files that usually contain secrets."""

from __future__ import annotations

from handbill.paths import name

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
# These words count in a name that has one of the endings below, or none.
_WORDS = frozenset({
    "credentials", "credential", "creds", "secrets", "secret", "password", "passwords", "passwd", "token", "tokens",
    "apikey", "apikeys", "accesskey", "accesskeys", "rootkey", "kubeconfig", "adminsdk", "serviceaccount",
})  # fmt: skip
_DATA = frozenset({
    ".json", ".yml", ".yaml", ".toml", ".ini", ".cfg", ".conf", ".txt", ".properties", ".xml", ".csv", ".env", "",
})  # fmt: skip
_PLACES = ("/.git/", "/.ssh/", "/.gnupg/", "/.aws/", "/.kube/", "/.docker/", "/.envs/", "/.secrets/")
_SAMPLES = (".example", ".sample", ".template", ".dist")
_COPIES = ("~", ".bak", ".old", ".orig", ".save", ".swp", ".backup")


def is_private(path: str) -> bool:
    """Whether a file of this name usually has the user's secrets. `path`: with links resolved.

    A project may be another person's work, but such files in its folder are the user's.
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
    if settings or named or ".env." in last:
        return True
    words, dot, ending = last.removeprefix(".").rpartition(".")
    if dot + ending not in _DATA and dot:
        return False
    words = words if dot else ending
    return "/secrets/" in path or _has_word(words)


def _has_word(words: str) -> bool:
    """Whether one of the words is there: `gcp_credentials`, `db-password`, `secrets.prod`."""
    plain = words.replace("-", " ").replace("_", " ").replace(".", " ").split()
    return not _WORDS.isdisjoint([*plain, *map("".join, zip(plain, plain[1:]))])
