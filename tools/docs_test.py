#!/usr/bin/env python3
"""Tests that the pages name things that are there: files, make targets, scripts, rules."""

import glob
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(glob.glob("docs/*.md", root_dir=ROOT))]


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def anchors(name):
    headings = re.findall(r"^#+ (.+)$", read(name), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Pages(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", read(page)):
                if target.startswith(("https://", "http://")):
                    continue
                with self.subTest(page=page, target=target):
                    path, _, anchor = target.partition("#")
                    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                    self.assertTrue(os.path.exists(os.path.join(ROOT, path)), "no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(path))

    def test_make_has_the_targets_that_pages_name(self):
        targets = set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), re.MULTILINE))
        for page in PAGES:
            for target in re.findall(r"(?:`|^    )make ([a-z][a-z-]*)", read(page), re.MULTILINE):
                with self.subTest(page=page, target=target):
                    self.assertIn(target, targets)

    def test_scripts_that_pages_name_are_there(self):
        for page in PAGES:
            for name in re.findall(r"`((?:tools/|\.ci/)[\w./-]+)", read(page)):
                with self.subTest(page=page, script=name):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, name.rstrip("./"))), "no such file")

    def test_make_runs_scripts_that_are_there(self):
        for name in set(re.findall(r"\btools/\w+", read("Makefile"))):
            with self.subTest(script=name):
                self.assertTrue(os.access(os.path.join(ROOT, name), os.X_OK), "no such program")


class Rules(unittest.TestCase):
    def test_code_cites_rules_that_exist(self):
        rules = set(re.findall(r"^- \*\*([A-Z]\d+[a-z]?)\*\*", read("docs/behaviour.md"), re.MULTILINE))
        self.assertGreater(len(rules), 50)
        names = [
            name
            for folder in ("api", "base", "cli", "e2e", "fetch", "kube", "operator", "templating")
            for name in glob.glob(f"{folder}/**/*.*", root_dir=ROOT, recursive=True)
            if name.endswith((".h", ".cc"))
        ]
        self.assertGreater(len(names), 20)
        for name in names:
            for rule in re.findall(r"behaviour\.md,? \"?([A-Z]\d+[a-z]?)\b", read(name)):
                with self.subTest(file=name):
                    self.assertIn(rule, rules)


if __name__ == "__main__":
    unittest.main()
