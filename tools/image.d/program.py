"""A program that was built: the architecture that it is for, the libraries that it is linked with, what it says of itself.
One for another architecture than this machine's is run by qemu, with the libraries of Debian's packages for it (tools/deps arm64)."""

import os
import platform
import re
import shutil
import subprocess
import tempfile

import checkout

# What the ELF header calls an architecture: Debian's name, which is the image specification's too, and the folder of its libraries.
MACHINES = {62: ("amd64", "x86_64-linux-gnu"), 183: ("arm64", "aarch64-linux-gnu")}
EMULATED = {"amd64": ("x86_64", "qemu-x86_64-static"), "arm64": ("aarch64", "qemu-aarch64-static")}


class ImageError(Exception):
    """What keeps the image from being made, for a person."""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ, LC_ALL="C"))
    if done.returncode != 0:
        raise ImageError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Program:
    """ImageError where the path leads to no program that Linux runs on one of the architectures above."""

    def __init__(self, path):
        self.path = path
        if not (os.path.isfile(path) and os.access(path, os.X_OK)):
            raise ImageError(f"{path} is no program: run `make build`, or name another")
        with open(path, "rb") as file:
            header = file.read(20)
        machine = int.from_bytes(header[18:20], "little") if header[:4] == b"\x7fELF" else None
        if machine not in MACHINES:
            raise ImageError(f"{path} is no program for {' or '.join(name for name, _ in MACHINES.values())}")
        self.architecture, self.triplet = MACHINES[machine]

    def says(self, *arguments):
        """What it prints."""
        machine, emulator = EMULATED[self.architecture]
        if platform.machine() == machine:
            return run(self.path, *arguments)
        if not shutil.which(emulator):
            raise ImageError(f"{self.path} is for {self.architecture}, and this machine has no {emulator}: run `tools/deps {self.architecture}`")
        return run(emulator, self.path, *arguments)

    def version(self):
        return (self.says("--version").splitlines() or [""])[0].rpartition(" ")[2]

    def built_of(self):
        """The commit that the operator says it was built of, as checkout.revision() calls it; "" for none."""
        told = dict(line.split(": ", 1) for line in self.says("--version").splitlines() if ": " in line)
        return checkout.named(told.get("GitCommit", ""), told.get("GitTreeState"))

    def stripped(self):
        """Its bytes without what only a debugger reads. The linker's id goes too: it is a sum of what is taken out as well, and so
        another one in each folder that the program is built in."""
        with tempfile.NamedTemporaryFile() as file:
            run(f"{self.triplet}-strip", "--strip-all", "--remove-section=.note.gnu.build-id", "-o", file.name, self.path)
            return read(file.name)

    def loader(self):
        """The path of the loader, which is written in the program."""
        found = re.search(r"\[Requesting program interpreter: (/\S+)\]", run("readelf", "--wide", "--program-headers", self.path))
        if not found:
            raise ImageError(f"{self.path} is linked with no library: it isn't this tree's operator")
        return found.group(1)

    def libraries(self):
        """(the path that the loader takes, without the leading slash; the file) of each library, and of the loader itself."""
        loader = self.loader()
        found, unread = {os.path.basename(loader): (loader.lstrip("/"), loader)}, [self.path, loader]
        while unread:
            for name in needed(unread.pop()):
                if name not in found:
                    file = self._library(name)
                    found[name] = (f"lib/{self.triplet}/{name}", file)
                    unread.append(file)
        return list(found.values())

    def _library(self, name):
        for folder in ("/lib", "/usr/lib"):
            path = os.path.join(folder, self.triplet, name)
            if os.path.isfile(path):
                return path
        raise ImageError(f"{self.path} needs a library that this machine lacks: {name} for {self.architecture}")


def needed(path):
    """The names of the libraries that a program or a library is linked with."""
    return re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", run("readelf", "--wide", "--dynamic", path))


def programs_of(paths):
    """The Programs, of which each has an architecture of its own."""
    found = {}
    for program in map(Program, paths):
        other = found.setdefault(program.architecture, program)
        if other is not program:
            raise ImageError(f"{other.path} and {program.path} are both for {program.architecture}: name one for each architecture")
    return list(found.values())


def same_version(programs):
    """The version that all of them say they are of."""
    versions = {program.path: program.version() for program in programs}
    first = next(iter(versions.values()))
    for path, version in versions.items():
        if version != first:
            raise ImageError(f"{next(iter(versions))} is {first}, and {path} is {version}: build both of the same sources")
    return first
