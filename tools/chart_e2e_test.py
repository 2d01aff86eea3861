#!/usr/bin/env python3
"""The Helm chart on a real API server, by the real helm: install, upgrade, uninstall and what they never delete, and the
commands of docs/install.md with the operator at work.

Without CAPI_TEST_FULL there are two tests, each with one of the two majors of Helm. Pods are simulated (kwok); where the
operator has to answer, it runs beside them, with the rights that the chart gives it."""

import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d", "chart.d")]

import built  # noqa: E402
import chart  # noqa: E402
import rights  # noqa: E402
from chart import NAMESPACE  # noqa: E402
from cluster import API_GROUP  # noqa: E402
from helm_world import CRDS, DEPLOYMENT, IMAGE, WEBHOOKS, OnAServer, Page, World, with_helm  # noqa: E402
from tiers import only_full  # noqa: E402

CORE_CRD = f"coreproviders.{API_GROUP}"
AGGREGATED = "ClusterRole/capi-operator-providers"
NOBODY_ANSWERS = "failed calling webhook"


class Releases(OnAServer):
    def older(self, folder):
        """The chart as it was before a change of the kinds."""
        path = os.path.join(folder, "chart")
        shutil.copytree(chart.CHART, path)
        crd = os.path.join(path, "files", "crd.yaml")
        with open(crd, encoding="utf-8") as file:
            text = file.read()
        with open(crd, "w", encoding="utf-8") as file:
            file.write(text.replace("Version that is installed.", "In other words."))
        return path

    def column(self):
        (column, *_) = self.world.get("crd", CORE_CRD)["spec"]["versions"][0]["additionalPrinterColumns"]
        return column["description"]

    @only_full
    @with_helm("helm")
    def test_install_upgrade_uninstall(self, program):
        with tempfile.TemporaryDirectory() as folder:
            self.life(program, self.older(folder))

    def life(self, program, older):
        world = self.world
        self.refuses_providers_at_first(program)
        self.assertEqual((world.kinds(), world.ours()), (set(), set()))
        self.install(program, source=older)
        self.assertEqual((world.kinds(), self.column()), (CRDS, "In other words."))
        self.trust_somebody()
        self.upgrades_all_but_providers_while_nobody_answers(program)
        world.must_helm("upgrade", "--set=logLevel=5", program=program)
        self.assertIn("--v=5", world.arguments())
        self.assertEqual(self.column(), "Version that is installed.")
        self.assertEqual(self.trusted(), [self.authority()] * 3, "what the operator writes stays")
        self.assert_live({})
        self.assertIn(AGGREGATED, world.ours())
        world.must_helm("uninstall", "--wait", "--timeout=60s", program=program)
        self.assertEqual((world.ours(), world.kinds()), ({AGGREGATED}, CRDS))
        self.refuses_providers_at_first(program)  # though the kinds are there: nobody answers the webhooks yet
        world.must_helm("install", program=program)
        world.must_helm("uninstall", "--wait", "--timeout=60s", program=program)
        elsewhere = {"namespace": "elsewhere", "release": "other", "program": program}
        self.assertIn("cannot be imported", world.helm("install", "--create-namespace", **elsewhere).stderr)
        world.must_helm("install", "--create-namespace", "--take-ownership", **elsewhere)
        service = world.get("crd", CORE_CRD)["spec"]["conversion"]["webhook"]["clientConfig"]["service"]
        self.assertEqual(service["namespace"], "elsewhere")

    def refuses_providers_at_first(self, program):
        values = {"infrastructure": {"docker": {"version": "v1.12.0"}}}
        done = self.world.helm("install", "--create-namespace", program=program, values=values)
        self.assertIn("add `--set installProviders=false --wait` to this command", done.stderr)

    def upgrades_all_but_providers_while_nobody_answers(self, program):
        values = {"core": {"cluster-api": {"version": "v1.12.0"}}, "logLevel": 4}
        done = self.world.helm("upgrade", program=program, values=values)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(NOBODY_ANSWERS, done.stderr)
        self.assertIn("--v=4", self.world.arguments())
        self.assertEqual(self.world.names("coreproviders", "-A"), set())

    def trust_somebody(self):
        """As the operator does: only the CA, in a kind and in the webhooks."""
        bundle = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": self.authority()}}}}}
        self.world.must("patch", "crd", CORE_CRD, "--type=merge", f"--patch={json.dumps(bundle)}")
        add = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": self.authority()}]
        for kind in WEBHOOKS.split(","):
            (name,) = [item["metadata"]["name"] for item in self.world.get(kind)["items"]]
            self.world.must("patch", kind, name, "--type=json", f"--patch={json.dumps(add)}")

    def trusted(self):
        webhooks = [item["webhooks"][0] for item in self.world.get(WEBHOOKS)["items"]]
        webhooks.append(self.world.get("crd", CORE_CRD)["spec"]["conversion"]["webhook"])
        return [item["clientConfig"].get("caBundle") for item in webhooks]

    @only_full
    @with_helm("helm-v3")
    def test_every_variant(self, program):
        # First the one that has no webhooks: kinds that name one keep it, until somebody takes it out (docs/install.md).
        variants = sorted(chart.VARIANTS, key=lambda name: name != "no-webhooks")
        self.world.certificates()
        self.install(program, values=chart.VARIANTS[variants[0]])
        for variant in variants:
            with self.subTest(variant):
                values = chart.VARIANTS[variant]
                # Where no value is given, Helm would take those of the last release.
                flags = ("--reset-values", "--wait", "--timeout=100s")
                self.world.must_helm("upgrade", *flags, program=program, values=values)
                self.assert_live(values)
                bound = self.world.names("clusterrolebindings", "-l", rights.OUR_LABEL)
                everything = "ClusterRoleBinding/capi-operator-cluster-admin"
                self.assertEqual(everything in bound, variant == "cluster-admin", "what the last one had is gone")
                everywhere = "ClusterRoleBinding/capi-operator-namespace"
                self.assertEqual(everywhere in bound, variant != "single-namespace")


