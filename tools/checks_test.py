#!/usr/bin/env python3
"""Tests of the check scripts: each on a small tree of its own that breaks one rule."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("check.d", "run.d", "testing.d")]

import built  # noqa: E402
import runner  # noqa: E402
import summary  # noqa: E402
from tree import WithTree  # noqa: E402

SCRIPTS = ("check.d", "check_layers", "check_rules", "check_sizes", "check_headers", "check_format", "check_python", "check_try")
HEADER = "// What it is.\n#pragma once\n"


class Tree(WithTree):
    def setUp(self):
        super().setUp()
        self.copy(*SCRIPTS, "../.clang-format")
        self.write("tools/README.md", "Scripts.\nMay use: python\n")
        self.write("base/README.md", "Base.\nMay use: the standard library, spdlog\n")
        self.write("kube/client/README.md", "Client.\nMay use: base\n")
        self.write("kube/cache/README.md", "Cache.\nMay use: kube/client and below\n")
        self.write("base/a.h", HEADER)
        self.write("kube/client/c.h", HEADER + '#include "base/a.h"\n')

    def run_check(self, script, *arguments):
        done = subprocess.run(
            [os.path.join(self.folder, "tools", script), *arguments], capture_output=True, text=True, cwd=self.folder
        )
        return done.returncode, done.stdout + done.stderr

    def expect_pass(self, script, *arguments):
        code, output = self.run_check(script, *arguments)
        self.assertEqual(code, 0, output)

    def expect_fail(self, script, words, *arguments):
        code, output = self.run_check(script, *arguments)
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)


class Layers(Tree):
    def test_what_the_readmes_allow_passes(self):
        self.write("kube/cache/i.cc", '#include <sys/stat.h>\n#include <fmt/format.h>\n#include "kube/client/c.h"\n#include "base/a.h"\n')
        self.expect_pass("check_layers")

    def test_an_include_up_the_layers_fails(self):
        self.write("base/b.cc", '#include "base/a.h"\n#include "kube/client/c.h"\n')
        self.expect_fail("check_layers", "base/b.cc:2: base/README.md doesn't name kube/client")

    def test_a_library_outside_its_wrapper_fails(self):
        self.write("base/b.cc", "#include <spdlog/spdlog.h>\n")
        self.expect_fail("check_layers", "base/b.cc:1: spdlog may be included by its wrapper only: base/log.cc")

    def test_a_library_that_the_readme_does_not_name_fails(self):
        self.write("kube/client/b.cc", "#include <openssl/ssl.h>\n")
        self.expect_fail("check_layers", "kube/client/README.md doesn't name OpenSSL")

    def test_a_library_that_nobody_wraps_fails(self):
        for header in ("git2.h", "archive.h", "yaml-cpp/yaml.h", "sys/quota.h"):
            with self.subTest(header):
                self.write("base/b.cc", f"#include <{header}>\n")
                self.expect_fail("check_layers", f"base/b.cc:1: <{header}> belongs to no library that tools/check_layers knows")

    def test_tests_look_across_where_one_readme_speaks_for_both_folders(self):
        self.write("kube/cache/d.h", HEADER)
        self.write("kube/client/a_test.cc", '#include "kube/cache/d.h"\n')
        self.expect_fail("check_layers", "kube/client/README.md doesn't name kube/cache")
        self.write("kube/README.md", "A library; each folder says what it may use.\n")
        self.expect_fail("check_layers", "kube/client/README.md doesn't name kube/cache")
        self.write("kube/README.md", "A library.\nMay use: base\n")
        self.expect_pass("check_layers")
        os.rename(os.path.join(self.folder, "kube/client/a_test.cc"), os.path.join(self.folder, "kube/client/a.cc"))
        self.expect_fail("check_layers", "kube/client/README.md doesn't name kube/cache")

    def test_googletest_is_for_tests(self):
        self.write("base/a_test.cc", "#include <gtest/gtest.h>\n")
        self.expect_pass("check_layers")
        self.write("base/b.cc", "#include <gtest/gtest.h>\n")
        self.expect_fail("check_layers", "base/b.cc:1: GoogleTest is for tests only")

    def test_a_folder_without_readme_fails(self):
        self.write("other/a.cc", "")
        self.expect_fail("check_layers", "other: no README.md")

    def test_a_file_that_is_not_there_fails(self):
        self.write("base/b.cc", '#include "a.h"\n')
        self.expect_fail("check_layers", 'base/b.cc:1: "a.h" is no file of the project')


def function(lines, head="int F(int a) {"):
    return head + "\n" + "  a();\n" * (lines - 2) + "}\n"


class Sizes(Tree):
    def test_the_limits_themselves_pass(self):
        self.write("base/a.cc", function(70) + "//\n" * 430)
        self.expect_pass("check_sizes")

    def test_a_long_file_fails(self):
        self.write("base/a.cc", "//\n" * 501)
        self.expect_fail("check_sizes", "base/a.cc: 501 lines")

    def test_a_folder_of_many_files_fails(self):
        for number in range(45):
            self.write(f"kube/client/f{number}{'_test' if number % 2 else ''}.cc", "//\n")
        self.expect_fail("check_sizes", "kube/client: 46 C++ files, 45 at most")
        os.remove(os.path.join(self.folder, "kube/client/f0.cc"))
        self.expect_pass("check_sizes")

    def test_long_functions_of_all_kinds_fail(self):
        heads = {
            "free": "int F(int a) {",
            "method": "Status A::B(const C& c) const noexcept {",
            "test": "TEST(A, B) {",
            "constructor": "A::A(int b) : b_{b}, c_{1} {",
            "trailing": "auto F() -> std::vector<int> {",
        }
        for name, head in heads.items():
            with self.subTest(name):
                self.write("base/a.cc", "namespace x {\n" + function(71, head) + "}\n")
                self.expect_fail("check_sizes", "base/a.cc:2: function of 71 lines")

    def test_functions_of_a_class_count_one_by_one(self):
        self.write("base/a.cc", "class A {\n public:\n" + function(60) + function(60) + "};\n")
        self.expect_pass("check_sizes")

    def test_tables_are_as_long_as_they_are(self):
        self.write("base/a.cc", "const Row kRows[] = {\n" + '    {Of("a")},\n' * 100 + "};\n")
        self.expect_pass("check_sizes")

    def test_braces_in_texts_do_not_count(self):
        self.write("base/a.cc", 'const char* a = "{";\n// {\nconst char b = \'{\';\nauto c = R"({{{)";\n' + function(70))
        self.expect_pass("check_sizes")


class Headers(Tree):
    def test_what_a_header_must_have(self):
        self.expect_pass("check_headers", "--text")
        broken = {
            "opens with a comment": "#pragma once\n",
            "no `#pragma once`": "// What it is.\n",
            "class A doesn't say": HEADER + "// Holds things.\nclass A {\n};\n",
        }
        for words, text in broken.items():
            with self.subTest(words):
                self.write("base/b.h", text)
                self.expect_fail("check_headers", words, "--text")

    def test_a_class_that_says_it(self):
        self.write("base/b.h", HEADER + "// Holds things. Thread-safe.\ntemplate <typename T>\nclass A : public B {\n};\nclass C;\n")
        self.expect_pass("check_headers", "--text")


class Lint(Tree):
    def test_says_its_usage_and_runs_nothing_where_it_gets_an_argument(self):
        """--help ran the whole of it: minutes."""
        self.copy("lint")
        self.write("tools/check_clang", "#!/bin/sh\necho it runs\n")
        for argument, expected in {"--help": 0, "-h": 0, "check_layers": 2}.items():
            with self.subTest(argument):
                code, output = self.run_check("lint", argument)
                self.assertEqual(code, expected)
                self.assertRegex(output, r"^usage: tools/lint \[quick\|clang\]\n(.*\n)+  tools/check_layers\n(.*\n)+  tools/check_clang --tidy\n$")
        _, output = self.run_check("lint")
        self.assertIn("it runs", output)


class WithoutGit:
    """Of a check that goes through what git lists."""

    def test_files_that_git_does_not_list_fail(self):
        """It found no file, and passed."""
        shutil.rmtree(os.path.join(self.folder, ".git"))
        self.expect_fail(self.SCRIPT, "git doesn't list the files: ")


class Format(WithoutGit, Tree):
    SCRIPT = "check_format"

    @unittest.skipUnless(shutil.which("clang-format-14"), "no clang-format-14")
    def test_names_the_file_and_lays_it_out(self):
        self.write("base/b.cc", "int   a ;\n")
        self.expect_fail("check_format", "base/b.cc: run tools/check_format --fix")
        self.expect_pass("check_format", "--fix")
        self.expect_pass("check_format")


class Python(WithoutGit, Tree):
    """With pyflakes, and with a stand-in that prints what it is given, and fails for the word `broken`."""

    SCRIPT = "check_python"
    STAND_IN = """#!/bin/sh
