"""Counts what ran: single tests of GoogleTest and Python programs; a program that died counts as one more failure.

Prints what was left out and why, and as the last line `N passed, N failed`. Fails where a test failed or none ran.
"""

import collections
import glob
import os
import re
import sys
import xml.etree.ElementTree

UNITTEST = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
UNITTEST_SKIPPED = re.compile(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", re.MULTILINE)


class Count:
    """Thread-compatible: one thread counts."""

    def __init__(self):
        self.passed, self.failed, self.left_out = 0, 0, collections.Counter()

    def add_googletest(self, path):
        """Counts one program's report; returns how many of its tests failed."""
        failed = 0
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            skipped = case.find("skipped")
            if skipped is not None:
                # "file:line\nreason"
                self.left_out[(skipped.get("message") or "").split("\n", 1)[-1].strip() or "no reason given"] += 1
            elif case.find("failure") is not None:
                failed += 1
            elif case.get("status") == "run":
                self.passed += 1
        self.failed += failed
        return failed

    def add_program(self, case):
        """Counts a ctest entry that wrote no report of its own."""
        output = case.findtext("system-out") or ""
        if case.get("status") == "fail":
            self.failed += 1
        elif case.get("status") == "run":
            ran, skipped = UNITTEST.search(output), UNITTEST_SKIPPED.search(output)
            left_out = int(skipped.group(1)) if skipped else 0
            if left_out:
                self.left_out[f"skipped by {case.get('name')}"] += left_out
            self.passed += (int(ran.group(1)) if ran else 1) - left_out
        else:
            self.left_out[f"{case.get('name')} did not run"] += 1


def count(folder):
    result = Count()
    failures = {}
    for path in glob.glob(os.path.join(folder, "*.xml")):
        failures[os.path.splitext(os.path.basename(path))[0]] = result.add_googletest(path)
    for case in xml.etree.ElementTree.parse(os.path.join(folder, "ctest.junit")).getroot().iter("testcase"):
        name = case.get("name")
        if name not in failures:
            result.add_program(case)
        elif case.get("status") == "fail" and failures[name] == 0:
            result.failed += 1  # it reported success and ended badly, a leak for instance
    return result


def main(folder):
    result = count(folder)
    for reason, tests in sorted(result.left_out.items()):
        print(f"left out: {tests} tests ({reason})")
    line = f"{result.passed} passed, {result.failed} failed"
    with open(os.path.join(folder, "count"), "w", encoding="utf-8") as file:
        file.write(line + "\n")
    print(line)
    return 0 if result.passed and not result.failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
