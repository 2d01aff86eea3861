"""The cache folder: atomic entries, and a lock so that two runs at once make an entry once."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time

from progress import Progress

# No build takes this many seconds.
ABANDONED_AFTER = 24 * 3600


def root():
    explicit = os.environ.get("CAPI_OPERATOR_CACHE")
    if explicit:
        return os.path.abspath(explicit)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(os.path.abspath(base), "capi-operator")


def key_of(*parts):
    """A short name for what an entry was made from: each part is text or bytes."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(str(len(data)).encode() + b":" + data)
    return digest.hexdigest()[:16]


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


@contextlib.contextmanager
def locked(name):
    """Holds the named lock; says so when another run has it. The kernel frees it when its holder dies."""
    folder = os.path.join(root(), "locks")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _wait_for(file, name)
        yield


def _wait_for(file, name):
    progress = Progress(f"waiting for another run that is making {name}")
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            progress.update()
            time.sleep(0.1)
    progress.done()


@contextlib.contextmanager
def scratch(near):
    """A temporary folder on the same file system as the path near, gone afterwards."""
    parent = os.path.dirname(near)
    os.makedirs(parent, exist_ok=True)
    _remove_abandoned(parent)
    folder = tempfile.mkdtemp(prefix=".tmp-", dir=parent)
    os.chmod(folder, 0o755)
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder):
    make_writable(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent):
    """Removes what runs that were killed have left behind, once it is surely theirs."""
    for entry in os.scandir(parent):
        if entry.name.startswith(".tmp-") and time.time() - entry.stat().st_mtime > ABANDONED_AFTER:
            _remove(entry.path)


def make_writable(folder):
    """The Go module cache is read-only, and so are copies of it; such a folder can't be changed or removed."""
    for path, _, _ in os.walk(folder):
        os.chmod(path, 0o755)


def made_once(lock, target, make):
    """The target, made unless it is there; of two runs at once the second finds what the first has made."""
    if not os.path.exists(target):
        with locked(lock):
            if not os.path.exists(target):
                make(target)
    return target


def existing(target):
    """The target where it is there already, else None."""
    return target if os.path.exists(target) else None


def publish(source, target):
    """Moves a finished file or folder to its place in one step; an entry that is there already stays."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source) and os.path.isdir(target):
        return
    os.rename(source, target)
