#!/usr/bin/env python3
"""What manifests/ installs, on a real API server: it is taken whole, strictly and under restricted Pod Security, and a
second time nothing changes. The pods are simulated (kwok): that the container starts is for tools/image_test.py to show,
and that its rights are enough for tools/rights_e2e_test.py."""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import pages  # noqa: E402
import rights  # noqa: E402
from rights import NAMESPACE  # noqa: E402

FOLDERS = {
    "default": "base",
    "no-webhooks": "overlays/no-webhooks",
    "single-namespace": "overlays/single-namespace",
    "ha": "overlays/ha",
    "cluster-admin": "overlays/cluster-admin",
}
DEPLOYMENT = "capi-operator-controller-manager"
WEBHOOKS = "mutatingwebhookconfigurations,validatingwebhookconfigurations"


def folder(variant):
    return os.path.join(rights.ROOT, "manifests", *FOLDERS[variant].split("/"))


class OnAServer(unittest.TestCase):
    """Tests that share a server, and find nothing of each other's on it."""

    world = None
    installed = set()  # variants

    def setUp(self):
        if OnAServer.world is None:
            OnAServer.world = rights.World()
            unittest.addModuleCleanup(OnAServer.world.close)
        # What one variant leaves out another has put in.
        for variant in self.installed & {"default", "single-namespace", "cluster-admin"}:
            self.world.must("delete", "-k", folder(variant), "--ignore-not-found", "--timeout=100s")
        self.installed.clear()


class Manifests(OnAServer):
    def install(self, variant, *flags):
        self.installed.update({"default", variant})
        done = self.world.kubectl("apply", "-k", folder(variant), "--validate=strict", *flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""), variant)
        return self.world.get("deployment", DEPLOYMENT, "-n", NAMESPACE)

    def install_and_await(self, variant, *flags):
        self.install(variant, *flags)
        self.world.must("wait", f"deployment/{DEPLOYMENT}", "-n", NAMESPACE, "--for=condition=Available", "--timeout=100s")

    def install_twice(self, variant, *flags):
        self.install_and_await(variant, *flags)
        first = self.declared(variant)
        self.install(variant, *flags)
        self.assertEqual(first, self.declared(variant))

    def declared(self, variant):
        """The objects as the server has them: an apply that changes nothing leaves the resource version, too, and what
        controllers write to is compared without it."""
        found = {}
        for item in self.world.get("-k", folder(variant))["items"]:
            metadata = item["metadata"]
            metadata.pop("managedFields", None)
            if "status" in item or item["kind"] == "ClusterRole":
                metadata.pop("resourceVersion")
                item.pop("status", None)
            found[item["kind"], metadata.get("namespace"), metadata["name"]] = item
        self.assertGreater(len(found), 20)
        return found

    def test_server_side_apply_of_each(self):
        for variant in FOLDERS:
            with self.subTest(variant):
                twice = variant == "default" or os.environ.get("CAPI_TEST_FULL")
                (self.install_twice if twice else self.install_and_await)(variant, "--server-side")

    def test_client_side_apply(self):
        for variant in FOLDERS if os.environ.get("CAPI_TEST_FULL") else ["default"]:
            with self.subTest(variant):
                self.install_twice(variant)

    def test_what_they_have(self):
        deployment = self.install("default", "--server-side")
        pod = deployment["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        self.assertEqual(container["resources"]["limits"], {"memory": "64Mi"})
        self.assertEqual(container["livenessProbe"]["httpGet"]["path"], "/healthz")
        self.assertEqual(container["readinessProbe"]["httpGet"]["path"], "/readyz")
        self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
        self.assertEqual(len(self.world.get("crds")["items"]), 7)
        self.assertEqual(len(self.world.get(WEBHOOKS)["items"]), 2)
        self.refuses_a_careless_pod()
        ha = self.install("ha", "--server-side")
        self.assertEqual(ha["spec"]["replicas"], 3)
        spread = ha["spec"]["template"]["spec"]["topologySpreadConstraints"]
        self.assertEqual([item["labelSelector"] for item in spread], [ha["spec"]["selector"]] * 2)
        budget = self.world.get("poddisruptionbudget", "capi-operator", "-n", NAMESPACE)["spec"]
        self.assertEqual((budget.get("minAvailable"), budget.get("maxUnavailable")), (1, None))
        bound = self.world.get("clusterrolebindings", "-l", "app.kubernetes.io/name=capi-operator")["items"]
        self.assertNotIn("cluster-admin", [item["roleRef"]["name"] for item in bound])

    def refuses_a_careless_pod(self):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "careless", "namespace": NAMESPACE}}
        pod["spec"] = {"containers": [{"name": "x", "image": "x"}]}
        done = self.world.kubectl("create", "-f", "-", given=json.dumps(pod))
        self.assertIn('violates PodSecurity "restricted', done.stderr)

    def test_without_webhooks_nothing_points_to_one(self):
        text = rights.kustomize("no-webhooks")
        self.assertNotIn("capi-operator-webhook-service", text)
        self.assertNotIn("WebhookConfiguration\nmetadata", text)
        self.assertIn("--webhook-port=0", text)
        crds = [item for item in rights.documents(text, "CustomResourceDefinition")]
        self.assertEqual(len(crds), 7)
        for crd in crds:
            self.assertIn("\n  conversion:\n    strategy: None\n", crd)

    def test_services_and_policies_select_the_pods(self):
        self.install("default", "--server-side")
        items = self.world.get("services,poddisruptionbudgets,networkpolicies,deployments", "-n", NAMESPACE)["items"]
        (deployment,) = (item for item in items if item["kind"] == "Deployment")
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        names = {port["name"] for port in deployment["spec"]["template"]["spec"]["containers"][0]["ports"]}
        asked = []
        for item in items:
            spec = item["spec"]
            if item["kind"] == "Service":
                asked.append((item["kind"], spec["selector"]))
                # T7: who isn't ready isn't asked, above all in a rollout and at the end of a pod.
                self.assertFalse(spec.get("publishNotReadyAddresses"))
                self.assertLessEqual({port["targetPort"] for port in spec["ports"]}, names)
            elif item["kind"] == "NetworkPolicy":
                asked.append((item["kind"], spec["podSelector"]["matchLabels"]))
                self.assertLessEqual({port["port"] for port in spec["ingress"][0]["ports"]}, names)
            elif item["kind"] == "PodDisruptionBudget":
                asked.append((item["kind"], spec["selector"]["matchLabels"]))
        self.assertEqual(len(asked), 4)
        for kind, selector in asked:
            self.assertLessEqual(selector.items(), labels.items(), kind)


