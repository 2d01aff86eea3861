#!/usr/bin/env python3
"""Runs the commands of README.md and of docs/contracts.md, as they stand there, on a real control plane."""

import os
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, "run.d"), os.path.join(TOOLS, "assets.d")]

import pages  # noqa: E402
from pages import blocks  # noqa: E402


class Readme(pages.Page):
    def test_a_first_provider_becomes_ready_and_says_what_it_did(self):
        create, watch, conditions = blocks("A first provider")
        self.run_block(create)
        self.run_block(watch)
        self.assertRegex(self.run_block(conditions), r"(?m)^Ready=True ")

    def test_a_release_without_a_network(self):
        for name in ("metadata.yaml", "core-components.yaml"):
            shutil.copy(os.path.join(pages.CORE, name), self.folder)
        (block,) = blocks("Without a network")
        self.run_block(block)
        self.run_block(blocks("A first provider")[1])


class Contracts(pages.Page):
    def test_a_pause_and_a_change_of_contract(self):
        for heading in (
            "Two providers to try it with",
            "Pause a provider",
            "A change of contract",
        ):
            for block in blocks(heading, "docs/contracts.md"):
                self.run_block(block)
        versions = self.run_block("kubectl get capi-providers -A -o jsonpath='{.items[*].status.installedVersion}'")
        self.assertEqual(versions, "v1.1.5 v1.1.5")


if __name__ == "__main__":
    unittest.main()