echo "$@"
! grep -H -n -w broken "$@"
"""

    def setUp(self):
        super().setUp()
        shutil.rmtree(os.path.join(self.folder, "tools"))
        self.copy("check_python", "check.d/sources.py")

    def with_stand_in(self):
        self.write(".git/bin/pyflakes3", self.STAND_IN)
        path = os.path.join(self.folder, ".git", "bin") + os.pathsep + os.environ["PATH"]
        self.enterContext(mock.patch.dict(os.environ, PATH=path))

    def test_it_goes_through_all_that_is_python(self):
        self.with_stand_in()
        for name in ("tools/a.py", "tools/a.d/b.py"):
            self.write(name, "a = 1\n")
        for name, program in {"tools/c": "python3", "tools/d": "bash", "tools/e.sh": "bash"}.items():
            self.write(name, f"#!/usr/bin/env {program}\n")
        code, output = self.run_check("check_python")
        self.assertEqual((code, output), (0, "check_python: 4 files\ntools/a.d/b.py tools/a.py tools/c tools/check.d/sources.py\n"))

    def test_what_it_finds_fails(self):
        self.with_stand_in()
        self.write("tools/a.py", "broken\n")
        self.expect_fail("check_python", "tools/a.py:1:broken")

    def test_a_name_that_is_nowhere_fails(self):
        """A test that takes long used a constant that had gone, at its end."""
        self.write("tools/a.py", "def test():\n    return OURS\n")
        self.expect_fail("check_python", "tools/a.py:2:12: undefined name 'OURS'")
        self.write("tools/a.py", "OURS = 1\n\n\ndef test():\n    return OURS\n")
        self.expect_pass("check_python")


class Try(Tree):
    def test_a_list_in_which_it_comes_first_passes(self):
        self.write(
            "base/a.cc",
            """Pair{TRY(A()), 1}; F(a, TRY(A())); F({a, b}, TRY(A()));