class Page(OnAServer):
    """The commands of docs/install.md, as they stand there."""

    PAGE = "docs/install.md"

    def run_block(self, heading, number=0, change=lambda block: block):
        block = change(pages.blocks(heading, self.PAGE)[number])
        path = self.world.plane.programs + os.pathsep + os.environ["PATH"]
        environment = dict(os.environ, HOME=self.folder, KUBECONFIG=self.world.plane.kubeconfig, PATH=path, IMAGE=self.image)
        command = ["bash", "-euo", "pipefail", "-c", block]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, timeout=300
        )
        self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_from_the_image_to_the_end(self):
        folder = tempfile.TemporaryDirectory(prefix="install-page-")
        self.addCleanup(folder.cleanup)
        self.folder, self.image = folder.name, "registry.example.com/capi-operator:v1"
        os.symlink(TOOLS, os.path.join(self.folder, "tools"))  # a checkout as far as the commands need one
        program = built.find("capi-operator")
        self.run_block("The image", 0, lambda block: block.replace("tools/image ", f"tools/image --program='{program}' "))
        self.installed.add("default")
        self.run_block("Install")
        pod = self.world.get("deployment", DEPLOYMENT, "-n", NAMESPACE)["spec"]["template"]["spec"]
        self.assertEqual(pod["containers"][0]["image"], self.image)
        self.assertIn("capi-operator-namespace", self.run_block("Rights"))
        self.run_block("Rights", 1)
        self.world.until("the right is there", lambda: "podmonitors" in self.run_block("Rights"), 60)
        # A reader is slower: the API server needs a moment to tell of kinds, and kubectl to look again.
        look = "kubectl get capi-providers --all-namespaces || echo none"
        self.world.until("kinds are told", lambda: self.run_block("Install", 0, lambda _: look) != "none\n", 60)
        self.run_block("Uninstall", 1)
        self.assertEqual(len(self.world.get("crds")["items"]), 7)
        self.assertEqual(self.world.get(WEBHOOKS)["items"], [])
        self.run_block("Uninstall")
        self.assertEqual(self.world.get("crds")["items"], [])
        left = self.world.get("clusterroles,clusterrolebindings", "-l", "app.kubernetes.io/name=capi-operator")
        self.assertEqual(left["items"], [])
        self.world.must("delete", "clusterrole", "capi-operator-podmonitors")


class ProviderKinds(unittest.TestCase):
    """The role for objects of providers has all that releases bring."""

    def kinds(self, folder):
        """plural.group of each CRD of the releases in a folder."""
        found = {}
        for path in sorted(glob.glob(os.path.join(folder, "*", "*", "*components*.yaml"))):
            if "/cert-manager/" in path:
                continue
            with open(path, encoding="utf-8") as file:
                for crd in rights.documents(file.read(), "CustomResourceDefinition"):
                    name = re.search(r"\bname: *[\"']?([a-z0-9-]+\.[a-z0-9.-]+)", crd)
                    found[name.group(1)] = path
        return found

    def covered(self):
        """plural.group of each right to read."""
        roles = rights.documents(rights.kustomize("default"), "ClusterRole")
        (role,) = (item for item in roles if "\n  name: capi-operator-provider-kinds\n" in item)
        found = set()
        for rule in role.split("- apiGroups:\n")[1:]:
            (group,) = re.findall(r"^  - (\S+)$", rule.split("  resources:")[0], re.MULTILINE)
            resources, verbs = rule.split("  resources:")[1].split("  verbs:")
            if "  - list\n" in verbs:
                found.update(f"{plural}.{group}" for plural in re.findall(r"^  - (\S+)$", resources, re.MULTILINE))
        return found

    def test_all_that_releases_bring_is_in_it(self):
        covered = self.covered()
        for folder, least in ((rights.RELEASES, 20), (os.environ.get("RELEASES_DIR"), 200)):
            if not folder:
                continue  # a stranger has no vendors' releases
            kinds = self.kinds(folder)
            self.assertGreater(len(kinds), least)
            self.assertEqual({name: path for name, path in kinds.items() if name not in covered}, {})


class Script(unittest.TestCase):
    def test_the_image_is_the_one_that_is_asked_for(self):
        image = "registry.example.com:5000/team/capi-operator:v9@sha256:" + "0" * 64
        self.assertEqual(rights.kustomize("ha", f"--image={image}").count(f"image: {image}\n"), 1)
        own = rights.kustomize("default")
        self.assertEqual(own.count("image: capi-operator:v0.1.0\n"), 1)

    def test_what_it_refuses(self):
        for arguments, words in (
            (["other"], "invalid choice: 'other'"),
            (["--image=a b"], "no reference to an image"),
            (["--image="], "no reference to an image"),
            (["--image=a\nb"], "no reference to an image"),
        ):
            with self.subTest(arguments):
                done = rights.run_manifests(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
