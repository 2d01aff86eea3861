#!/usr/bin/env python3
"""The operator as its image has it in a pod, on a real control plane: with nothing else in its root, which it can't write, as the
image's user, and in 64 MiB where this machine has cgroups for it."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import image_root  # noqa: E402
import worlds  # noqa: E402
from image_world import ImageWorld  # noqa: E402


class Image(unittest.TestCase):
    def test_four_providers_become_ready(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="image-test-"))
        root = image_root.unpack(built.find("capi-operator"), folder)
        limit = image_root.MemoryLimit.make(f"capi-image-test-{os.getpid()}")
        if limit:
            self.addCleanup(worlds.until, "the cgroup is empty", lambda: not limit.pids() and not limit.remove() and True, 30)
        world = ImageWorld()
        self.addCleanup(world.close)
        world.run_image(image_root.entry_point(root, group=limit))
        world.await_ready()
        self.assert_it_runs_as_in_a_pod(world.operator.pid, limit)

    def assert_it_runs_as_in_a_pod(self, pid, limit):
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            status = file.read()
        user = image_root.USER if os.getuid() == 0 else os.getuid()  # seen from outside of its namespace
        self.assertRegex(status, rf"(?m)^Uid:\t{user}\t{user}\t{user}\t{user}$")
        self.assertRegex(status, r"(?m)^CapEff:\t0000000000000000$")
        with open(f"/proc/{pid}/mountinfo", encoding="utf-8") as file:
            (root,) = [line.split() for line in file if line.split()[4] == "/"]
        self.assertIn("ro", root[5].split(","), root)
        if limit:
            self.assertEqual((limit.pids(), limit.kills()), ({pid}, 0))


if __name__ == "__main__":
    unittest.main()
