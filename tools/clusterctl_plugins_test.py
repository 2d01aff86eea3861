#!/usr/bin/env python3
"""What runs clusterctl, and what it runs: kubectl by the name kubectl-capi, and plug-ins (L7), with the program that was built."""

import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "manifests.d", "testing.d")]

import built  # noqa: E402
import variants  # noqa: E402
from tree import WithFolder  # noqa: E402

PLUGIN = """#!/bin/sh
printf '<%s>' "$@"
read -r line
echo "in: $line"
exit 7
"""


class Plugins(WithFolder):
    def setUp(self):
        super().setUp()
        self.environment = {"PATH": self.folder + ":/usr/bin:/bin", "HOME": self.folder}

    def run_program(self, *command, given=""):
        return subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=self.environment, timeout=60)

    def test_kubectl_runs_a_link_to_it(self):
        clusterctl = built.find("clusterctl")
        os.symlink(clusterctl, os.path.join(self.folder, "kubectl-capi"))
        kubectl = variants.kubectl()
        for arguments in (("version", "-o", "json"), ("generate", "yaml"), ("no-such-command",)):
            with self.subTest(arguments):
                by_kubectl = self.run_program(kubectl, "capi", *arguments, given="a: ${B:=c}")
                itself = self.run_program(clusterctl, *arguments, given="a: ${B:=c}")
                self.assertEqual(by_kubectl.returncode, itself.returncode)
                self.assertEqual((by_kubectl.stdout, by_kubectl.stderr), (itself.stdout, itself.stderr))
        self.assertEqual(by_kubectl.returncode, 1, "of the last")
        self.assertIn('unknown command "no-such-command"', by_kubectl.stderr)

    def test_a_plug_in_has_arguments_input_and_exit_code(self):
        self.write("clusterctl-my_own", PLUGIN)
        done = self.run_program(built.find("clusterctl"), "my-own", "a b", "--flag=x", "", given="line\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "<a b><--flag=x><>in: line\n", ""))


if __name__ == "__main__":
    unittest.main()
