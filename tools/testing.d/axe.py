"""What axe-core, the program of rules for accessible pages, has against a page in the browser.

ui/package-lock.json pins it, tools/ui installs it, and no page has it: the browser's protocol puts it into a tab, where the page's
own policy goes on to hold. What it can't judge counts as right: the contrast of the graph's letters, which lie on boxes of SVG.
"""

import json
import os
import shutil
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# All of its rules but those for a level that nobody promises (AAA) and those that its makers are still trying.
LIMIT = 120  # seconds: a second or two, but on a machine that is busy
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def program():
    """Its text. Skips the test where npm can't have it."""
    if shutil.which("npm") is None:
        raise unittest.SkipTest("there is no npm, which axe-core comes from")
    found = subprocess.run(["tools/ui", "modules"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if found.returncode == 69:
        raise unittest.SkipTest("npm can't install axe-core")
    if found.returncode != 0:
        raise AssertionError(found.stderr)
    with open(os.path.join(found.stdout.strip(), "axe-core", "axe.min.js"), encoding="utf-8") as file:
        return file.read()


def violations(page, text):
    """Lines: the rule, what it asks for, and the element that doesn't have it. `text` is program()'s."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(text + "; 0")
    options = {"runOnly": RULES, "resultTypes": ["violations"]}
    broken, kept = page.evaluate(f"axe.run(document, {json.dumps(options)}).then((all) => [all.violations, all.passes.length])", LIMIT)
    if kept == 0:
        raise AssertionError("axe-core has tried no rule")
    lines = []
    for rule in broken:
        for node in rule["nodes"]:
            why = " ".join(one["message"] for one in node["any"] + node["all"] + node["none"])
            lines.append(f"{rule['id']}: {rule['help']}: {' '.join(map(str, node['target']))}: {why}")
    return lines
