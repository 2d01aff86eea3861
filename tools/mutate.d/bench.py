"""Tries one change: compiles the changed copy of a file, links the test program with it, and runs that.

The tree and its build stay as they are. The changed copy lies in a folder of its own, is compiled as the tests are (without
optimising, with their precompiled header), and goes to the linker before the libraries, whose own version of the file is then
not taken.
"""

import dataclasses
import json
import os
import re
import shlex
import subprocess
import tempfile
import time

KILLED, SURVIVED, BROKEN = "KILLED", "SURVIVED", "DID NOT COMPILE"


@dataclasses.dataclass(frozen=True)
class Verdict:
    outcome: str
    by: str = ""  # the test that noticed, or what the compiler said


class Failure(Exception):
    """Nothing can be said of any change."""


class Bench:
    """Thread-safe once made."""

    def __init__(self, root, preset, folder):
        self.root, self.folder = root, folder
        self.build = os.path.join(root, "build", preset)
        self.programs = {}  # name -> (link command, compile command, seconds that its tests take)
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            self.commands = {os.path.relpath(entry["file"], root): entry["command"] for entry in json.load(file)}
        self.environment = dict(os.environ, CCACHE_BASEDIR=root, CCACHE_NOHASHDIR="1")
        self.environment["CCACHE_SLOPPINESS"] = "pch_defines,time_macros,include_file_mtime,include_file_ctime"

    def prepare(self, program):
        """Finds the commands of a test program, and sees that its tests pass as the tree is."""
        listed = subprocess.run(["ninja", "-C", self.build, "-t", "commands", program], capture_output=True, text=True, check=True)
        link = [line for line in listed.stdout.split("\n") if f" -o bin/{program} " in line]
        compiled = [line for line in listed.stdout.split("\n") if f"/{program}.dir/" in line and " -c " in line]
        if not link or not compiled:
            raise Failure(f"{self.build} doesn't say how {program} is made")
        command = re.sub(r"^: && | && :$", "", link[-1])
        if "&&" in command:
            raise Failure(f"{program} takes more than one command to link: {command}")
        began = time.monotonic()
        done = self._run(os.path.join(self.build, "bin", program), "*", 600)
        if done.outcome != SURVIVED:
            raise Failure(f"{program} fails without any change: {done.by}")
        self.programs[program] = (command, compiled[0], time.monotonic() - began)

    def try_one(self, mutant, source, program):
        link, compile_command, seconds = self.programs[program]
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            changed, made = os.path.join(folder, os.path.basename(mutant.file)), os.path.join(folder, "changed.o")
            with open(changed, "w", encoding="utf-8") as file:
                file.write(mutant.apply(source))
            built = self._make(compile_with(compile_command, changed, made))
            if built.returncode != 0:
                return Verdict(BROKEN, first_error(built.stderr))
            binary = os.path.join(folder, program)
            linked = self._make(link_with(link, made, binary))
            if linked.returncode != 0:
                return Verdict(BROKEN, first_error(linked.stderr))
            limit = float(os.environ.get("CAPI_MUTATE_LIMIT") or 20 + 5 * seconds)
            for tests in self._filters(mutant.file):
                verdict = self._run(binary, tests, limit)
                if verdict.outcome == KILLED:
                    return verdict
        return verdict

    def _filters(self, file):
        """The tests beside the file first: they are the most likely to notice."""
        beside = os.path.join(self.root, file.removesuffix(".cc") + "_test.cc")
        if os.path.isfile(beside):
            with open(beside, encoding="utf-8") as source:
                suites = sorted(set(re.findall(r"^TEST(?:_F|_P)?\((\w+),", source.read(), re.MULTILINE)))
            if suites:
                yield ":".join(f"{suite}.*" for suite in suites)
        yield "*"

    def _make(self, command):
        return subprocess.run(command, capture_output=True, text=True, cwd=self.build, env=self.environment)

    def _run(self, binary, tests, limit):
        command = [binary, f"--gtest_filter={tests}", "--gtest_fail_fast", "--gtest_color=no"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GTEST_")}
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.root, timeout=limit,
                env=environment, text=True, errors="replace",
            )
        except subprocess.TimeoutExpired as late:
            return Verdict(KILLED, f"{last_begun((late.stdout or b'').decode(errors='replace'))} (no end)")
        if done.returncode in (0, 77):  # 77: all were skipped
            return Verdict(SURVIVED)
        failed = re.findall(r"^\[  FAILED  \] (\w[\w/]*\.[\w/]+)", done.stdout, re.MULTILINE)
        return Verdict(KILLED, failed[0] if failed else f"{last_begun(done.stdout)} (crash)")


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
