#!/usr/bin/env python3
"""Tests of the scripts that run the others, on trees whose other scripts are stand-ins: they note what they are asked for."""

import glob
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("check.d", "testing.d")]

import sources  # noqa: E402
from tree import WithTree  # noqa: E402

# This machine's architecture, as the Makefile finds it.
OWN = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
NOTES = '#!/usr/bin/env bash\necho "$(basename "$0") $*" >>"$NOTES"\n'


class StandIns(WithTree):
    def setUp(self):
        super().setUp()
        self.write("notes")

    def run_script(self, *command, **variables):
        """Its exit code; what it said is in `output`, and what the stand-ins were asked for in `asked`."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CAPI_", "MAKE"))}
        for name in ("IMAGE", "JOBS", "RELEASES_DIR"):
            kept.pop(name, None)
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
# "tests on top" last until what is compiled beside them has come to AHEAD.
MAKE += """[[ $1 != test-full || -z ${AHEAD:-} ]] || timeout 60 sh -c 'until grep -q "$AHEAD" "$NOTES"; do sleep 0.02; done'\n"""
COUNT = 'mkdir -p "build/%s/test-results" && echo "%s" >"build/%s/test-results/count"\n'


class Ci(StandIns):
    """.ci/run"""

    def setUp(self):
        super().setUp()
        self.copy("../.ci/run", "../cmake/git_environment.txt")
        self.write("path/make", MAKE + COUNT % ("release", "3 passed, 0 failed, 1 skipped", "release"))
        for name in ("build", "check_clang", "lint", "mutate"):
            self.write(f"tools/{name}", NOTES + 'echo "$(basename "$0") with ${JOBS:-all} jobs" >>"$NOTES"\n')
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
        for step in ("make test", "make test-full", "make run", "lint quick", "lint clang", "test unit asan", "test unit tsan"):
            self.assertIn(step, self.asked)
        self.assertEqual(self.output.splitlines()[-1], "10 passed, 0 failed, 2 skipped")

    def test_what_is_compiled_beside_the_tests_is_one_job_at_a_time(self):
        """As many compilers as there are cores made API servers slow, and tests waited in vain."""
        self.assertEqual(self.run_ci(AHEAD="check_clang with"), 0, self.output)
        for line in ("build with 1 jobs", "check_clang with 1 jobs", "lint with all jobs"):
            self.assertIn(line, self.asked)

    def test_what_is_not_compiled_when_the_tests_are_over_is_compiled_with_all_jobs(self):
        """One job went on alone, and the machine was idle."""
        self.write("tools/check_clang", NOTES + 'echo "check_clang with" >>"$NOTES"\nsleep 30\necho "to its end" >>"$NOTES"\n')
        self.git("commit", "--quiet", "--all", "--message=y")
        self.assertEqual(self.run_ci(AHEAD="check_clang with"), 0, self.output)
        self.assertIn("lint with all jobs", self.asked)
        self.assertNotIn("to its end", self.asked)

    def test_the_checkout_may_be_another_users(self):
        self.assertEqual(self.run_ci(GIT_TEST_ASSUME_DIFFERENT_OWNER="1"), 0, self.output)

    def test_a_hooks_repository_is_left_alone(self):
        """What was to be tested was the hook's repository, in the place of the copy."""
        given = {"GIT_DIR": os.path.join(self.folder, "another"), "GIT_INDEX_FILE": os.path.join(self.folder, "index")}
        self.assertEqual(self.run_ci(**given), 0, self.output)
        self.assertIn("==> same <==\nas committed\n", "\n".join(self.asked))

    def test_a_step_that_fails_does_not_end_the_run(self):
        self.assertEqual(self.run_ci(FAILS="test-full"), 1)
        self.assertIn("test unit tsan", self.asked)
        self.assertEqual(self.output.splitlines()[-2:], ["failed: tests on top", "7 passed, 1 failed, 1 skipped"])

    def test_what_no_time_is_left_for_is_named_and_counts_as_skipped(self):
        """A run that had compiled nothing yet was ended from outside, and had decided nothing."""
        self.assertEqual(self.run_ci(CI_SECONDS="0"), 0, self.output)
        for step in ("make test", "make run", "lint quick"):
            self.assertIn(step, self.asked)
        for step in ("make test-full", "lint clang", "test unit asan", "test unit tsan"):
            self.assertNotIn(step, self.asked)
        self.assertIn("no time was left for: threads", self.output.splitlines())
        self.assertEqual(self.output.splitlines()[-1], "3 passed, 0 failed, 6 skipped")

    def test_what_takes_all_the_time_is_ended_and_counts_as_skipped(self):
        """clang-tidy of hundreds of files began in the last second, and a run is ended from outside after a while."""
        self.write("tools/lint", NOTES + 'echo "lint $1" >>"$NOTES"\n[[ $1 != clang ]] || sleep 60\necho "lint $1 to its end" >>"$NOTES"\n')
        self.git("commit", "--quiet", "--all", "--message=y")
        self.assertEqual(self.run_ci(CI_END="0"), 0, self.output)
        self.assertIn("lint quick to its end", self.asked)
        self.assertNotIn("lint clang to its end", self.asked)
        self.assertIn("no time was left for: the rest of clang's checks", self.output.splitlines())

    def test_what_had_failed_by_then_is_a_failure(self):
        """It counted as skipped, and the run as passed."""
        for lines, code in (("Test #7: a ***Failed", 1), ("Test  #7: a ***Failed\\n Test #7: a  Passed", 0)):
            with self.subTest(lines):
                self.write("tools/lint", NOTES + f'[[ $1 != clang ]] || {{ printf "{lines}\\n"; sleep 60; }}\n')
                self.git("commit", "--quiet", "--all", "--message=y")
                self.assertEqual(self.run_ci(CI_END="3"), code, self.output)
                self.assertEqual("failed: clang's checks" in self.output.splitlines(), code == 1)

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
        self.copy("test", "check.d", "skipped_tests.txt", "../cmake/git_environment.txt")
        self.write("notes.junit", JUNIT)
        self.write("notes.without_part", "")
        self.write("path/ctest", CTEST)
        for name in ("build", "manager_flags", "mutate", "fuzz"):
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

    def test_no_git_of_a_hook_is_asked(self):
        """In a hook of git's the tests added their files to the index of its repository."""
        given = {"GIT_DIR": "/another/.git", "GIT_INDEX_FILE": "/another/.git/index", "GIT_WORK_TREE": "/another"}
        self.assertEqual(self.run_tests("unit", GIT_AUTHOR_NAME="a", **given), 0, self.output)
        self.assertEqual([name for name in self.environment if name.startswith("GIT_")], ["GIT_AUTHOR_NAME"])

    def test_what_fails_is_run_once_more_in_ci_alone(self):
        for variables in ({"CI": ""}, {"CI": "true"}):
            self.write("notes")
            self.assertEqual(self.run_tests("unit", **variables), 0, self.output)
            asked = [line for line in self.asked if line.startswith("ctest ")]
            self.assertEqual(["--repeat until-pass:2" in line for line in asked], [variables["CI"] == "true"])

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
                self.assertEqual(self.run_tests(what, CI=""), 0, self.output)
                lengths = [self.environment.get(f"CAPI_TEST_{length}") for length in ("FULL", "LONG")]
                self.assertEqual(lengths, [full, long])
                (ctest,) = [line for line in self.asked if line.startswith("ctest ")]
                self.assertRegex(ctest, "^ctest --test-dir [^ ]+ " + re.escape(words))
                self.assertEqual("mutate " in self.asked and "fuzz " in self.asked, what == "long")
                self.assertEqual("manager_flags --fetch" in self.asked, what in ("full", "long"))

    def test_only_those_on_a_control_plane_are_more_than_there_are_cores(self):
        """Unit tests, of the sanitizers too, wait for nothing."""
        self.write("path/nproc", "#!/bin/sh\necho 4\n")
        for what, jobs, number in (("unit", "", 4), ("all", "", 6), ("full", "", 6), ("unit", "9", 9), ("all", "1", 1)):
            with self.subTest(what, jobs=jobs):
                self.write("notes")
                self.assertEqual(self.run_tests(what, JOBS=jobs), 0, self.output)
                (ctest,) = [line for line in self.asked if line.startswith("ctest ")]
                self.assertIn(f" --parallel {number} ", ctest)

    def test_a_part_is_what_has_its_label_and_what_divides_itself(self):
        for part in ("0", "3"):
            with self.subTest(part):
                self.write("notes")
                self.assertEqual(self.run_tests("full", CAPI_TEST_PART=part, CI=""), 0, self.output)
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


