#!/usr/bin/env python3
"""What manifests/ installs, on a real API server: it is taken whole, strictly and under restricted Pod Security, and a
second time nothing changes. The pods are simulated (kwok): that the container starts is for tools/image_test.py to show,
and that its rights are enough for tools/rights_e2e_test.py."""

import base64
import functools
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d", "manifests.d")]

import built  # noqa: E402
import pages  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402
import tree  # noqa: E402
from cluster import API_GROUP  # noqa: E402
from rights import NAMESPACE  # noqa: E402
from tiers import FULL, longer_in_full, only_full  # noqa: E402
from variants import VARIANTS, folder  # noqa: E402

PEER_PAGE = "docs/adopting.md"
DEPLOYMENT = "capi-operator-controller-manager"
WEBHOOKS = ",".join(rights.WEBHOOKS)
ALL = ",".join([*rights.IN_NAMESPACES, *rights.IN_CLUSTER])


class OnAServer(rights.OnAServer):
    def available(self):
        self.world.must("wait", f"deployment/{DEPLOYMENT}", "-n", NAMESPACE, "--for=condition=Available", "--timeout=100s")


class Manifests(OnAServer):
    def install(self, variant, *flags):
        if variant == "cert-manager":
            self.world.certificates()
        done = self.world.kubectl("apply", "-k", folder(variant), "--validate=strict", *flags)
        # Namespaces of other tests stay, and kubectl says of one that was applied on the server that it lacks an annotation.
        said = [line for line in done.stderr.splitlines() if not line.startswith("Warning: resource namespaces/")]
        self.assertEqual((done.returncode, said), (0, []), variant)
        return self.world.get("deployment", DEPLOYMENT, "-n", NAMESPACE)

    def install_twice(self, variant, *flags):
        self.install(variant, *flags)
        self.available()
        role = ("clusterrole", "capi-operator-providers")
        self.world.until("a controller has put the role together", lambda: self.world.get(*role).get("rules"))
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

    @longer_in_full
    def test_server_side_apply(self):
        """The commands of the page below install the other variants, and the next test but one `ha`."""
        for variant in VARIANTS if FULL else ["default"]:
            with self.subTest(variant):
                self.install_twice(variant, "--server-side")

    @only_full
    def test_client_side_apply(self):
        for variant in VARIANTS:
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
        # T7: it serves webhooks on, after a write that was under way and the release of the lease: five seconds each (F4).
        with open(os.path.join(rights.ROOT, "operator", "webhooks", "webhook_server.h"), encoding="utf-8") as file:
            serves_on = int(re.search(r"kServesOn\{(\d+)\}", file.read()).group(1))
        self.assertGreaterEqual(pod["terminationGracePeriodSeconds"], 5 + 5 + serves_on)
        self.assertEqual(len(self.world.get("crds")["items"]), 7)
        self.assertEqual(len(self.world.get(WEBHOOKS)["items"]), 2)
        self.refuses_a_careless_pod()
        self.services_and_policies_select_the_pods()
        ha = self.install("ha", "--server-side")
        self.assertEqual(ha["spec"]["replicas"], 3)
        self.available()
        spread = ha["spec"]["template"]["spec"]["topologySpreadConstraints"]
        self.assertEqual([item["labelSelector"] for item in spread], [ha["spec"]["selector"]] * 2)
        budget = self.world.get("poddisruptionbudget", "capi-operator", "-n", NAMESPACE)["spec"]
        self.assertEqual((budget.get("minAvailable"), budget.get("maxUnavailable")), (1, None))
        bound = self.world.get("clusterrolebindings", "-l", rights.OUR_LABEL)["items"]
        self.assertNotIn("cluster-admin", [item["roleRef"]["name"] for item in bound])

    def refuses_a_careless_pod(self):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "careless", "namespace": NAMESPACE}}
        pod["spec"] = {"containers": [{"name": "x", "image": "x"}]}
        done = self.world.kubectl("create", "-f", "-", given=json.dumps(pod))
        self.assertIn('violates PodSecurity "restricted', done.stderr)

    def services_and_policies_select_the_pods(self):
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
    """The commands of docs/install.md, and of the pages that lead to it, as they stand there."""

    REMOVE = "Remove the operator and keep the providers"

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="install-page-")
        self.addCleanup(folder.cleanup)
        self.folder, self.image = folder.name, "registry.example.com/capi-operator:v1"
        pages.checkout(self.folder)

    def try_block(self, heading, number=0, change=lambda block: block, page="docs/install.md", stop_at_failure=True):
        """The finished process of a block."""
        block = change(pages.blocks(heading, page)[number])
        variables = pages.environment(self.world.plane, self.folder, IMAGE=self.image)
        return pages.run(block, self.folder, variables, stop_at_failure)

    def run_block(self, *arguments, **more):
        done = self.try_block(*arguments, **more)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, variant="default"):
        self.run_block("Install", 0, lambda block: block.replace("manifests default", f"manifests {variant}"))

    def ours(self):
        """What the operator has beside its kinds and namespaces."""
        items = self.world.get(ALL, "-A", "-l", rights.OUR_LABEL)["items"]
        return {f"{item['kind']}/{item['metadata']['name']}" for item in items}

    def keep_a_provider(self, name):
        """One that nobody reconciles, with a finalizer, written while no webhook is asked."""
        self.world.await_told("infrastructureproviders")
        self.world.kubectl("create", "namespace", "kept")  # it is there after another test
        item = {"apiVersion": f"{API_GROUP}/v1alpha2", "kind": "InfrastructureProvider"}
        item["metadata"] = {"name": name, "namespace": "kept", "finalizers": ["provider.cluster.x-k8s.io"]}
        self.world.must("apply", "--server-side", "-f", "-", given=json.dumps(item))

    def release(self, name):
        self.world.kubectl("delete", WEBHOOKS, "--all")
        finalizers = '--patch={"metadata":{"finalizers":null}}'
        self.world.kubectl("patch", "infrastructureprovider", name, "-n", "kept", "--type=merge", finalizers)

    def test_from_the_image_to_the_end(self):
        program = built.find("capi-operator")
        self.run_block("The image", 0, lambda block: block.replace("tools/image ", f"tools/image --program='{program}' --revision=tested "))
        self.install()
        self.says_no_success_after_a_failure()
        for heading, self.image in (("Install", self.image), ("Upgrade with kubectl", "registry.example.com/capi-operator:v2")):
            self.run_block(heading)
            pod = self.world.get("deployment", DEPLOYMENT, "-n", NAMESPACE)["spec"]["template"]["spec"]
            self.assertEqual(pod["containers"][0]["image"], self.image)
        self.run_block("Several replicas")
        self.assertIn("capi-operator-namespace", self.run_block("Rights"))
        self.run_block("Rights", 3)
        self.world.until("the right is there", lambda: "podmonitors.monitoring.coreos.com" in self.run_block("Rights"), 60)
        self.world.await_told(lists=lambda kinds: self.try_block("Install", 0, lambda _: f"kubectl get {kinds} -A").returncode == 0)
        self.run_block(self.REMOVE)
        self.assertEqual(len(self.world.get("crds")["items"]), 7)
        self.assertEqual(self.world.get(WEBHOOKS)["items"], [])
        self.assertEqual(self.ours(), set())
        self.no_role_is_left()
        self.keep_a_provider("held")
        for variant in ("cluster-admin", "single-namespace"):  # the end has to do with what either has
            self.install(variant)
        self.world.must("create", "secret", "generic", "of-a-user", "-n", "capi-providers")
        self.keeps_its_kinds_while_a_deletion_is_held()
        self.uninstall()
        self.assertEqual(self.world.get("crds")["items"], [])
        self.assertEqual(self.ours(), set())
        self.no_role_is_left()
        self.assertNotEqual(self.world.kubectl("get", "namespace", NAMESPACE).returncode, 0)
        self.world.must("get", "secret", "of-a-user", "-n", "capi-providers")

    def no_role_is_left(self):
        """With labels or without. Two did stay: the page's own example, and the aggregated role, which Kubernetes made again."""
        roles = [item["metadata"]["name"] for item in self.world.get("clusterroles")["items"]]
        self.assertEqual([name for name in roles if name.startswith("capi-operator")], [])

    def says_no_success_after_a_failure(self):
        """What was there before said so: the earlier image, and the earlier Deployment, which was `successfully rolled out`."""
        image = self.image
        self.image = "no image"
        for heading, change in (
            ("The image", lambda block: block.replace("tools/image ", "tools/image --program=/nothing ")),
            ("Install", lambda block: block),
        ):
            done = self.try_block(heading, change=change, stop_at_failure=False)
            self.assertNotEqual(done.returncode, 0, heading)
            self.assertEqual(done.stdout, "", heading)
        self.image = image

    def uninstall(self):
        """With the page's way out: the API server does forget a kind now and then. Some kinds have gone by then, of which the
        command once said that they aren't there, and failed."""
        gone, *left = self.world.crds()
        self.world.remove_kind(gone)
        self.run_block("Uninstall", 1)
        for crd in left:
            found = self.world.get("crd", crd["metadata"]["name"])["metadata"]["annotations"]
            self.assertIn("example.com/changed-at", found)
        done = self.try_block("Uninstall")
        for _ in range(10):
            if done.returncode == 0:
                return
            self.run_block("Uninstall", 1)
            kinds_are_gone = self.world.get("crds")["items"] == []
            done = self.try_block("Uninstall", change=lambda block: block.split("&&", 1)[1] if kinds_are_gone else block)  # noqa: B023
        self.fail(done.stdout + done.stderr)

    def keeps_its_kinds_while_a_deletion_is_held(self):
        """The second command took the kinds away while a provider was still being deleted, and then neither of them went:
        whoever pastes commands into a shell has no `-e`."""
        done = self.try_block("Uninstall", change=lambda block: block.replace("=10m", "=2s"), stop_at_failure=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("timed out waiting", done.stderr)
        deleted = [item["metadata"]["name"] for item in self.world.get("crds")["items"] if "deletionTimestamp" in item["metadata"]]
        self.assertEqual(deleted, [])
        self.assertIn(f"Deployment/{DEPLOYMENT}", self.ours())
        self.release("held")

    def conversions(self):
        """Of the kinds, each different one once."""
        items = self.world.get("crds")["items"]
        found = [item["spec"]["conversion"] for item in items if item["spec"]["group"] == API_GROUP]
        self.assertEqual(len(found), 7)
        return [item for number, item in enumerate(found) if item not in found[:number]]

    def trust(self, writer):
        """A CA in each kind that names a webhook, in the name of whoever writes it while an operator runs."""
        with open(self.world.plane.authority, "rb") as file:
            ca = base64.b64encode(file.read()).decode()
        patch = json.dumps({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": ca}}}}})
        for item in self.world.get("crds")["items"]:
            if item["spec"]["conversion"]["strategy"] == "Webhook":
                self.world.must("patch", "crd", item["metadata"]["name"], "--type=merge", f"--field-manager={writer}", f"--patch={patch}")

    def test_a_change_of_the_variant(self):
        self.install("cluster-admin")
        # Who came from cluster-api-operator has a conversion in the other kinds, too.
        peer = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/convert"}}
        crds = [f"{name}providers.{API_GROUP}" for name in ("addon", "ipam", "runtimeextension")]
        patch = json.dumps({"spec": {"conversion": {"strategy": "Webhook", "webhook": peer}}})
        self.world.must("patch", "crd", *crds, "--type=merge", "--field-manager=helm", f"--patch={patch}")
        self.trust("capi-operator")
        stored = self.run_block("Change the variant")
        self.assertEqual(re.findall(r"^[a-z]+providers\.operator\.cluster\.x-k8s\.io (.*)$", stored, re.MULTILINE), ['["v1alpha2"]'] * 7)
        self.run_block(self.REMOVE)
        self.run_block("Change the variant", 1)
        self.install("no-webhooks")
        self.assertEqual(self.conversions(), [{"strategy": "None"}])
        self.assertNotIn("Service/capi-operator-webhook-service", self.ours())
        self.assertNotIn("ClusterRoleBinding/capi-operator-cluster-admin", self.ours())
        self.assertEqual(self.world.get(WEBHOOKS)["items"], [])
        self.assertIn("ClusterRoleBinding/capi-operator-namespace", self.ours())
        self.run_block(self.REMOVE)
        self.install("single-namespace")
        self.assertNotIn("ClusterRoleBinding/capi-operator-namespace", self.ours())
        self.assertEqual([item["strategy"] for item in self.conversions()], ["None", "Webhook"])
        self.assertEqual(len(self.world.get(WEBHOOKS)["items"]), 2)
        self.available()

    def test_the_exits_while_nobody_answers_the_webhooks(self):
        kinds, webhooks = (os.path.join(rights.ROOT, "manifests", *path) for path in (["crds"], ["base", "webhooks.yaml"]))
        self.world.must("apply", "--server-side", "-f", kinds)
        self.keep_a_provider("aws")
        for page, heading in (
            ("docs/deleting.md", "A Namespace with a provider in it"),
            ("docs/adopting.md", "The way back"),
        ):
            with self.subTest(page):
                self.world.must("apply", "--server-side", "-f", webhooks)
                label = ("label", "infrastructureprovider", "aws", "-n", "kept", "a=b", "--overwrite")
                self.assertIn("failed calling webhook", self.world.kubectl(*label).stderr)
                if page == "docs/adopting.md":
                    self.run_block(self.REMOVE)  # the page's first sentence
                ours = "infrastructureprovider aws -n kept"
                others = r"(?:bootstrapprovider kubeadm|infrastructureprovider aws) -n \S+"
                self.run_block(heading, 0, functools.partial(re.sub, others, ours), page)
        self.assertNotEqual(self.world.kubectl("get", "infrastructureprovider", "aws", "-n", "kept").returncode, 0)

    def apply_peer(self, *flags, kinds_alone=False):
        """cluster-api-operator as its release installs it."""
        (peer,) = plan.have(["peer-manifests"])
        with open(peer, encoding="utf-8") as file:
            given = "\n---\n".join(rights.documents(file.read(), "CustomResourceDefinition" if kinds_alone else None))
        self.world.must("apply", "-f", "-", *flags, given=given)
        self.world.await_kinds()

    def install_peer(self, *flags):
        """Its kinds, a provider and then all of it, on the kinds of cert-manager; cert-manager has written its CA into them."""
        self.world.certificates()
        self.apply_peer(*flags, kinds_alone=True)
        self.keep_a_provider("aws")
        self.world.await_told("issuers")
        self.apply_peer(*flags)
        self.trust("cainjector")
        self.assertEqual([item["strategy"] for item in self.conversions()], ["Webhook"])

    def leave_the_peer(self):
        for number in range(len(pages.blocks("From cluster-api-operator", PEER_PAGE))):
            self.run_block("From cluster-api-operator", number, page=PEER_PAGE)

    def drop_the_webhooks(self):
        """What cert-manager wrote into a kind stayed when its writer's webhook went, and the API server refused the kind."""
        self.run_block(self.REMOVE)
        self.run_block("Change the variant", 1)
        self.install("no-webhooks")
        self.assertEqual(self.conversions(), [{"strategy": "None"}])

    def test_from_the_peer_and_back(self):
        self.install_peer("--server-side")
        self.leave_the_peer()
        self.install()
        self.available()
        service = self.world.get("service", "capi-operator-webhook-service", "-n", NAMESPACE)
        deployment = self.world.get("deployment", DEPLOYMENT, "-n", NAMESPACE)
        self.assertEqual(service["spec"]["selector"], deployment["spec"]["selector"]["matchLabels"])
        self.assertEqual(len(self.world.get(WEBHOOKS)["items"]), 2, "ours")
        targets = self.world.get("crds," + WEBHOOKS)["items"]
        self.assertNotIn("inject-ca-from", json.dumps([item["metadata"].get("annotations") for item in targets]))
        asked = self.world.kubectl("auth", "can-i", "delete", "nodes", f"--as={rights.USER}")
        self.assertEqual(asked.stdout.strip(), "no", "the peer's right to everything has gone")
        self.assertEqual(self.world.get("infrastructureprovider", "aws", "-n", "kept")["metadata"]["generation"], 1)
        self.drop_the_webhooks()
        self.run_block(self.REMOVE)
        self.run_block("The way back", 1, page=PEER_PAGE)
        self.apply_peer("--server-side", "--force-conflicts")
        self.available()
        self.assertEqual(self.ours(), set())
        self.assertEqual(self.world.get("infrastructureprovider", "aws", "-n", "kept")["metadata"]["generation"], 1)

    def from_the_peer(self, *flags):
        self.install_peer(*flags)
        self.leave_the_peer()
        self.install()
        self.drop_the_webhooks()

    @only_full
    def test_from_a_peer_that_helm_installed(self):
        """Helm owns what our manifests leave out."""
        self.from_the_peer("--server-side", "--field-manager=helm")

    @only_full
    def test_from_a_peer_that_was_applied_at_the_client(self):
        """kubectl takes over what an apply at the client has set."""
        self.from_the_peer()


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
        for releases, least in ((rights.RELEASES, 20), (os.environ.get("RELEASES_DIR"), 200)):
            if not releases:
                continue  # a stranger has no vendors' releases
            kinds = self.kinds(releases)
            self.assertGreater(len(kinds), least)
            self.assertEqual({name: path for name, path in kinds.items() if name not in covered}, {})


class Script(unittest.TestCase):
    def test_without_webhooks_nothing_points_to_one(self):
        text = rights.kustomize("no-webhooks")
        self.assertNotIn("capi-operator-webhook-service", text)
        self.assertNotIn("WebhookConfiguration\nmetadata", text)
        self.assertIn("--webhook-port=0", text)
        crds = [item for item in rights.documents(text, "CustomResourceDefinition")]
        self.assertEqual(len(crds), 7)
        for crd in crds:
            self.assertIn("\n  conversion:\n    strategy: None\n", crd)

    def test_the_image_is_the_one_that_is_asked_for(self):
        image = "registry.example.com:5000/team/capi-operator:v9@sha256:" + "0" * 64
        self.assertEqual(rights.kustomize("ha", f"--image={image}").count(f"image: {image}\n"), 1)
        own = rights.kustomize("default")
        self.assertEqual(own.count(f"image: capi-operator:{tree.version()}\n"), 1)

    def test_what_it_refuses(self):
        for arguments, words in (
            (["other"], "'other' is no variant (default, no-webhooks, "),
            (["manifests"], "'manifests' is no variant"),
            (["./none"], "'./none' is no variant"),
            (["--image=a b"], "no reference to an image"),
            (["--image="], "no reference to an image"),
            (["--image=a\nb"], "no reference to an image"),
            (["--image=a:b:c"], "no reference to an image"),
            (["--image=registry.example.com/Upper:v1"], "no reference to an image"),
            (["--image=registry.example.com/a:v1@sha256:0"], "no reference to an image"),
            (["--image=https://registry.example.com/a"], "no reference to an image"),
            (["--image=localhost:5000/a"], "'localhost:5000/a' has neither a tag nor a digest: name one"),
        ):
            with self.subTest(arguments):
                done = rights.run_manifests(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(words, done.stderr)

    def test_an_interruption_is_told_in_a_sentence(self):
        """It was told by a traceback."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number), tempfile.TemporaryDirectory(prefix="manifests-test-") as folder:
                kubectl, runs = (os.path.join(folder, name) for name in ("kubectl", "runs"))
                with open(kubectl, "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\n: >'{runs}'\nexec sleep 60\n")
                os.chmod(kubectl, 0o700)
                done = self.interrupted(number, folder, lambda runs=runs: os.path.exists(runs))
                self.assertEqual(done, (130, "", "\ntools/manifests: interrupted; run it again for the whole text\n"))

    def interrupted(self, number, path, begun):
        """(exit code, standard output, errors) of one that gets a signal once it has begun."""
        environment = dict(os.environ, PATH=path + os.pathsep + os.environ["PATH"])
        command = [os.path.join(TOOLS, "manifests")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
            while not begun():
                self.assertIsNone(run.poll(), "it ended by itself")
                time.sleep(0.01)
            run.send_signal(number)
            out, err = run.communicate(timeout=rights.LIMIT)
            return run.returncode, out, err


if __name__ == "__main__":
    unittest.main()
