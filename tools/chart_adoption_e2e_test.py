#!/usr/bin/env python3
"""A Helm release of cluster-api-operator's own chart becomes one of this chart, by the commands of docs/adopting.md.

Without CAPI_TEST_FULL there is one test, with one of the two majors of Helm. Pods are simulated (kwok)."""

import json
import os
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d", "chart.d")]

import pages  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402
from chart import KEEP, NAMESPACE  # noqa: E402
from cluster import API_GROUP  # noqa: E402
from helm_world import IMAGE, KINDS, OPERATOR, WEBHOOKS, Page, with_helm  # noqa: E402
from tiers import only_full  # noqa: E402


class FromThePeer(Page):
    """A release of cluster-api-operator's chart becomes one of ours; its providers stay as they are."""

    PAGE, HEADING = "docs/adopting.md", "From a Helm release of cluster-api-operator"
    UPGRADE, TAKE = 0, 1  # the blocks
    VALUES = {
        "core": {
            "cluster-api": {
                "version": "v1.12.0",
                "createNamespace": False,
                "additionalManifests": {"name": "more", "manifests": "kind: X\n"},
            }
        },
        "infrastructure": {"docker": {"namespace": "capd-system"}},
        "configSecret": {"name": "variables"},
        "image": {"manager": {"registry": "other.example", "digest": "sha256:" + "0" * 64}},
    }
    PROVIDERS = {"CoreProvider/cluster-api", "BootstrapProvider/kubeadm", "ControlPlaneProvider/kubeadm", "InfrastructureProvider/docker"}

    def install_the_peer(self, folder, program, values):
        """Its chart as released, except that its webhooks may be away: nobody answers them here."""
        self.world.certificates()
        (source,) = plan.have(["peer-chart"])
        path = os.path.join(folder, "peer")
        shutil.copytree(source, path)
        components = os.path.join(path, "templates", "operator-components.yaml")
        with open(components, encoding="utf-8") as file:
            text = file.read()
        with open(components, "w", encoding="utf-8") as file:
            file.write(text.replace("failurePolicy: Fail", "failurePolicy: Ignore"))
        self.install(program, source=path)
        self.world.must("create", "namespace", "capi-system")
        self.world.must_helm("upgrade", program=program, source=path, values=values)
        self.assertEqual(self.providers(), self.PROVIDERS)
        # What cert-manager does meanwhile.
        bundle = json.dumps({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": self.authority()}}}}})
        for kind in sorted(self.world.kinds()):
            self.world.must("patch", "crd", kind, "--type=merge", "--field-manager=cainjector", f"--patch={bundle}")

    def providers(self):
        return self.world.names(",".join(f"{kind}providers" for kind in KINDS), "-A")

    def uids(self):
        items = self.world.get(",".join(f"{kind}providers" for kind in KINDS), "-A")["items"]
        return {(item["kind"], item["metadata"]["uid"], item["metadata"]["generation"]) for item in items}

    @with_helm("helm")
    def test_providers_that_are_hooks(self, program):
        folder = self.folder(program)
        self.install_the_peer(folder, program, self.VALUES)
        self.move(folder, program, lost=["kubectl annotate configmap more -n capi-system helm.sh/resource-policy=keep"])

    def upgrade_as_told(self, folder, block=UPGRADE):
        """The page's command, and those that it prints, until it succeeds; all that they said."""
        told, before = "", self.uids()
        alone = block == self.UPGRADE  # no operator is at work yet, which might write a version into an object
        for _ in range(3):
            code, said = self.run_block(folder, self.HEADING, block, self.PAGE, fails=None)
            told += said
            self.assertEqual(*({entry if alone else entry[:2] for entry in found} for found in (self.uids(), before)))
            if code == 0:
                return told
            commands = [line for line in said.splitlines() if line.startswith("kubectl ")]
            self.assertNotEqual(commands, [], said)
            done = pages.run("\n".join(commands), folder, pages.environment(self.world.plane, folder))
            self.assertEqual(done.returncode, 0, done.stderr)
        raise AssertionError(told)

    def move(self, folder, program, lost):
        world = self.world
        said = self.upgrade_as_told(folder)
        for command in lost:
            self.assertIn(command, said)
        for kind in ("addon", "ipam", "runtimeextension"):
            self.assertIn(f"kubectl patch crd {kind}providers.", said)
            self.assertEqual(world.get("crd", f"{kind}providers.{API_GROUP}")["spec"]["conversion"], {"strategy": "None"})
        self.peer_is_gone()
        deployment = world.get("deployment", "capi-operator-controller-manager", "-n", NAMESPACE)
        self.assertEqual(deployment["spec"]["template"]["spec"]["containers"][0]["image"], IMAGE)
        self.assert_live({})
        world.must_helm("uninstall", "--wait", "--timeout=60s", program=program)
        self.assertEqual(self.providers(), self.PROVIDERS)
        self.assertLessEqual({"Namespace/capi-system", "Namespace/capd-system"}, world.names("namespaces"))
        self.assertIn("ConfigMap/more", world.names("configmaps", "-n", "capi-system"))

    def peer_is_gone(self):
        world = self.world
        self.assertEqual(world.names("certificates,issuers", "-A"), set())
        left = world.names(OPERATOR, "-A", "-l", rights.PEER_LABEL)
        self.assertEqual(left, set(), "nor a webhook or a Service with its labels")
        self.assertEqual(world.names("deployments", "-A"), {"Deployment/capi-operator-controller-manager"})
        targets = world.get(f"crds,{WEBHOOKS}")["items"]
        self.assertNotIn("inject-ca-from", json.dumps([item["metadata"].get("annotations") for item in targets]))
        asked = world.kubectl("auth", "can-i", "delete", "nodes", f"--as={rights.USER}")
        self.assertEqual(asked.stdout.strip(), "no", "the peer's right to everything has gone")

    @only_full
    @with_helm("helm-v3")
    def test_providers_that_belong_to_the_release(self, program):
        folder = self.folder(program)
        self.install_the_peer(folder, program, self.VALUES | {"enableHelmHook": False})
        names = ("namespace capd-system", "coreprovider cluster-api -n capi-system", "infrastructureprovider docker -n capd-system")
        self.move(folder, program, lost=[f"kubectl annotate {name} {KEEP}=keep" for name in names])

    @only_full
    @with_helm("helm")
    def test_values_that_mean_nothing_here(self, program):
        folder = self.folder(program)
        self.install_the_peer(folder, program, self.VALUES | {"profilerAddress": ":6060"})
        _, said = self.run_block(folder, self.HEADING, self.UPGRADE, self.PAGE, fails=True)
        self.assertIn("at '/profilerAddress': value must be one of 'remove it: the operator has no profiler'", said)
        self.assertIn("Certificate/capi-operator-serving-cert", self.world.names("certificates", "-A"), "nothing is changed")

    @only_full
    @with_helm("helm")
    def test_they_become_part_of_the_release(self, program):
        folder, world = self.folder(program), self.world
        core = {"version": "v1.12.0", "createNamespace": False}  # else that chart makes its namespace anew
        self.install_the_peer(folder, program, self.VALUES | {"core": {"cluster-api": core}})
        self.upgrade_as_told(folder)
        with self.serving():
            self.upgrade_as_told(folder, self.TAKE)
            core = world.get("coreprovider", "cluster-api", "-n", "capi-system")
            self.assertEqual(core["metadata"]["annotations"][KEEP], "keep")
            # What is taken over isn't deleted either, when nobody names it any more.
            before = self.uids()
            none = {"core": None, "infrastructure": None, "configSecret": None}
            world.must_helm("upgrade", "--reset-then-reuse-values", program=program, values=none)
            self.assertEqual({entry[:2] for entry in self.uids()}, {entry[:2] for entry in before})


if __name__ == "__main__":
    unittest.main()