class Providers(OnAServer):
    """Without webhooks and without the operator: what Helm itself does with the objects."""

    OFF = {"webhooks": {"enabled": False}}

    @with_helm("helm")
    def test_none_is_deleted(self, program):
        world = self.world
        self.install(program, values=self.OFF)
        more = {"additionalManifests": {"name": "more", "manifests": "kind: X\n"}}
        two = {"core": {"cluster-api": {"version": "v1.10.4"} | more}, "addon": {"helm": {}}}
        world.must_helm("upgrade", program=program, values=self.OFF | two)
        self.assertEqual(self.there(), {"CoreProvider/cluster-api", "AddonProvider/helm", "ConfigMap/more"})
        one = {"core": {"cluster-api": {"version": "v1.12.0"}}}
        world.must_helm("upgrade", program=program, values=self.OFF | one)
        core = world.get("coreprovider", "cluster-api", "-n", "capi-system")
        self.assertEqual(core["spec"], {"version": "v1.12.0"})
        for verb, values in (("upgrade", self.OFF | {"crds": {"install": False}}), ("uninstall", None)):
            world.must_helm(verb, program=program, values=values)
            self.assertEqual(world.kinds(), CRDS)
            self.assertEqual(self.there(), {"CoreProvider/cluster-api", "AddonProvider/helm", "ConfigMap/more"})
            self.assertLessEqual({"Namespace/capi-system", "Namespace/helm-addon-system"}, world.names("namespaces"))
        world.must_helm("install", program=program, values=self.OFF | one)
        again = world.get("coreprovider", "cluster-api", "-n", "capi-system")
        self.assertEqual(again["metadata"]["uid"], core["metadata"]["uid"])

    def there(self):
        found = self.world.names("coreproviders,addonproviders,infrastructureproviders", "-A")
        return found | (self.world.names("configmaps", "-A") & {"ConfigMap/more"})


