#!/usr/bin/env python3
"""Tests of the seeds of the fuzz targets."""

import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [TOOLS, os.path.join(TOOLS, "testing.d")]

import fuzz_seeds  # noqa: E402
from tree import WithTree  # noqa: E402


class Targets(unittest.TestCase):
    def test_each_names_seeds_and_has_an_entry(self):
        targets = fuzz_seeds.targets()
        self.assertEqual(sorted(target.name for target in targets), sorted(fuzz_seeds.SEEDS))
        for target in targets:
            with self.subTest(target.name):
                self.assertTrue(target.seeds)

    def test_each_says_where_it_is(self):
        """What breaks it is kept there, and run from there (tools/fuzz, base/fuzz_replay_test.cc)."""
        for target in fuzz_seeds.targets():
            with self.subTest(target.name):
                self.assertEqual(target.folder, os.path.dirname(target.file))

    def test_texts_are_what_the_compiler_makes_of_them(self):
        self.assertEqual(fuzz_seeds.bytes_of(r'"a\n\"\\\xff\xC3\xa9é"'), b'a\n"\\\xff\xc3\xa9\xc3\xa9')


class Files(WithTree):
    def setUp(self):
        super().setUp()
        self.copy("fuzz_seeds.py", "../testdata/vectors")

    def seeds(self):
        """Its exit code, and what it said."""
        command = [sys.executable, "-B", os.path.join(self.folder, "tools", "fuzz_seeds.py"), os.path.join(self.folder, "seeds")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def test_seeds_of_the_target_are_written_with_those_of_the_vectors(self):
        for name in fuzz_seeds.SEEDS:
            self.write(f"x/{name}_fuzz.cc", f'CAPI_FUZZ({name}, "x",\n  {{("one\\n"\n    "more"), "two"}}) {{}}\n')
        self.assertEqual(self.seeds(), (0, ""))
        for name, count in {"config": 2, "request": 2, "warnings": 2}.items():
            folder = os.path.join(self.folder, "seeds", name)
            texts = set()
            for file in os.listdir(folder):
                with open(os.path.join(folder, file), "rb") as seed:
                    texts.add(seed.read())
            self.assertEqual(len(texts), count)
            self.assertEqual(texts, {b"one\nmore", b"two"})
        self.assertGreater(len(os.listdir(os.path.join(self.folder, "seeds", "patch"))), 2)

    def test_a_list_that_ends_with_something_else_is_told_at_once(self):
        """Each text could be read in several ways: twelve of them took hours."""
        seeds = "".join(f'"{i}",\n ' for i in range(40))
        self.write("x/config_fuzz.cc", f'CAPI_FUZZ(config, "x", {{{seeds}R"(y)"}}) {{}}\n')
        code, error = self.seeds()
        self.assertEqual(code, 1)
        self.assertIn("x/config_fuzz.cc: a CAPI_FUZZ isn't of the form", error)

    def test_a_target_without_an_entry_fails(self):
        for name in [*fuzz_seeds.SEEDS, "other"]:
            self.write(f"x/{name}_fuzz.cc", f'CAPI_FUZZ({name}, "x", {{"a"}}) {{}}\n')
        code, said = self.seeds()
        self.assertEqual(code, 1)
        self.assertIn("have no entry in SEEDS: other", said)

    def test_seeds_that_are_no_plain_texts_fail(self):
        self.write("x/a_fuzz.cc", 'CAPI_FUZZ(a, "x", {std::string("a", 1)}) {}\n')
        code, said = self.seeds()
        self.assertEqual(code, 1)
        self.assertIn("a_fuzz.cc: a CAPI_FUZZ isn\'t of the form", said)


if __name__ == "__main__":
    unittest.main()
