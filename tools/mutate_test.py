#!/usr/bin/env python3
"""Tests of tools/mutate: what it changes, on texts; how it tries that, on a tree whose compiler is a script."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("check.d", "mutate.d", "testing.d")]

import bench  # noqa: E402
import equivalent  # noqa: E402
import mutators  # noqa: E402
import sources  # noqa: E402
import targets  # noqa: E402
from tree import WithTree  # noqa: E402


def changes(source, *kinds, functions=()):
    """(name, the text with the change in it), in order."""
    found = mutators.mutants("a.cc", source, kinds, functions)
    return [(m.name, mutators.switched(source, [m]).removeprefix(mutators.PRELUDE).replace("capi_mutant(1)", "ON")) for m in found]


def names(source, *kinds, functions=()):
    return [name for name, _ in changes(source, *kinds, functions=functions)]


# Each function of the program that it makes is asked for all values, with no change on, then with one after the other.
MAIN = """#include <cstdio>
int on = 0;
bool capi_mutant(int number) { return number == on; }
%s
struct Case { bool (*is)(bool, bool, bool); bool (*expected)(bool, bool, bool); int on; const char* name; };
const Case kCases[] = {
%s};
int main() {
  for (const Case& c : kCases) {
    for (int bits = 0; bits < 8; ++bits) {
      on = c.on;
      bool x = bits & 1, y = bits & 2, z = bits & 4;
      if (c.is(x, y, z) != c.expected(x, y, z)) std::printf("%%s, change %%d, for %%d\\n", c.name, c.on, bits);
    }
  }
}
"""


class Expressions(unittest.TestCase):
    @unittest.skipUnless(shutil.which("g++"), "no g++")
    def test_changes_are_off_until_they_are_switched_on(self):
        cases = {
            "a == b": ["a != b"],
            "a && b": ["a || b"],
            "a || b": ["a && b"],
            "!a": ["a"],
            "a && b && c": ["(a || b) && c", "(a && b) || c"],
            "a || b && c": ["a && b && c", "a || b || c"],
            "(a || b) && c": ["a && b && c", "a || b || c"],
            "!(a && !b) || c": ["(a && !b) || c", "!(a || !b) || c", "!(a && b) || c", "!(a && !b) && c"],
            "a && b == c": ["a || b == c", "a && b != c"],
            "a < b || !c ? b : a || c": ["a >= b || !c ? b : a || c", "a < b && !c ? b : a || c", "a < b || c ? b : a || c",
                                         "a < b || !c ? b : a && c"],
        }  # fmt: skip
        functions, rows = [], []
        for source, expected in cases.items():
            found = mutators.mutants("a.cc", f"return {source};\n", ["compare", "logic"])
            self.assertEqual(len(found), len(expected), source)
            texts = [mutators.switched(f"return {source};\n", found).removeprefix(mutators.PRELUDE)]
            texts += [f"return {text};\n" for text in (source, *expected)]
            first = len(functions)
            functions += [f"bool F{first + i}(bool a, bool b, bool c) {{ {text} }}" for i, text in enumerate(texts)]
            rows += [f'{{F{first}, F{first + 1 + on}, {on}, "{source}"}},\n' for on in range(len(texts) - 1)]
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "truth")
            text = MAIN % ("\n".join(functions), "".join(rows))
            subprocess.run(["g++", "-w", "-x", "c++", "-", "-o", program], input=text, text=True, check=True)
            said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "")

    def test_a_comparison_becomes_its_opposite(self):
        for was, becomes in {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}.items():
            self.assertEqual(changes(f"return a {was} b(1, 2);\n", "compare"), [(f"{was} to {becomes}", f"return a {was} b(1, 2) != ON;\n")])

    def test_operands_end_where_they_do_in_the_language(self):
        for source, changed in {
            "if (x; a == b && c) f();": "if (x; a == b != ON && c) f();",
            "f(a == b[c, d], e);": "f(a == b[c, d] != ON, e);",
            "x = a == b ? c : d;": "x = a == b != ON ? c : d;",
            "return a ==\n    b;": "return a ==\n    b != ON;",
        }.items():
            self.assertEqual(changes(source + "\n", "compare"), [(names(source + "\n", "compare")[0], changed + "\n")])
        for source, changed in {
            "bool x = a &&\n    b;": "bool x = (((!!(a) != ON) &&\n    (!!(b) != ON)) != ON);",
            "f(a, b || c ? d : e);": "f(a, (((!!(b) != ON) || (!!(c) != ON)) != ON) ? d : e);",
            "return f(!a.b(c, d), 1);": "return f((ON != !a.b(c, d)), 1);",
        }.items():
            self.assertEqual([text for _, text in changes(source + "\n", "logic")], [changed + "\n"])

    def test_what_only_looks_like_an_operator_stays(self):
        for text in (
            "std::vector<int> v;",
            "std::map<A, std::vector<B>> v;",
            "template <typename T>",
            "a->b << c >> d;",
            "auto operator<=>(const A&) const = default;",
            "return a <=> b;",
            "bool operator==(const A&) const;",
            "auto f = [](int a) -> int { return a; };",
            "void F(A&& a);",
            "#include <map>",
            "#if A == B",
            "#define A(b) \\\n  b == !c",
            "// !a == b",
            "/* a\n == b && c */",
            'f("a == b \\" != c && !d");',
            'f(R"(a\n == b)");',
            "f(' == ');",
            "a = b += c;",
        ):
            with self.subTest(text):
                self.assertEqual(changes(text + "\n", "compare", "logic"), [])

    def test_code_beside_texts_and_comments_is_found(self):
        self.assertEqual(changes('f("a" == b);  // c == d\n', "compare"), [("== to !=", 'f("a" == b != ON);  // c == d\n')])

    def test_equal_lines_are_told_apart_by_a_number(self):
        source = "f(a == b);\nf(a == b);\nf(c == d);\n"
        found = [(m.name, m.line, m.code) for m in mutators.mutants("a.cc", source, ["compare"])]
        self.assertEqual(found, [("== to !=", 1, "f(a == b);"), ("== to != #2", 2, "f(a == b);"), ("== to !=", 3, "f(c == d);")])


class Rules(unittest.TestCase):
    NEVER = "[](const Observation& o) { auto found = Prune(o); if (ON) found.reset(); return found; }"

    def test_a_row_of_a_table_never_holds(self):
        table = 'constexpr StepRule kRules[] = {\n    {"U4.prune", kAlive, %s},\n    {"name", Other},\n};\n'
        self.assertEqual(changes(table % "Prune", "rule"), [("off Prune", table % self.NEVER)])

    def test_rows_may_share_a_line(self):
        self.assertEqual(names('constexpr Rule k[] = {{"X3.a", A}, {"A1a.b", B}};\n', "rule"), ["off A", "off B"])

    def test_a_check_outside_of_tables_never_holds(self):
        check = "std::optional<Hold> A(const Observation& o,\n    int b) {%s\n  return Hold{};\n}\nstd::optional<Hold> A(int);\n"
        self.assertEqual(changes(check % "", "rule"), [("off A", check % " if (ON) return std::nullopt;")])

    def test_what_a_table_calls_is_switched_off_there_alone(self):
        source = 'Next A(const Observation&) {\n  return B{};\n}\nconstexpr StepRule k[] = {{"U1.a", kAlive, A}};\n'
        self.assertEqual(names(source, "rule"), ["off A"])

    def test_a_request_that_is_repeated_or_not(self):
        self.assertEqual(
            changes('Call c{.a = 1, .repeatable = m == "GET" || b};\n', "repeat"),
            [('not m == "GET" || b', 'Call c{.a = 1, .repeatable = (ON != (m == "GET" || b))};\n')],
        )


CLASS = """namespace x {
class A {
 public:
  A(int a) : a_(a), b_{[] { return 1; }} {
    Begin();
  }
  int Get() const { return a_; }

 private:
  void Inner(int a) {
    if (a > 1) return;
    for (int i : {1, 2}) Use(i);
    if (a) {
      B b = f(c);
      const auto& d = e;
      MutexLock lock(mu_);
      b.c = {1, 2};
      return;
    } else {
      g(";", [&] { h(); });
    }
    switch (a) {
      case 1: i(); break;
      default: return;
    }
    auto f = [&](int x) {
      j(x);
    };
    TRY(k(f));
    return Last();
  }
  int a_ = 1;
};
constexpr int kA[] = {1, 2};
}
"""


class Statements(unittest.TestCase):
    def test_an_attribute_is_left_alone(self):
        """It does nothing, so nobody could notice."""
        self.assertEqual(changes("void F() {\n  [[fallthrough]];\n}\n", "drop"), [])

    def test_each_but_declarations_and_last_returns_is_dropped(self):
        self.assertEqual(
            [name.removeprefix("drop ") for name in names(CLASS, "drop")],
            [
                "Begin();",
                "if (a > 1) return;",
                "for (int i : {1, 2}) Use(i);",
                "b.c = {1, 2};",
                "return;",
                'g(";", [&] { h(); });',
                "break;",
                "TRY(k(f));",
            ],
        )

    def test_it_stands_in_a_block_of_its_own(self):
        source = "void F() {\n  if (a)\n    b();\n  c();\n}\n"
        self.assertEqual(changes(source, "drop")[0][1], "void F() {\n  if (!ON) { if (a)\n    b(); }\n  c();\n}\n")

    def test_what_has_an_else_stays_with_it(self):
        source = "void F() {\n  if (a) b();\n  else c();\n}\n"
        self.assertEqual(changes(source, "drop"), [("drop c();", "void F() {\n  if (a) b();\n  else if (!ON) { c(); }\n}\n")])

    def test_functions_can_be_chosen(self):
        source = "int A::One(int a) {\n  a();\n}\n\nStatus A::Two(\n    int b) const {\n  b();\n}\nvoid Three() { c(); }\n"
        self.assertEqual(names(source, "drop", functions=("Two",)), ["drop b();"])
        self.assertEqual(names(source, "drop", functions=("Three",)), ["drop c();"])


class Equivalent(unittest.TestCase):
    TEXT = "# The list.\na.cc: == to !=\n  f(a == b);\n  # Both are the same\n  # here.\n\n# Another.\na.cc: drop f();\n  f();\n  # For speed.\n"

    def test_entries_are_found_by_their_line_whatever_its_number(self):
        entries = equivalent.parse(self.TEXT)
        self.assertEqual(entries[("a.cc", "f(a == b);", "== to !=")], "Both are the same here.")
        found = mutators.mutants("a.cc", "\n\nvoid F() {\n  f(a == b);\n  g();\n}\n", ["compare", "drop"])
        to_try, listed, stale = equivalent.split(found, entries)
        self.assertEqual([m.name for m in to_try], ["drop f(a == b);", "drop g();"])
        self.assertEqual([m.name for m in listed], ["== to !="])
        self.assertEqual(stale, [("a.cc", "f();", "drop f();")])

    def test_an_entry_has_a_line_and_says_why(self):
        for text in ("a.cc\n  f();\n  # x\n", "a.cc: drop f();\n  f();\n", "a.cc: drop f();\n  # x\n", "a.cc: x\n  a\n  b\n  # x\n"):
            with self.subTest(text):
                self.assertRaises(equivalent.BadList, equivalent.parse, text)


class Targets(unittest.TestCase):
    def test_what_has_unit_tests_takes_part_or_says_why_not(self):
        root = os.path.dirname(TOOLS)
        tested = {
            os.path.relpath(path, root).removesuffix("_test.cc") + ".cc"
            for folder in ("api/conversion", "lifecycle", "operator", "templating")
            for path in glob.glob(os.path.join(root, folder, "**", "*_test.cc"), recursive=True)
        }
        tested = {file for file in tested if os.path.exists(os.path.join(root, file))}
        self.assertGreater(len(tested), 20)
        named = {target.file for target in targets.TARGETS}
        self.assertEqual(tested - named - set(targets.LEFT_OUT), set(), "neither a target nor in LEFT_OUT of targets.py")
        self.assertEqual(set(targets.LEFT_OUT) - tested, set(), "has no unit test beside it")
        self.assertEqual(set(targets.LEFT_OUT) & named, set(), "is a target")

    def test_each_has_changes_of_the_kinds_that_it_names(self):
        for target in targets.TARGETS:
            with self.subTest(target.file):
                found = mutators.mutants(target.file, sources.text(target.file), target.kinds, target.functions)
                self.assertEqual({mutant.kind for mutant in found}, set(target.kinds))
            for function in target.functions:
                with self.subTest(target.file, function=function):
                    found = mutators.mutants(target.file, sources.text(target.file), target.kinds, (function,))
                    self.assertNotEqual(found, [])


class Commands(unittest.TestCase):
    def test_the_changed_file_takes_the_place_of_a_test(self):
        command = "ccache g++ -O0 -include p.hxx -MD -MT x.o -MF x.o.d -o x.o -c /r/x_test.cc"
        expected = "ccache g++ -O0 -include p.hxx -w -o /t/changed.o -c /t/a.cc".split()
        self.assertEqual(bench.compile_with(command, "/t/a.cc", "/t/changed.o"), expected)

    def test_the_changed_object_comes_before_the_libraries(self):
        command = bench.link_with("g++ -O2 x_test.o -o bin/x_test liba.a -lz", "/t/changed.o", "/t/x_test")
        self.assertLess(command.index("/t/changed.o"), command.index("liba.a"))
        self.assertEqual(command[command.index("-o") + 1], "/t/x_test")

    def test_what_the_tools_say_is_one_line(self):
        self.assertEqual(bench.first_error("a.cc:1:2: error: no match\nnote: x\n"), "no match")
        self.assertEqual(bench.first_error("ld.lld: error: undefined symbol: f()\n"), "undefined symbol: f()")


class Filters(WithTree):
    """Where none of the asked tests is in the program it fails, and every change would look as if a test had noticed it."""

    def test_tests_beside_a_file_are_asked_first_if_the_program_has_them(self):
        self.write("a/x_test.cc", "TEST(X, A) {\n}\nTEST_F(OfAnother, B) {\n}\n")
        self.write("a/y_test.cc", "TEST(OfAnother, C) {\n}\n")
        program = bench.Program("", "", 9, {"X.A": 1, "Z.A": 1, "Z.Slow": bench.SLOW + 1})
        place = bench.Bench(self.folder, "release", self.folder)
        self.assertEqual(list(place._filters("a/x.cc", program)), [("X.*", 1), ("*-Z.Slow", 9)])
        self.assertEqual(list(place._filters("a/y.cc", program)), [("*-Z.Slow", 9)])


# Compiles by copying and links by writing a program that looks into the last object for what its one test notices.
COMPILER = """#!/usr/bin/env bash
while (($#)); do
  case $1 in
    -o) out=$2; shift ;;
    -c) source=$2; shift ;;
    *.o) objects+=("$1") ;;
  esac
  shift
