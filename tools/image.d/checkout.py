"""What git knows of this checkout: the commit, its time, and which files belong to it; and whether programs were built of it."""

import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
with open(os.path.join(ROOT, "cmake", "git_environment.txt"), encoding="utf-8") as names:
    ELSEWHERE = [line.strip() for line in names if line.startswith("GIT_")]


def git(*arguments):
    """What git says of this checkout; "" where it isn't one, also within a repository of others. ChildProcessError, with git's
    words, where git can't say."""
    if not os.path.lexists(os.path.join(ROOT, ".git")):
        return ""
    # It may be somebody else's, and git looks into no folder above it.
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, *arguments]
    inherited = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    environment = {**inherited, "GIT_CEILING_DIRECTORIES": os.path.dirname(ROOT), "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode == 1 and not done.stderr:
        return ""  # what --quiet asks for isn't there
    if done.returncode != 0:
        raise ChildProcessError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def commit():
    """"" where there is none yet."""
    return git("rev-parse", "--verify", "--quiet", "HEAD")


def named(commit_id, state):
    """How revision() calls that commit; a state of "dirty" says that files of it had changed."""
    return commit_id + ("-dirty" if state == "dirty" else "")


def revision():
    """The commit, with -dirty behind it where a file of it has changed since."""
    found = commit()
    return found and named(found, "dirty" if git("status", "--porcelain", "--untracked-files=no") else "clean")


def revision_of(programs):
    """The checkout's revision, which is to be the one that each program, by its path, says it was built of: what is made of
    them has files of the checkout, too, or says that it is of that commit."""
    here = revision()
    for program, built in programs.items():
        if built != here:
            raise ValueError(
                f"{program} was built of {built or 'no commit'}, and the checkout is {here or 'no commit'}: "
                "run `make build`, or say what it is with --revision"
            )
    return here


def epoch():
    """SOURCE_DATE_EPOCH, else the time of the commit, else 0: seconds since 1970. ValueError, in words, where it is no number."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given and not re.fullmatch("[0-9]+", given):
        raise ValueError(f"SOURCE_DATE_EPOCH is {given!r}, not a number of seconds since 1970")
    return int(given or (commit() and git("log", "-1", "--format=%ct")) or 0)


def files(folder):
    """The paths within a folder of this checkout, without what an editor left there; all of them where git knows none."""
    listed = git("ls-files", "-z", "--", folder).split("\0")
    if not any(listed):
        listed = [os.path.join(path, name) for path, _, names in os.walk(os.path.join(ROOT, folder)) for name in names]
    paths = (os.path.join(ROOT, name) for name in listed if name)
    return sorted(os.path.relpath(path, os.path.join(ROOT, folder)) for path in paths if os.path.isfile(path))
