"""What the tests of scripts share: a folder of their own, and a small tree in it that has some of the scripts."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.append(os.path.join(TOOLS, "image.d"))

import checkout  # noqa: E402

# Where a hook of git's runs the tests, the repository is the hook's for every git that they start: they would add their files to
# its index, and their commits to its branch.
for name in checkout.ELSEWHERE:
    os.environ.pop(name, None)


def version():
    """That of the project: "v0.1.0"."""
    with open(os.path.join(os.path.dirname(TOOLS), "base", "version.h"), encoding="utf-8") as file:
        return re.search(r'kProjectVersion = "(.+)";', file.read()).group(1)


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tools-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text="", mode=None):
        """Its path. A script can be run, unless the mode says otherwise."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode or (0o755 if text.startswith("#!") else 0o644))
        return path


class WithTree(WithFolder):
    """A git tree."""

    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "--quiet", self.folder], check=True)

    def copy(self, *names):
        """Files and folders of tools/, or beside it ("../.ci/run"), to where they are in this tree."""
        for name in names:
            source, target = os.path.join(TOOLS, name), os.path.normpath(os.path.join(self.folder, "tools", name))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.isdir(source):
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