done
if [[ -n ${source:-} ]]; then
  if grep -q '(!!(a == b' "$source"; then echo "$source:1: error: no such operator" >&2; exit 1; fi
  cp "$source" "$out"
  exit
fi
cat >"$out" <<EOF
#!/usr/bin/env bash
echo "[ RUN      ] A.\\$1"
switch="capi_mutant(\\$CAPI_MUTANT)"
text=$(base64 -w0 "${objects[-1]}")
while read -r line; do
  case \\$line in
    *"a == b != \\$switch"*) echo "[  FAILED  ] A.Differs (1 ms)"; exit 1 ;;
    *"!\\$switch) { if ("*) exec sleep 100 ;;
    *"return (\\$switch"*) kill -SEGV \\$\\$ ;;
  esac
done < <(base64 -d <<<"\\$text")
exit 0
EOF
chmod +x "$out"
"""
NINJA = """#!/usr/bin/env bash
echo "$TREE/cc -MD -MT x -MF x.d -o operator/CMakeFiles/x_test.dir/x_test.cc.o -c x_test.cc"
echo ": && $TREE/cc x_test.o -o bin/x_test liba.a && :"
"""
SOURCE = "int F() {\n  if (a == b && d) e();\n  if (a >= b) return 1;\n  return !c;\n}\n"
TARGETS = """import dataclasses


