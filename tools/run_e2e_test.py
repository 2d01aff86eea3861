#!/usr/bin/env python3
"""Tests of tools/run on a real plane: what it starts, and that nothing of it stays behind.

They need what `tools/assets control-plane managers releases` makes, and make none of it. The operator is a stand-in (a shell that
does nothing) wherever the providers need not become Ready; the programs are those of CAPI_OPERATOR and CAPI_CLUSTERCTL, else of
build/release."""

import fcntl
import hashlib
import os
import pty
import re
import signal
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
import local_plane  # noqa: E402
import pages  # noqa: E402
import plan  # noqa: E402
import worlds  # noqa: E402
from tiers import only_full  # noqa: E402

LIMIT = 300
STAND_IN = """#!/bin/sh
[ "$1" != --help ] || exit 0
while :; do sleep 1; done
"""
# What the blocks of each step print, as far as the page says so.
TUTORIAL = {
    "1. Start a management plane": ["coreprovider.*cluster-api +v1.12.0", "demo"],
    "2. Write a release": ["configmap/v1.0.0 labeled"],
    "3. Install your first provider": ["Reason: +MissingVariables", "See: +docs/reasons.md#missingvariables", "(?m)^Hello reader$"],
    "4. Change something by hand": [".data.text of ConfigMap/hello-system/greeting was changed by kubectl-patch"],
    "5. Upgrade it": [r"(?m)^\+ +text: '\*\*\* \(after\)'", "(?m)^Good morning reader$"],
    "6. Go back": ["(?m)^Hello reader$", "v1.1.0 +v1beta2 +Succeeded"],
    "7. Upgrade Cluster API itself": ["cluster-api +capi-system +CoreProvider +v1.12.0 +v1.12.1", "cluster.cluster.x-k8s.io/demo condition met"],
    "8. Try to break it": ["Reason: +InUse", "DevCluster default/demo", 'namespace "hello-system" deleted'],
}


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        plan.have(["etcd", "kube-apiserver", "kube-controller-manager", "managers", "releases"])  # fails here rather than build for minutes
        cls.program = built.find("capi-operator")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="run-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.operator = os.path.join(self.folder, "capi-operator")
        self.write_operator(STAND_IN)
        self.output = os.path.join(self.folder, "output")
        self.run_folder = os.path.join(self.folder, "run")
        self.plane = os.path.join(self.run_folder, "plane")
        self.kubeconfig = os.path.join(self.plane, "kubeconfig")

    def write_operator(self, text):
        with open(self.operator, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.operator, stat.S_IRWXU)

    def environment(self, **variables):
        environment = dict(os.environ, RUN_FOLDER=self.run_folder, CLUSTERCTL=built.find("clusterctl"), OFFLINE="1")
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
            run.terminate()  # it ends its plane
            run.wait()

    def text(self, path=None):
        with open(path or self.output, encoding="utf-8") as file:
            return file.read()

    def until(self, done, what):
        worlds.until(what, done, LIMIT, self.text)

    def pids(self):
        """The processes of the plane, by the folder that its servers and its supervisor name; managers end with these."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            words = local_plane.command_of(pid)
            if local_plane.is_alive(pid) and any(word in (self.plane, f"--data-dir={self.plane}/etcd") or self.plane in word for word in words[1:]):
                found[os.path.basename(words[0])] = int(pid)
        return found

    def supervised(self):
        """The processes of managers: those that name the plane in their environment."""
        return [
            pid
            for pid in filter(str.isdigit, os.listdir("/proc"))
            if self.plane in local_plane.environment_of(pid).get("HOME", "") and local_plane.is_alive(pid)
        ]

    def assert_nothing_is_left(self):
        self.until(lambda: not self.pids() and not self.supervised() and not os.path.exists(self.plane), "an end of all of it")
        self.assertEqual(sorted(os.listdir(self.run_folder)), ["run-clusterctl.yaml", "run.lock"])


class StandIn(Run):
    def waits(self):
        return "Waiting for the operator" in self.text()

    def test_stops_and_tidies_up_when_told_to(self):
        run = self.start()
        self.until(self.waits, "start")
        os.killpg(run.pid, signal.SIGTERM)  # below Ctrl-C ends one whose Cluster is Available
        self.assertEqual(run.wait(LIMIT), 128 + signal.SIGTERM, "an interruption before the Cluster is Available")
        self.assert_nothing_is_left()

    def test_nothing_survives_a_kill(self):
        run = self.start()
        self.until(self.waits, "start")
        run.kill()
        run.wait()
        self.assert_nothing_is_left()

    def test_operator_that_ends_is_told(self):
        self.write_operator("#!/bin/sh\necho last words\nexit 7\n")
        run = self.start(ONCE="1", TIMEOUT="90")
        self.assertEqual(run.wait(LIMIT), 1)
        self.assertRegex(self.text(), "CrashLoopBackOff")
        self.assertIn("the plane isn't there after ", self.text())
        self.assertRegex(self.text(), "(?s)==> .*capi-operator-controller-manager.* <==.*last words")
        archive = os.path.join(self.run_folder, "run-collected.tar.gz")
        self.assertTrue(os.path.exists(archive), "what is left to look at")
        os.remove(archive)
        self.assert_nothing_is_left()


class RealOperator(Run):
    def kubectl(self, *arguments):
        command = [plan.find("kubectl"), "--kubeconfig", self.kubeconfig, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)

    def test_a_cluster_becomes_available_and_then_ctrl_c_is_no_error(self):
        run = self.start_on_a_terminal(OPERATOR=self.program)
        self.until(lambda: "Ctrl-C stops everything" in self.text(), "a Cluster Available")
        self.assertIn(f"export KUBECONFIG={self.kubeconfig}\n", self.text())
        self.assertRegex(self.text(), "releases: built from the pinned modules(?s:.*)managers: built from the pinned modules")
        self.assertIn("Cluster demo is Available after ", self.text())
        self.assertRegex(self.text(), r"See it in a browser: http://127\.0\.0\.1:\d+/\n")
        versions = self.kubectl("get", "capi-providers", "-A", "-o", "jsonpath={.items[*].status.installedVersion}")
        self.assertEqual(versions.stdout, " ".join(["v1.12.0"] * 4), versions.stderr)
        self.assert_webhooks_answer()
        self.assert_the_closing_words_work()
        self.assert_the_tutorial_works()
        self.assert_second_run_is_refused()
        os.write(self.keys, b"\x03")
        self.assertEqual(run.wait(LIMIT), 0, self.text())
        self.until(lambda: self.text().endswith("\nstopping\n"), "last words")
        self.assert_nothing_is_left()

    def assert_webhooks_answer(self):
        cluster = os.path.join(self.folder, "cluster.yaml")
        with open(cluster, "w", encoding="utf-8") as file:
            file.write("apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: a, namespace: default}\nspec: {clusterNetwork: {pods: {cidrBlocks: [no]}}}\n")
        self.assertRegex(self.kubectl("create", "-f", cluster).stderr, "admission webhook .* denied the request.*cidrBlocks")
        old = self.kubectl("get", "clusters.v1beta1.cluster.x-k8s.io", "demo", "-o", "jsonpath={.apiVersion}")
        self.assertEqual(old.stdout, "cluster.x-k8s.io/v1beta1", old.stderr)

    def assert_the_closing_words_work(self):
        words = self.text().partition("Four things to try:")[2].partition("shows the processes")[0]
        block = "\n".join(line for line in words.splitlines() if line.startswith("  ") and not line.startswith("  #"))
        self.assertEqual(len(re.findall("kubectl|clusterctl", block)), 8, block)
        path = os.pathsep.join((os.path.dirname(built.find("clusterctl")), os.path.dirname(plan.find("kubectl")), os.environ["PATH"]))
        environment = dict(os.environ, KUBECONFIG=self.kubeconfig, PATH=path)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("successfully rolled out", done.stdout)
        self.assertIn("capi-controller-manager", done.stdout.partition("deleted")[2])

    def assert_the_tutorial_works(self):
        """docs/tutorial.md, whose reader works in a checkout: this run is in that one's build/run."""
        checkout = os.path.join(self.folder, "checkout")
        os.makedirs(os.path.join(checkout, "build"))
        os.symlink(self.run_folder, os.path.join(checkout, "build", "run"))
        path = os.pathsep.join((os.path.dirname(built.find("clusterctl")), os.path.dirname(plan.find("kubectl")), os.environ["PATH"]))
        environment = dict(os.environ, HOME=self.folder, KUBECONFIG=self.kubeconfig, PATH=path, CLUSTERCTL_DISABLE_VERSIONCHECK="true")
        self.assertEqual(pages.headings("docs/tutorial.md"), list(TUTORIAL))
        for heading, wanted in TUTORIAL.items():
            said = ""
            for block in pages.blocks(heading, "docs/tutorial.md"):
                done = pages.run(block, checkout, environment)
                self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}{done.stderr}")
                said += done.stdout
            for words in wanted:
                self.assertRegex(said, words, heading)
        versions = self.kubectl("get", "capi-providers", "-A", "-o", "jsonpath={.items[*].status.installedVersion}")
        self.assertEqual(sorted(versions.stdout.split()), ["v1.12.0", "v1.12.1", "v1.12.1", "v1.12.1"], versions.stderr)
        self.assertEqual(os.listdir(checkout), ["build"], "the last block removes what the page has made")

    def assert_second_run_is_refused(self):
        output = os.path.join(self.folder, "second")
        second = self.start(output, ONCE="1")
        self.assertEqual(second.wait(LIMIT), 1)
        self.assertRegex(self.text(output), rf"another run \(process \d+\) has {re.escape(self.run_folder)}: RUN_FOLDER=")
        self.assertTrue(os.path.exists(self.kubeconfig))

    @only_full
    def test_once_leaves_when_the_cluster_is_available(self):
        run = self.start(OPERATOR=self.program, ONCE="1")
        self.assertEqual(run.wait(LIMIT), 0, self.text())
        self.assertIn("Cluster demo is Available after ", self.text())
        self.assert_nothing_is_left()


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