class Install(Page):
    PAGE = "With Helm"
    INSTALL, PROVIDERS, LABEL, TO_A_RELEASE, BACK, UNINSTALL, DELETE, REST = range(8)  # the blocks

    @with_helm("helm")
    def test_the_page_from_the_install_to_the_end(self, program):
        self.world.certificates()
        folder, world = self.folder(program), self.world
        self.run_block(folder, self.PAGE, self.INSTALL)
        self.assertEqual(self.image(), IMAGE)
        with self.serving():
            self.run_block(folder, self.PAGE, self.PROVIDERS)
            self.run_block(folder, self.PAGE, self.LABEL)
            self.await_core("v1.12.0")
        self.run_block(folder, self.PAGE, self.UNINSTALL)
        self.assertEqual(world.ours(), {AGGREGATED})
        managers = ("get", "deployment", "capi-controller-manager", "-n", "capi-system")
        self.assertEqual(world.kubectl(*managers).returncode, 0, "what the provider installed runs on")
        self.run_block(folder, self.PAGE, self.INSTALL)
        with self.serving():
            self.run_block(folder, self.PAGE, self.DELETE)
            self.assertNotEqual(world.kubectl(*managers).returncode, 0)
        self.run_block(folder, self.PAGE, self.UNINSTALL)
        self.run_block(folder, self.PAGE, self.REST)
        self.assertEqual((world.ours(), world.kinds()), (set(), set()))

    @only_full
    @with_helm("helm")
    def test_the_page_back_to_the_minor_version_before(self, program):
        """U6: the page had its reader set the lower version alone, which the operator refuses."""
        folder, world = self.folder(program), self.world
        lower = {"core": {"cluster-api": {"version": "v1.11.0"}}}
        with self.installed(program):
            world.must_helm("upgrade", program=program, values=lower)
            self.await_core("v1.11.0")
            self.run_block(folder, self.PAGE, self.PROVIDERS)
            self.await_core("v1.12.0")
            self.run_block(folder, self.PAGE, self.BACK)
            self.await_refusal()
            self.assertEqual(self.core()["status"]["installedVersion"], "v1.12.0")
            self.run_block(folder, "When the release is refused", 0, "docs/upgrades.md")
            self.await_core("v1.11.0")
            self.assertNotIn(f"{API_GROUP}/allow-downgrade", self.core()["metadata"]["annotations"])
            # The next one has to be allowed anew.
            lower["core"]["cluster-api"]["version"] = "v1.10.4"
            world.must_helm("upgrade", "--reset-then-reuse-values", program=program, values=lower)
            self.await_refusal()

    def await_refusal(self):
        refused = "UnsupportedProviderDowngradeReason"
        self.world.until("it is refused", lambda: rights.conditions(self.core()).get("Stalled", {}).get("reason") == refused)

    @only_full
    @with_helm("helm-v3")
    def test_upgrades_of_providers_and_of_the_operator(self, program):
        """A provider's version follows its value; an upgrade of the operator changes nothing of a provider, and keeps the CA."""
        world = self.world
        with self.installed(program):
            for version in ("v1.10.4", "v1.12.0"):
                core = {"core": {"cluster-api": {"version": version}}}
                world.must_helm("upgrade", program=program, values=core)
                self.await_core(version)
            before = self.bundles(), world.get("coreprovider", "cluster-api", "-n", "capi-system")["metadata"]["generation"]
            world.must_helm("upgrade", program=program, values=core | {"logLevel": 5, "replicaCount": 2})
            after = self.bundles(), world.get("coreprovider", "cluster-api", "-n", "capi-system")["metadata"]["generation"]
            self.assertEqual(before, after)
            self.assertNotIn(None, before[0])

    @contextlib.contextmanager
    def installed(self, program):
        """The operator at work, and what its providers need."""
        self.world.certificates()
        self.install(program)
        with self.serving():
            yield

    def bundles(self):
        crds = [self.world.get("crd", CORE_CRD)["spec"]["conversion"]["webhook"]]
        ours = self.world.get(WEBHOOKS, "-l", rights.OUR_LABEL)["items"]  # the core provider has some, too
        webhooks = [webhook for item in ours for webhook in item["webhooks"]]
        return [item["clientConfig"].get("caBundle") for item in crds + webhooks]

    @only_full
    @with_helm("helm")
    def test_a_version_that_the_operator_chose(self, program):
        """Helm 4 applies on the server, where the field is the operator's; Helm 3 doesn't look."""
        world = self.world
        with self.installed(program):
            world.must_helm("upgrade", program=program, values={"core": {"cluster-api": {}}})
            world.until("a version is chosen", lambda: "version" in self.core_spec())
            self.await_core(self.core_spec()["version"])
            other = {"core": {"cluster-api": {"version": "v1.11.0"}}}
            if program == "helm":
                done = world.helm("upgrade", program=program, values=other)
                self.assertIn("conflict", done.stderr)
                world.must_helm("upgrade", "--force-conflicts", program=program, values=other)
            else:
                world.must_helm("upgrade", program=program, values=other)
            self.assertEqual(self.core_spec()["version"], "v1.11.0")

    def core_spec(self):
        return self.core().get("spec", {})

    def core(self):
        return self.world.get("coreprovider", "cluster-api", "-n", "capi-system")

    @only_full
    @with_helm("helm")
    def test_what_kubectl_installed_becomes_a_release(self, program):
        folder, world = self.folder(program), self.world
        world.must("apply", "--server-side", "-f", "-", given=rights.kustomize("default"))
        self.run_block(folder, "Remove the operator and keep the providers", 0)
        self.assertIn("cannot be imported", world.helm("install", program=program).stderr)
        world.must_helm("install", "--take-ownership", program=program)
        self.assert_live({})

    @only_full
    @with_helm("helm")
    def test_a_refusal_has_the_command_that_helps(self, program):
        """Where nobody converts what is stored as v1alpha1. Where the Deployment had no replicas, the command changed nothing, and
        where it was deleted, the API server's words were all that one had."""
        folder, world = self.folder(program), self.world
        self.install(program, values={"logLevel": 5})
        stored = {"status": {"storedVersions": ["v1alpha1", "v1alpha2"]}}
        world.must("patch", "crd", CORE_CRD, "--subresource=status", "--type=merge", f"--patch={json.dumps(stored)}")
        conflicts = ["--force-conflicts"] if program == "helm" else []
        for words, breaks in (
            ("has no replicas", ("scale", *DEPLOYMENT, "--replicas=0")),
            ("isn't there", ("delete", "deployments,services", "-l", rights.OUR_LABEL, "-n", NAMESPACE)),
        ):
            with self.subTest(words):
                world.must(*breaks)
                world.until("nobody converts", lambda: not self.is_ready())
                done = world.helm("upgrade", "--reset-then-reuse-values", *conflicts, program=program)
                self.assertIn(f"the operator that converts them {words}.", done.stderr)
                (command,) = [line for line in done.stderr.splitlines() if line.startswith(("kubectl ", "helm "))]
                self.run_command(folder, command.replace(" CHART ", f" {chart.CHART} "))
                world.must("rollout", "status", *DEPLOYMENT, "--timeout=100s")
                world.must_helm("upgrade", "--reset-then-reuse-values", *conflicts, program=program)
                self.assertIn("--v=5", world.arguments())

    def is_ready(self):
        done = self.world.kubectl("get", *DEPLOYMENT, "-o", "jsonpath={.status.readyReplicas}")
        return done.returncode == 0 and done.stdout not in ("", "0")


