"""Counts what ran: single tests of GoogleTest and Python programs; a program that died counts as one more failure.

Prints which tests were skipped and why, whose operator lost its lease, how long the steps and the slowest tests took, and as the last line `N passed, N failed, N skipped`.
Fails where a test failed, none ran, or one was skipped that tools/skipped_tests.txt doesn't list. With --vendors the ctests
that run on vendors' releases may skip what they like: on top of `make test`, what releases there are decides.
"""

import argparse
import glob
import os
import re
import sys
import xml.etree.ElementTree

UNITTEST = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
# "test_x (module.Class.test_x) ... skipped 'why'" where unittest tells each; the closing line has the number alone. A class
# is "setUpClass (module.Class)", a module "setUpModule (module)"; their tests aren't among those that ran.
UNITTEST_SKIPPED = re.compile(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", re.MULTILINE)
UNITTEST_REASON = re.compile(
    r"""^(test\w+|setUpClass|setUpModule) \(([\w.]+)\)(?:\n[^\n]*)?? \.\.\. skipped (['"])(.*)\3$""", re.MULTILINE
)

# Of GoogleTest (capi_test refuses other names), also with the name of a tier behind it. Others are scripts, and programs that are
# a test as a whole.
WITH_REPORT = re.compile(r"(?!tools_)\w+_test(\.|$)")
SLOWEST = 10
# Without the vendors' releases at most so many may be skipped: what a stranger runs has to be real.
MOST_SKIPPED = 10
ON_VENDORS = (".vendors", ".vendors_long", ".upgrades")  # how such a ctest is called


class Count:
    """Thread-compatible: one thread counts."""

    def __init__(self):
        self.passed, self.failed = 0, 0
        self.skipped = {}  # test: why
        self.seconds = {}  # test: how long
        self.lost_leases = {}  # test: how often
        self.ended = {}  # program none of whose tests failed: what was wrong all the same

    def add_googletest(self, name, path):
        """Counts one program's report; returns how many of its tests failed. `name`: of the ctest."""
        failed = 0
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            test = f"{name} {case.get('classname')}.{case.get('name')}"
            skipped = case.find("skipped")
            if skipped is not None:
                # "file:line\nreason"
                self.skipped[test] = (skipped.get("message") or "").split("\n", 1)[-1].strip() or "no reason given"
            elif case.find("failure") is not None:
                failed += 1
            elif case.get("status") == "run":
                self.passed += 1
            self.seconds[test] = float(case.get("time") or 0)
            for one in case.iter("property"):
                if one.get("name") == "lost_leases" and one.get("value") != "0":
                    self.lost_leases[test] = one.get("value")
        self.failed += failed
        return failed

    def add_program(self, case):
        """Counts a ctest entry that wrote no report of its own."""
        name, output = case.get("name"), case.findtext("system-out") or ""
        self.seconds[name] = float(case.get("time") or 0)
        if case.get("status") == "fail":
            self.failed += 1
        elif case.get("status") == "run":
            ran, skipped = UNITTEST.search(output), UNITTEST_SKIPPED.search(output)
            number = int(skipped.group(1)) if skipped else 0
            reasons = UNITTEST_REASON.findall(output)
            for test, place, _, why in reasons:
                group = place.removesuffix(f".{test}").rpartition(".")[2]
                self.skipped[f"{name} {group}.{test}"] = why
            if number > len(reasons):
                self.skipped[f"{name} ({number - len(reasons)} tests)"] = "no reason given"
            groups = sum(not test.startswith("test") for test, *_ in reasons)
            self.passed += (int(ran.group(1)) if ran else 1) - (number - groups)
        else:
            self.skipped[name] = "it did not run"


def count(folder):
    result = Count()
    failures = {}
    for path in glob.glob(os.path.join(folder, "*.xml")):
        name = os.path.basename(path).removesuffix(".xml")
        failures[name] = result.add_googletest(name, path)
    for case in xml.etree.ElementTree.parse(os.path.join(folder, "ctest.junit")).getroot().iter("testcase"):
        name = case.get("name")
        if name not in failures:
            if case.get("status") == "run" and WITH_REPORT.match(name):
                result.ended[name] = "it ended well without its report"
            else:
                result.add_program(case)
        elif case.get("status") == "fail" and failures[name] == 0:
            result.ended[name] = "it reported success and ended badly"  # a leak for instance
    result.failed += len(result.ended)
    return result


def allowed(path):
    """The tests that a list names, a line each, with comments."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#", 1)[0].strip() for line in file]
    names = [line for line in lines if line]
    if len(names) > MOST_SKIPPED:
        sys.exit(f"{path}: {len(names)} tests may be skipped; {MOST_SKIPPED} at most")
    return names


def main(folder, listed, vendors, steps=()):
    """`listed`: the tests that may be skipped; `vendors`: those on vendors' releases may be, too; `steps`: what the run did,
    each as "SECONDS NAME"."""
    result = count(folder)
    unlisted = 0
    for test, why in sorted(result.skipped.items()):
        known = test in listed or (vendors and test.split()[0].endswith(ON_VENDORS))
        unlisted += 0 if known else 1
        print(f"skipped: {test} ({why}){'' if known else ': not listed in tools/skipped_tests.txt'}")
    for name, why in sorted(result.ended.items()):
        print(f"failed: {name} ({why})")
    for test, times in sorted(result.lost_leases.items()):
        print(f"the machine stood still: {test} (the operator lost its lease {times} times, and started again)")
    for seconds, name in (step.split(" ", 1) for step in steps):
        print(f"{int(seconds):5}s  {name}")
    slowest = sorted(result.seconds.items(), key=lambda item: -item[1])[:SLOWEST]
    print(f"the {len(slowest)} slowest tests:")
    for test, seconds in slowest:
        print(f"  {seconds:7.1f}s  {test}")
    line = f"{result.passed} passed, {result.failed} failed, {len(result.skipped)} skipped"
    with open(os.path.join(folder, "count"), "w", encoding="utf-8") as file:
        file.write(line + "\n")
    print(line)
    return 0 if result.passed and not result.failed and not unlisted else 1


if __name__ == "__main__":
    tools = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="with a report of each program, and ctest.junit")
    parser.add_argument("--list", default=os.path.join(tools, "skipped_tests.txt"), help="of the tests that may be skipped")
    parser.add_argument("--vendors", action="store_true", help="those on vendors' releases may be, too")
    parser.add_argument("--step", action="append", default=[], metavar="SECONDS NAME", help="what the run did, and how long")
    asked = parser.parse_args()
    sys.exit(main(asked.folder, allowed(asked.list), asked.vendors, asked.step))
