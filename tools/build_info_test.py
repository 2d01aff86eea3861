#!/usr/bin/env python3
"""Tests of what tells a commit: cmake/build_info.cmake to the programs, and tools/image.d/checkout.py to scripts. Both say the same."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("release.d", "image.d", "run.d", "testing.d")]

import built  # noqa: E402
import checkout  # noqa: E402
import clusterctl  # noqa: E402
from program import Program  # noqa: E402
from tree import WithTree  # noqa: E402

EPOCH = 1700000000


class InTree(WithTree):
    """A tree that has both, in a folder of the git tree or at its top."""

    INSIDE = ""

    def setUp(self):
        super().setUp()
        self.root = os.path.join(self.folder, self.INSIDE)
        self.header = os.path.join(self.enterContext(tempfile.TemporaryDirectory(prefix="tools-test-")), "header.h")
        self.copy("../cmake/build_info.cmake", "../cmake/git_environment.txt", "image.d/checkout.py")
        for name in ("cmake", "tools"):
            os.renames(os.path.join(self.folder, name), os.path.join(self.root, name))
        self.write(os.path.join(self.INSIDE, "chart/a"), "as committed\n")

    def git(self, *words):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
        environment = {**os.environ, "GIT_COMMITTER_DATE": f"{EPOCH} +0000"}
        return subprocess.check_output(["git", *identity, *words], cwd=self.folder, text=True, env=environment).strip()

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")
        return self.git("rev-parse", "HEAD")

    def run_both(self, call="revision()", **environment):
        """The finished processes: of the script, and of the build, which writes self.header."""
        environment = {name: text for name, text in {**os.environ, **environment}.items() if name != "SOURCE_DATE_EPOCH"}
        script = [sys.executable, "-B", "-c", f"import checkout; print(checkout.{call})"]
        build = ["cmake", f"-DSOURCE={self.root}", f"-DOUTPUT={self.header}", "-P", os.path.join(self.root, "cmake", "build_info.cmake")]
        path = os.path.join(self.root, "tools", "image.d")
        return [
            subprocess.run(command, capture_output=True, text=True, check=False, env={**environment, "PYTHONPATH": path})
            for command in (script, build)
        ]

    def says(self, wanted, date="", **environment):
        """That both say that it is of this commit."""
        script, build = self.run_both(**environment)
        self.assertEqual((script.returncode, script.stdout.strip(), script.stderr), (0, wanted, ""))
        self.assertEqual((build.returncode, build.stderr), (0, ""))
        with open(self.header, encoding="utf-8") as file:
            told = dict(re.findall(r'kBuild(\w+) = "(.*)";', file.read()))
        self.assertEqual(checkout.named(told["Commit"], told["TreeState"]), wanted)
        self.assertEqual(told["Date"], date)
        self.assertEqual(told["TreeState"] != "", wanted != "")


class Both(InTree):
    TIME = "2023-11-14T22:13:20Z"

    def test_the_commit_and_whether_it_was_changed(self):
        self.says("")  # has none yet
        head = self.commit()
        self.write("not-committed", "x")
        self.says(head, self.TIME)
        self.says(head, self.TIME, TZ="Asia/Tokyo")
        self.write("chart/a", "changed\n")
        self.says(f"{head}-dirty", self.TIME)

    def test_a_checkout_of_another_user(self):
        self.says(self.commit(), self.TIME, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")

    def test_a_worktree(self):
        self.commit()
        self.root = os.path.join(self.folder, "other")
        self.git("worktree", "add", "--quiet", self.root)
        self.says(self.git("rev-parse", "HEAD"), self.TIME, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")

    def test_no_checkout(self):
        os.rename(os.path.join(self.folder, ".git"), os.path.join(self.folder, "git"))
        self.says("")

    def test_what_git_cannot_say_is_not_clean(self):
        """The build told a checkout whose index is broken as a clean one, and so did a release."""
        self.commit()
        self.write(".git/index", "broken")
        script, build = self.run_both()
        self.assertNotEqual(script.returncode, 0)
        self.assertIn("ChildProcessError: git status: ", script.stderr)
        self.assertNotEqual(build.returncode, 0)
        words = " ".join(build.stderr.split())  # cmake wraps them
        self.assertIn("git status: ", words)
        self.assertIn("index file", words, "git's own words")
        self.assertFalse(os.path.exists(self.header))

    def test_what_git_cannot_say_is_told(self):
        """Where git failed, the files were all that there are, and the time was 1970: as without git."""
        self.commit()
        self.write(".git/index", "broken")
        script, _ = self.run_both("files('chart')")
        self.assertIn("ChildProcessError: git ls-files: ", script.stderr)
        self.write(".git/HEAD", "broken")
        for call in ("epoch()", "revision()", "files('chart')"):
            with self.subTest(call):
                script, _ = self.run_both(call)
                self.assertNotEqual(script.returncode, 0)
                self.assertRegex(script.stderr, r"ChildProcessError: git \S+: fatal: not a git repository")


class Inside(InTree):
    """The sources lie in a repository of somebody's, unpacked from an archive."""

    INSIDE = "sources"

    def test_a_repository_above_is_not_ours(self):
        """It told that one's commit, and ran what that one's configuration names."""
        self.commit()
        ran = os.path.join(self.folder, "ran")
        self.git("config", "core.fsmonitor", self.write("hook", f"#!/bin/sh\ntouch '{ran}'\n"))
        for environment in ({}, {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}):
            self.says("", **environment)
            self.assertFalse(os.path.exists(ran))
        for call, wanted in (("epoch()", "0"), ("files('chart')", "['a']")):
            self.assertEqual(self.run_both(call)[0].stdout.strip(), wanted)


class Programs(unittest.TestCase):
    def test_the_programs_tell_the_commit_of_the_checkout(self):
        self.assertEqual(clusterctl.built_of(Program(built.find("clusterctl"))), checkout.revision())
        self.assertEqual(Program(built.find("capi-operator")).built_of(), checkout.revision())


if __name__ == "__main__":
    unittest.main()
