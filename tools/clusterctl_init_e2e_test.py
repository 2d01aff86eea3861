#!/usr/bin/env python3
"""clusterctl init and upgrade operator on a real API server, from an empty cluster to providers that are Ready (L10, L11). Pods are
simulated; the operator runs as a process beside, with its webhooks where the API server looks for them."""

import base64
import contextlib
import json
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import cluster  # noqa: E402
import in_cluster  # noqa: E402
import pages  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402
import worlds  # noqa: E402
from tiers import only_full  # noqa: E402
from tree import WithFolder  # noqa: E402

NAMESPACE = rights.NAMESPACE
DEPLOYMENT = ("deployment", "capi-operator-controller-manager", "-n", NAMESPACE)
IMAGE = "mirror.example.com/capi/capi-operator:v0.1.0"
LABELS = ("cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-aws", "infrastructure-docker")
CREDENTIALS = "bm90IGEgc2VjcmV0"
# Kinds of which it must write nothing where it is refused.
WRITTEN = [
    cluster.CRDS,
    "/api/v1/configmaps",
    "/api/v1/namespaces",
    "/api/v1/secrets",
    "/apis/apps/v1/deployments",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    *(f"/apis/{cluster.API_GROUP}/v1alpha2/{kind}providers" for kind in ("core", "bootstrap", "controlplane", "infrastructure")),
]
LEFTOVER = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {}
  labels: {{app.kubernetes.io/name: capi-operator{}}}