void G(int a, int b) { Map<int, int> m = TRY(A()); }
auto f = [](A a) -> Result<Map<int, int>> { Map<int, int> m = TRY(A()); };
// {a, TRY(A())}
int a, b = TRY(A());
""",
        )
        self.expect_pass("check_try")

    def test_one_behind_another_member_fails(self):
        """The name of a provider leaked for each template whose version couldn't be read."""
        for text in (
            "Pair{a, TRY(A())};",
            "x = {F(a), 1 + G(TRY_WITH(A(), b))};",
            "v.push_back({TRY(A()), TRY(B())});",
            "return {a, {1, TRY(A())}};",
        ):
            with self.subTest(text):
                self.write("base/a.cc", f"\n{text}\n")
                self.expect_fail("check_try", "base/a.cc:2: TRY behind another member")


REPORT = """<testsuites><testsuite>
<testcase name="a" classname="X" status="run" result="completed" time="1.5"/>
<testcase name="b" classname="X" status="run" result="skipped" time="0"><skipped message="x_test.cc:2&#x0A;no such release"/></testcase>
{more}</testsuite></testsuites>"""
SCRIPT = """test_y (__main__.Z.test_y)
What it shows. ... skipped 'there is no clang'
Ran 26 tests in 2s\n\nOK (skipped=1)
"""
LISTED = "x_test X.b  # why\ntools_test Z.test_y\n"


def ctest(name, status="run", output="", seconds=2):
    return f'<testcase name="{name}" status="{status}" time="{seconds}"><system-out>{output}</system-out></testcase>'


X_TEST, SCRIPT_TEST = ctest("x_test"), ctest("tools_test", output=SCRIPT, seconds=7)


