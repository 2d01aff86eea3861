#!/usr/bin/env python3
"""`clusterctl move` to a cluster that has the operator and no provider: the Provider objects go along, with what they name, and what
block-move holds back is waited for, also by Cluster API's own clusterctl (L17)."""

import base64
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import cluster  # noqa: E402
import management  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402
import worlds  # noqa: E402
from management import moving, without_managers  # noqa: E402
from tiers import FULL, longer_in_full  # noqa: E402

LIMIT = 300
BLOCK = "clusterctl.cluster.x-k8s.io/block-move"
CLAIM = "move.operator.cluster.x-k8s.io"
TOKEN = base64.b64encode(b"s3cret").decode()
# (plural, kind, name, namespace, name of the release)
CORE = ("coreproviders", "CoreProvider", "cluster-api", "capi-system", "core")
DOCKER = ("infrastructureproviders", "InfrastructureProvider", "docker", "capd-system", "docker")
METADATA = """\
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{major: 1, minor: 12, contract: v1beta2}]
"""
# No webhook: nobody would answer. Its kinds come behind it.
COMPONENTS = """\
apiVersion: v1
kind: Namespace
metadata: {{name: {ns}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: settings, namespace: {ns}}}
data: {{token: "{token}"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: manager, namespace: {ns}}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: {ns}}}}}
  template:
    metadata: {{labels: {{app: {ns}}}}}
    spec: {{containers: [{{name: manager, image: "example.com/{ns}:v1.12.0"}}]}}
"""


def components(provider):
    """The kinds of infrastructure are docker's."""
    group = f".{management.INFRASTRUCTURE}"
    kinds = [item for item in management.definitions() if (group in item) == (provider is DOCKER) and "providers.clusterctl" not in item]
    token = "${TOKEN}" if provider is DOCKER else "none"
    return "\n---\n".join([COMPONENTS.format(ns=provider[3], token=token), *kinds])


class Source(management.Side):
    """Whose providers the operator has installed. No Deployment comes up, which nobody waits for."""

    def kinds(self):
        return cluster.documents(cluster.own_crds())

    def start_operator(self):
        flags = [f"--kubeconfig={self.plane.kubeconfig}", "--diagnostics-address=0", "--health-addr=0", "--webhook-port=0"]
        self.processes.start("capi-operator", [built.find("capi-operator"), *flags])

    def place(self, provider, name=""):
        path = f"/apis/{cluster.API_GROUP}/v1alpha2/namespaces/{provider[3]}/{provider[0]}"
        return f"{path}/{name}" if name else path

    def provider(self, provider):
        return self.ask("GET", self.place(provider, provider[2]))

    def declare(self, provider):
        """With a release that only this cluster has, and the Secret of its variables."""
        plural, kind, name, ns, release = provider
        self.make_namespace(ns)
        data = {"metadata": METADATA, "components": components(provider)}
        self.make("ConfigMap", ns, management.VERSION, labels={"release": release}, data=data)
        self.make("Secret", ns, "variables", data={"TOKEN": TOKEN})
        spec = {"version": management.VERSION, "configSecret": {"name": "variables"}}
        spec["fetchConfig"] = {"selector": {"matchLabels": {"release": release}}}
        metadata = {"name": name, "namespace": ns, "labels": {"team": "mine"}, "annotations": {"example.com/mine": "x"}}
        body = {"apiVersion": f"{cluster.API_GROUP}/v1alpha2", "kind": kind, "metadata": metadata, "spec": spec}
        self.ask("POST", self.place(provider), body)

    def serves_all(self):
        return all(self.api.get(self.path(kind, "")) is not None for kind in management.KINDS)


class WithPods(cluster.ControlPlane):
    def begin(self):
        """Nothing is begun before its start."""


class Target(Source):
    PLANE, PROGRAMS = WithPods, ["control-plane"]


class World:
    def __init__(self):
        self.sides = []
        unittest.addModuleCleanup(self.close)
        (programs,) = {plan.link_folder(["clusterctl"])}
        self.programs = {"ours": built.find("clusterctl"), "theirs": os.path.join(programs, "clusterctl")}
        self.home = tempfile.TemporaryDirectory(prefix="clusterctl-move-test-")
        for side in (Source, Target):
            self.sides.append(side())
        for side in self.sides:
            side.start()
            side.start_operator()

    def close(self):
        for each in self.sides:
            each.close()
        self.home.cleanup()

    def begin_move(self, which, source, target, *more):
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.home.name, "CLUSTERCTL_DISABLE_VERSIONCHECK": "true", "GOPROXY": "off"}
        command = [self.programs[which], "move", "--namespace=team", f"--kubeconfig={source.plane.kubeconfig}"]
        command.append(f"--to-kubeconfig={target.plane.kubeconfig}")
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([*command, *more], env=environment, **streams)


