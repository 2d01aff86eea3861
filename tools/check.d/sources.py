"""The project's files, and what the checks need to know of the C++ ones.

    sources.py cpp|python   prints the names of these, a line each
"""

import functools
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# In order: raw strings, line comments, block comments, strings, characters (not the ' of 1'000).
NOISE = re.compile(
    r'R"([^(\s]{0,16})\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL,
)


@functools.lru_cache(maxsize=None)
def all_files():
    """Files of the project, those that are new but not ignored among them."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    return sorted({name for name in listed if name and os.path.isfile(os.path.join(ROOT, name))})


def cpp_files():
    return [name for name in all_files() if name.endswith((".h", ".cc"))]


def python_files():
    """Scripts too, whose names don't say it."""
    return [name for name in all_files() if name.endswith(".py") or is_python_script(name)]


def is_python_script(name):
    path = os.path.join(ROOT, name)
    if "." in os.path.basename(name) or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as file:
        first = file.readline()
    return first.startswith(b"#!") and first.rstrip().endswith(b"python3")


def headers():
    return [name for name in all_files() if name.endswith(".h")]


@functools.lru_cache(maxsize=None)
def text(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def includes(name):
    """(line, text between the brackets, True for <>), in order."""
    source = text(name)
    return [(source.count("\n", 0, m.start()) + 1, m.group(2), m.group(1) == "<") for m in _INCLUDE.finditer(source)]


def code(name):
    """The text with comments gone and strings emptied; every line keeps its number."""

    def blank(match):
        found = match.group(0)
        lines = "\n" * found.count("\n")
        return lines if found.startswith("/") else '"' + lines + '"'

    return NOISE.sub(blank, text(name))


@functools.lru_cache(maxsize=None)
def closure(name):
    """The file and every file of the project that it includes, directly or not."""
    seen, todo = set(), [name]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        todo += [header for _, header, _ in includes(current) if os.path.isfile(os.path.join(ROOT, header))]
    return sorted(seen)


def main(kind):
    try:
        files = {"cpp": cpp_files, "python": python_files}[kind]()
    except subprocess.CalledProcessError as error:
        sys.exit(f"git doesn't list the files: {error.stderr.strip()}")
    print("\n".join(files))


if __name__ == "__main__":
    main(*sys.argv[1:])
