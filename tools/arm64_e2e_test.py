#!/usr/bin/env python3
"""The programs for arm64, compiled on this machine and run by qemu: the image's root alone installs four providers, and clusterctl
prints what the one for this machine prints. Part of `make test-long`: it installs Debian's packages, and compiles for minutes."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(TOOLS)
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("image.d", "run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import image_root  # noqa: E402
import plan  # noqa: E402
from image_world import ImageWorld  # noqa: E402
from program import Program  # noqa: E402

EMULATOR = "qemu-aarch64-static"


class Arm64(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["make", "--no-print-directory", "build", "ARCHITECTURES=arm64"], cwd=ROOT, check=True)
        cls.operator, cls.clusterctl = (os.path.join(ROOT, "build", "arm64", "bin", name) for name in ("capi-operator", "clusterctl"))

    def test_they_are_for_arm64_and_of_the_same_sources(self):
        for program, name in ((self.operator, "capi-operator"), (self.clusterctl, "clusterctl")):
            with self.subTest(name):
                self.assertEqual(Program(program).architecture, "arm64")
        self.assertEqual(Program(self.operator).built_of(), Program(built.find("capi-operator")).built_of())

    def test_clusterctl_prints_the_same(self):
        (releases,) = plan.have(["releases"])
        component = os.path.join(releases, "cluster-api", "v1.12.0", "core-components.yaml")
        for arguments in (["generate", "provider", "--core", "cluster-api:v1.12.0", "--config", "/dev/stdin"], ["version", "--output=short"]):
            with self.subTest(arguments):
                config = f"providers: [{{name: cluster-api, type: CoreProvider, url: {component}}}]\n"
                own = subprocess.run([built.find("clusterctl"), *arguments], input=config, capture_output=True, text=True, check=True)
                emulated = subprocess.run([EMULATOR, self.clusterctl, *arguments], input=config, capture_output=True, text=True, check=True)
                self.assertEqual(emulated.stdout, own.stdout)
                self.assertNotEqual(own.stdout, "")

    def test_four_providers_become_ready_by_the_image_alone(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="arm64-test-"))
        root = image_root.unpack(self.operator, folder)
        world = ImageWorld()
        self.addCleanup(world.close)
        world.run_image(image_root.entry_point(root, EMULATOR))
        world.await_ready(600)


if __name__ == "__main__":
    unittest.main()