class FromARelease(Page):
    """What `make release` wrote, and no checkout."""

    IMAGE = "registry.example.com:5000/released/capi-operator@sha256:" + "0" * 64

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.dist = os.path.join(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="chart-release-")), "dist")
        flags = [f"--{name}={built.find(program)}" for name, program in (("operator", "capi-operator"), ("clusterctl", "clusterctl"))]
        command = [os.path.join(TOOLS, "release"), cls.dist, f"--image={cls.IMAGE}", "--revision=x", *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def file(self, pattern):
        (path,) = glob.glob(os.path.join(self.dist, pattern))
        return path

    @only_full
    def test_its_manifests_are_installed(self):
        with contextlib.closing(World()) as self.world:
            world = self.world
            world.must("apply", "--server-side", "--validate=strict", "-f", self.file("capi-operator-default.yaml"))
            world.must("rollout", "status", *DEPLOYMENT, "--timeout=100s")
            world.await_told("coreproviders")
            self.assertEqual((self.image(), world.kinds()), (self.IMAGE, CRDS))
            world.must("delete", "-f", self.file("capi-operator-crds.yaml"), "--timeout=60s")
            self.assertEqual(world.kinds(), set())

    @only_full
    @with_helm("helm")
    def test_its_chart_is_installed_and_upgrades_another(self, program):
        """An upgrade to the chart of a release kept the image of before, or gave it the digest of the release's image."""
        folder, world, package = self.folder(program), self.world, self.file("capi-operator-*.tgz")
        self.run_block(folder, Install.PAGE, Install.INSTALL)
        said = world.must_helm("upgrade", "--reset-then-reuse-values", "--set=logLevel=5", program=program, source=package)
        self.assertEqual(self.image(), IMAGE)
        self.assertIn(f"and not that of this chart, {self.IMAGE}.\n", said)
        for run in ("first", "again"):
            with self.subTest(run):
                _, said = self.run_block(folder, Install.PAGE, Install.TO_A_RELEASE, CHART=package)
                self.assertEqual((self.image(), world.kinds()), (self.IMAGE, CRDS))
                self.assertNotIn("not that of this chart", said)
                self.assertIn("--v=5", world.arguments())
        world.must_helm("uninstall", "--wait", "--timeout=60s", program=program)
        self.install(program, source=package)
        self.assertEqual(self.image(), self.IMAGE)


if __name__ == "__main__":
    unittest.main()
