#!/usr/bin/env python3
"""Upgrades by clusterctl on a real control plane, with the real operator as a process, and the plan beside Cluster API's own
clusterctl (L12, L13, L14)."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import unittest  # noqa: E402

import built  # noqa: E402
import in_cluster  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402

# Kind, name, namespace, label of the release, components file.
CORE = ("CoreProvider", "cluster-api", "capi-system", "cluster-api", "core-components.yaml")
BOOTSTRAP = ("BootstrapProvider", "kubeadm", "kubeadm-system", "bootstrap-kubeadm", "bootstrap-components.yaml")
AWS = ("InfrastructureProvider", "aws", "capa-system", "infrastructure-aws", "infrastructure-components.yaml")
PROVIDER = """
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: {0}
metadata: {{name: {1}, namespace: {2}}}
spec: {{version: {version}{more}}}
"""
# Kind, name, label, version of further ones, which nobody has but clusterctl's inventory. With those above they are ten.
OTHERS = [
    ("ControlPlaneProvider", "kubeadm", "control-plane-kubeadm", "v1.11.0"),
    ("InfrastructureProvider", "docker", "infrastructure-docker", "v1.11.0"),
    ("InfrastructureProvider", "gcp", "infrastructure-gcp", "v1.12.0"),
    ("InfrastructureProvider", "kubevirt", "infrastructure-kubevirt", "v0.11.2"),
    ("InfrastructureProvider", "metal3", "infrastructure-metal3", "v1.11.8"),
    ("InfrastructureProvider", "openstack", "infrastructure-openstack", "v0.14.7"),
    ("IPAMProvider", "in-cluster", "ipam-in-cluster", "v1.0.3"),
]
UNKNOWN = ("InfrastructureProvider", "mine", "infrastructure-mine", "v1.0.0")
RECORD = """\
---
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Provider
metadata: {{name: {2}, namespace: default}}
providerName: {1}
type: {0}
version: {3}
"""
# What clusterctl puts on cert-manager, by the version.
LABELS = ("clusterctl.cluster.x-k8s.io/core=cert-manager", "clusterctl.cluster.x-k8s.io=")
VERSION = "cert-manager.clusterctl.cluster.x-k8s.io/version"
FORMER, NEWER = "v1.19.1", "v1.20.2"
NOWHERE = "nodeSelector: {kubernetes.io/os: nowhere}, "
# What the newer one no longer has.
GONE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cert-manager-webhook, namespace: cert-manager}\n---\n"
# What only the new release of aws asks for, in the local repository of this test.
NEEDED, VALUE = "AWS_NEEDED_FROM_NOW_ON", "s3cret-value-of-aws"


class World(rights.World):
    def __init__(self):
        super().__init__()
        self.have_cert_managers_kinds()
        (programs,) = {plan.link_folder(["clusterctl"])}
        self.programs = {"ours": built.find("clusterctl"), "theirs": os.path.join(programs, "clusterctl")}
        self.folder = tempfile.mkdtemp(prefix="clusterctl-upgrade-test-")
        self.config = os.path.join(self.folder, "clusterctl.yaml")
        self.fill_folder()

    def close(self):
        super().close()
        if getattr(self, "folder", None):
            shutil.rmtree(self.folder, ignore_errors=True)

    def fill_folder(self):
        """A local repository with the tree's releases; the newest of aws asks for one variable more."""
        entries = []
        all_of_them = [(kind, name, label, file) for kind, name, _, label, file in (CORE, BOOTSTRAP, AWS)]
        all_of_them += [(kind, name, label, "x.yaml") for kind, name, label, _ in OTHERS]
        for kind, name, label, file in all_of_them:
            shutil.copytree(os.path.join(rights.RELEASES, label), os.path.join(self.folder, label))
            entries.append(f"- {{name: {name}, type: {kind}, url: {self.folder}/{label}/latest/{file}}}\n")
        with open(os.path.join(self.folder, AWS[3], "v2.11.1", AWS[4]), "a", encoding="utf-8") as file:
            text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: more, namespace: {AWS[2]}}}\ndata: {{x: '${{{NEEDED}}}'}}\n"
            file.write("---\n" + text)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("providers:\n" + "".join(entries))

    def cert_manager(self, version, **more):
        """The place of its manifests; nobody waits long for it."""
        place = in_cluster.write_cert_manager(self.folder, version, **more)
        with open(self.config, encoding="utf-8") as file:
            before = file.read().partition("cert-manager: {")[0]
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"{before}cert-manager: {{url: {place}, version: {version}, timeout: 10s}}\n")
        return place

    def install_as_clusterctl(self, place, version):
        """The kinds are there; all else is made by plain writes of clusterctl's."""
        text, objects = self.must("label", "--local", "-o", "json", "-f", place, *LABELS), {True: [], False: []}
        while text := text.strip():
            item, end = json.JSONDecoder().raw_decode(text)
            item["metadata"].setdefault("annotations", {})[VERSION] = version
            objects[item["kind"] == "CustomResourceDefinition"].append(json.dumps(item))
            text = text[end:]
        self.must("apply", "--server-side", "--force-conflicts", "--field-manager=clusterctl", "-f", "-", given="".join(objects[True]))
        self.must("create", "--field-manager=clusterctl", "-f", "-", given="".join(objects[False]))

    def version_of(self, provider):
        return self.plane.api.get(rights.provider_path(*provider[:3])) or {}

    def is_ready(self, provider, version):
        item = self.version_of(provider)
        ready = rights.conditions(item).get("Ready", {}).get("status") == "True"
        return ready and item["status"].get("installedVersion") == version

    def add(self, provider, version, more=""):
        self.must("create", "namespace", provider[2])
        if more:
            self.must("create", "secret", "generic", "variables", "-n", provider[2], "--from-literal=AWS_B64ENCODED_CREDENTIALS=bm9uZQ==")
        self.must("apply", "-f", "-", given=PROVIDER.format(*provider, version=version, more=more))

    def await_ready(self, *pairs):
        words = lambda: self.must("get", "capi-providers", "-A")  # noqa: E731
        self.until(f"{pairs} are Ready", lambda: all(self.is_ready(*pair) for pair in pairs), words=words)

    def all_objects(self):
        """All that a dry run could have written, with the versions of the objects: of providers without what the operator says."""

        def written(item):
            told = {key: value for key, value in item["metadata"].items() if key not in ("resourceVersion", "managedFields")}
            return json.dumps([item["spec"], told]) if "spec" in item else item["metadata"]["resourceVersion"]

        kinds = ("capi-providers", "configmaps", "secrets")
        items = [item for kind in kinds for item in self.get(kind, "-A")["items"]]
        return {(item["kind"], item["metadata"]["namespace"], item["metadata"]["name"], written(item)) for item in items}

    def environment(self, more):
        base = {"PATH": "/usr/bin:/bin", "HOME": self.folder, "CLUSTERCTL_DISABLE_VERSIONCHECK": "true", "GOPROXY": "off"}
        return {**base, "KUBECONFIG": self.plane.kubeconfig, **more}

    def clusterctl(self, *arguments, which="ours", **more):
        """(exit code, what it printed, its errors)"""
        command = [self.programs[which], *arguments, "--config", self.config]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=self.environment(more), timeout=rights.LIMIT, stdin=subprocess.DEVNULL
        )
        return done.returncode, done.stdout, done.stderr