class Release(StandIns):
    """make release"""

    def test_it_builds_both_programs_first_and_hands_the_image_on(self):
        self.copy("../Makefile")
        for name in ("assets", "build", "deps", "release"):
            self.write(f"tools/{name}", NOTES)
        self.write("path/kubectl", NOTES)
        own = "build release capi-operator clusterctl"
        arm64 = ["deps arm64", "build arm64 capi-operator clusterctl"]

        def programs(preset):
            return f"--operator build/{preset}/bin/capi-operator --clusterctl build/{preset}/bin/clusterctl"

        for words, builds, options in (
            ([], [own], programs("release")),
            (["IMAGE="], [own], programs("release")),
            (["IMAGE=example.com/x:v1"], [own], f"--image example.com/x:v1 {programs('release')}"),
            (["ARCHITECTURES=arm64"], arm64, programs("arm64")),
            ([f"ARCHITECTURES={OWN} arm64"], [own, *arm64], f"{programs('release')} {programs('arm64')}"),
        ):
            with self.subTest(words):
                self.write("notes")
                self.assertEqual(self.run_script("make", "-C", self.folder, "release", *words), 0, self.output)
                asked = [" ".join(line.split()) for line in self.asked]
                self.assertEqual(asked, ["deps build", *builds, "deps run", f"release build/dist {options}"])

    def test_an_unknown_architecture_is_refused(self):
        self.copy("../Makefile")
        self.write("notes")
        self.assertEqual(self.run_script("make", "-C", self.folder, "release", "ARCHITECTURES=s390x"), 2)
        self.assertIn(f"make: ARCHITECTURES names {OWN}, arm64 or both, not s390x\n", self.output)
        self.assertEqual(self.asked, [])

    def test_a_release_that_is_there_is_told_before_the_build(self):
        """It was told after it."""
        self.copy("../Makefile")
        for name in ("assets", "build", "deps", "release"):
            self.write(f"tools/{name}", NOTES)
        self.write("build/dist/SHA256SUMS")
        self.assertEqual(self.run_script("make", "-C", self.folder, "release"), 2)
        self.assertIn("make release: build/dist is there already: remove it\n", self.output)
        self.assertEqual(self.asked, [])