class Move(worlds.OnAWorld):
    WORLD = World

    def setUp(self):
        self.start_world()
        self.a, self.b = self.world.sides
        self.maxDiff = 20000

    @longer_in_full
    def test_providers_go_along_and_what_blocks_is_waited_for(self):
        for provider in (CORE, DOCKER):
            self.a.declare(provider)
        worlds.until("the source has all kinds", self.a.serves_all, words=self.states)
        management.make_namespace(self.a, "team", clusters=2, machines=1, paused=("c1",))
        before = moving(self.a.snapshot("team"))
        self.move("ours", self.a, self.b, "--include-providers")
        self.assertEqual(moving(self.b.snapshot("team")), before)  # c1 alone is paused
        self.assertEqual(moving(self.a.snapshot("team")), {})
        for provider in (CORE, DOCKER):
            self.assert_went_along(provider)
        settings = self.b.get("ConfigMap", DOCKER[3], "settings")
        self.assertEqual(settings["data"], {"token": "s3cret"})
        if FULL:
            self.back_with_theirs()

    def back_with_theirs(self):
        """It refuses to move a Cluster that is paused, and makes itself the manager of all fields."""
        self.b.make_ready("team")
        self.b.ask("PATCH", self.b.path("Cluster", "team", "c1"), {"spec": {"paused": None}}, cluster.MERGE_PATCH)
        before = without_managers(moving(self.b.snapshot("team")))
        self.move("theirs", self.b, self.a)
        self.assertEqual(without_managers(moving(self.a.snapshot("team"))), before)
        self.assertEqual(moving(self.b.snapshot("team")), {})

    def move(self, which, source, target, *more):
        """One that has to wait: all Clusters are paused then, and nothing is in the target."""
        machine = source.path("Machine", "team", "c0-0")
        source.ask("PATCH", machine, {"metadata": {"annotations": {BLOCK: ""}}}, cluster.MERGE_PATCH)
        process = self.world.begin_move(which, source, target, *more)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        said = []
        for line in process.stderr:
            said.append(line)
            if f"{BLOCK} annotation, waiting for it to be removed" in line:
                break
        else:
            self.fail(f"{which} doesn't wait: {''.join(said)}{self.states()}")
        self.assertTrue(all(item["spec"].get("paused") for item in source.list("Cluster", "team")))
        worlds.until("the target has all kinds", target.serves_all, words=self.states)
        self.assertEqual({key for key in moving(target.snapshot("team")) if key[2] != CLAIM}, set())
        source.ask("PATCH", machine, {"metadata": {"annotations": {BLOCK: None}}}, cluster.MERGE_PATCH)
        _, errors = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 0, f"{''.join(said)}{errors}")

    def assert_went_along(self, provider):
        """A copy is in the target, Ready, with its Secret and release, which are nobody's there; the source keeps all."""
        there, here = self.b.provider(provider), self.a.provider(provider)
        self.assertEqual(there["spec"], here["spec"])
        self.assertEqual(there["metadata"]["labels"], {"team": "mine"})
        self.assertEqual(there["metadata"]["annotations"]["example.com/mine"], "x")
        self.assertEqual(rights.conditions(there)["Ready"]["status"], "True", there)
        for kind, name in (("ConfigMap", management.VERSION), ("Secret", "variables")):
            copy, original = (side.get(kind, provider[3], name) for side in (self.b, self.a))
            self.assertEqual(copy["data"], original["data"])
            self.assertEqual(copy["metadata"]["labels"], original["metadata"]["labels"])
            self.assertNotIn("ownerReferences", copy["metadata"])

    def states(self):
        """For the message of a failure."""
        places = [(side, side.place(provider, provider[2])) for side in (self.a, self.b) for provider in (CORE, DOCKER)]
        return "".join(f"{place}: {(side.api.get(place) or {}).get('status', {}).get('conditions')}\n" for side, place in places)


if __name__ == "__main__":
    unittest.main()
