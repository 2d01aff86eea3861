#!/usr/bin/env python3
"""What the status page's views look like, in a real browser, beside a server that says the same each time: whether the rules for
accessible pages are kept, and whether the pictures in docs/status-page.md are of this page."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tools", folder) for folder in ("run.d", "assets.d", "testing.d")]

import axe  # noqa: E402
import browser  # noqa: E402
import pictures  # noqa: E402
import shown_fleet  # noqa: E402
from scripted_operator import Operator  # noqa: E402

SIZES = {"wide": (1280, 900, False), "phone": (390, 844, True)}
# Of the pictures: width, height, phone, colours, view, and words that it has once it is there.
PICTURES = {
    "graph": (1240, 1230, False, "light", "#/", "Who waits for whom"),
    "provider": (1120, 800, False, "dark", f"#/provider/{shown_fleet.WHOLE}", "capi-serving-cert"),
    "phone": (390, 844, True, "light", "#/table", "All providers"),
}
MOST = 60_000  # bytes of each
LOOSE = 0.005  # a box of the graph that isn't there is 0.009


def setUpModule():
    if browser.PROGRAM is None:
        raise unittest.SkipTest(browser.MISSING)
    Views.browser = browser.Browser()
    unittest.addModuleCleanup(Views.browser.close)


class Views(unittest.TestCase):
    browser = None

    def setUp(self):
        self.operator = Operator()
        self.operator.start()
        self.addCleanup(self.operator.stop)

    def look(self, at="#/"):
        page = self.browser.open(f"http://localhost:{self.operator.port}/{at}", before=shown_fleet.CLOCK)
        self.addCleanup(page.close)
        return page

    def each_way(self, page):
        """Wide and on a phone, by day and by night: the name of each, while the page is so."""
        for size, (width, height, phone) in SIZES.items():
            page.resize(width, height, phone)
            for scheme in ("light", "dark"):
                # A colour that is on its way to another one is neither.
                page.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                yield f"{size}, {scheme}"


class Accessible(Views):
    @classmethod
    def setUpClass(cls):
        cls.axe = axe.program()

    def check(self, page, name):
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        for way in self.each_way(page):
            with self.subTest(view=name, way=way):
                self.assertEqual(axe.violations(page, self.axe), [])
        self.assertEqual([one for one in page.errors if "Failed to load resource" not in one], [], name)

    def test_every_view(self):
        shown_fleet.fill(self.operator)
        page = self.look()
        page.until_says("Live", "#link")
        views = {
            "#/": "Who waits for whom", "#/table": "All providers", f"#/provider/{shown_fleet.HELD}": "spec.configSecret",
            f"#/provider/{shown_fleet.WHOLE}": "capi-serving-cert", "#/provider/none": "There is no such provider",
        }  # fmt: skip
        for view, words in views.items():
            page.evaluate(f"location.hash = '{view}'")
            page.until_says(words, "#main")
            if "/provider/" in view and view.count("/") > 2:
                page.evaluate("document.querySelector('[data-key=yaml]').click()")
                page.until_says("kind: ", "#text")
            self.check(page, view)

    def test_where_something_is_wrong(self):
        """The link, the data, the token: each has words of its own."""
        page = self.look()
        page.until_says("No provider is found.", "#main")
        self.check(page, "no provider")
        self.operator.fleet = {"version": "v1", "leads": False, "restoredInTheLastHour": 0}
        self.operator.tell("fleet", self.operator.fleet)
        shown_fleet.fill_large(self.operator)
        page.until("a box of many", "document.querySelector('.graph .group') !== null")
        page.until_says("This replica of the operator doesn't lead", "#fleet")
        self.check(page, "a large fleet")
        self.operator.stop()
        page.until_says("The operator can't be reached.", "#link")
        self.check(page, "no operator")
        self.operator.refused.update(dict.fromkeys(("events", "data.json"), (401, "the API server doesn't know this token")))
        self.operator.start()
        page.until("the question", "document.getElementById('token') !== null")
        self.check(page, "the question for a token")

    def test_what_breaks_a_rule_is_told(self):
        """With the rule, what it asks for, and where."""
        shown_fleet.fill(self.operator)
        page = self.look()
        page.until_says("Live", "#link")
        cases = {
            "label: Form elements must have labels: #filter: ": "document.querySelector('label').remove()",
            "color-contrast: Elements must meet minimum color contrast ratio thresholds: caption: ": "document.querySelector('caption').style.color = '#aaa'",
            "html-has-lang: ": "document.documentElement.removeAttribute('lang')",
            "link-name: ": "document.querySelector('#nav a').replaceChildren()",
            "list: ": "document.querySelector('.states').prepend(document.createElement('p'))",
            "landmark-unique: ": "document.querySelector('.wide').setAttribute('aria-label', 'Graph')",
            "target-size: ": "for (const one of document.querySelectorAll('nav a')) one.style = 'display: inline-block; width: 8px; height: 8px; margin: 0'",
        }
        self.assertEqual(axe.violations(page, self.axe), [])
        for said, spoil in cases.items():
            page.evaluate(f"{{ {spoil} }}")
            told = axe.violations(page, self.axe)
            self.assertTrue(any(one.startswith(said) for one in told), (said, told))


class Pictures(Views):
    """In docs/status-page.md; CAPI_WRITE_DOCS=1 makes them."""

    def setUp(self):
        super().setUp()
        shown_fleet.fill(self.operator)
        self.eye = pictures.Eye(self.browser)
        self.addCleanup(self.eye.close)

    def open(self, name):
        width, height, phone, scheme, view, words = PICTURES[name]
        page = self.look(view)
        page.resize(width, height, phone)
        page.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
        page.until_says("Live", "#link")
        page.until_says(words, "#main")
        return page

    def taken(self, page):
        return self.eye.small(page.shot())

    def test_each_is_of_this_page(self):
        for name in PICTURES:
            with self.subTest(picture=name):
                path = os.path.join(ROOT, "docs", f"status-page-{name}.png")
                taken = self.taken(self.open(name))
                if os.environ.get("CAPI_WRITE_DOCS"):
                    with open(path, "wb") as file:
                        file.write(taken)
                with open(path, "rb") as file:
                    kept = file.read()
                self.assertLess(len(kept), MOST)
                self.assertLess(self.eye.difference(kept, taken), LOOSE, f"docs/status-page-{name}.png isn't of this page: CAPI_WRITE_DOCS=1 tools/ui_views_test.py makes it")

    def test_another_page_is_told(self):
        """Another size of the letters, a box that isn't there, one more that is ready, another picture's size."""
        page = self.open("graph")
        kept = self.taken(page)
        cases = {
            "none": ("", ""),
            "letters": ("document.body.style.fontSize = '15.5px'", "document.body.style.fontSize = ''"),
            "box": ("document.querySelector('.graph a').style.visibility = 'hidden'", "document.querySelector('.graph a').style.visibility = ''"),
        }
        for what, (spoil, mend) in cases.items():
            page.evaluate(f"{{ {spoil} }}")
            with self.subTest(what=what):
                differ = self.eye.difference(kept, self.taken(page))
                self.assertEqual(differ >= LOOSE, what != "none", differ)
            page.evaluate(f"{{ {mend} }}")
        self.operator.have("azure", namespace="team-b")
        page.until_says("ready 3", ".states")
        self.assertGreaterEqual(self.eye.difference(kept, self.taken(page)), LOOSE)
        page.resize(1200, 900)
        self.assertEqual(self.eye.difference(kept, self.taken(page)), 1)


if __name__ == "__main__":
    unittest.main()
