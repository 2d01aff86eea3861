#!/usr/bin/env python3
"""Tests of the repositories that tests of git sources fill (testing.d/git_server.py)."""

import os
import subprocess
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import git_server  # noqa: E402
import process  # noqa: E402
import progress  # noqa: E402
from tree import WithFolder  # noqa: E402


# A test that makes a tree and commits to it, as those of scripts do.
IN_TREE = """
import subprocess, unittest
import tree

class Test(tree.WithTree):
    def test(self):
        self.write("a")
        for words in (["add", "--all"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=a"]):
            subprocess.run(["git", *words], cwd=self.folder, check=True)

unittest.main()
"""


class Trees(WithFolder):
    def test_a_hooks_repository_is_left_alone(self):
        """Where a hook of git's ran the tests of scripts, they added their files to the hook's index, and committed them."""
        work = os.path.join(self.folder, "work")
        subprocess.run(["git", "init", "--quiet", work], check=True)
        of_hook = {"GIT_DIR": os.path.join(work, ".git"), "GIT_INDEX_FILE": os.path.join(work, ".git", "index")}
        path = {"PYTHONPATH": os.path.join(TOOLS, "testing.d")}
        done = subprocess.run(
            [sys.executable, "-B", "-c", IN_TREE], env={**os.environ, **of_hook, **path}, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        refs = subprocess.run(["git", "-C", work, "for-each-ref"], check=True, capture_output=True, text=True)
        self.assertEqual((refs.stdout, os.path.exists(of_hook["GIT_INDEX_FILE"])), ("", False))


class Repositories(WithFolder):
    def test_a_hooks_repository_is_left_alone(self):
        """Where a hook of git's ran the tests, their commits and tags came into the repository that the hook was of."""
        work = os.path.join(self.folder, "work")
        subprocess.run(["git", "init", "--quiet", work], check=True)
        of_hook = {"GIT_DIR": os.path.join(work, ".git"), "GIT_WORK_TREE": work, "GIT_INDEX_FILE": os.path.join(work, ".git", "index")}
        signs = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "commit.gpgsign", "GIT_CONFIG_VALUE_0": "true"}
        self.write("config/git/config", "[tag]\n  gpgsign = true\n")
        self.write("release/metadata.yaml", "kind: Metadata\n")
        with mock.patch.dict(os.environ, {**of_hook, **signs, "XDG_CONFIG_HOME": os.path.join(self.folder, "config")}):
            repositories = git_server.Repositories(os.path.join(self.folder, "repositories"))
            path = repositories.create("core.git")
            repositories.release("core.git", "v1.0.0", os.path.join(self.folder, "release"), "core")
            self.assertEqual(git_server.git(path, "ls-tree", "-r", "--name-only", "v1.0.0"), "core/metadata.yaml\n")
        refs = subprocess.run(["git", "-C", work, "for-each-ref"], check=True, capture_output=True, text=True)
        self.assertEqual((refs.stdout, os.listdir(work)), ("", [".git"]))


class Ssh(WithFolder):
    def start(self):
        processes = process.Processes(self.folder)
        self.addCleanup(processes.stop)
        return git_server.Ssh(self.folder, processes)

    def test_one_that_ends_is_told_with_its_words(self):
        """It was waited for, for two minutes."""
        with mock.patch.object(git_server, "SSHD", self.write("sshd", "#!/bin/sh\necho no such option\nexit 1\n")):
            with self.assertRaisesRegex(progress.AssetError, r"sshd ended by itself \(exit code 1\):\n  no such option"):
                self.start()


if __name__ == "__main__":
    unittest.main()