class Upgrades(rights.OnAServer):
    WORLD = World

    def ours(self, *arguments, **more):
        """What it printed, and said, of a command that goes well."""
        code, out, errors = self.world.clusterctl(*arguments, **more)
        self.assertEqual(code, 0, (arguments, out, errors, self.world.last_words()))
        self.assertNotIn(VALUE, out + errors)
        return out, errors

    def refused(self, words, *arguments, **more):
        code, _, errors = self.world.clusterctl(*arguments, **more)
        self.assertEqual(code, 1, errors)
        self.assertIn(words, errors)

    def test_from_v1alpha4_to_v1beta2_and_back(self):
        """One story, as each step needs what the one before made."""
        world = self.world
        world.apply_manifests("no-webhooks")
        world.start_operator()
        for provider in (CORE, BOOTSTRAP):
            world.add(provider, "v0.4.2")
        world.await_ready((CORE, "v0.4.2"), (BOOTSTRAP, "v0.4.2"))
        self.change_of_contract()
        self.without_a_pause()
        self.plans()
        self.dry_run_and_missing_variable()
        self.all_of_a_contract()
        self.cert_manager()
        self.interrupted()
        self.the_way_back()

    def change_of_contract(self):
        """All are paused meanwhile, and come back."""
        world = self.world
        self.refused("Please include the kubeadm-system/bootstrap-kubeadm provider", "upgrade", "apply", "--core", "cluster-api:v1.1.5")
        self.refused("can't skip more than 3 versions", "upgrade", "apply", "--core", "cluster-api:v1.12.0", "--bootstrap", "kubeadm:v1.12.0")
        words = ("upgrade", "apply", "--core", "cluster-api:v1.1.5", "--bootstrap", "kubeadm-system/kubeadm:v1.1.5")
        out, _ = self.ours(*words, "--dry-run")
        self.assertIn("at zero replicas", out)
        self.assertIn("CoreProvider capi-system/cluster-api: v0.4.2 -> v1.1.5, contract v1alpha4 -> v1beta1", out)
        _, errors = self.ours(*words, "--wait-providers")
        for text in ('Pausing provider="cluster-api"', 'Unpausing provider="bootstrap-kubeadm"', "BootstrapProvider kubeadm-system/kubeadm: v1.1.5, ready"):
            self.assertIn(text, errors)
        world.await_ready((CORE, "v1.1.5"), (BOOTSTRAP, "v1.1.5"))
        for provider in (CORE, BOOTSTRAP):
            item = world.version_of(provider)
            self.assertFalse(item["spec"].get("paused", False))
            self.assertNotIn("operator.cluster.x-k8s.io/paused-for-upgrade", item["metadata"].get("annotations", {}))

    def without_a_pause(self):
        """v1beta1 to v1beta2 is a matter of order, which the operator keeps."""
        for version in ("v1.8.0", "v1.11.0"):
            _, errors = self.ours("upgrade", "apply", "--core", f"cluster-api:{version}", "-b", f"kubeadm:{version}", "--wait-providers")
            self.assertNotIn("Pausing", errors)
        self.world.await_ready((CORE, "v1.11.0"), (BOOTSTRAP, "v1.11.0"))

    def plans(self):
        """The tables are Cluster API's; a line about the operator comes first."""
        world = self.world
        world.add(AWS, "v2.0.2", more=", configSecret: {name: variables}")
        world.await_ready((AWS, "v2.0.2"))
        out, _ = self.ours("upgrade", "plan")
        code, theirs, errors = world.clusterctl("upgrade", "plan", which="theirs")
        self.assertEqual(code, 0, errors)
        first, _, rest = out.partition("\n\n")
        self.assertIn("capi-operator-system/", first)
        self.assertEqual(rest, theirs)
        self.assertIn("clusterctl upgrade apply --contract v1beta2", rest)
        self.ten_providers()
        world.must("apply", "-f", "-", given=RECORD.format(*UNKNOWN))
        out, errors = self.ours("upgrade", "plan")
        self.assertRegex(out, r"infrastructure-mine +default +InfrastructureProvider +v1.0.0 +Unknown")
        self.assertIn("Warning: default/infrastructure-mine: its versions can't be told", errors)
        self.assertEqual(world.clusterctl("upgrade", "plan", which="theirs")[0], 1)
        world.must("delete", "providers.clusterctl.cluster.x-k8s.io", "infrastructure-mine", "-n", "default")

    def ten_providers(self):
        world = self.world
        records = "".join(RECORD.format(*other) for other in OTHERS)
        world.must("apply", "-f", "-", given=records)
        took = {}
        for which in ("ours", "theirs"):
            begin = time.monotonic()
            code, took[which, "out"], errors = world.clusterctl("upgrade", "plan", which=which)
            took[which] = time.monotonic() - begin
            self.assertEqual(code, 0, errors)
        self.assertEqual(took["ours", "out"].partition("\n\n")[2], took["theirs", "out"])
        print(f"a plan of ten providers: {took['ours']:.2f} s, Cluster API's {took['theirs']:.2f} s", file=sys.stderr)
        world.must("delete", "-f", "-", given=records)

    def dry_run_and_missing_variable(self):
        world = self.world
        before = world.all_objects()
        self.refused(f"value for variables [{NEEDED}] is not set", "upgrade", "apply", "--contract", "v1beta2")
        out, _ = self.ours("upgrade", "apply", "--contract", "v1beta2", "--dry-run", **{NEEDED: VALUE})
        self.assertIn("InfrastructureProvider capa-system/aws: v2.0.2 -> v2.11.1, contract v1beta1\n", out)
        self.assertIn(f"  Secret capa-system/variables gets {NEEDED}\n", out)
        self.assertIn("  + ConfigMap/capa-system/more\n", out)
        self.assertEqual(world.all_objects(), before)

    def all_of_a_contract(self):
        world = self.world
        self.ours("upgrade", "apply", "--contract", "v1beta2", "--wait-providers", **{NEEDED: VALUE})
        world.await_ready((CORE, "v1.12.0"), (BOOTSTRAP, "v1.12.0"), (AWS, "v2.11.1"))
        secret = world.get("secret", "variables", "-n", AWS[2])["data"]
        self.assertEqual(base64.b64decode(secret[NEEDED]).decode(), VALUE)
        self.assertIn("AWS_B64ENCODED_CREDENTIALS", secret)
        self.assertEqual(world.get("configmap", "more", "-n", AWS[2])["data"]["x"], VALUE)
        self.assertIn("You are already up to date!", self.ours("upgrade", "apply", "--contract", "v1beta2")[1])

    def both_plan(self, first):
        """Both begin with what is to be done about cert-manager."""
        code, theirs, errors = self.world.clusterctl("upgrade", "plan", which="theirs")
        self.assertEqual(code, 0, errors)
        ours = self.ours("upgrade", "plan")[0]
        self.assertEqual((theirs.partition("\n")[0], ours.partition("\n")[0]), (first, first))

    def cert_manager(self):
        """One that clusterctl installed is upgraded first, in place: who has Certificates keeps them."""
        world = self.world
        former = world.cert_manager(FORMER, container=", env: [{name: FORMER, value: x}]", more=GONE)
        world.install_as_clusterctl(former, FORMER)
        self.both_plan("Cert-Manager is already up to date")
        certificates = lambda: {item["metadata"]["uid"] for item in world.get("certificates.cert-manager.io", "-A")["items"]}  # noqa: E731
        before = certificates()
        self.assertTrue(before)
        world.cert_manager(NEWER, pod=NOWHERE)
        told = f'Cert-Manager will be upgraded from "{FORMER}" to "{NEWER}"'
        self.both_plan(told)
        apply = ("upgrade", "apply", "--contract", "v1beta2")
        self.assertEqual(self.ours(*apply, "--dry-run")[0], f"{told}\nThis was a dry run: nothing was written.\n")
        deployment = lambda: world.get("deployment", "cert-manager", "-n", "cert-manager")  # noqa: E731
        self.assertIn(f"controller:{FORMER}", json.dumps(deployment()["spec"]))
        # The old pods answer. What they need stays, and the next run doesn't take it for done.
        self.refused(f"cert-manager {NEWER} doesn't come up", *apply)
        gone = lambda: world.kubectl("get", "configmap", "cert-manager-webhook", "-n", "cert-manager").returncode  # noqa: E731
        self.assertEqual(gone(), 0)
        self.assertIn(f'to "{NEWER}"', self.ours("upgrade", "plan")[0].partition("\n")[0])
        world.cert_manager(FORMER)
        self.refused(f"cert-manager {NEWER}, which clusterctl installed, is there in part", *apply)
        world.cert_manager(NEWER)
        _, errors = self.ours(*apply)
        self.assertEqual(errors, f'Installing cert-manager version="{NEWER}"\nWaiting for cert-manager to be available...\n')
        self.assertIn(f"controller:{NEWER}", json.dumps(deployment()["spec"]))
        self.assertNotIn("FORMER", json.dumps(deployment()["spec"]))
        self.assertEqual(deployment()["metadata"]["annotations"][VERSION], NEWER)
        self.assertEqual(gone(), 1)
        self.assertEqual(certificates(), before)
        self.both_plan("Cert-Manager is already up to date")
        self.assertIn("You are already up to date!", self.ours(*apply)[1])
        # Somebody has applied a newer one over it since; then Helm has taken it over.
        world.must("label", "--overwrite", "deployment", "cert-manager", "-n", "cert-manager", "app.kubernetes.io/version=v1.22.0")
        world.cert_manager("v1.21.0")
        self.assertIn("v1.22.0 runs, which is newer than the v1.21.0 of the configuration", self.ours(*apply)[1])
        world.must("annotate", "deployment", "cert-manager", "-n", "cert-manager", "meta.helm.sh/release-name=mine")
        world.cert_manager("v1.21.0")
        self.assertIn("cert-manager stays as it is, though clusterctl installed it once: it is Helm's release mine", self.ours(*apply)[1])
        self.assertIn(f"controller:{NEWER}", json.dumps(deployment()["spec"]))

    def interrupted(self):
        """Nobody carries it out: Ctrl-C says what goes on, and the same command goes on with it."""
        world = self.world
        world.stop_operator()
        command = [world.programs["ours"], "rollback", "bootstrap-kubeadm", "--yes", "--config", world.config]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=world.environment({}), stdin=subprocess.DEVNULL)
        for line in process.stderr:
            if line.startswith("Rolling back "):
                break
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=rights.LIMIT)[1]
        self.assertEqual(process.returncode, 1)
        self.assertIn("Error: interrupted; the operator goes on with what was written", errors)
        self.assertIn("clusterctl why bootstrap-kubeadm", errors)
        again = "clusterctl rollback bootstrap-kubeadm -n kubeadm-system --to-version v1.11.0 --yes"
        self.assertIn(again, errors)
        world.start_operator()
        self.ours(*again.split()[1:])
        world.await_ready((BOOTSTRAP, "v1.11.0"))

    def the_way_back(self):
        world = self.world
        item = world.version_of(BOOTSTRAP)
        self.assertNotIn("operator.cluster.x-k8s.io/allow-downgrade", item["metadata"].get("annotations", {}))
        self.refused("nobody can be asked here; with --yes it is done", "rollback", "cluster-api")
        self.refused("use clusterctl rollback", "upgrade", "apply", "--core", "cluster-api:v1.11.0")
        self.refused("objects of", "rollback", "cluster-api", "--to-version", "v0.4.2", "--yes")


if __name__ == "__main__":
    unittest.main()
