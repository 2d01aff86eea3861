#!/usr/bin/env python3
"""The status page's program in a real browser, beside a server that says what a test has it say: how the page follows, breaks of
the link, failed requests, another operator, a large fleet. tools/ui_e2e_test.py has the operator itself."""

import os
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tools", folder) for folder in ("run.d", "assets.d", "testing.d")]

import browser  # noqa: E402
from scripted_operator import Operator  # noqa: E402

# A page that can be told that time has passed.
CLOCK = "{ const now = Date.now; window.later = 0; Date.now = () => now() + window.later; }"


def setUpModule():
    if browser.PROGRAM is None:
        raise unittest.SkipTest(browser.MISSING)
    Page.browser = browser.Browser()
    unittest.addModuleCleanup(Page.browser.close)


class Page(unittest.TestCase):
    browser = None

    def setUp(self):
        self.operator = Operator()
        self.operator.start()
        self.addCleanup(self.operator.stop)
        self.core = self.operator.have("core", kind="CoreProvider")
        self.aws = self.operator.have("aws")

    def look(self, at="#/"):
        page = self.browser.open(f"http://localhost:{self.operator.port}/{at}", before=CLOCK)
        self.addCleanup(page.close)
        page.until_says("Live", "#link")
        page.evaluate(
            """window.told = [], new MutationObserver(() => told.push(document.getElementById('link').textContent))
              .observe(document.getElementById('link'), {childList: true}), 0"""
        )
        return page

    def ask_token(self, page):
        page.until("the question", "document.getElementById('token') !== null")
        self.assertNotIn("aws", page.evaluate("document.body.textContent + document.title"))
        self.assertEqual(page.text("#link"), "Not connected")

    def test_a_link_that_breaks(self):
        """B4: what happened meanwhile is there once it is back, and until then the page says how old it is."""
        gone = self.operator.have("gone")
        page = self.look()
        page.until_says("gone", "#main")
        self.operator.stop()
        page.until_says("The operator can't be reached. Trying again ... What you see is from", "#link")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        self.assertTrue(page.evaluate("(({top, bottom}) => top >= 0 && bottom <= innerHeight)(document.getElementById('link').getBoundingClientRect())"))
        del self.operator.providers[gone]
        self.operator.have("aws", "stalled")
        self.operator.start()
        page.until_says("Live", "#link")
        page.until_says("aws is stalled.", "#main")
        self.assertNotIn("gone", page.text("#main"))

    def test_a_stream_that_ends_as_it_should(self):
        """The operator ends each after five minutes: nobody is told of a break that is none."""
        page = self.look()
        page.evaluate("window.later = 60_000")
        self.operator.end_streams()
        page.until("it follows again", "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/data.json')).length >= 2")
        self.operator.have("aws", "working")
        page.until_says("aws is working.", "#main")
        self.assertEqual(set(page.evaluate("told")) - {"Live"}, set())

    def test_details_that_fail(self):
        """What was shown stays, with the reason why there is nothing newer, and the page asks again by itself."""
        page = self.look(f"#/provider/{self.aws}")
        page.until_says("https://one.example/", "#main")
        page.evaluate("document.querySelector('[data-key=yaml]').click()")
        page.until_says("source: https://one.example/", "#text")
        self.operator.refused["provider.json"] = 503, "too many ask"
        self.operator.source = "https://two.example/"
        self.operator.tell("touched", {"revision": self.operator.revision, "id": self.aws})
        page.until_says("too many ask. What you see is what it was.", "#main")
        self.assertIn("source: https://one.example/", page.text("#text"))
        self.operator.refused.clear()
        page.until_says("source: https://two.example/", "#text")
        page.until("nothing is wrong any more", "!document.getElementById('main').innerText.includes('too many')")
        page.until_says("Live", "#link")

    def test_what_only_details_tell(self):
        page = self.look(f"#/provider/{self.aws}")
        page.until_says("https://one.example/", "#main")
        self.operator.source = "https://two.example/"
        self.operator.tell("touched", {"revision": self.operator.revision, "id": self.aws})
        page.until_says("https://two.example/", "#main")
        del self.operator.providers[self.aws]
        self.operator.tell("gone", {"revision": self.operator.revision + 1, "id": self.aws})
        page.until_says("It is gone, or you may not get it any more.", "#main")

    def test_a_token_that_ends(self):
        """B5: the question comes, and nothing that its holder saw stays."""
        page = self.look(f"#/provider/{self.aws}")
        page.until_says("https://one.example/", "#main")
        self.operator.refused.update(dict.fromkeys(("events", "data.json", "provider.json", "provider.yaml"), (401, "the API server doesn't know this token")))
        page.evaluate("location.hash = '#/'")
        self.operator.end_streams()
        self.ask_token(page)
        self.operator.refused.clear()
        page.evaluate("document.getElementById('token').focus()")
        page.type("another")
        page.press("Enter", text="\r")
        page.until_says("Live", "#link")
        # Another version's program is asked for by hand: a reload forgets the token.
        self.operator.fleet["version"] = "v2"
        self.operator.tell("fleet", self.operator.fleet)
        self.operator.tell("again", {})
        page.until_says("The operator has another version now: reload this page.", "#link")
        # Details may be the first to be refused.
        page.evaluate(f"location.hash = '#/provider/{self.aws}'")
        page.until_says("https://one.example/", "#main")
        self.operator.refused["provider.json"] = 401, "the API server doesn't know this token"
        self.operator.tell("touched", {"revision": self.operator.revision, "id": self.aws})
        page.until("the question", "document.getElementById('token') !== null")

    def test_another_operator(self):
        page = self.look()
        page.evaluate("window.old = true")
        self.operator.tell("unheard-of", {"whatever": 1})
        self.operator.have("aws", "working")
        page.until_says("aws is working.", "#main")
        self.assertEqual(page.evaluate("told"), [], "what it doesn't know is no break")
        self.operator.fleet["version"] = "v2"
        self.operator.tell("fleet", self.operator.fleet)
        page.until("another program", "window.old === undefined && document.getElementById('link')?.textContent === 'Live'")

    def test_past_the_header(self):
        page = self.look(f"#/provider/{self.aws}")
        page.until_says("https://one.example/", "#main")
        page.evaluate("document.getElementById('skip').focus()")
        page.press("Enter", text="\r")
        page.until("main has the focus", "document.activeElement.id === 'main'")
        self.assertEqual(page.evaluate("location.hash"), f"#/provider/{self.aws}")
        page.until_says("https://one.example/", "#main")
        page.evaluate("document.getElementById('filter').focus()")
        page.type("core")
        page.until_says("CoreProvider default/core", "table")
        self.assertEqual(page.evaluate("[document.activeElement.id, document.getElementById('filter').value]"), ["filter", "core"])

    def test_what_is_the_same_stays(self):
        """What somebody has selected, opened or closed."""
        page = self.look(f"#/provider/{self.aws}")
        page.until_says("https://one.example/", "#main")
        page.evaluate("document.querySelector('.tree details[open] summary').click()")
        page.evaluate("getSelection().selectAllChildren(document.querySelector('h2.title strong'))")
        self.operator.source = "https://two.example/"
        self.operator.tell("touched", {"revision": self.operator.revision, "id": self.aws})
        page.until_says("https://two.example/", "#main")
        self.assertEqual(page.evaluate("getSelection().toString()"), "aws")
        is_open = "document.querySelectorAll('.tree details[open]').length"
        self.assertEqual(page.evaluate(is_open), 0)
        page.evaluate("document.querySelector('.tree summary').click()")
        for source, state in (("three", "applied"), ("four", "missing"), ("five", "applied")):
            self.operator.source, self.operator.state = f"https://{source}.example/", state
            self.operator.tell("touched", {"revision": self.operator.revision, "id": self.aws})
            page.until_says(f"https://{source}.example/", "#main")
            self.assertEqual(page.evaluate(is_open), 1, state)

    def test_a_change_of_state_moves_no_box(self):
        """Nor does it matter in which order they came."""
        for name in ("d", "b", "a", "c"):
            self.operator.have(name)
        page = self.look()
        places = "JSON.stringify([...document.querySelectorAll('.graph a')].map((one) => [one.dataset.key, one.firstChild.getAttribute('transform')]).sort())"
        page.until("all are drawn", "document.querySelectorAll('.graph a').length === 6")
        before = page.evaluate(places)
        self.operator.have("c", "working")
        self.operator.providers = dict(sorted(self.operator.providers.items()))  # as the operator has them
        self.operator.tell("again", {})
        self.operator.have("d", "working")
        page.until("it is drawn anew", "document.querySelectorAll('.graph .box.working').length === 2")
        self.assertEqual(page.evaluate(places), before)

    def test_a_large_fleet(self):
        """1,000 providers, 200 of which wait for a Secret each: it can be read, and costs the browser less than a second."""
        for number in range(1000):
            needs = [{"kind": "Secret", "namespace": "default", "name": f"s{number}"}] if number % 5 == 0 else []
            self.operator.have(f"p{number}", "waiting" if needs else "ready", needs=needs, contract=f"v1beta{number % 3}", installedVersion=f"v1.{number % 40}.0")
        page = self.look()
        page.until("the graph", "document.querySelectorAll('.graph .box').length > 10")
        self.assertLessEqual(page.evaluate("document.querySelectorAll('.graph .box').length"), 60)
        page.until_says("more are in the table: find some by name.", "#main")
        page.call("Performance.enable", timeDomain="threadTicks")
        took = self.seconds(page)
        self.operator.have("p1", "waiting", needs=[{"kind": "Secret", "namespace": "default", "name": "s1"}])
        page.until("it is drawn anew", "document.querySelector('#fleet .states').innerText.includes('201')")
        took = self.seconds(page) - took
        print(f"drawn in {took:.2f} s of CPU time")
        self.assertLess(took, 1)

    def seconds(self, page):
        """Of CPU time, which a busy machine doesn't lengthen."""
        return {one["name"]: one["value"] for one in page.call("Performance.getMetrics")["metrics"]}["TaskDuration"]


class Bundle(unittest.TestCase):
    def test_the_sources_give_these_bytes(self):
        """tools/ui check knows the sums that somebody committed; this makes the bundle again, and checks types."""
        if shutil.which("npm") is None:
            self.skipTest("there is no npm")
        again = subprocess.run(["tools/ui", "same"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if again.returncode == 69:
            self.skipTest("npm can't install what the bundle is made with")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)


if __name__ == "__main__":
    unittest.main()
