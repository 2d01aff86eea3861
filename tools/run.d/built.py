"""Which program a test of a script tries: the one that tools/test names, else that of build/release, told when it is old."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
VARIABLES = {"capi-operator": "CAPI_OPERATOR", "clusterctl": "CAPI_CLUSTERCTL"}


def source_folders():
    """The tree's folders of C++ sources, as CMakeLists.txt has them, and of tests."""
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        (names,) = re.findall(r"^foreach\(folder ([a-z0-9 ]+)\)$", file.read(), re.MULTILINE)
    return names.split()


def find(name, root=ROOT):
    """The absolute path of the program under test; FileNotFoundError says how to get one."""
    named = os.environ.get(VARIABLES[name])
    path = os.path.abspath(named or os.path.join(root, "build", "release", "bin", name))
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        raise FileNotFoundError(f"{path} is no program: run `make build`, or set {VARIABLES[name]}")
    newer = None if named else newest_source(root)
    if newer and os.stat(os.path.join(root, newer)).st_mtime > os.stat(path).st_mtime:
        print(f"{path} is older than {newer}: `make build` brings it up to date", file=sys.stderr, flush=True)
    return path


def newest_source(root):
    """The source file that was changed last, tests left aside."""
    names = [
        name
        for folder in source_folders()
        if folder not in ("e2e", "tools")
        for name in glob.glob(f"{folder}/**/*.*", root_dir=root, recursive=True)
        if name.endswith((".cc", ".h")) and not name.endswith(("_test.cc", "_fuzz.cc", "_benchmark.cc")) and "/testing/" not in name
    ]
    return max(names, key=lambda name: os.stat(os.path.join(root, name)).st_mtime, default=None)