"""
AGAIN = [
    "Fetching providers",
    "Skipping installing cert-manager as it is already installed",
    'Installing the operator version="v0.1.0" image="mirror.example.com/capi/capi-operator:v0.1.0" targetNamespace="capi-operator-system"',
    "Waiting for the operator to be available...",
    'Installing provider="cluster-api" version="v1.12.0" targetNamespace="capi-system"',
    'Installing provider="bootstrap-kubeadm" version="v1.12.0" targetNamespace="capi-kubeadm-bootstrap-system"',
    'Installing provider="control-plane-kubeadm" version="v1.12.0" targetNamespace="capi-kubeadm-control-plane-system"',
    'Installing provider="infrastructure-aws" version="v2.11.1" targetNamespace="capa-system"',
    "Waiting for providers to be available...",
    "",
    "Your management cluster has been initialized successfully!",
]


class Commands(WithFolder, worlds.OnAWorld):
    WORLD = in_cluster.World

    def setUp(self):
        super().setUp()
        self.start_world()
        text = in_cluster.configuration(self.folder, {rights.RELEASES: LABELS})
        # Where it is looked for without --config.
        images = "images: {all: {repository: mirror.example.com/capi}}\n"
        self.config = self.write(".config/cluster-api/clusterctl.yaml", text + images)
        os.mkdir(os.path.join(self.folder, "bin"))
        os.symlink(built.find("clusterctl"), os.path.join(self.folder, "bin", "clusterctl"))
        self.plain = self.write("plain.yaml", text)

    def start(self, program, *arguments, config=None, **more):
        return self.spawn([program, *arguments, "--config", config or self.config], more)

    def spawn(self, command, variables):
        path = os.path.join(self.folder, "bin") + ":/usr/bin:/bin"
        environment = {"PATH": path, "HOME": self.folder, "KUBECONFIG": self.world.plane.kubeconfig}
        environment |= {"CLUSTERCTL_DISABLE_VERSIONCHECK": "true", "GOPROXY": "off", **variables}
        return subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def end(self, running):
        """(exit code, what it printed, its errors)"""
        out, errors = running.communicate(timeout=worlds.LIMIT)
        return running.returncode, out, errors

    def run_ours(self, *arguments, **more):
        return self.end(self.start(built.find("clusterctl"), *arguments, **more))

    def must(self, *arguments, **more):
        code, out, errors = self.run_ours(*arguments, **more)
        self.assertEqual(code, 0, f"{errors}{self.world.last_words()}")
        return out, errors

    def refused(self, words, *arguments, **more):
        before = self.written()
        code, out, errors = self.run_ours(*arguments, **more)
        self.assertEqual((code, out), (1, ""), errors)
        self.assertIn(words, errors)
        self.assertEqual(self.written(), before, "it was refused, and something was written")

    def written(self):
        """What a command line might write, with the generation of each."""
        found = set()
        for path in WRITTEN:
            for item in (self.world.plane.api.get(path) or {"items": []})["items"]:
                metadata = item["metadata"]
                found.add((path, metadata.get("namespace"), metadata["name"], metadata["uid"], metadata.get("generation")))
        return found


class Init(Commands):
    def test_a_management_cluster_from_its_first_day_on(self):
        """One story, as each step needs what the one before made."""
        self.images_beside_the_real_one()
        self.nothing_is_written_before_all_is_known()
        self.broken_off_and_again()
        self.the_operator_is_the_one_of_the_manifests()
        self.what_the_providers_got()
        self.a_second_time()
        self.more_providers()
        self.another_version_of_the_operator()

    def images_beside_the_real_one(self):
        (programs,) = {plan.link_folder(["clusterctl"])}
        arguments = ("init", "list-images", "--infrastructure", "aws,docker")
        theirs = self.end(self.start(os.path.join(programs, "clusterctl"), *arguments, config=self.plain))
        self.assertEqual(theirs[0], 0, theirs)
        self.assertEqual(self.run_ours(*arguments, config=self.plain, KUBECONFIG="/nowhere"), theirs)
        self.assertIn(f"{IMAGE}\n", self.must(*arguments)[0])
        # That one has made the kind of its inventory, maybe; it must not count as an installation.

    def nothing_is_written_before_all_is_known(self):
        self.refused(
            'failed to get provider components for the "aws" provider: value for variables [AWS_B64ENCODED_CREDENTIALS] is not set',
            "init", "--infrastructure", "aws",
        )  # fmt: skip
        self.refused("(versions there: ", "init", "--core", "cluster-api:v9.9.9")
        self.refused("detected contract version v1alpha4 for provider cluster-api", "init", "--core", "cluster-api:v0.4.2")

    def broken_off_and_again(self):
        arguments = ("init", "--infrastructure", "aws", "--wait-providers")
        first = self.start(built.find("clusterctl"), *arguments, AWS_B64ENCODED_CREDENTIALS=CREDENTIALS)
        name = f"{cluster.CRDS}/infrastructureproviders.{cluster.API_GROUP}"
        self.world.until("it is half-way", lambda: self.world.plane.api.get(name))
        first.kill()
        self.end(first)
        (page,) = pages.blocks("Make a management cluster", "docs/clusterctl.md", "bash")
        again = self.spawn(["bash", "-euo", "pipefail", "-c", page], {"IMAGE": IMAGE})
        self.world.serve(again)
        code, out, errors = self.end(again)
        self.assertEqual((code, out), (0, ""), f"{errors}{self.world.last_words()}")
        lines = errors.splitlines()
        self.assertEqual(lines[: len(AGAIN)], AGAIN, errors)
        self.assertNotIn(CREDENTIALS, errors)

    def the_operator_is_the_one_of_the_manifests(self):
        """Object for object: what clusterctl has applied is what `tools/manifests default` prints, and there is no more."""
        text = rights.kustomize("default", "--image", IMAGE)
        done = self.world.kubectl("diff", "--server-side", "--force-conflicts", "--field-manager=looks", "-f", "-", given=text)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        name_of = lambda item: (item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"])  # noqa: E731
        printed = {name_of(item) for item in json.loads(self.world.must("get", "-f", "-", "-o", "json", given=text))["items"]}
        kinds = ",".join([*rights.IN_NAMESPACES, *rights.IN_CLUSTER])
        live = {name_of(item) for item in self.world.get(kinds, "-A", "-l", rights.OUR_LABEL)["items"]}
        self.assertEqual({item for item in printed if item[0] not in ("CustomResourceDefinition", "Namespace")}, live)

    def what_the_providers_got(self):
        self.world.await_told()
        items = self.world.get("capi-providers", "-A")["items"]
        self.assertEqual(len(items), 4)
        for item in items:
            self.assertEqual(rights.conditions(item)["Ready"]["status"], "True", item)
        secret = self.world.get("secret", "infrastructure-aws-variables", "-n", "capa-system")["data"]
        self.assertEqual(base64.b64decode(secret["AWS_B64ENCODED_CREDENTIALS"]).decode(), CREDENTIALS)
        self.assertNotIn("HOME", secret)
        image = self.world.must("get", "deployment", "capa-controller-manager", "-n", "capa-system", "-o", "jsonpath={..image}")
        self.assertTrue(image.startswith("mirror.example.com/capi/"), image)
        (release,) = self.world.get("configmaps", "-n", "capa-system", "-l", "provider.cluster.x-k8s.io/name=aws")["items"]
        self.assertEqual(release["metadata"]["ownerReferences"][0]["kind"], "InfrastructureProvider")

    def a_second_time(self):
        before = self.written()
        _, errors = self.must("init", "--core", "cluster-api", "--infrastructure", "aws")
        self.assertEqual(errors.count("as it is already installed"), 3, errors)
        self.assertNotIn("initialized", errors)
        self.assertEqual(self.written(), before)
        self.refused(
            'there is already an instance of the "cluster-api" provider installed in the "capi-system" namespace',
            "init", "--core", "cluster-api:v1.11.0",
        )  # fmt: skip

    def more_providers(self):
        _, errors = self.must("init", "-i", "docker:v1.12.0", "-n", "docker-here", "--wait-providers", "--install-cert-manager=false")
        self.assertIn('Installing provider="infrastructure-docker" version="v1.12.0" targetNamespace="docker-here"\n', errors)
        self.assertNotIn("cert-manager", errors)

    def another_version_of_the_operator(self):
        ours = ("upgrade", "operator")
        self.assertEqual(self.must(*ours)[0], "The operator is already up to date: v0.1.0\n")
        self.world.must("label", *DEPLOYMENT, "--overwrite", "app.kubernetes.io/version=v0.0.9")
        for name, label in (("capi-operator-former", ", app.kubernetes.io/managed-by: clusterctl"), ("capi-operator-mine", "")):
            self.world.must("create", "-f", "-", given=LEFTOVER.format(name, label))
        self.refused("run `clusterctl upgrade operator` first", "init", "-i", "docker")
        out, errors = self.must(*ours)
        self.assertEqual(out, f"The operator is upgraded: v0.0.9 -> v0.1.0 ({IMAGE})\n")
        self.assertIn("ClusterRole.rbac.authorization.k8s.io/capi-operator-former", errors)
        self.assertNotEqual(self.world.kubectl("get", "clusterrole", "capi-operator-former").returncode, 0)
        self.world.must("get", "clusterrole", "capi-operator-mine")
        out, _ = self.must(*ours, "--operator-image", "registry.example.com/other:v2")
        self.assertIn("v0.1.0 -> v0.1.0 (registry.example.com/other:v2)", out)
        self.world.must("label", *DEPLOYMENT, "--overwrite", "app.kubernetes.io/managed-by=Helm")
        self.refused("helm upgrade", *ours)


class TakingOver(Commands):
    @only_full
    def test_what_the_real_one_has_installed(self):
        """A1: on a server of its own."""
        with contextlib.closing(in_cluster.World()) as self.world:
            (programs,) = {plan.link_folder(["clusterctl"])}
            theirs = self.start(os.path.join(programs, "clusterctl"), "init", "-i", "aws", config=self.plain, AWS_B64ENCODED_CREDENTIALS=CREDENTIALS)
            self.assertEqual(self.end(theirs)[0], 0)
            before = self.world.get("deployments", "-A", "-l", "cluster.x-k8s.io/provider")["items"]
            arguments = ("init", "-i", "docker", "--wait-providers", "--operator-image", IMAGE)
            ours = self.start(built.find("clusterctl"), *arguments, config=self.plain)
            self.world.serve(ours)
            code, _, errors = self.end(ours)
            self.assertEqual(code, 0, f"{errors}{self.world.last_words()}")
            self.assertEqual(errors.count("Taking over provider="), 4, errors)
            self.world.await_told()
            ready = lambda item: rights.conditions(item).get("Ready", {}).get("status") == "True"  # noqa: E731
            self.world.until("all are Ready", lambda: all(map(ready, self.world.get("capi-providers", "-A")["items"])))
            after = {item["metadata"]["uid"]: item["metadata"]["generation"] for item in self.world.get("deployments", "-A")["items"]}
            for item in before:
                self.assertEqual(after[item["metadata"]["uid"]], item["metadata"]["generation"], "it was changed")


if __name__ == "__main__":
    unittest.main()
