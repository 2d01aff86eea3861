"""Runs the shell blocks of a page of the book, as they stand there, on a real control plane.

Two things differ from a reader's machine: the operator is the program of CAPI_OPERATOR where that is set, and it gets
`--releases-dir`, since a test may have no network.
"""

import os
import re
import subprocess
import tempfile
import time
import unittest

import cluster
import process
import programs
import releases

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
OPERATOR = os.environ.get("CAPI_OPERATOR") or os.path.join(ROOT, "build", "release", "bin", "capi-operator")
RELEASES = os.environ.get("RELEASES_DIR") or os.environ.get("CAPI_ASSETS_RELEASES") or ""
CORE = os.path.join(RELEASES, "cluster-api", "v1.12.0")
LIMIT = 300


def blocks(heading, page="README.md"):
    """The shell blocks of a section, in order; those before the first section are under the page's title."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        sections = re.split(r"^## |\A# ", file.read(), flags=re.MULTILINE)
    section = next(section for section in sections if section.startswith(heading + "\n"))
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


@unittest.skipUnless(os.path.exists(OPERATOR), f"there is no {OPERATOR}")
@unittest.skipUnless(os.path.isdir(CORE), "RELEASES_DIR is not set")
class Page(unittest.TestCase):
    def setUp(self):
        self.state = process.StateFolder()
        self.addCleanup(self.state.remove)
        self.processes = process.Processes(self.state.path)
        self.addCleanup(self.processes.stop)
        programs_folder = programs.link_folder(["control-plane"])
        self.plane = cluster.ControlPlane(programs_folder, self.state.path, self.processes)
        self.plane.start()
        folder = tempfile.TemporaryDirectory(prefix="readme-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name  # a checkout as far as the commands need one
        os.symlink(os.path.join(ROOT, "manifests"), os.path.join(self.folder, "manifests"))
        self.environment = dict(
            os.environ, KUBECONFIG=self.plane.kubeconfig, PATH=programs_folder + os.pathsep + os.environ["PATH"]
        )
        self.use_in_a_cluster()

    def run_block(self, block):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.environment,
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
        )
        self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}{done.stderr}{self.operator_log()}")
        return done.stdout

    def await_output(self, block, *wanted):
        """Runs a block again and again, each run takes its time, until it prints all that is wanted."""
        end = time.monotonic() + 60
        while True:
            output = self.run_block(block)
            if all(text in output for text in wanted):
                return output
            self.assertLess(time.monotonic(), end, f"{block}\n{output}\nhas not all of {wanted}{self.operator_log()}")

    def operator_log(self):
        path = self.processes.log_path("capi-operator")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return "---- the operator's log ends with\n" + "".join(file.readlines()[-40:])

    def use_in_a_cluster(self):
        kinds, operator = blocks("Use it in a cluster")
        self.run_block(kinds)
        self.run_block(f"kubectl apply --server-side -f '{releases.locate_crds()}'")
        command = operator.strip().replace("build/release/bin/capi-operator", OPERATOR)
        self.assertTrue(command.startswith(OPERATOR), operator)
        self.operator = self.processes.start(
            "capi-operator", ["bash", "-c", f"exec {command} --releases-dir='{RELEASES}'"], env=self.environment
        )
