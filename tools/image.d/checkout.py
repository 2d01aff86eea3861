"""What git knows of this checkout: the commit, its time, and which files belong to it."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def git(*arguments):
    """What git says of this checkout, "" where it isn't one."""
    command = ["git", "-c", "safe.directory=*", "-C", ROOT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def revision():
    """The commit, with -dirty behind it where a file of it has changed since."""
    commit = git("rev-parse", "HEAD")
    changed = commit and git("status", "--porcelain", "--untracked-files=no")
    return commit + ("-dirty" if changed else "")


def epoch():
    """SOURCE_DATE_EPOCH, else the time of the commit, else 0: seconds since 1970."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct") or 0)


def files(folder):
    """The paths within a folder of this checkout, without what an editor left there; all of them where git knows none."""
    listed = git("ls-files", "-z", "--", folder).split("\0")
    if not any(listed):
        listed = [os.path.join(path, name) for path, _, names in os.walk(os.path.join(ROOT, folder)) for name in names]
    paths = (os.path.join(ROOT, name) for name in listed if name)
    return sorted(os.path.relpath(path, os.path.join(ROOT, folder)) for path in paths if os.path.isfile(path))
