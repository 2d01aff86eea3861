#!/usr/bin/env python3
"""Tests of what tools/site does with pages and folders, and of its list of pages. The generator itself isn't run."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(TOOLS)
sys.path.insert(0, os.path.join(TOOLS, "site.d"))

import pages  # noqa: E402


def load():
    """tools/site, whose name no import takes."""
    loader = importlib.machinery.SourceFileLoader("tools_site", os.path.join(TOOLS, "site"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tools_site", loader))
    loader.exec_module(module)
    return module


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


class Folders(unittest.TestCase):
    """Where the site goes: what somebody else put there stays."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="site-test-")
        self.addCleanup(folder.cleanup)
        self.target = os.path.join(folder.name, "www")
        self.site = load()

    def make(self, page="one.html"):
        def generate(arguments, **_):
            made = arguments[arguments.index("-d") + 1]
            os.makedirs(made)
            with open(os.path.join(made, page), "w", encoding="ascii"):
                pass
            return types.SimpleNamespace(returncode=0)

        said = io.StringIO()
        with (
            mock.patch.object(sys, "argv", ["site", self.target]),
            mock.patch.object(self.site, "environment", lambda: "python3"),
            mock.patch.object(self.site.subprocess, "run", generate),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            return self.site.main(), said.getvalue()

    def test_a_folder_of_others_is_refused_whatever_is_in_it(self):
        os.mkdir(self.target)
        for name in ("index.html", "other"):
            with open(os.path.join(self.target, name), "w", encoding="ascii"):
                pass
        code, said = self.make()
        self.assertEqual((code, sorted(os.listdir(self.target))), (1, ["index.html", "other"]))
        self.assertIn("that tools/site hasn't made", said)

    def test_a_file_is_refused(self):
        with open(self.target, "w", encoding="ascii"):
            pass
        code, said = self.make()
        self.assertEqual((code, os.path.isfile(self.target)), (1, True))
        self.assertIn("is no folder", said)

    def test_its_own_is_replaced(self):
        os.mkdir(self.target)
        for page in ("one.html", "two.html"):
            self.assertEqual(self.make(page)[0], 0)
            self.assertEqual(sorted(os.listdir(self.target)), [self.site.MARK, page])


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
