#!/usr/bin/env python3
"""Tests of what tools/site does with pages, and of its list of them. The generator itself isn't run."""

import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(TOOLS)
sys.path.insert(0, os.path.join(TOOLS, "site.d"))

import pages  # noqa: E402


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


class Prepared(unittest.TestCase):
    def test_words(self):
        cases = {
            "a list right after words": ("one:\n- a\n- b\n\nend\n", "one:\n\n- a\n- b\n\nend\n"),
            "a list of its own": ("one\n\n- a\n  more\n- b\n", "one\n\n- a\n  more\n- b\n"),
            "a list in a list": ("- a\n  - b\n", "- a\n    - b\n"),
            "a link out of the book": ("see [this](../manifests/crds) there", "see this (`manifests/crds` in the repository) there"),
            "a link in the book": ("[this](api.md#spec)", "[this](api.md#spec)"),
            "code": ("a\n```sh\nx:\n- [a](../b)\n  - c\n```\n", "a\n```sh\nx:\n- [a](../b)\n  - c\n```\n"),
            "a drawing": ("```mermaid\nflowchart LR\n```\n", "```text\nflowchart LR\n```\n"),
        }
        for name, (text, wanted) in cases.items():
            with self.subTest(name):
                self.assertEqual(pages.prepare(text), wanted)


class Loads(unittest.TestCase):
    def test_what_a_browser_asks_of_other_hosts_is_found(self):
        for page in (
            '<script src="https://a.example/x.js"></script>',
            '<link rel="stylesheet" href="//a.example/x.css">',
            "<p><img alt='' src='http://a.example/x.png'>",
        ):
            with self.subTest(page):
                self.assertEqual(len(pages.loaded_from_elsewhere(page)), 1)

    def test_what_a_person_follows_is_not(self):
        for page in ('<a href="https://a.example">a</a>', '<script src="assets/x.js"></script>', '<link rel="canonical" href="https://a.example">', "<img>"):
            with self.subTest(page):
                self.assertEqual(pages.loaded_from_elsewhere(page), [])


class Settings(unittest.TestCase):
    def test_every_page_is_listed_once(self):
        listed = re.findall(r"([\w-]+\.md)$", read("tools", "site.d", "mkdocs.yml").partition("\nnav:\n")[2], re.MULTILINE)
        there = [name for name in os.listdir(os.path.join(ROOT, "docs")) if name.endswith(".md")]
        self.assertEqual(sorted(listed), sorted(there))

    def test_what_is_installed_is_pinned(self):
        names = re.findall(r"^[\w-]+==\S+ \\\n    --hash=sha256:", read("tools", "site.d", "requirements.txt"), re.MULTILINE)
        self.assertEqual(len(names), read("tools", "site.d", "requirements.txt").count("=="))
        self.assertIn("mkdocs-material==", "".join(names))

    def test_no_font_of_another_host(self):
        self.assertIn("font: false", read("tools", "site.d", "mkdocs.yml"))


if __name__ == "__main__":
    unittest.main()
