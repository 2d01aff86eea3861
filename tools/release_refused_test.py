#!/usr/bin/env python3
"""Tests of what tools/release refuses, and of what a failure or an interruption leaves: nothing."""

import contextlib
import io
import json
import os
import runpy
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
FOLDERS = ("image.d", "manifests.d", "run.d", "assets.d", "testing.d")
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in FOLDERS]

import checkout  # noqa: E402
from program import Program  # noqa: E402
from releasing import EPOCH, REVISION, begin, contents, environment, programs, release  # noqa: E402
from tree import WithFolder, WithTree  # noqa: E402

SAYS = """
#include <cstdio>
#include <cstring>
int main(int count, char** arguments) {
  char path[4096], text[4096];
  bool json = std::strstr(arguments[count - 1], "json") != nullptr;
  std::snprintf(path, sizeof path, "%s.%s", arguments[0], json ? "json" : "said");
  std::FILE* file = std::fopen(path, "r");
  std::size_t size = file ? std::fread(text, 1, sizeof text, file) : 0;
  std::fwrite(text, 1, size, stdout);
  return file ? 0 : 1;
}
"""


class Refused(WithFolder):
    # Of other sources than the checkout's, it may be.
    OURS = f"--revision={REVISION}"

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="release-test-"))
        cls.says = os.path.join(folder, "says")
        subprocess.run(["g++", "-x", "c++", "-o", cls.says, "-"], input=SAYS, text=True, check=True)

    def program(self, name, **said):
        """One that says this."""
        path = os.path.join(self.folder, name)
        shutil.copy(self.says, path)
        for kind, text in said.items():
            self.write(f"{name}.{kind}", text)
        return path

    def test_programs_of_two_versions(self):
        out, other = os.path.join(self.folder, "out"), self.program("other", said="v9.9.9\n")
        code, _, errors = release(out, programs()[0], f"--clusterctl={other}", self.OURS)
        self.assertEqual(code, 1)
        self.assertIn(f"and {other} is v9.9.9: build both of the same sources", errors)
        self.assertFalse(os.path.lexists(out))

    def test_programs_for_other_architectures(self):
        """Of each architecture there are both, once."""
        out, path = os.path.join(self.folder, "out"), self.program("other")
        machine = {"amd64": 183, "arm64": 62}[Program(path).architecture]
        with open(path, "r+b") as file:
            file.seek(18)
            file.write(machine.to_bytes(2, "little"))
        foreign = Program(path).architecture
        for flags, words in (
            ([*programs(), f"--clusterctl={path}"], f"{path} is for {foreign}, and there is no operator for that: name it with --operator"),
            ([*programs(), f"--operator={path}"], f"{path} is for {foreign}, and there is no clusterctl for that: name it with --clusterctl"),
            ([*programs(), *programs()], f"are both for {Program(self.says).architecture}: name one for each architecture"),
        ):
            with self.subTest(flags):
                code, _, errors = release(out, *flags, self.OURS)
                self.assertEqual(code, 1)
                self.assertIn(words, errors)
                self.assertFalse(os.path.lexists(out))

    def test_what_it_refuses(self):
        folder, out = self.write("there/x"), os.path.join(self.folder, "out")
        for arguments, words in (
            ([], "OUT"),
            ([os.path.dirname(folder)], "there is there already: remove it, or name another"),
            ([out, "--image=a b"], "'a b' is no reference to an image"),
            ([out, "--image="], "'' is no reference to an image"),
            ([out, "--image=localhost:5000/x"], "'localhost:5000/x' has neither a tag nor a digest: name one"),
            ([out, "--operator=/nowhere"], "/nowhere is no program: run `make build`, or name another"),
            ([out, "--clusterctl=/"], "/ is no program"),
            ([os.path.join(folder, "out")], "File exists"),
        ):
            with self.subTest(arguments):
                code, said, errors = release(*programs(), self.OURS, *arguments, PATH=self.stand_in("exit 1"))
                self.assertNotEqual(code, 0)
                self.assertEqual(said, "")
                self.assertIn(words, errors)
                self.assertNotIn("Traceback", errors)
                self.assertEqual(sorted(os.listdir(self.folder)), ["path", "there"])

    def stand_in(self, text):
        """The PATH that has this as kubectl."""
        return os.path.dirname(self.write("path/kubectl", f"#!/bin/sh\n{text}\n")) + os.pathsep + os.environ["PATH"]

    def test_a_failure_leaves_nothing(self):
        out = os.path.join(self.folder, "out")
        code, _, errors = release(out, *programs(), self.OURS, PATH=self.stand_in("echo no such file >&2; exit 1"))
        self.assertEqual((code, errors), (1, "tools/release: no such file\n"))
        self.assertEqual(os.listdir(self.folder), ["path"])

    def test_programs_of_another_commit(self):
        """The release said that it is the checkout's commit, whatever the programs were built of: of the operator, which is what
        the image has, nobody asked."""
        revision = checkout.revision()
        commit, state = revision.removesuffix("-dirty"), "dirty" if revision.endswith("-dirty") else "clean"
        ours, out = (commit, state), os.path.join(self.folder, "out")
        for told, built_of in (
            (("4" * 40, "clean"), "4" * 40),
            ((commit, "clean" if state == "dirty" else "dirty"), revision.removesuffix("-dirty") if state == "dirty" else f"{commit}-dirty"),
            (("", ""), "no commit"),
            (ours, None),
        ):
            for operator, other in ((told, ours), (ours, told)):
                with self.subTest(operator=operator, clusterctl=other):
                    programs = {"operator": self.operator(*operator), "clusterctl": self.clusterctl(*other)}
                    wrong = programs["operator" if operator == told else "clusterctl"]
                    flags = [out, *(f"--{name}={path}" for name, path in programs.items())]
                    for more in ([], [self.OURS]):
                        code, _, errors = release(*flags, *more, PATH=self.stand_in("echo asked >&2; exit 1"))
                        self.assertEqual(code, 1)
                        if built_of and not more:
                            self.assertIn(f"{wrong} was built of {built_of}, and", errors)
                            self.assertIn(f"the checkout is {revision}: run `make build`, or say what it is with --revision", errors)
                        else:
                            self.assertEqual(errors, "tools/release: asked\n")

    def operator(self, commit, state):
        """One that says that it was built of this."""
        lines = ["capi-operator v1.2.3"] + [f"GitCommit: {commit}", f"GitTreeState: {state}"] * bool(commit)
        return self.program("operator", said="".join(f"{line}\n" for line in lines))

    def clusterctl(self, commit, state):
        said = json.dumps({"clusterctl": {"gitCommit": commit, "gitTreeState": state}})
        return self.program("clusterctl", said="v1.2.3\n", json=said)

    def test_an_interruption_leaves_nothing(self):
        runs = os.path.join(self.folder, "runs")
        os.mkfifo(runs)
        begun = os.open(runs, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, begun)
        path = self.stand_in(f"echo >'{runs}'; exec sleep 60")
        with begin(os.path.join(self.folder, "out"), *programs(), self.OURS, PATH=path) as run:
            self.assertTrue(select.select([begun], [], [], 60)[0], "kubectl isn't asked")
            run.send_signal(signal.SIGTERM)
            _, errors = run.communicate(timeout=60)
        self.assertEqual((run.returncode, errors), (130, "\ntools/release: interrupted; nothing was written\n"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["path", "runs"])

    def test_an_interruption_once_it_has_its_name(self):
        """It said that nothing was written."""
        out = os.path.join(self.folder, "out")
        script = runpy.run_path(os.path.join(TOOLS, "release"), run_name="release")
        files = {"a": b"1"}

        def release(given):
            script["write"](files, given.out)
            os.kill(os.getpid(), signal.SIGTERM)

        for number in (signal.SIGINT, signal.SIGTERM):
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        errors = io.StringIO()
        with mock.patch.dict(script["main"].__globals__, release=release), contextlib.redirect_stderr(errors):
            with self.assertRaises(SystemExit) as ended:
                script["main"]([out])
        self.assertEqual((ended.exception.code, errors.getvalue()), (130, f"\ntools/release: interrupted; {out} is whole\n"))
        self.assertEqual(contents(out), files)

    def test_half_of_it_never_has_the_name(self):
        script = runpy.run_path(os.path.join(TOOLS, "release"), run_name="release")
        with self.assertRaises(OSError):
            script["write"]({"a": b"1", "no/b": b"2"}, os.path.join(self.folder, "out"))
        self.assertEqual(os.listdir(self.folder), [])


class Checkout(WithTree):
    """What the release says of the commit that it is made of."""

    def setUp(self):
        super().setUp()
        self.copy("image.d/checkout.py", "../cmake/git_environment.txt")
        for name in ("chart/a", "chart/b/c"):
            self.write(name, "as committed\n")

    def ask(self, call, **environment):
        command = [sys.executable, "-B", "-c", f"import checkout; print(checkout.{call})"]
        kept = {name: text for name, text in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        environment = {**kept, "PYTHONPATH": os.path.join(self.folder, "tools", "image.d"), **environment}
        return subprocess.check_output(command, text=True, env=environment).strip()

    def git(self, *words):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
        environment = {**os.environ, "GIT_COMMITTER_DATE": f"{EPOCH} +0000"}
        return subprocess.check_output(["git", *identity, *words], cwd=self.folder, text=True, env=environment).strip()

    def test_the_commit_its_time_and_its_files(self):
        self.assertEqual(self.ask("revision()"), "")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")
        head = self.git("rev-parse", "HEAD")
        self.write("chart/new", "not committed\n")
        self.assertEqual(self.ask("revision()"), head)
        self.assertEqual(self.ask("epoch()"), str(EPOCH))
        self.assertEqual(self.ask("epoch()", SOURCE_DATE_EPOCH="7"), "7")
        self.assertEqual(self.ask("files('chart')"), "['a', 'b/c']")
        self.write("chart/a", "changed\n")
        self.assertEqual(self.ask("revision()"), f"{head}-dirty")

    def test_a_time_that_is_none(self):
        """tools/image told it by a traceback."""
        words = "SOURCE_DATE_EPOCH is 'x', not a number of seconds since 1970\n"
        for script in ("image", "release"):
            with self.subTest(script):
                flags = ["--program=/bin/true"] if script == "image" else [*programs(), f"--revision={REVISION}"]
                command = [os.path.join(TOOLS, script), os.path.join(self.folder, "out"), *flags]
                done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(SOURCE_DATE_EPOCH="x"))
                self.assertEqual((done.returncode, done.stderr), (1, f"tools/{script}: {words}"))

    def test_without_git_all_files_count(self):
        os.rename(os.path.join(self.folder, ".git"), os.path.join(self.folder, "git"))
        self.assertEqual(self.ask("files('chart')"), "['a', 'b/c']")
        self.assertEqual((self.ask("revision()"), self.ask("epoch()")), ("", "0"))


if __name__ == "__main__":
    unittest.main()