@dataclasses.dataclass(frozen=True)
class Target:
    file: str
    kinds: tuple
    program: str
    functions: tuple = ()


TARGETS = [Target("operator/x.cc", ("compare", "logic", "drop"), "x_test")]
"""


def kind_of(name):
    """That of a change of SOURCE: each of its operators is of one kind."""
    if name.split()[0] in ("==", ">="):
        return "compare"
    return "logic" if name in ("&& to ||", "drop !") else "drop"


SURVIVED = "SURVIVED        operator/x.cc:3: >= to <\n                if (a >= b) return 1;\n"


class Runs(WithTree):
    """On a tree whose one test notices some of what is changed."""

    def setUp(self):
        super().setUp()
        self.copy("mutate", "check.d", "mutate.d")
        self.write("operator/x.cc", SOURCE)
        self.write("operator/x_test.cc", "TEST(Beside, One) {}\nTEST_F(Besides, Two) {}\n")
        self.write("tools/mutate.d/targets.py", TARGETS)
        self.write("tools/mutate.d/equivalent.txt", "")
        self.write("tools/build", '#!/usr/bin/env bash\necho "builds $*"\n')
        passed = "".join(f'echo "[       OK ] {test} (0 ms)"\n' for test in ("Beside.One", "Besides.Two"))
        self.write("build/release/bin/x_test", "#!/usr/bin/env bash\n" + passed)
        self.write("cc", COMPILER)
        self.write("path/ninja", NINJA)

    def mutate(self, *words):
        environment = dict(os.environ, TREE=self.folder, JOBS="2", PATH=os.path.join(self.folder, "path") + ":" + os.environ["PATH"])
        command = [os.path.join(self.folder, "tools", "mutate"), "--limit", "2", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        return done.returncode, done.stdout + done.stderr

    def test_says_what_became_of_each_change(self):
        code, output = self.mutate()
        self.assertEqual(code, 1, output)
        for line in (
            "builds release x_test\n",
            "6 changes of 1 files, in 3 programs\n",
            "KILLED          operator/x.cc:2: == to != (A.Differs)\n",
            "DID NOT COMPILE operator/x.cc:2: && to || (no such operator)\n",
            "KILLED          operator/x.cc:3: drop if (a >= b) return 1; (A.--gtest_filter=Beside.*:Besides.* (no end))\n",
            "KILLED          operator/x.cc:4: drop ! (A.--gtest_filter=Beside.*:Besides.* (crash))\n",
            SURVIVED,
            "mutate: 6 changes: 4 killed, 1 survived, 1 did not compile; 0 more are listed as equivalent; ",
        ):
            self.assertIn(line, output)
        with open(os.path.join(self.folder, "operator/x.cc"), encoding="utf-8") as file:
            self.assertEqual(file.read(), SOURCE, "the tree stays as it is")
        self.assertEqual(os.listdir(os.path.join(self.folder, "build/mutate")), [])

    def test_what_is_listed_may_survive(self):
        self.write("tools/mutate.d/equivalent.txt", "operator/x.cc: >= to <\n  if (a >= b) return 1;\n  # It is both.\n")
        code, output = self.mutate()
        self.assertEqual(code, 0, output)
        self.assertIn("0 survived, 1 did not compile; 1 more are listed", output)

    def test_the_list_names_what_there_is(self):
        self.write("tools/mutate.d/equivalent.txt", "operator/x.cc: >= to <\n  if (a >= z) return 1;\n  # It is both.\n")
        code, output = self.mutate("--list")
        self.assertEqual(code, 1)
        self.assertIn("equivalent.txt: no such change: operator/x.cc: >= to <: if (a >= z) return 1;", output)

    def test_a_line_can_be_chosen(self):
        code, output = self.mutate("--only", "operator/x.cc:3", "--list")
        self.assertEqual((code, output.count("\n"), output.count("operator/x.cc:3: ")), (0, 2, 2), output)
        self.assertIn("nothing to change at operator/y.cc", self.mutate("--only", "operator/y.cc")[1])

    def test_a_sample_has_all_kinds_and_is_the_same_for_a_seed(self):
        code, output = self.mutate("--sample", "3", "--list")
        self.assertEqual(code, 0, output)
        kinds = [kind_of(line.split(": ")[1]) for line in output.splitlines()]
        self.assertEqual(sorted(kinds), ["compare", "drop", "logic"], output)
        self.assertEqual(self.mutate("--sample", "3", "--list")[1], output)
        others = {self.mutate("--sample", "3", "--seed", str(seed), "--list")[1] for seed in range(5)}
        self.assertGreater(len(others), 1)

    def test_no_change_at_all_is_no_sample(self):
        code, output = self.mutate("--sample", "0")
        self.assertEqual(code, 2)
        self.assertIn("--sample: one change at least", output)

    def test_what_the_targets_name_is_there(self):
        cases = {
            '("compare", "rule"), "x_test"': 'nothing of the kind "rule" to change',
            '("compare", "logic"), "x_test", ("F", "Gone")': "nothing to change in Gone(), which targets.py names",
        }
        for target, words in cases.items():
            with self.subTest(target):
                self.write("tools/mutate.d/targets.py", TARGETS.replace('("compare", "logic", "drop"), "x_test"', target))
                code, output = self.mutate("--list")
                self.assertEqual((code, output.count("\n")), (1, 1), output)
                self.assertIn(f"mutate: operator/x.cc: {words}", output)

    def test_tests_that_fail_anyway_notice_nothing(self):
        self.write("build/release/bin/x_test", '#!/usr/bin/env bash\necho "[  FAILED  ] A.B"\nexit 1\n')
        code, output = self.mutate()
        self.assertEqual(code, 2)
        self.assertIn("mutate: x_test fails without any change: A.B", output)


if __name__ == "__main__":
    unittest.main()
