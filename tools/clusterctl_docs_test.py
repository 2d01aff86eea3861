#!/usr/bin/env python3
"""Runs the commands of docs/clusterctl.md, as they stand there and in their order, with the clusterctl that was built, and has it
read the examples of docs/sources.md.

The program is that of CAPI_CLUSTERCTL, else that of build/release (built.py). The working folder has the two files of the core
provider's release that the page asks for, of the set that CAPI_RELEASES names (base/testing/releases.h).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d")]

import built  # noqa: E402
import pages  # noqa: E402

ROOT = built.ROOT
RELEASES = {
    "": os.path.join(ROOT, "testdata", "releases"),
    "built": os.environ.get("CAPI_ASSETS_RELEASES", ""),
    "vendors": os.environ.get("RELEASES_DIR", ""),
}[os.environ.get("CAPI_RELEASES", "")]
CORE = os.path.join(RELEASES, "cluster-api", "v1.12.0")
LIMIT = 60


def blocks():
    with open(os.path.join(ROOT, "docs", "clusterctl.md"), encoding="utf-8") as file:
        return re.findall(r"^```sh\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)


@unittest.skipUnless(os.path.isdir(CORE), "the set of releases lacks cluster-api/v1.12.0")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = built.find("clusterctl")

    def test_its_commands_do_what_it_says(self):
        folder = tempfile.TemporaryDirectory(prefix="clusterctl-docs-test-")
        self.addCleanup(folder.cleanup)
        for name in ("metadata.yaml", "core-components.yaml"):
            shutil.copy(os.path.join(CORE, name), folder.name)
        os.mkdir(os.path.join(folder.name, "bin"))
        os.symlink(self.program, os.path.join(folder.name, "bin", "clusterctl"))
        path = os.path.join(folder.name, "bin") + os.pathsep + os.environ["PATH"]
        environment = {"PATH": path, "HOME": folder.name}
        output = []
        for block in blocks():
            done = pages.run(block, folder.name, environment)
            self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}{done.stderr}")
            self.assertEqual(done.stderr, "", block)
            output.append(done.stdout)
        version, files, described, images, raw, filled, workload, greeting, linted, completion, manuals = output
        self.assertRegex(version, r"^v\d+\.\d+\.\d+")
        self.assertEqual(files, "")
        self.assertIn("  - EXP_MACHINE_POOL\n", described)
        self.assertIn("Images:\n  - mirror.example.com/capi/cluster-api-controller:v1.12.0\n", described)
        self.assertIn("mirror.example.com/capi/cluster-api-controller:v1.12.0\n", images)
        self.assertIn("${EXP_MACHINE_POOL:=", raw)
        self.assertEqual(len(filled.splitlines()), 2)
        self.assertIn("Required Variables:\n  - KUBERNETES_VERSION\n", workload)
        self.assertIn("    controlPlane:\n      replicas: 3\n", workload)
        self.assertEqual(greeting, "greeting: hello, world\n")
        self.assertEqual(linted, "fine\n")
        self.assertEqual(completion, "")
        self.assertEqual(manuals, "")


class Sources(unittest.TestCase):
    """The examples of docs/sources.md: objects that lint takes, and configuration files that clusterctl reads."""

    def test_its_examples_are_what_they_are_for(self):
        program = built.find("clusterctl")
        with open(os.path.join(ROOT, "docs", "sources.md"), encoding="utf-8") as file:
            examples = re.findall(r"^( *)```yaml\n(.*?)^ *```$", file.read(), re.MULTILINE | re.DOTALL)
        folder = tempfile.TemporaryDirectory(prefix="sources-docs-test-")
        self.addCleanup(folder.cleanup)
        tried = {"objects": 0, "configuration": 0, "values": 0, "pipeline": 0}
        for _, text in examples:
            text = textwrap.dedent(text)
            path = os.path.join(folder.name, "example.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            with self.subTest(example=text):
                if text.startswith("apiVersion: "):
                    tried["objects"] += 1
                    output = self.run_program(folder.name, program, "lint", "--offline", path)
                    self.assertNotIn("error", output)
                elif text.startswith("providers:"):
                    tried["configuration"] += 1
                    output = self.run_program(folder.name, program, "config", "repositories", "--config", path)
                    self.assertRegex(output, r"(?m)^example +InfrastructureProvider ")
                elif "volumeMounts:" in text:
                    tried["values"] += 1  # chart_test.py renders them
                else:
                    tried["pipeline"] += 1
                    self.assertIn("/packages/generic/", text)
        self.assertEqual(tried, {"objects": 7, "configuration": 2, "values": 2, "pipeline": 1})

    def run_program(self, home, *command):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={"HOME": home},
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr


if __name__ == "__main__":
    unittest.main()
