#!/usr/bin/env python3
"""The completion script of bash, in a real bash, with the clusterctl that was built (L7)."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(TOOLS, "run.d"))

import built  # noqa: E402

# Sets what bash sets, as it divides words: at a space, a colon and an equals sign.
ASK = r"""
source <(clusterctl completion bash)
COMP_LINE=$LINE COMP_POINT=${#LINE}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_clusterctl_complete
printf '%s\n' "${COMPREPLY[@]}"
"""


class Bash(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="completion-test-")
        self.addCleanup(folder.cleanup)
        os.symlink(built.find("clusterctl"), os.path.join(folder.name, "clusterctl"))
        self.environment = {"PATH": folder.name + ":/usr/bin:/bin", "HOME": folder.name}

    def complete(self, line, words):
        command = ["bash", "--norc", "-c", ASK, "bash", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={**self.environment, "LINE": line}, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_words(self):
        for line, words, wanted in (
            ("clusterctl ge", ["clusterctl", "ge"], ["generate", "get"]),
            ("clusterctl generate ", ["clusterctl", "generate", ""], ["cluster", "provider", "yaml"]),
            ("clusterctl version -o ", ["clusterctl", "version", "-o", ""], ["json", "short", "yaml"]),
            ("clusterctl version --output=y", ["clusterctl", "version", "--output", "=", "y"], ["yaml"]),
            ("clusterctl version --output=", ["clusterctl", "version", "--output", "="], ["json", "short", "yaml"]),
            ("clusterctl xyzzy", ["clusterctl", "xyzzy"], []),
        ):
            with self.subTest(line):
                self.assertEqual(self.complete(line, words), wanted)


if __name__ == "__main__":
    unittest.main()
