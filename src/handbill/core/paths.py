"""Lexical POSIX paths. `posixpath` would import `os`, a sixth of the whole hook's cost."""

from __future__ import annotations


def normal(path: str) -> str:
    """Absolute path without `//`, `.` and `..`; lexical, so nothing is read."""
    if "//" not in path and "/." not in path and (path == "/" or not path.endswith("/")):
        return path
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/" + "/".join(parts)


def join(base: str, path: str) -> str:
    return normal(path if path.startswith("/") else f"{base}/{path}")


def parent(path: str) -> str:
    return path[: path.rfind("/")] or "/"


def name(path: str) -> str:
    return path[path.rfind("/") + 1 :]


ANYWHERE = "/…/"  # in a root: any folders may stand there


def under(path: str, root: str) -> bool:
    return path == root or root == "/" or path.startswith(root + "/")


def below(path: str, root: str) -> list[str]:
    """The components of `path` below `root`."""
    rest = path[len(root) :] if root != "/" else path
    return [part for part in rest.split("/") if part]


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
