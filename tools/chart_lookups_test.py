#!/usr/bin/env python3
"""Tests of what the Helm chart does of its own accord where it finds something in the cluster: it refuses what would lose
somebody a provider, or can't be installed in one step. The cluster is an API server that only answers."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d", "chart.d")]

import answers  # noqa: E402
import chart  # noqa: E402
from chart import KEEP, NAMESPACE, RELEASE  # noqa: E402
from cluster import API_GROUP  # noqa: E402

PROVIDERS = {
    "addonproviders": "AddonProvider",
    "bootstrapproviders": "BootstrapProvider",
    "controlplaneproviders": "ControlPlaneProvider",
    "coreproviders": "CoreProvider",
    "infrastructureproviders": "InfrastructureProvider",
    "ipamproviders": "IPAMProvider",
    "runtimeextensionproviders": "RuntimeExtensionProvider",
}
WITHOUT = {
    "v1": {"namespaces": "Namespace", "configmaps": "ConfigMap", "services": "Service"},
    "apiextensions.k8s.io/v1": {"customresourcedefinitions": "CustomResourceDefinition"},
    "apps/v1": {"deployments": "Deployment"},
}
WITH = WITHOUT | {f"{API_GROUP}/v1alpha2": PROVIDERS}
# Those of the release, and what keeps an object where the release loses it.
OWNED = {"meta.helm.sh/release-name": RELEASE, "meta.helm.sh/release-namespace": NAMESPACE}
OWNED_AND_KEPT = OWNED | {KEEP: "keep"}
CORE = {"core": {"cluster-api": {"version": "v1.12.0"}}}
SELECTOR = {"app.kubernetes.io/name": "capi-operator", "control-plane": "controller-manager"}
NO_WEBHOOKS = {"webhooks": {"enabled": False}}
FIRST = "providers can be installed once the operator runs"


def item(kind, name, namespace=None, annotations=None, **more):
    version = "v1" if kind in WITHOUT["v1"].values() else f"{API_GROUP}/v1alpha2"
    metadata = {"name": name, "annotations": annotations or {}} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def crd(kind, stored, bundle=None, service=None):
    metadata = {"name": f"{kind}providers.{API_GROUP}"}
    found = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata}
    client = {"caBundle": bundle} | ({"service": {"name": service, "namespace": NAMESPACE}} if service else {})
    webhook = {"strategy": "Webhook", "webhook": {"clientConfig": client}}
    return found | {"spec": {"conversion": webhook if bundle else {"strategy": "None"}}, "status": {"storedVersions": stored}}


class Lookups(unittest.TestCase):
    def render(self, objects=(), *flags, kinds=None, values=None, program="helm"):
        """What Helm says of an installation (an upgrade, with that flag) there; "" where it refuses nothing."""
        objects = [item("Namespace", "kube-system"), *objects]
        with tempfile.TemporaryDirectory() as folder:
            server = answers.Answers(WITH if kinds is None else kinds, objects, folder)
            self.addCleanup(server.close)
            # Helm 3 asks for the server's kinds where it has to validate alone.
            ask = ("--dry-run=server", *(["--validate"] if program == "helm-v3" else []))
            arguments = ("template", RELEASE, chart.CHART, "--namespace", NAMESPACE, *ask, *flags)
            done = chart.run(*arguments, program=program, values=values or {}, kubeconfig=server.kubeconfig, home=folder)
        self.assertIn("/version", server.asked, "it looked")
        if "execution error at" in done.stderr:
            return done.stderr
        # The templates are through: Helm goes on to what this server knows nothing of.
        self.assertIn("unable to build kubernetes objects", done.stderr)
        return ""

    def upgrade(self, objects, values, program="helm"):
        return self.render(objects, "--is-upgrade", values=values, program=program)

    def test_providers_come_once_the_operator_runs(self):
        for program in chart.HELMS:
            for kinds in (WITHOUT, WITH):
                with self.subTest(program, kinds=len(kinds)):
                    self.assertIn(FIRST, self.render(kinds=kinds, values=CORE, program=program))
                    self.assertEqual(self.render(kinds=kinds, values=CORE | {"installProviders": False}, program=program), "")
        self.assertIn(FIRST, self.render(kinds=WITHOUT, values=CORE | NO_WEBHOOKS), "the kinds aren't there")
        self.assertEqual(self.render(kinds=WITH, values=CORE | NO_WEBHOOKS), "", "nobody has to answer")
        self.assertEqual(self.upgrade([], CORE), "")
        self.assertEqual(chart.template(CORE).returncode, 0, "who prints all asks no API server")

    def test_nothing_of_the_release_is_lost(self):
        for program in chart.HELMS:
            with self.subTest(program):
                found = [
                    item("Namespace", "capi-system", annotations=OWNED),
                    item("CoreProvider", "cluster-api", "capi-system", OWNED, spec={"additionalManifests": {"name": "more"}}),
                    item("ConfigMap", "more", "capi-system", OWNED),
                    item("AddonProvider", "helm", "a", OWNED),
                ]
                said = self.upgrade(found, CORE | {"installProviders": False}, program)
                self.assertIn("these values leave out what the release has, and Helm would delete it", said)
                commands = [line for line in said.splitlines() if line.startswith("kubectl annotate ")]
                wanted = {
                    f"kubectl annotate namespace capi-system {KEEP}=keep",
                    f"kubectl annotate coreprovider cluster-api -n capi-system {KEEP}=keep",
                    f"kubectl annotate configmap more -n capi-system {KEEP}=keep",
                    f"kubectl annotate addonprovider helm -n a {KEEP}=keep",
                }
                self.assertEqual((set(commands), len(commands)), (wanted, len(wanted)))

    def test_a_provider_is_in_one_namespace(self):
        """One that was implied is named now, and without a namespace would be made in another."""
        implied = item("BootstrapProvider", "kubeadm", "capi-kubeadm-bootstrap-system", OWNED_AND_KEPT)
        named = {"bootstrap": {"kubeadm": {"version": "v1.12.0"}}}
        said = self.upgrade([implied], CORE | named)
        self.assertIn("bootstrap.kubeadm.namespace: BootstrapProvider kubeadm is in namespace capi-kubeadm-bootstrap-system already", said)
        self.assertEqual(self.upgrade([implied], CORE | {"infrastructure": {"docker": {}}}), "")
        self.assertEqual(self.upgrade([item("BootstrapProvider", "talos", "other", OWNED_AND_KEPT)], CORE | named), "")
        self.assertEqual(self.upgrade([implied], CORE | named | {"watchNamespace": "one"}), "", "the other one isn't the operator's")

    def test_no_provider_is_taken_over_that_helm_could_delete_later(self):
        """Helm 4 upgrades a release of Helm 3 as that does, and then writes nothing into an object of a custom kind that it takes
        over, the annotation that keeps it neither. It went with its value, where the chart asked Helm 3 alone for it."""
        core = ("CoreProvider", "cluster-api", "capi-system")
        command = f"kubectl annotate coreprovider cluster-api -n capi-system {KEEP}=keep"
        nobodys = item(*core)
        for program in chart.HELMS:
            for render in (lambda found, program: self.upgrade([found], CORE, program), self.first):
                with self.subTest(program):
                    said = render(nobodys, program)
                    self.assertIn("Helm may take over these providers without what keeps them", said)
                    self.assertEqual([line for line in said.splitlines() if line.startswith("kubectl ")], [command])
        for case, found in (
            ("it is kept", item(*core, {KEEP: "keep"})),
            ("it is the release's, and gets it", item(*core, OWNED)),
            ("it is another one", item("CoreProvider", "other", "capi-system")),
        ):
            with self.subTest(case):
                self.assertEqual(self.upgrade([found], CORE), "")

    def first(self, found, program):
        """An installation in a cluster that has the kinds and a provider."""
        return self.render([found], values=CORE | NO_WEBHOOKS, program=program)

    def test_what_is_no_loss(self):
        core = ("CoreProvider", "cluster-api", "capi-system")
        other = OWNED | {"meta.helm.sh/release-name": "another"}
        for case, found, values in (
            ("it is kept", item(*core, OWNED_AND_KEPT), {}),
            ("it is of another release", item(*core, other), {}),
            ("it is nobody's", item(*core), {}),
            ("it is in the values, too", item(*core, OWNED), CORE),
            ("so is its Namespace", item("Namespace", "capi-system", annotations=OWNED), CORE),
        ):
            with self.subTest(case):
                self.assertEqual(self.upgrade([found], values), "")
        self.assertNotEqual(self.upgrade([item(*core, OWNED)], {}), "")
        self.assertNotEqual(self.upgrade([item("Namespace", "capi-system", annotations=OWNED)], {}), "")

    def test_without_webhooks_nothing_is_left_that_needs_them(self):
        page = 'see docs/install.md, "Change the variant"'
        name = f"infrastructureproviders.{API_GROUP}"
        for case, found, words in (
            ("none", [], ""),
            ("as this variant has them", [crd("infrastructure", ["v1alpha2"])], ""),
            ("v1alpha1", [crd("infrastructure", ["v1alpha1", "v1alpha2"])], f"objects of {name} may be stored as v1alpha1"),
            ("the operator's CA", [crd("infrastructure", ["v1alpha2"], "Q0E=")], f"{name} still names the webhook"),
        ):
            for flags in ((), ("--is-upgrade",)):
                with self.subTest(case, flags=flags):
                    said = self.render(found, *flags, values=NO_WEBHOOKS)
                    self.assertIn(words, said)
                    self.assertEqual(page in said, words != "")
        self.assertEqual(self.render([crd("infrastructure", ["v1alpha1"], "Q0E=")]), "", "with them it may be so")
        others = NO_WEBHOOKS | {"crds": {"install": False}}
        self.assertEqual(self.render([crd("infrastructure", ["v1alpha2"], "Q0E=")], values=others), "", "somebody else's kinds")

    MANAGER = "capi-operator-controller-manager"
    WEBHOOKS = "capi-operator-webhook-service"

    def converter(self, ready, replicas=1, name=MANAGER, labels=SELECTOR):
        """A Deployment."""
        spec = {"replicas": replicas, "template": {"metadata": {"labels": labels | {"pod": "x"}}}}
        return item("Deployment", name, NAMESPACE, apiVersion="apps/v1", spec=spec, status={"readyReplicas": 1} if ready else {})

    def test_what_nobody_converts_is_not_read(self):
        """With a wrong image and objects stored as v1alpha1, `helm upgrade` with the right one failed in the API server's words.
        So it did where the Deployment was deleted; and where it had no replicas, it told a command that changed nothing."""
        core = item("CoreProvider", "cluster-api", "capi-system", OWNED_AND_KEPT)
        old = crd("core", ["v1alpha1", "v1alpha2"], "Q0E=", self.WEBHOOKS)
        service = item("Service", self.WEBHOOKS, NAMESPACE, spec={"selector": SELECTOR})
        image = f"kubectl set image deployment/{self.MANAGER} manager=IMAGE -n {NAMESPACE}"
        scale = f"kubectl scale deployment/{self.MANAGER} --replicas=3 -n {NAMESPACE}"
        anew = f"helm get values {RELEASE} -n {NAMESPACE} -o yaml | helm template {RELEASE} CHART -n {NAMESPACE} --values - "
        anew += "--set installProviders=false | kubectl apply --server-side --force-conflicts -f -"
        others = self.converter(True, name="other", labels={"app": "other"})
        for case, found, state, command in (
            ("its image can't be pulled", [service, self.converter(False), others], "isn't ready", image),
            ("it has no replicas", [service, self.converter(False, replicas=0), others], "has no replicas", scale),
            ("it was deleted", [service, others], "isn't there", anew),
            ("so was its Service", [self.converter(True)], "isn't there", anew),
        ):
            for program in chart.HELMS:
                with self.subTest(case, program=program):
                    said = self.upgrade([core, old, *found], {"replicaCount": 3}, program)
                    words = f"objects of coreproviders.{API_GROUP} may be stored as v1alpha1, and the operator that converts them {state}."
                    self.assertIn(words, said)
                    self.assertEqual([line for line in said.splitlines() if line.startswith(("kubectl ", "helm "))], [command])
        for case, found in (
            ("it is ready", [old, service, self.converter(True)]),
            ("it is another operator", [old, service, self.converter(True, name="cluster-api-operator"), self.converter(False)]),
            ("all are v1alpha2", [crd("core", ["v1alpha2"], "Q0E=", self.WEBHOOKS)]),
            ("it is outside of the cluster", [crd("core", ["v1alpha1", "v1alpha2"], "Q0E=")]),
        ):
            with self.subTest(case):
                self.assertEqual(self.upgrade([core, *found], {}), "")

    def test_no_ca_stays_in_a_kind_that_converts_nothing(self):
        """cert-manager's, of the peer's release: what Helm leaves there the API server doesn't take."""
        said = self.upgrade([crd("addon", ["v1alpha2"], "Q0E="), crd("ipam", ["v1alpha2"])], {})
        self.assertIn("somebody's CA would stay in kinds that convert nothing", said)
        patch = '\'{"spec":{"conversion":{"strategy":"None","webhook":null}}}\''
        commands = [line for line in said.splitlines() if line.startswith("kubectl ")]
        self.assertEqual(commands, [f"kubectl patch crd addonproviders.{API_GROUP} --type=merge -p {patch}"])


if __name__ == "__main__":
    unittest.main()
