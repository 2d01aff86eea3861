#!/usr/bin/env python3
"""Cluster API's quick start to its end with our clusterctl, on a real API server with Cluster API's own managers. The machines live in
the memory of the docker provider: its flavor in-memory stands for the page's development, whose machines are containers. What the
page has a reader install for a network is left out: these machines have none."""

import contextlib
import json
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import in_cluster  # noqa: E402
import plan  # noqa: E402
import real_managers  # noqa: E402
import workload_ports  # noqa: E402
import worlds  # noqa: E402
from tree import WithFolder  # noqa: E402

NAME = "capi-quickstart"
IMAGE = "registry.example.com/capi-operator:v0.1.0"
COUNTS = ("--kubernetes-version", "v1.34.0", "--control-plane-machine-count=3", "--worker-machine-count=3")
LABELS = ("cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-docker")


def without_ages(text):
    """The words of each line of a tree, but for how long something has been so: 5s, 2m10s."""
    return [[word for word in line.split() if not re.fullmatch(r"(\d+[dhms])+", word)] for line in text.splitlines()]


class QuickStart(WithFolder, worlds.OnAWorld):
    WORLD = in_cluster.World

    def setUp(self):
        super().setUp()
        self.start_world()
        (releases,) = plan.have(["releases"])
        self.config = self.write("clusterctl.yaml", in_cluster.configuration(self.folder, {releases: LABELS}) + "CLUSTER_TOPOLOGY: 'true'\n")
        self.programs = plan.link_folder(["control-plane", "clusterctl"])

    def begin(self, program, *arguments):
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder, "KUBECONFIG": self.world.plane.kubeconfig, "GOPROXY": "off"}
        environment["CLUSTERCTL_DISABLE_VERSIONCHECK"] = "true"
        command = [program, *arguments, "--config", self.config]
        return subprocess.Popen(command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self, running):
        out, errors = running.communicate(timeout=2 * worlds.LIMIT)
        self.assertEqual(running.returncode, 0, f"{running.args}\n{out}{errors}{self.world.last_words()}")
        return out, errors

    def ours(self, *arguments):
        return self.end(self.begin(built.find("clusterctl"), *arguments))[0]

    def theirs(self, *arguments):
        return self.end(self.begin(os.path.join(self.programs, "clusterctl"), *arguments))[0]

    def test_the_page_from_its_first_command_to_its_last(self):
        """And between these a move to another management cluster, as the book has it of a bootstrap cluster."""
        with workload_ports.one_at_a_time(), contextlib.ExitStack() as self.stack:
            self.managers = self.a_management_cluster()
            self.a_cluster_of_six_machines()
            self.it_is_described_as_by_the_real_one()
            self.its_nodes_are_seen_with_its_kubeconfig()
            self.it_moves()
            self.its_nodes_are_seen_with_its_kubeconfig()
            self.it_is_deleted()
            self.nothing_is_left()

    def a_management_cluster(self):
        running = self.begin(built.find("clusterctl"), "init", "--infrastructure", "docker", "--wait-providers", "--operator-image", IMAGE)
        self.world.serve(running)
        _, errors = self.end(running)
        self.assertIn("Your management cluster has been initialized successfully!", errors)
        return self.stack.enter_context(contextlib.closing(real_managers.RealManagers(self.world)))

    def a_cluster_of_six_machines(self):
        arguments = ("generate", "cluster", NAME, "--flavor", "in-memory", *COUNTS)
        self.text = self.ours(*arguments)
        self.assertEqual(self.text, self.theirs(*arguments))
        self.world.must("apply", "-f", "-", given=self.text)
        self.await_running(6)

    def await_running(self, count):
        def running():
            (status,) = [item.get("status", {}) for item in self.world.get("cluster", "-A")["items"]]
            phases = [item.get("status", {}).get("phase") for item in self.world.get("machines", "-A")["items"]]
            return phases == ["Running"] * count and status.get("phase") == "Provisioned"

        self.world.until(f"{count} Machines run", running, seconds=240, words=self.described)

    def described(self):
        out, errors = self.begin(built.find("clusterctl"), "describe", "cluster", NAME, "--show-conditions=all").communicate(timeout=60)
        return out + errors + self.managers.words()

    def it_is_described_as_by_the_real_one(self):
        """But for how long something has been so."""
        for more in ((), ("--show-conditions=all", "--grouping=false"), ("--echo", "--show-resourcesets", "--show-templates")):
            with self.subTest(more):
                arguments = ("describe", "cluster", NAME, *more)
                self.world.until(
                    "both say the same",
                    lambda: without_ages(self.ours(*arguments)) == without_ages(self.theirs(*arguments)),
                    seconds=20,
                    words=lambda: self.ours(*arguments) + self.theirs(*arguments),
                )

    def its_nodes_are_seen_with_its_kubeconfig(self):
        text = self.ours("get", "kubeconfig", NAME)
        self.assertEqual(text, self.theirs("get", "kubeconfig", NAME))
        path = self.write("quickstart.kubeconfig", text)
        command = [os.path.join(self.programs, "kubectl"), f"--kubeconfig={path}", "get", "nodes", "-o", "json"]
        nodes = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["items"]
        self.assertEqual(len(nodes), 6)

    def it_moves(self):
        machines = lambda: {item["metadata"]["name"] for item in self.world.get("machines", "-A")["items"]}  # noqa: E731
        before, source, former = machines(), self.world, self.managers
        former.leave_address()
        self.world = self.stack.enter_context(contextlib.closing(in_cluster.World()))
        target, self.managers = self.world, self.a_management_cluster()
        self.world = source
        self.ours("move", "--to-kubeconfig", target.plane.kubeconfig)
        self.assertEqual(machines(), set())
        former.close()  # as a bootstrap cluster goes
        self.world = target
        self.await_running(6)
        self.assertEqual(machines(), before)

    def it_is_deleted(self):
        self.world.must("delete", "cluster", NAME, "--timeout=100s")
        self.world.until("no Machine is left", lambda: not self.world.get("machines", "-A")["items"], words=self.managers.words)
        self.world.must("delete", "-f", "-", "--ignore-not-found", "--timeout=100s", given=self.text)  # its class

    def nothing_is_left(self):
        self.managers.close()
        self.ours("delete", "--all", "--include-crd", "--include-namespace", "--yes")
        inventory = ["providers.clusterctl.cluster.x-k8s.io"]  # stays, as with Cluster API's
        kinds = lambda: [item["metadata"]["name"] for item in self.world.crds()]  # noqa: E731
        self.world.until("the kinds have gone", lambda: [name for name in kinds() if name.endswith("cluster.x-k8s.io")] == inventory, words=lambda: str(kinds()))


if __name__ == "__main__":
    unittest.main()
