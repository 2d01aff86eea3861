#!/usr/bin/env python3
"""Tests of the status page's front end, as far as they need no browser: its bundle, its size, and what it must not have."""

import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SERVED = ("index.html", "page.css", "page.js")
MOST = 150_000  # bytes, compressed


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(*command, cwd=ROOT):
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


class Bundle(unittest.TestCase):
    def test_is_made_of_the_sources_as_they_are(self):
        checked = run("tools/ui", "check")
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_another_file_is_noticed(self):
        """Of the sources, of what bundles them, and of the bundle: that is what people give their tokens to."""
        with tempfile.TemporaryDirectory() as copy:
            for folder in ("tools", "ui"):
                os.mkdir(os.path.join(copy, folder))
            shutil.copy(os.path.join(ROOT, "tools", "ui"), os.path.join(copy, "tools"))
            shutil.copytree(os.path.join(ROOT, "ui"), os.path.join(copy, "ui"), dirs_exist_ok=True)
            self.assertEqual(run("tools/ui", "check", cwd=copy).returncode, 0)
            for name in ("ui/src/dom.ts", "ui/tsconfig.json", "tools/ui", *(f"ui/bundle/{name}" for name in SERVED)):
                path = os.path.join(copy, name)
                with open(path, encoding="utf-8") as file:
                    before = file.read()
                for text in (before + "\n", None):
                    with self.subTest(name, is_there=text is not None):
                        if text is None and name == "tools/ui":
                            continue
                        if text is None:
                            os.remove(path)
                        else:
                            write(path, text)
                        self.assertEqual(run("tools/ui", "check", cwd=copy).returncode, 1)
                write(path, before)
            write(os.path.join(copy, "ui", "src", "more.ts"), "")
            self.assertEqual(run("tools/ui", "check", cwd=copy).returncode, 1)

    def test_is_small(self):
        together = "".join(read("ui", "bundle", name) for name in SERVED)
        self.assertLess(len(gzip.compress(together.encode(), 9)), MOST)

    def test_asks_no_other_host(self):
        """B1: the policy forbids it; what is never asked for needs no policy."""
        for name in SERVED:
            found = set(re.findall(r"https?://[^\s\"'`)]+", read("ui", "bundle", name)))
            self.assertLessEqual(found, {"http://www.w3.org/2000/svg"}, name)

    def test_keeps_the_licence_of_what_it_brings_along(self):
        self.assertIn("Permission is hereby granted", read("ui", "bundle", "page.js"))

    def test_npm_is_told_of_no_registry(self):
        """A lock file with addresses asks these, wherever it is used."""
        self.assertNotIn("resolved", read("ui", "package-lock.json"))


class Pictures(unittest.TestCase):
    def test_the_book_has_each_with_words(self):
        """tools/ui_views_test.py makes them, and looks whether they are of this page."""
        shown = dict(re.findall(r"^!\[([^\]]{50,})\]\((status-page-\w+\.png)\)$", read("docs", "status-page.md"), re.MULTILINE))
        self.assertEqual(sorted(shown.values()), sorted(glob.glob("status-page-*", root_dir=os.path.join(ROOT, "docs"))))
        self.assertGreater(len(shown), 0)


class Sources(unittest.TestCase):
    # B1: what an object says becomes text, whatever it is.
    MARKUP = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\b|new Function|srcdoc")
    KEPT = re.compile(r"localStorage|sessionStorage|document\.cookie|indexedDB")

    def test_no_text_becomes_markup_or_a_program(self):
        for path in glob.glob("ui/src/*.ts", root_dir=ROOT):
            self.assertIsNone(self.MARKUP.search(read(path)), path)

    def test_no_token_is_kept(self):
        """B5: it is in the page's memory alone."""
        for path in glob.glob("ui/src/*.ts", root_dir=ROOT):
            self.assertIsNone(self.KEPT.search(read(path)), path)

    def test_the_page_has_no_script_or_style_of_its_own(self):
        """Which the policy would refuse."""
        page = read("ui", "src", "index.html")
        self.assertNotIn("<style", page)
        self.assertNotRegex(page, r"<script(?! src)")
        self.assertNotRegex(page, r" (style|on[a-z]+)=")


if __name__ == "__main__":
    unittest.main()
