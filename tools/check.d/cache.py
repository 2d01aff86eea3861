"""Remembers which checks passed on which content, so that a check runs again only where something changed."""

import hashlib
import os

import sources


def _folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(os.environ.get("CAPI_OPERATOR_CACHE") or os.path.join(base, "capi-operator"), "checks")


def key(name, *conditions):
    """A key of everything that a check of this file sees: the file, what it includes, and `conditions` (flags, tools)."""
    digest = hashlib.sha256()
    for part in conditions:
        digest.update(part.encode() + b"\0")
    for file in sources.closure(name):
        digest.update(file.encode() + b"\0" + sources.text(file).encode() + b"\0")
    return digest.hexdigest()


def passed(key_):
    return os.path.exists(os.path.join(_folder(), key_))


def remember(key_):
    os.makedirs(_folder(), exist_ok=True)
    with open(os.path.join(_folder(), key_), "w", encoding="utf-8"):
        pass