class Summary(unittest.TestCase):
    def summary(self, *ctests, more="", listed=LISTED, report="x_test", vendors=False, steps=()):
        """Its exit code and lines, for these ctests, of which `report` has written one."""
        with tempfile.TemporaryDirectory() as folder:
            texts = {"ctest.junit": f"<testsuite>{''.join(ctests or (X_TEST, SCRIPT_TEST))}</testsuite>", "listed": listed}
            if report:
                texts[f"{report}.xml"] = REPORT.format(more=more)
            for name, text in texts.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            with contextlib.redirect_stdout(io.StringIO()) as said:
                code = summary.main(folder, summary.allowed(os.path.join(folder, "listed")), vendors, steps)
        return code, said.getvalue().splitlines()

    def test_counts_single_tests_and_names_what_was_skipped(self):
        code, lines = self.summary()
        self.assertEqual(code, 0)
        self.assertEqual(lines[-1], "26 passed, 0 failed, 2 skipped")
        self.assertIn("skipped: x_test X.b (no such release)", lines)
        self.assertIn("skipped: tools_test Z.test_y (there is no clang)", lines)
        self.assertIn("      7.0s  tools_test", lines)

    def test_says_how_long_each_step_took(self):
        _, lines = self.summary(steps=["3 programs and releases", "120 build"])
        self.assertEqual([line for line in lines if re.match(r" +\d+s  ", line)], ["    3s  programs and releases", "  120s  build"])

    def test_says_which_tests_lost_the_lease(self):
        """Of one that began anew in the middle nobody was told more than that it took long."""
        case = '<testcase name="{}" classname="X" status="run"><properties><property name="lost_leases" value="{}"/></properties></testcase>'
        code, lines = self.summary(more=case.format("l", 2) + case.format("m", 0))
        self.assertEqual((code, lines[-1]), (0, "28 passed, 0 failed, 2 skipped"))
        told = [line for line in lines if "its lease" in line]
        self.assertEqual(told, ["the machine stood still: x_test X.l (the operator lost its lease 2 times, and started again)"])

    def test_a_failed_test_fails(self):
        failure = '<testcase name="c" status="run"><failure/></testcase>'
        code, lines = self.summary(ctest("x_test", "fail"), SCRIPT_TEST, more=failure)
        self.assertEqual((code, lines[-1]), (1, "26 passed, 1 failed, 2 skipped"))

    def test_a_program_that_ends_badly_after_its_report_fails(self):
        code, lines = self.summary(ctest("x_test", "fail"), SCRIPT_TEST)
        self.assertEqual((code, lines[-1]), (1, "26 passed, 1 failed, 2 skipped"))
        self.assertIn("failed: x_test (it reported success and ended badly)", lines)

    def test_a_skipped_test_that_is_not_listed_fails(self):
        code, lines = self.summary(listed="x_test X.b\n")
        self.assertEqual((code, lines[-1]), (1, "26 passed, 0 failed, 2 skipped"))
        self.assertIn("not listed in tools/skipped_tests.txt", lines[0])

    def test_a_program_without_its_report_is_a_failure_and_nothing_else(self):
        code, lines = self.summary(ctest("y_test"), SCRIPT_TEST, report=None)
        self.assertEqual((code, lines[-1]), (1, "25 passed, 1 failed, 1 skipped"))
        self.assertIn("failed: y_test (it ended well without its report)", lines, "ctest has called it passed")

    def test_a_program_that_is_one_test_has_no_report(self):
        """That of the probes beside many clients was counted as a failure."""
        code, lines = self.summary(X_TEST, SCRIPT_TEST, ctest("http_benchmark"))
        self.assertEqual((code, lines[-1]), (0, "27 passed, 0 failed, 2 skipped"))
        code, lines = self.summary(X_TEST, SCRIPT_TEST, ctest("y_test.full"))
        self.assertEqual((code, lines[-1]), (1, "26 passed, 1 failed, 2 skipped"))

    def test_a_program_that_writes_a_report_has_such_a_name(self):
        """Else it would be one test that passed, with no report."""
        with open(os.path.join(os.path.dirname(TOOLS), "cmake", "targets.cmake"), encoding="utf-8") as file:
            (function,) = re.findall(r"^function\(capi_test NAME\)\n.*?^endfunction\(\)\n", file.read(), re.MULTILINE | re.DOTALL)
        with tempfile.NamedTemporaryFile("w", suffix=".cmake") as script:
            script.write(f"{function}capi_test(x_check SOURCES x.cc)\n")
            script.flush()
            done = subprocess.run(["cmake", "-P", script.name], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("capi_test(x_check): the name of a GoogleTest program ends with _test", done.stderr)

    def test_a_program_that_did_not_run_is_skipped(self):
        code, lines = self.summary(X_TEST, SCRIPT_TEST, ctest("y_test", "notrun"))
        self.assertEqual((code, lines[-1]), (1, "26 passed, 0 failed, 3 skipped"))
        self.assertIn("skipped: y_test (it did not run): not listed in tools/skipped_tests.txt", lines)

    def test_where_nothing_ran_nothing_is_well(self):
        code, lines = self.summary(ctest("y_test", "notrun"), report=None, listed="y_test\n")
        self.assertEqual((code, lines[-1]), (1, "0 passed, 0 failed, 1 skipped"))

    def test_what_scripts_say_of_skipped_tests(self):
        cases = {  # what it says -> what was skipped, and why; how many tests passed
            "test_a (__main__.A.test_a) ... skipped \"it isn't there\"\nRan 2 tests in 1s\n\nOK (skipped=1)": (
                ["s A.test_a (it isn't there)"], 1
            ),
            "setUpClass (__main__.A) ... skipped 'none'\nRan 2 tests in 1s\n\nOK (skipped=1)": (["s A.setUpClass (none)"], 2),
            "setUpModule (__main__) ... skipped 'no'\nRan 0 tests in 0s\n\nOK (skipped=1)": (["s __main__.setUpModule (no)"], 0),
            "setUpClass (m.A) ... skipped 'x'\ntest_b (m.B.test_b) ... skipped 'y'\nRan 2 tests in 1s\n\nOK (skipped=2)": (
                ["s A.setUpClass (x)", "s B.test_b (y)"], 1
            ),
            "Ran 3 tests in 1s\n\nOK (skipped=2)": (["s (2 tests) (no reason given)"], 1),
            "Ran 3 tests in 1s\n\nOK": ([], 3),
        }
        for output, (skipped, passed) in cases.items():
            with self.subTest(output):
                _, lines = self.summary(ctest("tools_s", output=output), report=None)
                told = [line.split(": ")[1].removeprefix("tools_") for line in lines if line.startswith("skipped: ")]
                self.assertEqual(told, skipped)
                self.assertEqual(lines[-1], f"{passed} passed, 0 failed, {len(skipped)} skipped")

    def test_as_many_files_are_checked_at_a_time_as_jobs_says(self):
        pool = runner.concurrent.futures.ThreadPoolExecutor
        for jobs, expected in (("1", 1), ("", os.cpu_count())):
            with (
                mock.patch.dict(os.environ, JOBS=jobs),
                mock.patch.object(runner.concurrent.futures, "ThreadPoolExecutor", side_effect=pool) as made,
                contextlib.redirect_stdout(io.StringIO()),
            ):
                self.assertEqual(runner.run("title", []), 0)
            made.assert_called_once_with(expected)

    def test_clang_tidy_looks_at_the_headers_of_every_folder(self):
        with open(os.path.join(os.path.dirname(TOOLS), ".clang-tidy"), encoding="utf-8") as file:
            (names,) = re.findall(r"^HeaderFilterRegex: '/\((.+)\)/'$", file.read(), re.MULTILINE)
        self.assertEqual(names.split("|"), [folder for folder in built.source_folders() if folder != "tools"])

    def test_each_ctest_on_vendors_releases_has_such_a_name(self):
        """Else `make test-long` would fail for want of releases that a stranger doesn't have."""
        with open(os.path.join(os.path.dirname(TOOLS), "e2e", "CMakeLists.txt"), encoding="utf-8") as file:
            runs = re.findall(r"capi_test_run\((\w+) (\w+)([^)]*)\)", file.read())
        names = [f"{program}.{name}" for program, name, rest in runs if "CAPI_RELEASES=vendors" in rest]
        self.assertGreater(len(names), 5)
        self.assertEqual([name for name in names if not name.endswith(summary.ON_VENDORS)], [])

    def test_on_vendors_releases_any_test_may_be_skipped_and_no_other(self):
        script = "test_p (__main__.P.test_p) ... skipped 'RELEASES_DIR is not set'\nRan 1 test in 1s\n\nOK (skipped=1)"
        for name, vendors, expected in (
            ("x_test.vendors", True, 0),
            ("x_test.vendors_long", True, 0),
            ("x_test.upgrades", True, 0),
            ("x_test.vendors", False, 1),
            ("x_test.full", True, 1),
            ("vendors_test", True, 1),
        ):
            with self.subTest(name=name, vendors=vendors):
                code, lines = self.summary(ctest(name), report=name, listed="", vendors=vendors)
                self.assertEqual((code, lines[-1]), (expected, "1 passed, 0 failed, 1 skipped"))
        code, lines = self.summary(X_TEST, ctest("tools_p_test.vendors", output=script), listed="x_test X.b\n", vendors=True)
        self.assertEqual((code, lines[-1]), (0, "1 passed, 0 failed, 2 skipped"))

    def test_the_list_is_short(self):
        with self.assertRaisesRegex(SystemExit, "11 tests may be skipped; 10 at most"):
            self.summary(listed="".join(f"x_test X.{n}\n" for n in range(11)))


if __name__ == "__main__":
    unittest.main()
