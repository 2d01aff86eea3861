#!/usr/bin/env python3
"""Tests of the parts of tools/run that need no control plane."""

import base64
import contextlib
import gzip
import io
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, "run.d"), os.path.join(TOOLS, "assets.d")]

import cluster  # noqa: E402
import preload  # noqa: E402
import process  # noqa: E402
import table  # noqa: E402
from progress import AssetError  # noqa: E402

CORE = preload.Provider("CoreProvider", "capi-system", "cluster-api", "v1.12.0")
DOCKER = preload.Provider("InfrastructureProvider", "capd-system", "docker", "v1.12.0")


class Sample(unittest.TestCase):
    def test_quickstart_has_its_four_providers(self):
        with open(os.path.join(TOOLS, "..", "manifests", "samples", "quickstart.yaml"), encoding="utf-8") as file:
            found = [(p.label, p.namespace, p.version) for p in preload.read_providers(file.read())]
        self.assertEqual(
            found,
            [
                ("cluster-api", "capi-system", "v1.12.0"),
                ("bootstrap-kubeadm", "capi-kubeadm-bootstrap-system", "v1.12.0"),
                ("control-plane-kubeadm", "capi-kubeadm-control-plane-system", "v1.12.0"),
                ("infrastructure-docker", "capd-system", "v1.12.0"),
            ],
        )

    def test_provider_without_a_version_is_an_error(self):
        with self.assertRaisesRegex(AssetError, "CoreProvider of the sample lacks"):
            preload.read_providers("kind: CoreProvider\nmetadata:\n  name: a\n  namespace: b\n")

    def test_empty_documents_are_skipped(self):
        self.assertEqual(cluster.split_documents("---\n\n---\na: 1\n---\n"), ["\na: 1\n"])


class ConfigMaps(unittest.TestCase):
    def test_small_release_is_plain_under_the_known_names(self):
        item = preload.config_map(DOCKER, b"m", b"c")
        self.assertEqual(item["metadata"]["name"], "infrastructure-docker-v1.12.0")
        self.assertEqual(
            item["metadata"]["labels"],
            {
                "provider.cluster.x-k8s.io/version": "v1.12.0",
                "provider.cluster.x-k8s.io/type": "infrastructure",
                "provider.cluster.x-k8s.io/name": "docker",
                "managed-by.operator.cluster.x-k8s.io": "true",
            },
        )
        self.assertEqual(item["data"], {"metadata": "m", "components": "c"})
        self.assertNotIn("annotations", item["metadata"])

    def test_limit_counts_both_files_and_is_plain_at_exactly_one_mebibyte(self):
        self.assertIn("components", preload.config_map(CORE, b"mm", b"c" * ((1 << 20) - 2))["data"])
        item = preload.config_map(CORE, b"mm", b"c" * ((1 << 20) - 1))
        self.assertEqual(item["metadata"]["annotations"], {"provider.cluster.x-k8s.io/compressed": "true"})
        self.assertEqual(item["data"], {"metadata": "mm"})
        packed = base64.b64decode(item["binaryData"]["components"])
        self.assertEqual(gzip.decompress(packed), b"c" * ((1 << 20) - 1))

    def test_release_is_read_from_a_local_repository(self):
        with tempfile.TemporaryDirectory() as folder:
            release = os.path.join(folder, "infrastructure-docker", "v1.12.0")
            os.makedirs(release)
            with self.assertRaisesRegex(AssetError, "holds 0 components files"):
                preload.read_release(folder, DOCKER)
            for name, text in (("metadata.yaml", "m"), ("infrastructure-components-development.yaml", "c")):
                with open(os.path.join(release, name), "w", encoding="utf-8") as file:
                    file.write(text)
            self.assertEqual(preload.read_release(folder, DOCKER), (b"m", b"c"))
            with self.assertRaisesRegex(AssetError, "has no cluster-api/v1.12.0"):
                preload.read_release(folder, CORE)


def provider_object(ready=None, generation=1, seen=1, **condition):
    conditions = []
    if ready is not None:
        entry = {"type": "Ready", "status": ready, "observedGeneration": seen, **condition}
        conditions = [entry, {"type": "PreflightCheckPassed", "status": "False", "reason": "R", "message": "m\nn"}]
    status = {"conditions": conditions, "installedVersion": "v1.12.0" if ready == "True" else None}
    return {"metadata": {"generation": generation}, "status": status}


