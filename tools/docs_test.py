#!/usr/bin/env python3
"""Tests that the pages name things that are there: files, make targets, scripts."""

import glob
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tools", folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import mermaid  # noqa: E402
import plan  # noqa: E402
import programs  # noqa: E402

PAGES = ["README.md", "CONTRIBUTING.md", *sorted(glob.glob("docs/*.md", root_dir=ROOT))]

# Of kubectl, Helm, cosign, the API server, the providers' managers, and this tree's own scripts.
OTHERS_FLAGS = """--admission-control-config-file --atomic --awscluster-concurrency --cleanup-on-fail --enable-certificate-owner-ref --field-selector --force-conflicts --gtest --image --list
--metrics-bind-address --net --only --reset-then-reuse-values --revision --rollback-on-failure --sample --server-side --set --take-ownership
--tlog-upload --use-signing-config --verbosity --wait --write""".split()


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

    def test_the_overviews_lead_to_every_page(self):
        """That of the book to all; the README to all that aren't for those who change it alone."""
        pages = {os.path.basename(page) for page in PAGES if page.startswith("docs/")} - {"README.md"}
        for name, start, wanted in (("docs/README.md", "", pages), ("README.md", "docs/", pages - {"vectors.md"})):
            linked = {target.partition("#")[0].removeprefix(start) for target in re.findall(r"\]\(([^)\s]+)\)", read(name))}
            with self.subTest(page=name):
                self.assertEqual(wanted - linked, set())

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

    def test_flags_that_pages_name_are_there(self):
        """Those of the operator and of clusterctl, of which each is in a text of theirs."""
        flag = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
        known = set(OTHERS_FLAGS)
        for path in glob.glob("operator/**/*.cc", root_dir=ROOT, recursive=True) + glob.glob("cli/**/*.cc", root_dir=ROOT, recursive=True):
            if not path.endswith("_test.cc"):
                known.update(name for text in re.findall(r'"((?:[^"\\]|\\.)*)"', read(path)) for name in flag.findall(text))
        for page in PAGES:
            words = re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)
            named = {name for code in re.findall(r"`([^`\n]+)`", words) for name in flag.findall(code)}
            with self.subTest(page=page):
                self.assertEqual(named - known, set())

    def test_the_page_of_vectors_names_every_reader(self):
        page = read("docs/vectors.md")
        vectors = {os.path.basename(name) for name in glob.glob(os.path.join(ROOT, "testdata", "vectors", "*.json"))}
        named = re.compile(r'"((?:[\w-]+)\.json)"')
        for folder in built.source_folders():
            for path in sorted(glob.glob(f"{folder}/**/*.cc", root_dir=ROOT, recursive=True)):
                if not path.startswith("base/testing/") and vectors & set(named.findall(read(path))):
                    with self.subTest(path=path):
                        self.assertIn(f"`{path}`", page)

    def test_the_fit_of_the_figures_is_the_one_of_their_picture(self):
        fit = re.compile(r"^(?:<text [^>]*>)?(linear fit: .*?)(?:</text>)?$", re.MULTILINE)
        page, picture = (fit.findall(read(f"docs/{name}")) for name in ("benchmarks.md", "render-cost.svg"))
        self.assertEqual(len(page), 1)
        self.assertEqual(page, picture)

    def test_cosign_is_the_one_that_is_tried(self):
        """Its flags come and go with its major versions."""
        (major,) = re.findall(r"/v(\d+)/", programs.PROGRAMS["cosign"][1])
        pages = [page for page in PAGES if re.search(r"^ *cosign sign ", read(page), re.MULTILINE)]
        self.assertEqual(pages, ["docs/air-gap.md", "docs/sources.md"])
        for page in pages:
            with self.subTest(page=page):
                self.assertIn(f"cosign {major}", read(page))

    def test_make_runs_scripts_that_are_there(self):
        for name in set(re.findall(r"\btools/\w+", read("Makefile"))):
            with self.subTest(script=name):
                self.assertTrue(os.access(os.path.join(ROOT, name), os.X_OK), "no such program")


