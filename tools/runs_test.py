#!/usr/bin/env python3
"""Tests of the scripts that run the others, on trees whose other scripts are stand-ins: they note what they are asked for."""

import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(TOOLS, "testing.d"))

from tree import WithTree  # noqa: E402

NOTES = '#!/usr/bin/env bash\necho "$(basename "$0") $*" >>"$NOTES"\n'


class StandIns(WithTree):
    def setUp(self):
        super().setUp()
        self.write("notes")

    def run_script(self, *command, **variables):
        """Its exit code; what it said is in `output`, and what the stand-ins were asked for in `asked`."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CAPI_", "MAKE"))}
        kept.pop("RELEASES_DIR", None)
        path = os.path.join(self.folder, "path") + os.pathsep + os.environ["PATH"]
        environment = {**kept, "PATH": path, "NOTES": os.path.join(self.folder, "notes"), **variables}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        self.output = done.stdout
        with open(environment["NOTES"], encoding="utf-8") as file:
            self.asked = file.read().splitlines()
        return done.returncode


# "tests" says what it finds in the tree that it runs in.
MAKE = NOTES + '[[ $1 != test-full ]] || echo "part $CAPI_TEST_PART" >>"$NOTES"\n'
MAKE += 'if [[ $1 == test ]]; then head -v -- * 2>/dev/null >>"$NOTES"; fi\n[[ $1 != "$FAILS" ]] || exit 1\n'
COUNT = 'mkdir -p "build/%s/test-results" && echo "%s" >"build/%s/test-results/count"\n'


class Ci(StandIns):
    """.ci/run"""

    def setUp(self):
        super().setUp()
        self.copy("../.ci/run")
        self.write("path/make", MAKE + COUNT % ("release", "3 passed, 0 failed, 1 skipped", "release"))
        for name in ("build", "check_clang", "lint", "mutate"):
            self.write(f"tools/{name}", NOTES)
        self.write("tools/test", NOTES + COUNT % ("$2", "2 passed, 0 failed, 0 skipped", "$2"))
        self.write(".gitignore", "/notes\n/path\n")
        for name in ("same", "changed", "removed"):
            self.write(name, "as committed\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")

    def git(self, *words):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=self.folder, check=True)

    def run_ci(self, **variables):
        return self.run_script(os.path.join(self.folder, ".ci", "run"), **{"FAILS": "", **variables})

    def test_runs_every_step_in_a_copy_with_what_is_not_committed(self):
        self.write("changed", "since then\n")
        self.write("new", "since then\n")
        os.remove(os.path.join(self.folder, "removed"))
        self.assertEqual(self.run_ci(), 0, self.output)
        found = "\n".join(self.asked)
        for name, text in {"same": "as committed", "changed": "since then", "new": "since then"}.items():
            self.assertIn(f"==> {name} <==\n{text}\n", found)
        self.assertNotIn("==> removed <==", found)
        for step in ("make test", "make test-full", "make run", "lint ", "test unit asan", "test unit tsan"):
            self.assertIn(step, self.asked)
        self.assertEqual(self.output.splitlines()[-1], "10 passed, 0 failed, 2 skipped")

    def test_the_checkout_may_be_another_users(self):
        self.assertEqual(self.run_ci(GIT_TEST_ASSUME_DIFFERENT_OWNER="1"), 0, self.output)

    def test_a_step_that_fails_does_not_end_the_run(self):
        self.assertEqual(self.run_ci(FAILS="test-full"), 1)
        self.assertIn("test unit tsan", self.asked)
        self.assertEqual(self.output.splitlines()[-2:], ["failed: tests on top", "7 passed, 1 failed, 1 skipped"])

    def test_the_commits_id_chooses_the_fourth_in_a_shallow_clone_too(self):
        parts, expected = [], []
        for shallow in (False, False, False, True):
            self.git("commit", "--quiet", "--allow-empty", f"--message={len(parts)}")
            head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=self.folder, text=True).strip()
            if shallow:
                self.write(".git/shallow", head + "\n")
            self.assertEqual(self.run_ci(), 0, self.output)
            expected.append(f"part {int(head[:8], 16) % 4}")
            self.assertIn(f"mutate --sample 12 --seed {int(head[:8], 16)}", self.asked)
            parts = [line for line in self.asked if line.startswith("part ")]
        self.assertEqual(parts, expected)

    def test_without_a_copy_there_is_nothing_to_run(self):
        os.rename(os.path.join(self.folder, ".git"), os.path.join(self.folder, "git"))
        self.assertEqual(self.run_ci(), 1)
        self.assertEqual(self.asked, [])
        self.assertEqual(self.output.splitlines()[-2:], ["failed: copy of the tree", "0 passed, 1 failed, 0 skipped"])


# A run of one test, of a script.
JUNIT = """<testsuite><testcase name="tools_x_test" status="run" time="1"><system-out>Ran 1 test in 1s