class Judgement(unittest.TestCase):
    def test_every_state_has_its_words(self):
        cases = [
            (None, (False, "not there")),
            ({"metadata": {}}, (False, "waiting for the operator")),
            (provider_object(), (False, "waiting for the operator")),
            (provider_object("True"), (True, "Ready")),
            (provider_object("True", generation=2), (False, "waiting for the operator to see the change")),
            (provider_object("False", reason="Waiting", message="for core"), (False, "Waiting: for core")),
            (provider_object("Unknown"), (False, "Ready is Unknown")),
        ]
        for item, expected in cases:
            with self.subTest(expected=expected):
                self.assertEqual(table.judge(item), expected)

    def test_blockers_name_the_conditions(self):
        rows = [
            table.Row(CORE, provider_object("True")),
            table.Row(DOCKER, provider_object("False", reason="Waiting", message="x")),
        ]
        self.assertEqual(
            table.blockers(rows),
            [
                "InfrastructureProvider/docker in capd-system is not Ready: Waiting: x",
                "  PreflightCheckPassed=False R: m\nn",
            ],
        )


class Drawing(unittest.TestCase):
    ROWS = (table.Row(CORE, provider_object("True")), table.Row(DOCKER, provider_object("False", message="y" * 300)))

    def test_lines_are_appended_for_what_changed_only(self):
        stream = io.StringIO()
        shown = table.Table(stream, live=False)
        shown.show(self.ROWS[:1], 1.0)
        shown.show(self.ROWS[:1], 2.0)
        self.assertEqual(stream.getvalue(), "    1.0s  CoreProvider/cluster-api v1.12.0: Ready\n")

    def test_terminal_lines_fit_and_are_drawn_over(self):
        for line in table.render(self.ROWS, 1.0, 80):
            self.assertLess(len(line), 80)
        stream = io.StringIO()
        shown = table.Table(stream, live=True)
        shown.show(self.ROWS, 1.0)
        shown.show(self.ROWS, 2.0)
        self.assertIn("\033[4A\033[2K  PROVIDER", stream.getvalue())


class Ports(unittest.TestCase):
    def test_free_ports_differ_and_can_be_bound(self):
        ports = process.free_ports(8)
        self.assertEqual(len(set(ports)), 8)
        for port in ports:
            socket.create_server(("127.0.0.1", port)).close()


class State(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.parent = os.path.join(folder.name, "runs")

    def test_leftovers_of_dead_runs_go_and_those_of_live_ones_stay(self):
        live = process.StateFolder(self.parent)
        dead = process.StateFolder(self.parent)
        dead.lock.close()
        mine = process.StateFolder(self.parent)
        self.assertEqual(mine.remove_leftovers(), 1)
        self.assertEqual(sorted(os.listdir(self.parent)), sorted(os.path.basename(s.path) for s in (live, mine)))
        for state in (live, mine):
            state.remove()
        self.assertFalse(os.path.exists(self.parent))

    def test_folder_without_a_lock_is_left_alone_while_it_is_young(self):
        young = os.path.join(self.parent, "run-young")
        old = os.path.join(self.parent, "run-old")
        for path in (young, old):
            os.makedirs(path)
        os.utime(old, (0, 0))
        state = process.StateFolder(self.parent)
        state.remove_leftovers()
        self.assertEqual((os.path.exists(young), os.path.exists(old)), (True, False))
        state.remove()

    def test_folder_is_private(self):
        state = process.StateFolder(self.parent)
        self.assertEqual(os.stat(self.parent).st_mode & 0o777, 0o700)
        state.remove()


class Children(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_server_that_ends_is_an_error_with_its_last_words(self):
        processes = process.Processes(self.folder)
        processes.start("thing", ["sh", "-c", "echo why; exit 3"])
        processes.started[0][1].wait()
        with self.assertRaisesRegex(AssetError, r"(?s)thing ended by itself \(exit code 3\):.*why"):
            processes.check()

    def test_stop_kills_what_does_not_listen(self):
        processes = process.Processes(self.folder)
        stubborn = processes.start("stubborn", ["sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"])
        while not os.path.getsize(processes.log_path("stubborn")):
            time.sleep(0.01)
        grace, process.GRACE = process.GRACE, 0.2
        self.addCleanup(setattr, process, "GRACE", grace)
        processes.stop()
        self.assertEqual(stubborn.returncode, -signal.SIGKILL)

    def test_children_die_with_a_killed_parent(self):
        script = (
            "import sys, time; sys.path[:0] = sys.argv[2:]; import process\n"
            "child = process.Processes(sys.argv[1]).start('sleeper', ['sleep', '60'])\n"
            "print(child.pid, flush=True); time.sleep(60)"
        )
        command = [sys.executable, "-c", script, self.folder, *sys.path[:2]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
            child = int(parent.stdout.readline())
            parent.kill()
        deadline = time.monotonic() + 5
        while is_running(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(is_running(child))


def is_running(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    return False


if __name__ == "__main__":
    unittest.main()