class Pictures(unittest.TestCase):
    """What a page draws with Mermaid is of the part of its language that testing.d/mermaid.py knows, and right in that."""

    def test_they_can_be_drawn(self):
        drawn = 0
        for page in PAGES:
            for block in re.findall(r"^```mermaid\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL):
                with self.subTest(page=page):
                    self.assertEqual(mermaid.problem(block), "")
                    drawn += 1
        self.assertGreaterEqual(drawn, 3)

    def test_what_cannot_be_drawn_is_found(self):
        cases = {
            "": "it begins with none of flowchart, sequenceDiagram",
            "graph LR\n": "it begins with none of flowchart, sequenceDiagram",
            "flowchart LR\n": "nothing is drawn",
            "flowchart LR\n  a[one --> b\n": "line 2",
            "flowchart LR\n  a[one (two)] --> b\n": "line 2",
            "flowchart LR\n  a -> b\n": "line 2",
            "flowchart LR\n  a -->|why b\n": "line 2",
            "flowchart LR\n  end --> b\n": "line 2",
            "flowchart LR\n  style[one] --> b[two]\n": "line 2",
            "flowchart LR\n  a[one] --> class[two]\n": "line 2",
            "flowchart LR\n  a[one] --> click{two}\n": "line 2",
            "flowchart LR\n  subgraph([one]) --> b[two]\n": "line 2",
            "flowchart LR\n  graph[one] --> b[two]\n": "line 2",
            "flowchart LR\n  classes[one] --> graph2[two]\n": "",
            "flowchart LR\n  a[one] --> b\n  b --> a[two]\n": "line 3: a has two texts",
            "flowchart LR\n  a[one] --> b\n": "b has no text",
            "flowchart LR\n  a{one} -->|why| b([two])\n  b --> a\n": "",
            "sequenceDiagram\n  participant a\n  a->>b: hello\n": "line 3: b is no participant",
            "sequenceDiagram\n  participant loop\n  loop->>loop: hello\n": "line 2",
            "sequenceDiagram\n  participant a\n  a->>a\n": "line 3",
            "sequenceDiagram\n  participant a\n  a->>a: one; two\n": "line 3",
            "sequenceDiagram\n  participant a\n  actor b\n  a-->>b: hello\n": "",
        }
        for block, words in cases.items():
            with self.subTest(block):
                if words:
                    self.assertIn(words, mermaid.problem(block))
                else:
                    self.assertEqual(mermaid.problem(block), "")


class Words(unittest.TestCase):
    """What scripts and pages ask tools/deps and tools/assets for is there."""

    def test_groups_of_packages(self):
        groups = re.search(r"^    (build \|.*)\) ;;$", read("tools/deps"), re.MULTILINE).group(1).split(" | ")
        asked = re.findall(r"tools/deps(?:\"|)[ \t]+(\w+)$", read("Makefile") + read("tools/run"), re.MULTILINE)
        self.assertIn("build", asked)
        self.assertIn("run", asked)
        self.assertLessEqual(set(asked), set(groups))

    def test_programs_and_releases(self):
        known = set(programs.PROGRAMS) | set(programs.GROUPS) | set(plan.FILES)
        asked = " ".join(re.findall(r"\bassets\+?=\((.*?)\)", read("tools/test"))).split()
        self.assertIn("control-plane", asked)
        self.assertLessEqual(set(asked), known)

    def test_the_kubeconfig_that_the_page_names_is_the_one_of_make_run(self):
        self.assertIn("`build/run/plane/kubeconfig`", read("README.md"))
        self.assertIn('os.path.join(ROOT, "build", "run")', read("tools/run.d/main.py"))
        self.assertIn('CONFIG, PLANE, MANIFESTS = "run.lock", "run-clusterctl.yaml", "plane", ', read("tools/run.d/plane.py"))


if __name__ == "__main__":
    unittest.main()