OK
</system-out></testcase></testsuite>
"""
SKIPPED = JUNIT.replace("_test", "_test.vendors").replace("1 test ", "2 tests ").replace("OK", "OK (skipped=1)")
CTEST = NOTES + """env >"$NOTES.env"
if [[ $3 == -N ]]; then cat "$NOTES.without_part"; exit; fi
while [[ $1 != --output-junit ]]; do shift; done
cp "$NOTES.junit" "$2"
"""


class Tests(StandIns):
    """tools/test"""

    def setUp(self):
        super().setUp()
        self.copy("test", "check.d", "skipped_tests.txt")
        self.write("notes.junit", JUNIT)
        self.write("notes.without_part", "")
        self.write("path/ctest", CTEST)
        for name in ("build", "mutate", "fuzz"):
            self.write(f"tools/{name}", NOTES)
        self.write("tools/assets", NOTES + "echo export CAPI_ASSETS_BIN=/made\n")

    def run_tests(self, *words, **variables):
        code = self.run_script(os.path.join(self.folder, "tools", "test"), *words, **variables)
        with open(os.path.join(self.folder, "notes.env"), encoding="utf-8") as file:
            self.environment = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
        return code

    def test_what_is_tried_does_not_depend_on_the_callers_shell(self):
        callers = "CAPI_TEST_FULL CAPI_TEST_LONG CAPI_TEST_SEED CAPI_MODEL_SEED CAPI_MODEL_SEQUENCES GTEST_FILTER GTEST_SHUFFLE "
        callers += "CAPI_RELEASES CAPI_PARITY_WRITE CAPI_PEER_RECORD CAPI_WRITE_DOCS CAPI_OPERATOR CAPI_CLUSTERCTL"
        given = {name: "another" for name in callers.split()}
        self.assertEqual(self.run_tests("all", RELEASES_DIR="/vendors", **given), 0, self.output)
        found = {name: self.environment[name] for name in given if name in self.environment}
        programs = os.path.join(os.path.realpath(self.folder), "build", "release", "bin")
        self.assertEqual(
            found,
            {"CAPI_OPERATOR": os.path.join(programs, "capi-operator"), "CAPI_CLUSTERCTL": os.path.join(programs, "clusterctl")},
        )
        self.assertEqual((self.environment["RELEASES_DIR"], self.environment["CAPI_ASSETS_BIN"]), ("/vendors", "/made"))

    def test_each_length_runs_its_tests_at_that_length(self):
        cases = {
            "unit": ("--label-regex ^unit$", None, None),
            "all": ("--label-exclude ^(full|long)$", None, None),
            "full": ("--label-regex ^full$", "1", None),
            "long": ("--parallel", None, "1"),
        }
        for what, (words, full, long) in cases.items():
            with self.subTest(what):
                self.write("notes")
                self.assertEqual(self.run_tests(what), 0, self.output)
                lengths = [self.environment.get(f"CAPI_TEST_{length}") for length in ("FULL", "LONG")]
                self.assertEqual(lengths, [full, long])
                (ctest,) = [line for line in self.asked if line.startswith("ctest ")]
                self.assertRegex(ctest, "^ctest --test-dir [^ ]+ " + re.escape(words))
                self.assertEqual("mutate " in self.asked and "fuzz " in self.asked, what == "long")

    def test_a_part_is_what_has_its_label_and_what_divides_itself(self):
        for part in ("0", "3"):
            with self.subTest(part):
                self.write("notes")
                self.assertEqual(self.run_tests("full", CAPI_TEST_PART=part), 0, self.output)
                self.assertEqual(self.environment["CAPI_TEST_PART"], part)
                listed, ctest = [line for line in self.asked if line.startswith("ctest ")]
                self.assertIn(" -N --label-regex ^full$ --label-exclude ^part_", listed)
                self.assertRegex(ctest, "^ctest --test-dir [^ ]+ " + re.escape(f"--label-regex ^part_(each|{part})$ "))
        self.assertEqual(self.run_tests("all", CAPI_TEST_PART="3"), 0, self.output)
        self.assertNotIn("CAPI_TEST_PART", self.environment)

    def test_there_are_four_parts(self):
        self.write("notes.env", "")
        for part in ("4", "-1", "each", "0 1"):
            self.assertEqual(self.run_tests("full", CAPI_TEST_PART=part), 2, self.output)
            self.assertIn(f"CAPI_TEST_PART is 0, 1, 2 or 3, not {part}", self.output)
        self.assertEqual(self.asked, [])

    def test_what_is_in_no_part_fails_each(self):
        self.write("notes.without_part", "Test project /x\n  Test  #7: e2e_x_test.full\n\nTotal Tests: 1\n")
        self.assertEqual(self.run_tests("full", CAPI_TEST_PART="0"), 1)
        self.assertIn("these have no label part_0 to part_3, or part_each: e2e_x_test.full\n", self.output)
        self.assertEqual(self.run_tests("full"), 0, self.output)

    def test_vendors_tests_may_be_skipped_on_top_alone(self):
        self.write("notes.junit", SKIPPED)
        for what, code in {"all": 1, "full": 0}.items():
            with self.subTest(what):
                self.assertEqual(self.run_tests(what), code, self.output)
                self.assertEqual(self.output.splitlines()[-1], "1 passed, 0 failed, 1 skipped")


# Makes a precompiled header, once.
CMAKE = NOTES + """
header=$2/CMakeFiles/cmake_pch.hxx.gch
if [[ $1 == --build && ! -e $header ]]; then mkdir -p "${header%/*}" && echo header >"$header"; fi
"""


class Build(StandIns):
    """tools/build"""

    def test_a_sum_that_was_interrupted_is_made_again(self):
        self.copy("build")
        self.write("path/cmake", CMAKE)
        header = os.path.join(self.folder, "build", "release", "CMakeFiles", "cmake_pch.hxx.gch")
        self.write("path/sha256sum", "#!/bin/sh\nexit 130\n")
        self.run_script(os.path.join(self.folder, "tools", "build"), "release", "a_test")
        self.assertTrue(os.path.exists(header), self.output)
        os.utime(header, (1, 1))
        self.write("path/sha256sum", "#!/bin/sh\nread -r what && echo sum of $what\n")
        self.assertEqual(self.run_script(os.path.join(self.folder, "tools", "build"), "release", "a_test"), 0, self.output)
        with open(header + ".sum", encoding="utf-8") as file:
            self.assertEqual(file.read(), "sum of header\n")
        self.assertTrue([line for line in self.asked if line.endswith("--target a_test")], self.asked)


if __name__ == "__main__":
    unittest.main()
