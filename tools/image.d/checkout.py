"""What git knows of this checkout: the commit, its time, and which files belong to it."""

import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def git(*arguments):
    """What git says of this checkout, "" where it isn't one."""
    done = _run(*arguments)
    return done.stdout.strip() if done.returncode == 0 else ""


def revision():
    """The commit, with -dirty behind it where a file of it has changed since; ChildProcessError where git can't say whether."""
    commit = git("rev-parse", "HEAD")
    if not commit:
        return ""
    changed = _run("status", "--porcelain", "--untracked-files=no")
    if changed.returncode != 0:
        raise ChildProcessError(f"git status: {changed.stderr.strip()}")
    return commit + ("-dirty" if changed.stdout.strip() else "")


def epoch():
    """SOURCE_DATE_EPOCH, else the time of the commit, else 0: seconds since 1970. ValueError, in words, where it is no number."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given and not re.fullmatch("[0-9]+", given):
        raise ValueError(f"SOURCE_DATE_EPOCH is {given!r}, not a number of seconds since 1970")
    return int(given or git("log", "-1", "--format=%ct") or 0)


def _run(*arguments):
    command = ["git", "-c", "safe.directory=*", "-C", ROOT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def files(folder):
    """The paths within a folder of this checkout, without what an editor left there; all of them where git knows none."""
    listed = git("ls-files", "-z", "--", folder).split("\0")
    if not any(listed):
        listed = [os.path.join(path, name) for path, _, names in os.walk(os.path.join(ROOT, folder)) for name in names]
    paths = (os.path.join(ROOT, name) for name in listed if name)
    return sorted(os.path.relpath(path, os.path.join(ROOT, folder)) for path in paths if os.path.isfile(path))
