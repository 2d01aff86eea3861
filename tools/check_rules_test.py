#!/usr/bin/env python3
"""Tests of tools/check_rules, each on a small tree of its own."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from checks_test import HEADER, Tree  # noqa: E402

BEHAVIOUR = """# Behaviour

- **I1** One. As it is said.
- **I9a** Two.
- **T1** Three.

## What is built

| Rule | Built of it |
| --- | --- |
| I9a | half of it |
| T1 | nothing; it comes later |
"""
REASON = 'inline constexpr std::string_view kGood = "Good";\n'
REASONS = 'namespace condition {\ninline constexpr std::string_view kReady = "Ready";\n}\nnamespace reason {\n%s}  // namespace reason\n'
REASONS_PAGE = """## Conditions

| `Ready` | x |

## All is well

### Good

- **Conditions**: Ready

## Written by other builds

### Theirs
"""


class Rules(Tree):
    def setUp(self):
        super().setUp()
        self.write("docs/behaviour.md", BEHAVIOUR)
        self.write("api/reasons.h", REASONS % REASON)
        self.write("docs/reasons.md", REASONS_PAGE)
        self.write("operator/a.cc", "f(api::reason::kGood);\n")
        self.write("operator/a_test.cc", "// I1: one of them.\nTEST(A, B) {  // behaviour.md I9a\n}\n")

    def test_what_is_named_set_and_explained_passes(self):
        self.expect_pass("check_rules")

    def test_a_rule_that_no_test_names_fails(self):
        self.write("operator/a_test.cc", '// I1, not of "I9a" in a text.\nauto a = "I9a";\n')
        self.expect_fail("check_rules", "docs/behaviour.md:4: I9a is named by no test")

    def test_code_that_names_a_rule_shows_nothing(self):
        self.write("operator/a_test.cc", "// I1\n")
        for name in ("operator/b.cc", "e2e/model/rules.cc", "e2e/model/fleet.h", "api/testing/b.cc"):
            with self.subTest(name):
                self.write(name, "// I9a.\n")
                self.expect_fail("check_rules", "I9a is named by no test")

    def test_what_counts_as_a_test(self):
        for name, text in {"e2e/b_test.cc": "// I9a.\n", "tools/b_test.py": "# I9a.\n", "cli/c_test.cc": "/* (I9a) */"}.items():
            with self.subTest(name):
                self.write("operator/a_test.cc", "// I1\n")
                self.write(name, text)
                self.expect_pass("check_rules")
                os.remove(os.path.join(self.folder, name))

    def test_its_own_test_shows_nothing(self):
        """What stands there is samples."""
        self.write("operator/a_test.cc", "// I1\n")
        self.write(f"tools/{os.path.basename(__file__)}", "# I9a.\n")
        self.expect_fail("check_rules", "I9a is named by no test")

    def test_a_rule_that_is_built_needs_a_test_whatever_is_missing_of_it(self):
        self.write("docs/behaviour.md", BEHAVIOUR.replace("nothing; it", "the rest"))
        self.expect_fail("check_rules", "docs/behaviour.md:5: T1 is named by no test")

    def test_the_table_of_what_is_built_names_rules(self):
        self.write("docs/behaviour.md", BEHAVIOUR + "| T7 | nothing |\n")
        self.expect_fail("check_rules", "the table of what is built names T7, which is no rule")
        self.write("docs/behaviour.md", BEHAVIOUR.replace("## What is built", "## What"))
        self.expect_fail("check_rules", "no section `## What is built`")

    def test_a_rule_has_one_place(self):
        self.write("docs/behaviour.md", BEHAVIOUR.replace("**I9a**", "**I1**"))
        self.expect_fail("check_rules", "docs/behaviour.md:4: I1 stands there twice")

    def test_a_number_that_is_no_rule_fails(self):
        texts = {
            "operator/b.cc": "\n// As I2 says.\n",
            "operator/b.h": HEADER + "/* (I9b) */\n",
            "docs/b.md": "\nSee T9.\n",
            "tools/b.py": '"""T9."""\n',
            "tools/b": "#!/usr/bin/env bash\necho T1  # T2\n",
        }
        for name, text in texts.items():
            with self.subTest(name):
                self.write(name, text)
                self.expect_fail("check_rules", "docs/behaviour.md has no rule")
                os.remove(os.path.join(self.folder, name))

    def test_a_row_of_a_table_is_named_after_a_rule(self):
        self.write("operator/decide/README.md", "Rules.\nMay use: base\n")
        self.write("operator/decide/b.cc", 'constexpr Rule kRules[] = {\n    {"I1.one", One},\n};\n')
        self.expect_pass("check_rules")
        self.write("operator/decide/b.cc", 'constexpr Rule kRules[] = {\n    {"I2.two", Two},\n};\n')
        self.expect_fail("check_rules", "operator/decide/b.cc:2: docs/behaviour.md has no rule I2, after which this row is named")

    def test_what_looks_like_a_number_is_none(self):
        code = "template <typename T2>  // a\nauto a = \"I2 \\xC3\"; // v1.I2, /T2, F-L4, U2028\n"
        self.write("operator/b.cc", code)
        self.write("docs/b.md", "```sh\nT2=1\n```\n")
        self.write("tools/b.py", 'I2 = "I2"\n')
        self.expect_pass("check_rules")

    def test_a_reason_that_nothing_sets_fails(self):
        for use in ("", "// reason::kGood\n", "if (why == reason::kGood || a != api::reason::kGood) f();\n"):
            with self.subTest(use):
                self.write("operator/a.cc", use)
                for name in ("operator/b_test.cc", "operator/b_fuzz.cc", "e2e/b.cc", "templating/testing/b.cc"):
                    self.write(name, "f(reason::kGood);\n")
                self.expect_fail("check_rules", "api/reasons.h: no code sets kGood")

    def test_the_test_that_names_a_reason_is_on_record(self):
        self.write("operator/b_test.cc", "TEST(A, B) {\n  f(reason::kGood);\n}\n")
        self.expect_fail("check_rules", "api/schema/reasons_shown_by.inc: not the tests that name the reasons")
        head = "// Written by `tools/check_rules --write`: the test that names a reason.\n"
        self.write("api/schema/reasons_shown_by.inc", head + '    {reason::kGood, "`operator/b_test.cc`, `A.B` (a unit test)"},\n')
        self.expect_pass("check_rules")
        # A helper's file has no test's name, and a comment names nothing.
        self.write("e2e/scenarios/c_test.cc", "TEST(C, D) {\n}\nvoid Helper() {\n  f(reason::kGood);\n}\n// Good\n")
        self.write("api/schema/reasons_shown_by.inc", head + '    {reason::kGood, "`e2e/scenarios/c_test.cc`"},\n')
        self.expect_pass("check_rules")

    def test_a_reason_that_no_test_names_is_told_of(self):
        code, output = self.run_check("check_rules")
        self.assertEqual(code, 0, output)
        self.assertIn("1 reasons that no test names: Good\n", output)

    def test_a_word_of_others_counts_in_one_file(self):
        self.write("api/reasons.h", REASONS % REASON.replace("Good", "Deleting"))
        self.write("docs/reasons.md", REASONS_PAGE.replace("Good", "Deleting"))
        self.write("operator/a.cc", "f(reason::kDeleting);\n")
        head = "// Written by `tools/check_rules --write`: the test that names a reason.\n"
        self.write("tools/b_e2e_test.py", 'a = "Deleting"\n')
        self.expect_pass("check_rules")
        self.write("operator/report/reporter_test.cc", 'TEST(A, B) {\n  f("Deleting");\n}\n')
        self.write("api/schema/reasons_shown_by.inc", head + '    {reason::kDeleting, "`operator/report/reporter_test.cc`, `A.B` (a unit test)"},\n')
        self.expect_pass("check_rules")
        # Its constant is nobody else's.
        self.write("e2e/scenarios/c_test.cc", "TEST(C, D) {\n  f(reason::kDeleting);\n}\n")
        self.write("api/schema/reasons_shown_by.inc", head + '    {reason::kDeleting, "`e2e/scenarios/c_test.cc`, `C.D`"},\n')
        self.expect_pass("check_rules")

    def test_header_and_page_name_the_same_reasons(self):
        self.write("docs/reasons.md", REASONS_PAGE.replace("Good", "Fine"))
        self.expect_fail("check_rules", "docs/reasons.md: no row for Good, which api/reasons.h declares")
        self.expect_fail("check_rules", "docs/reasons.md: Fine is no reason of api/reasons.h")

    def test_what_others_write_is_not_declared(self):
        self.write("api/reasons.h", REASONS % (REASON + REASON.replace("Good", "Theirs")))
        self.write("operator/b.cc", "f(reason::kTheirs);\n")
        self.expect_fail("check_rules", "docs/reasons.md: no row for Theirs")


if __name__ == "__main__":
    unittest.main()
