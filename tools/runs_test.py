#!/usr/bin/env python3
"""Tests of the scripts that run the others, on trees whose other scripts are stand-ins: they note what they are asked for."""

import os
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
MAKE = NOTES + 'if [[ $1 == test ]]; then head -v -- * 2>/dev/null >>"$NOTES"; fi\n[[ $1 != "$FAILS" ]] || exit 1\n'
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
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "add", "--all"], cwd=self.folder, check=True)
        subprocess.run(["git", *identity, "commit", "--quiet", "--message=x"], cwd=self.folder, check=True)

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

    def test_without_a_copy_there_is_nothing_to_run(self):
        os.rename(os.path.join(self.folder, ".git"), os.path.join(self.folder, "git"))
        self.assertEqual(self.run_ci(), 1)
        self.assertEqual(self.asked, [])
        self.assertEqual(self.output.splitlines()[-2:], ["failed: copy of the tree", "0 passed, 1 failed, 0 skipped"])


if __name__ == "__main__":
    unittest.main()
