#!/usr/bin/env python3
"""Tests of tools/run on a real control plane: what it starts, and that nothing of it stays behind.

They need what `tools/assets control-plane crds releases` makes, and make none of it. The operator is a stand-in (a shell that
does nothing) wherever the providers need not become Ready; the real one is that of CAPI_OPERATOR, else of build/release.
"""

import fcntl
import glob
import hashlib
import os
import pty
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import termios
import threading
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import image_root  # noqa: E402
import plan  # noqa: E402
import worlds  # noqa: E402
from tiers import FULL, longer_in_full, only_full  # noqa: E402

# The stand-in operator is a shell.
SERVERS = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "sh"}
LIMIT = 120


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        plan.have(["control-plane", "crds", "releases"])  # fails here rather than build for minutes

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="run-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.operator = os.path.join(self.folder, "capi-operator")
        with open(self.operator, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nwhile :; do sleep 1; done\n")
        os.chmod(self.operator, stat.S_IRWXU)
        self.output = os.path.join(self.folder, "output")
        self.kubeconfig = os.path.join(self.folder, "run", "kubeconfig")

    def environment(self, **variables):
        # The state folder's name leads to every process of the run.
        environment = dict(os.environ, XDG_RUNTIME_DIR=self.folder, RUN_FOLDER=os.path.dirname(self.kubeconfig))
        for name in ("MAKELEVEL", "RELEASES_DIR", "ONCE", "TIMEOUT"):  # of whoever runs the tests
            environment.pop(name, None)
        return {**environment, "OPERATOR": self.operator, **variables}

    def start(self, output=None, **variables):
        environment = self.environment(**variables)
        with open(output or self.output, "w", encoding="utf-8") as log:
            command = [os.path.join(TOOLS, "run")]
            run = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        self.addCleanup(self.reap, run)
        return run

    def start_on_a_terminal(self, **variables):
        """`make run` as a person has it; what is written to `self.keys` is typed."""
        self.keys, terminal = pty.openpty()
        self.addCleanup(os.close, self.keys)
        command = ["make", "--no-print-directory", "-C", os.path.dirname(TOOLS), "run"]
        run = subprocess.Popen(
            command, stdin=terminal, stdout=terminal, stderr=terminal, env=self.environment(**variables), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.addCleanup(self.reap, run)
        os.close(terminal)
        log = open(self.output, "w", encoding="utf-8")  # it is read from now on, whenever the thread begins
        threading.Thread(target=self.copy_from_terminal, args=(log,), daemon=True).start()
        return run

    def copy_from_terminal(self, log):
        with log:
            while True:
                try:
                    text = os.read(self.keys, 4096)
                except OSError:  # its last user has ended
                    return
                log.write(text.decode("utf-8", "replace").replace("\r\n", "\n"))
                log.flush()

    def reap(self, run):
        if run.poll() is None:
            run.kill()
            run.wait()

    def text(self, path=None):
        with open(path or self.output, encoding="utf-8") as file:
            return file.read()

    def until(self, done, what):
        worlds.until(what, done, LIMIT, self.text)

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
        folders = (self.folder, os.path.join(self.folder, "root"))  # that of an image
        return [path for folder in folders for path in glob.glob(os.path.join(folder, "capi-operator-run-*", "run-*"))]

    def started(self):
        return "waiting for the operator" in self.text()

    def assert_nothing_is_left(self):
        self.assertEqual((self.pids(), self.run_folders(), os.path.lexists(self.kubeconfig)), ({}, [], False))


class StandIn(Run):
    @longer_in_full
    def test_stops_and_tidies_up_when_told_to(self):
        for number in (signal.SIGINT, signal.SIGTERM) if FULL else (signal.SIGTERM,):  # below Ctrl-C ends one that is Ready
            with self.subTest(signal=number):
                run = self.start()
                self.until(self.started, "start")
                self.assert_all_on_loopback()
                os.killpg(run.pid, number)
                self.assertEqual(run.wait(LIMIT), 128 + number, "an interruption before the providers are Ready")
                self.assert_nothing_is_left()

    def test_nothing_survives_a_kill_and_the_next_run_tidies_up(self):
        run = self.start()
        self.until(lambda: "kube-apiserver" in self.pids(), "kube-apiserver")
        run.kill()
        run.wait()
        self.until(lambda: not self.pids(), "end of all processes")
        self.assertEqual(len(self.run_folders()), 1)
        os.makedirs(os.path.dirname(self.kubeconfig), exist_ok=True)
        if not os.path.lexists(self.kubeconfig):  # killed before it had one: leave what a later kill leaves
            os.symlink(os.path.join(self.run_folders()[0], "kubeconfig"), self.kubeconfig)
        run = self.start(ONCE="1", TIMEOUT="0")
        self.assertEqual(run.wait(LIMIT), 1)
        self.assertIn("removed what 1 killed runs had left", self.text())
        self.assertIn("CoreProvider/cluster-api in capi-system is not Ready: waiting for the operator", self.text())
        self.assert_nothing_is_left()

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


class RealOperator(Run):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = built.find("capi-operator")

    def kubectl(self, *arguments):
        command = [plan.find("kubectl"), "--kubeconfig", self.kubeconfig, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)

    def test_four_providers_become_ready_and_then_ctrl_c_is_no_error(self):
        """By the operator as its image has it in a pod: with nothing else in its root, which it can't write, as the image's user,
        in 64 MiB where this machine has cgroups for it."""
        root = image_root.unpack(self.program, self.folder)
        limit = image_root.MemoryLimit.make(f"capi-run-test-{os.getpid()}")
        if limit:
            self.addCleanup(worlds.until, "the cgroup is empty", lambda: not limit.pids() and not limit.remove() and True, 30)
        run = self.start_on_a_terminal(OPERATOR=image_root.entry_point(root, group=limit), XDG_RUNTIME_DIR=root)
        self.until(lambda: "Ctrl-C stops everything" in self.text(), "four providers Ready")
        self.assert_it_runs_as_in_a_pod(limit)
        self.assertIn(f"export KUBECONFIG={self.kubeconfig}\n", self.text())
        versions = self.kubectl("get", "capi-providers", "-A", "-o", "jsonpath={.items[*].status.installedVersion}")
        self.assertEqual(versions.stdout, " ".join(["v1.12.0"] * 4), versions.stderr)
        self.assert_webhooks_answer_as_the_closing_words_say()
        self.assert_second_run_leaves_the_kubeconfig_alone()
        os.write(self.keys, b"\x03")
        self.assertEqual(run.wait(LIMIT), 0, self.text())
        self.until(lambda: self.text().endswith("\nstopping\n"), "last words")
        self.assert_nothing_is_left()

    def assert_it_runs_as_in_a_pod(self, limit):
        pid = self.pids()["capi-operator"]
        status = self.text(f"/proc/{pid}/status")
        user = image_root.USER if os.getuid() == 0 else os.getuid()  # seen from outside of its namespace
        self.assertRegex(status, rf"(?m)^Uid:\t{user}\t{user}\t{user}\t{user}$")
        self.assertRegex(status, r"(?m)^CapEff:\t0000000000000000$")
        (root,) = [line.split() for line in self.text(f"/proc/{pid}/mountinfo").splitlines() if line.split()[4] == "/"]
        self.assertIn("ro", root[5].split(","), root)
        if limit:
            self.assertEqual((limit.pids(), limit.kills()), ({pid}, 0))

    def assert_webhooks_answer_as_the_closing_words_say(self):
        cluster = os.path.join(self.folder, "cluster.yaml")
        with open(cluster, "w", encoding="utf-8") as file:
            file.write("apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: a, namespace: default}\n")
        said = self.kubectl("create", "-f", cluster).stderr
        self.assertRegex(said, r"failed calling webhook .* connection refused")
        self.assertRegex(self.text(), r'"failed calling webhook ... connection refused"')

    def assert_second_run_leaves_the_kubeconfig_alone(self):
        before = os.readlink(self.kubeconfig)
        output = os.path.join(self.folder, "second")
        second = self.start(output, ONCE="1", TIMEOUT="0")
        self.assertEqual(second.wait(LIMIT), 1)
        self.assertRegex(self.text(output), rf"another run \(process \d+\) has {re.escape(self.kubeconfig)}")
        self.assertEqual(os.readlink(self.kubeconfig), before)

    @only_full
    def test_once_leaves_when_all_are_ready(self):
        run = self.start(OPERATOR=self.program, ONCE="1")
        self.assertEqual(run.wait(LIMIT), 0, self.text())
        self.assertIn("all 4 providers are Ready after ", self.text())
        self.assert_nothing_is_left()


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


METADATA = "17c5dc932d7f0d9126fa86416b6dffddbfa6adfc655326bd1c21c2a730c43645"

# The SHA-256 sums of the files that Cluster API has published as v1.12.0.
RELEASED = {
    "bootstrap-kubeadm": ("bootstrap", "d4c792b0ccdf5843ff5bfa889e085874ac7c53a85e8d5ef6352739d9fd4794f1"),
    "cluster-api": ("core", "c6ffefca402b124766784aacfd76e37a4f01247177b08ea461751b7510fa9ccd"),
    "control-plane-kubeadm": ("control-plane", "aa202801f20b8d63990fcbeae113e93dc6420efcc27d6b5bec090e57a238f955"),
    "infrastructure-docker": ("infrastructure", "a7eb96eb87e1496f76028ceef97f0da371a47c71b775699c58eb794d4f295265"),
}


class BuiltReleases(unittest.TestCase):
    """The releases that are built from modules are the released ones, byte for byte."""

    def test_same_as_released(self):
        (folder,) = plan.have(["releases"])
        for label, (kind, components) in RELEASED.items():
            for name, wanted in ((f"{kind}-components.yaml", components), ("metadata.yaml", METADATA)):
                with self.subTest(file=f"{label}/{name}"), open(os.path.join(folder, label, "v1.12.0", name), "rb") as file:
                    self.assertEqual(hashlib.sha256(file.read()).hexdigest(), wanted)


if __name__ == "__main__":
    unittest.main()