ROOT = os.path.dirname(TOOLS)
# Runs of `make test-full` that ask how long they are to be, and may be of the greatest length in `make test-long`.
AT_ANY_LENGTH = {
    "templating_test.vendors": "its filter leaves out the test that asks",
    "e2e_parity_test.vendors": "its filter leaves out the test that asks",
    "e2e_upgrade_test.vendors": "its filter leaves out the test that asks",
    "e2e_real_managers_test": "its filter leaves out the test that asks",
    "e2e_lifecycle_test.full": "it is as long in both",
    "e2e_lifecycle_test.vendors": "it is as long in both",
    "e2e_crash_test.full": "it is as long in both",
    "e2e_bad_input_test.vendors": "ten tries instead of nine: minutes",
    "e2e_guard_test.vendors": "each object instead of each kind, for which there is no other run",
    "templating_managers_test": "each field by itself, for which there is no other run",
    "templating_managers_test.vendors": "each field by itself, for which there is no other run",
}


def calls(path):
    """The words of each call in a CMakeLists.txt, the function's name first."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"#.*", "", file.read())
    return [[name, *words.replace('"', "").split()] for name, words in re.findall(r"(\w+)\(([^()]*)\)", text)]


def words_of(call, keyword):
    """The words after a keyword, up to the next one."""
    after = call[call.index(keyword) + 1 :] if keyword in call else []
    end = next((at for at, word in enumerate(after) if re.fullmatch("[A-Z]+", word)), len(after))
    return after[:end]


class Lengths(unittest.TestCase):
    """Which length of a test a ctest has."""

    def test_what_runs_on_top_has_its_length_in_the_long_run_too(self):
        """`make test-long` runs everything, with CAPI_TEST_LONG. A run for `make test-full` was of the greatest length then,
        hours, within ten minutes."""
        asks, runs = set(), {}
        for path in (name for name in sources.all_files() if name.endswith("/CMakeLists.txt")):
            for call in calls(os.path.join(ROOT, path)):
                if call[0] == "capi_test":
                    for name in words_of(call, "SOURCES"):
                        shared = name.startswith("${CMAKE_SOURCE_DIR}/")
                        source = name.partition("/")[2] if shared else os.path.join(os.path.dirname(path), name)
                        if '#include "base/testing/length.h"' in sources.text(source):
                            asks.add(call[1])
                if call[0] in ("capi_test", "capi_test_run") and "full" in words_of(call, "LABELS"):
                    name = call[1] if call[0] == "capi_test" else f"{call[1]}.{call[2]}"
                    runs[name] = any(word.startswith("CAPI_TEST_LONG=") for word in words_of(call, "ENVIRONMENT"))
        self.assertGreater(len(asks), 10)
        unpinned = {name for name, pinned in runs.items() if not pinned and name.split(".")[0] in asks}
        self.assertEqual(unpinned - set(AT_ANY_LENGTH), set(), "these take ENVIRONMENT CAPI_TEST_LONG=, or a line above")
        self.assertEqual(set(AT_ANY_LENGTH) - unpinned, set(), "these need no line above")

    def test_what_a_script_has_on_top_is_run_on_top(self):
        """The run on top names its tests: one more that nobody added there never ran, or with one of the two Helms alone."""
        named = {call[1]: set(call[3:]) for call in calls(os.path.join(TOOLS, "CMakeLists.txt")) if call[0] == "capi_script_full"}
        scripts = {os.path.basename(path).removesuffix(".py") for path in glob.glob(os.path.join(TOOLS, "*_e2e_test.py"))}
        self.assertEqual(set(named) - scripts, set(), "there are none of these names")
        for name in scripts:
            with self.subTest(name):
                self.assertEqual(self.on_top(name), named.get(name, set()))
                with open(os.path.join(TOOLS, name + ".py"), encoding="utf-8") as file:
                    asks = re.search(r"\bFULL\b", file.read())
                self.assertTrue(name in named or not asks, "a test that asks has @longer_in_full")

    def on_top(self, name):
        """Class.test of each test of a script that `make test-full` has, or has more of."""
        program = f"""if True:
            import {name}
            import unittest

            for group in unittest.defaultTestLoader.loadTestsFromModule({name}):
                for test in group:
                    if hasattr(getattr(test, test.id().split(".")[-1]), "runs_in_full"):
                        print(test.id().partition(".")[2])"""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("CAPI_TEST_")}
        command = [sys.executable, "-B", "-c", program]
        return set(subprocess.check_output(command, cwd=TOOLS, env=environment | {"CAPI_TEST_FULL": "1"}, text=True).split())


if __name__ == "__main__":
    unittest.main()
