"""Tries the changes of a file: compiles a copy with all of them in it, links a test program with that, and runs it with one of
them switched on at a time.

The tree and its build stay as they are. The copy lies in a folder of its own, is compiled as the tests are (without optimising,
with their precompiled header), and goes to the linker before the libraries, whose own version of the file is then not taken.
"""

import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time

import mutators

SLOW = 3  # seconds: such a test is asked about the file that it lies beside, and no other
KILLED, SURVIVED, BROKEN = "KILLED", "SURVIVED", "DID NOT COMPILE"


@dataclasses.dataclass(frozen=True)
class Verdict:
    outcome: str
    by: str = ""  # the test that noticed, or what the compiler said


@dataclasses.dataclass(frozen=True)
class Program:
    """A test program as it is: how it is made, and the seconds that it and each of its tests take."""

    link: str
    compile: str
    seconds: float
    tests: dict


@dataclasses.dataclass(frozen=True)
class Trial:
    """A change, and the number that switches it on in a program; without one, why it has none."""

    mutant: mutators.Mutant
    program: str
    binary: str
    number: int
    error: str = ""


class Failure(Exception):
    """Nothing can be said of any change."""


class Bench:
    """Thread-safe once made."""

    def __init__(self, root, preset, folder, limit=None):
        """`limit`: seconds for the tests of one change, where not as many as they should need at most."""
        self.root, self.folder, self.limit = root, folder, limit
        self.build_folder = os.path.join(root, "build", preset)
        self.programs = {}  # name -> Program
        self.environment = dict(os.environ, CCACHE_DISABLE="1")  # what is compiled here is compiled once

    def prepare(self, program):
        """Finds the commands of a test program, and sees that its tests pass as the tree is."""
        listed = subprocess.run(["ninja", "-C", self.build_folder, "-t", "commands", program], capture_output=True, text=True, check=True)
        link = [line for line in listed.stdout.split("\n") if f" -o bin/{program} " in line]
        compiled = [line for line in listed.stdout.split("\n") if f"/{program}.dir/" in line and " -c " in line]
        if not link or not compiled:
            raise Failure(f"{self.build_folder} doesn't say how {program} is made")
        command = re.sub(r"^: && | && :$", "", link[-1])
        if "&&" in command:
            raise Failure(f"{program} takes more than one command to link: {command}")
        began = time.monotonic()
        verdict, output = run_tests(os.path.join(self.build_folder, "bin", program), "*", self.root, 600)
        if verdict.outcome != SURVIVED:
            raise Failure(f"{program} fails without any change: {verdict.by}")
        took = re.findall(r"^\[       OK \] (\S+) \((\d+) ms\)", output, re.MULTILINE)
        tests = {name: int(ms) / 1000 for name, ms in took}
        self.programs[program] = Program(command, compiled[0], time.monotonic() - began, tests)

    def build(self, mutants, source, program):
        """A Trial of each of the changes of one file: all in one program, but for those that can't be compiled."""
        folder = tempfile.mkdtemp(dir=self.folder)
        binary, error = self._build(mutants, source, program, folder)
        if binary:
            verdict, _ = run_tests(binary, "*", self.root, 600)
            if verdict.outcome != SURVIVED:  # else every change would look as if a test had noticed it
                raise Failure(f"{program} fails with the changes of {mutants[0].file} in it, all switched off: {verdict.by}")
            return [Trial(mutant, program, binary, number) for number, mutant in enumerate(mutants, 1)]
        shutil.rmtree(folder)
        if len(mutants) == 1:
            return [Trial(mutants[0], program, "", 0, error)]
        half = len(mutants) // 2
        return self.build(mutants[:half], source, program) + self.build(mutants[half:], source, program)

    def _build(self, mutants, source, program, folder):
        """(the program with the changes in it, what is wrong with them)"""
        known = self.programs[program]
        changed, made = os.path.join(folder, os.path.basename(mutants[0].file)), os.path.join(folder, "changed.o")
        binary = os.path.join(folder, program)
        with open(changed, "w", encoding="utf-8") as file:
            file.write(mutators.switched(source, mutants))
        for command in (compile_with(known.compile, changed, made), link_with(known.link, made, binary)):
            done = subprocess.run(command, capture_output=True, text=True, cwd=self.build_folder, env=self.environment)
            if done.returncode != 0:
                return "", first_error(done.stderr)
        os.remove(made)
        return binary, ""

    def run(self, trial):
        """(mutant, verdict)"""
        if not trial.binary:
            return trial.mutant, Verdict(BROKEN, trial.error)
        for tests, seconds in self._filters(trial.mutant.file, self.programs[trial.program]):
            verdict, _ = run_tests(trial.binary, tests, self.root, self.limit or 10 + 10 * seconds, trial.number)
            if verdict.outcome == KILLED:
                break
        return trial.mutant, verdict

    def _filters(self, file, program):
        """(tests, the seconds they take): first those beside the file, which are the most likely to notice, then all, but for those
        that take too long."""
        beside = os.path.join(self.root, file.removesuffix(".cc") + "_test.cc")
        if os.path.isfile(beside):
            with open(beside, encoding="utf-8") as source:
                suites = set(re.findall(r"^TEST(?:_F|_P)?\((\w+),", source.read(), re.MULTILINE))
            suites &= {name.split(".")[0] for name in program.tests}  # of another program's, none would run, and that fails
            if suites:
                took = sum(seconds for name, seconds in program.tests.items() if name.split(".")[0] in suites)
                yield ":".join(f"{suite}.*" for suite in sorted(suites)), took
        slow = [name for name, seconds in program.tests.items() if seconds > SLOW]
        yield "*" + ("-" + ":".join(slow) if slow else ""), program.seconds


def run_tests(binary, tests, root, limit, number=0):
    """(what became of it, what it said)"""
    command = [binary, f"--gtest_filter={tests}", "--gtest_fail_fast", "--gtest_color=no"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GTEST_")}
    environment["CAPI_MUTANT"] = str(number)
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=root, timeout=limit,
            env=environment, text=True, errors="replace",
        )
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="replace")
        return Verdict(KILLED, f"{last_begun(output)} (no end)"), output
    if done.returncode in (0, 77):  # 77: all were skipped
        return Verdict(SURVIVED), done.stdout
    failed = re.findall(r"^\[  FAILED  \] (\w[\w/]*\.[\w/]+)", done.stdout, re.MULTILINE)
    return Verdict(KILLED, failed[0] if failed else f"{last_begun(done.stdout)} (crash)"), done.stdout


def last_begun(output):
    names = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
    return names[-1] if names else "the program's start"


def first_error(output):
    found = re.search(r"(?:error|undefined symbol|multiple definition|duplicate symbol): *(.*)", output)
    return found.group(1) if found else " ".join(output.split())[:200]


def compile_with(command, source, made):
    """The command of one of the program's tests, for another source; without what it writes for ninja."""
    words = shlex.split(command)
    out, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MT", "-MF"):
            skip = True
        elif word != "-MD":
            out.append(word)
    return [*out, "-w", "-o", made, "-c", source]


def link_with(command, made, binary):
    words = shlex.split(command)
    place = words.index("-o")
    return [*words[:place], made, *words[place:place + 1], binary, *words[place + 2 :], "-Wl,--strip-debug"]
