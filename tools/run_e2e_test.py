#!/usr/bin/env python3
"""Tests of tools/run on a real control plane: what it starts, and that nothing of it stays behind.

They need the programs of `tools/assets control-plane`. The operator is a stand-in here (a shell that does nothing): the real
one is tested by `make run ONCE=1`.
"""

import glob
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(TOOLS, "assets.d"))

import releases  # noqa: E402

# The stand-in operator is a shell.
SERVERS = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "sh"}
LIMIT = 120


class Stack(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="run-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.operator = os.path.join(self.folder, "capi-operator")
        with open(self.operator, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nwhile :; do sleep 1; done\n")
        os.chmod(self.operator, stat.S_IRWXU)
        self.output = os.path.join(self.folder, "output")

    def start(self, **variables):
        # The state folder's name leads to every process of the run.
        environment = dict(os.environ, XDG_RUNTIME_DIR=self.folder, OPERATOR=self.operator, **variables)
        environment.pop("MAKELEVEL", None)
        with open(self.output, "w", encoding="utf-8") as log:
            run = subprocess.Popen([os.path.join(TOOLS, "run")], stdout=log, stderr=log, env=environment, start_new_session=True)
        self.addCleanup(self.reap, run)
        return run

    def reap(self, run):
        if run.poll() is None:
            run.kill()
            run.wait()

    def text(self):
        with open(self.output, encoding="utf-8") as file:
            return file.read()

    def until(self, done, what):
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            if done():
                return
            time.sleep(0.05)
        self.fail(f"{what} not within {LIMIT} s:\n{self.text()}")

    def pids(self):
        """Name and id of every process that has this test's folder in its command line, but tools/run itself."""
        found = {}
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as file:
                    words = file.read().decode("utf-8", "replace").split("\0")
            except OSError:
                continue
            if any(self.folder in word for word in words):
                found[os.path.basename(words[0])] = int(path.split("/")[2])
        return found

    def run_folders(self):
        return glob.glob(os.path.join(self.folder, "capi-operator-run-*", "run-*"))

    def started(self):
        return "waiting for the operator" in self.text()

    def test_stops_and_tidies_up_when_told_to(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                run = self.start()
                self.until(self.started, "start")
                self.assert_all_on_loopback()
                run.send_signal(number)
                self.assertEqual(run.wait(LIMIT), 130)
                self.assertEqual((self.pids(), self.run_folders()), ({}, []))

    def test_nothing_survives_a_kill_and_the_next_run_tidies_up(self):
        run = self.start()
        self.until(lambda: "kube-apiserver" in self.pids(), "kube-apiserver")
        run.kill()
        run.wait()
        self.until(lambda: not self.pids(), "end of all processes")
        self.assertEqual(len(self.run_folders()), 1)
        run = self.start(ONCE="1", TIMEOUT="0")
        self.assertEqual(run.wait(LIMIT), 1)
        self.assertIn("removed what 1 killed runs had left", self.text())
        self.assertIn("CoreProvider/cluster-api in capi-system is not Ready: waiting for the operator", self.text())
        self.assertEqual((self.pids(), self.run_folders()), ({}, []))

    def test_operator_that_ends_is_reported(self):
        with open(self.operator, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho last words\nexit 7\n")
        run = self.start()
        self.assertEqual(run.wait(LIMIT), 1)
        self.assertRegex(self.text(), r"(?s)capi-operator ended by itself \(exit code 7\):.*last words")

    def assert_all_on_loopback(self):
        names = self.pids()
        self.assertEqual(SERVERS - set(names), set())
        inodes = {inode for pid in names.values() for inode in sockets_of(pid)}
        addresses = [address for inode, address in listeners() if inode in inodes]
        self.assertGreaterEqual(len(addresses), 3)  # etcd's two and kube-apiserver's
        for address in addresses:
            self.assertTrue(address.startswith("127.") or address == "::1", address)


def sockets_of(pid):
    for name in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            target = os.readlink(name)
        except OSError:
            continue
        if target.startswith("socket:["):
            yield target[len("socket:[") : -1]


def listeners():
    """Inode and address of every listening TCP socket of this machine."""
    for table, family in (("/proc/net/tcp", socket.AF_INET), ("/proc/net/tcp6", socket.AF_INET6)):
        with open(table, encoding="ascii") as file:
            for line in file.readlines()[1:]:
                fields = line.split()
                if fields[3] != "0A":
                    continue
                # Hexadecimal words in host order.
                words = bytes.fromhex(fields[1].split(":")[0])
                raw = b"".join(words[i : i + 4][:: -1 if sys.byteorder == "little" else 1] for i in range(0, len(words), 4))
                yield fields[9], socket.inet_ntop(family, raw)


class BuiltReleases(unittest.TestCase):
    """The releases that are built from modules are the released ones, byte for byte."""

    @unittest.skipUnless(os.environ.get("RELEASES_DIR"), "RELEASES_DIR isn't set")
    def test_same_as_released(self):
        built = releases.locate()
        compared = 0
        for path in sorted(glob.glob(os.path.join(built, "*", "*", "*"))):
            name = os.path.relpath(path, built)
            released = os.path.join(os.environ["RELEASES_DIR"], name)
            if not os.path.isdir(os.path.dirname(released)):
                continue
            with self.subTest(file=name), open(path, "rb") as ours, open(released, "rb") as theirs:
                self.assertEqual(ours.read() == theirs.read(), True)
            compared += 1
        self.assertEqual(compared, 8)


if __name__ == "__main__":
    unittest.main()
