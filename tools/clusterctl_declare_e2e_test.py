#!/usr/bin/env python3
"""lint, convert, adopt and diff on a real API server, with providers that Cluster API's own clusterctl installed, and the real
operator, which takes them over (L18 to L21, A1)."""

import json
import os
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import cluster  # noqa: E402
import pages  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402
import worlds  # noqa: E402
from tree import WithFolder  # noqa: E402

OLD, NEW = "v1.11.0", "v1.12.0"
# Type, name, version, flag of init, the folder and the file of its release.
PROVIDERS = [
    ("CoreProvider", "cluster-api", OLD, "--core", "cluster-api", "core-components.yaml"),
    ("BootstrapProvider", "kubeadm", OLD, "--bootstrap", "bootstrap-kubeadm", "bootstrap-components.yaml"),
    ("ControlPlaneProvider", "kubeadm", OLD, "--control-plane", "control-plane-kubeadm", "control-plane-components.yaml"),
    ("InfrastructureProvider", "aws", "v2.11.1", "--infrastructure", "infrastructure-aws", "infrastructure-components.yaml"),
    ("IPAMProvider", "in-cluster", "v9.9.9", "--ipam", "ipam-in-cluster", "ipam-components.yaml"),
]
# The commands of the page, without the program's name.
DRY_RUN, ADOPT, CONVERT = (
    line.split()[1:] for block in pages.blocks("Hand a cluster over to the operator", "docs/clusterctl.md", "bash") for line in block.splitlines()
)
# A provider of the tests' own: HIDDEN stands nowhere in the cluster.
OWN = """\
apiVersion: v1
kind: Namespace
metadata: {name: own-system}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: own, namespace: own-system}
data: {shown: "${SHOWN}"}
# ${HIDDEN}
"""
OWN_METADATA = """\
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{major: 9, minor: 9, contract: v1beta2}]
"""
# What the API server refuses by the kind's schema, in words that lint has, too.
MISTAKES = {
    "{colour: red}": 'unknown field "spec.colour"',
    "{deployment: {containers: [{name: a, imag: b}]}}": 'unknown field "spec.deployment.containers[0].imag"',
    "{version: 1}": "spec.version in body must be of type string",
    "{rollout: {onFailure: Wait}}": 'spec.rollout.onFailure: Unsupported value: "Wait": supported values: "Hold", "Rollback"',
    "{rollout: {timeout: soon}}": "spec.rollout.timeout in body should match",
    "{manager: {verbosity: -1}}": "spec.manager.verbosity in body should be greater than or equal to 0",
    "{configSecret: {namespace: a}}": "spec.configSecret.name: Required value",
    "{fetchConfig: {digest: ''}}": "Must specify one and only one of {oci, url, selector, git}",
    "{patches: [], manifestPatches: []}": "Cannot set both 'patches' and 'manifestPatches'",
    "{configSecret: {name: null}}": "spec.configSecret.name: Required value",
    "{deployment: {containers: [null]}}": "spec.deployment.containers[0] in body must be of type object",
    "{deployment: {containers: [{name: a}, {name: a}]}}": "spec.deployment.containers[1]: Duplicate value",
}
PROVIDER = "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvider\nmetadata: {{name: cluster-api, namespace: default}}\nspec: {}\n"
VALUES = {"AWS_B64ENCODED_CREDENTIALS": "c2VzYW1l", "SHOWN": "open", "HIDDEN": "cave"}


class World(rights.World):
    def __init__(self):
        super().__init__()
        (programs,) = {plan.link_folder(["clusterctl"])}
        self.programs = {"ours": built.find("clusterctl"), "theirs": os.path.join(programs, "clusterctl")}
        self.plane.api.create_crds(cluster.documents([*plan.have(["crds"]), *cluster.own_crds()]))

    def start_on(self, releases):
        fixed = ["--diagnostics-address=0", "--health-addr=0", "--webhook-port=0", f"--releases-dir={releases}"]
        self.run_operator([built.find("capi-operator"), f"--kubeconfig={self.plane.kubeconfig}", *fixed])

    def deployments(self):
        """What a restart would change, of each."""
        items = self.get("deployments", "-A")["items"]
        return {item["metadata"]["name"]: (item["metadata"]["uid"], item["metadata"]["generation"], item["spec"]["template"]) for item in items}

    def providers(self):
        return self.get("capi-providers", "-A")["items"]

    def all_ready(self):
        return all(rights.conditions(item).get("Ready", {}).get("status") == "True" for item in self.providers())

    def states(self):
        return "\n".join(f"{item['metadata']['name']}: {rights.conditions(item).get('Ready')}" for item in self.providers())


class Declared(WithFolder, worlds.OnAWorld):
    WORLD = World

    def setUp(self):
        super().setUp()
        self.start_world()
        self.addCleanup(self.world.end_operator)
        self.releases = os.path.join(self.folder, "releases")
        shutil.copytree(rights.RELEASES, self.releases)
        shutil.rmtree(os.path.join(self.releases, "ipam-in-cluster"))
        self.write("releases/ipam-in-cluster/v9.9.9/ipam-components.yaml", OWN)
        self.write("releases/ipam-in-cluster/v9.9.9/metadata.yaml", OWN_METADATA)
        entries = [f"- {{name: {name}, type: {kind}, url: {self.releases}/{label}/latest/{file}}}\n" for kind, name, _, _, label, file in PROVIDERS]
        self.config = self.write("clusterctl.yaml", "providers:\n" + "".join(entries))

    def run_one(self, which, *arguments, given=None, **variables):
        """(exit code, what it printed, its errors)"""
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder, "KUBECONFIG": self.world.plane.kubeconfig, **variables}
        environment.update(CLUSTERCTL_DISABLE_VERSIONCHECK="true", GOPROXY="off")
        command = [self.world.programs[which], arguments[0], "--config", self.config, *arguments[1:]]
        done = subprocess.run(command, input=given or "", capture_output=True, text=True, check=False, env=environment, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def ours(self, *arguments, code=0, **more):
        """What it printed, and its errors."""
        done = self.run_one("ours", *arguments, **more)
        self.assertEqual(done[0], code, f"{arguments}\n{done[1][-3000:]}{done[2]}")
        return done[1:]

    def test_from_clusterctl_to_git_and_to_the_operator(self):
        """One story, as each step needs what the one before made."""
        words = ["init", *(f"{flag}={name}:{version}" for _, name, version, flag, _, _ in PROVIDERS)]
        done = self.run_one("theirs", *words, **VALUES)
        self.assertEqual(done[0], 0, done)
        self.nothing_is_adopted_yet()
        self.mistakes_that_the_server_refuses()
        self.files_for_git()
        self.what_is_missing_is_told_first()
        self.the_operator_takes_them_over()
        self.differences()

    def nothing_is_adopted_yet(self):
        _, errors = self.ours("diff", "aws", code=2)
        self.assertIn('there is no provider "aws"', errors)

    def mistakes_that_the_server_refuses(self):
        """L19."""
        for spec, words in MISTAKES.items():
            refused = self.world.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", given=PROVIDER.format(spec))
            self.assertNotEqual(refused.returncode, 0, spec)
            self.assertIn(words, refused.stderr)
            out, _ = self.ours("lint", "-", code=1, given=PROVIDER.format(spec))
            self.assertIn(words, out)

    def files_for_git(self):
        """L20: the files pass lint, and the server takes them strictly. Values aren't in them."""
        folder = os.path.join(self.folder, "git", "providers")
        out, errors = self.ours(*CONVERT[:-1], folder)
        self.assertEqual(len(out.splitlines()), len(os.listdir(folder)))
        self.assertIn("which the operator doesn't read", errors)
        out, _ = self.ours("lint", "--strict", folder)
        self.assertEqual({line.rsplit(" ", 1)[1] for line in out.splitlines()}, {"[secret-elsewhere]"}, out)
        taken = self.world.must("apply", "--server-side", "--dry-run=server", "--validate=strict", "-k", folder)
        self.assertEqual(taken.count("serverside-applied"), 2 * len(PROVIDERS), taken)
        written = "\n".join(cluster.documents([os.path.join(folder, name) for name in os.listdir(folder)]))
        self.assertIn('--from-literal=AWS_B64ENCODED_CREDENTIALS="$AWS_B64ENCODED_CREDENTIALS"', written)
        for value in VALUES.values():
            self.assertNotIn(f" {value}", written)
        _, errors = self.ours("convert", "--output-dir", folder, code=1)
        self.assertIn("isn't empty", errors)
        text, _ = self.ours("convert")
        self.assertEqual(self.world.must("apply", "--dry-run=server", "--validate=strict", "-f", "-", given=text).count("dry run"), 2 * len(PROVIDERS))

    def what_is_missing_is_told_first(self):
        """L21: nothing is written before it is known that everything can be."""
        _, errors = self.ours("adopt", "--all", code=1)
        self.assertIn("in-cluster can't be adopted: the values of [HIDDEN] stand in no object", errors)
        self.assertEqual(self.world.providers(), [])
        _, errors = self.ours("adopt", "docker", code=1)
        self.assertIn('clusterctl installed no provider "docker"', errors)
        out, _ = self.ours("adopt", "--all", "--dry-run", HIDDEN="cave")
        self.assertEqual(out.count("\nkind: "), len(PROVIDERS))
        self.assertNotIn("Y2F2ZQ", out)  # the value, as a Secret has it
        self.assertEqual(self.world.providers(), [])
        self.a_secret_that_does_not_fit()

    def a_secret_that_does_not_fit(self):
        """L21: it isn't used in silence, nor changed."""
        entries = self.world.get("providers.clusterctl.cluster.x-k8s.io", "-A")["items"]
        (namespace,) = (item["metadata"]["namespace"] for item in entries if item["providerName"] == "aws")
        where = ["secret", "infrastructure-aws-variables", "-n", namespace]
        for key, words in (("OTHER", "lacks the keys"), ("AWS_B64ENCODED_CREDENTIALS", "has other values than are needed under")):
            self.world.must("create", "secret", "generic", *where[1:], f"--from-literal={key}=b3BlbgX")
            before = self.world.get(*where)
            for flags in ([], ["--dry-run"]):
                out, errors = self.ours("adopt", "--all", *flags, code=1, HIDDEN="cave")
                self.assertIn(f"Secret {namespace}/infrastructure-aws-variables is there already, and {words} [AWS_B64ENCODED_CREDENTIALS]", errors)
                for value in (VALUES["AWS_B64ENCODED_CREDENTIALS"], "b3BlbgX"):
                    self.assertNotIn(value, out + errors)
            self.assertEqual(self.world.get(*where), before)
            self.world.must("delete", *where)
        self.assertEqual(self.world.providers(), [])

    def the_operator_takes_them_over(self):
        """A1: nothing that runs is changed."""
        # L21: of one release only the override of this machine is what runs; the operator finds another one.
        self.write(".config/cluster-api/overrides/ipam-in-cluster/v9.9.9/ipam-components.yaml", OWN)
        self.write("releases/ipam-in-cluster/v9.9.9/ipam-components.yaml", OWN.replace("{shown:", "{more: x, shown:"))
        before = self.world.deployments()
        out, _ = self.ours(*DRY_RUN, HIDDEN="cave")
        self.assertIn("# Its release is put into ConfigMap own-system/ipam-in-cluster-v9.9.9, too.\n", out)
        out, _ = self.ours(*ADOPT, HIDDEN="cave")
        self.assertIn("CoreProvider capi-system/cluster-api created at v1.11.0\n", out.splitlines(True)[0])
        secret = self.world.get("secret", "ipam-in-cluster-variables", "-n", "own-system")
        self.assertEqual(sorted(secret["data"]), ["HIDDEN", "SHOWN"])
        (owner,) = self.world.get("configmap", "ipam-in-cluster-v9.9.9", "-n", "own-system")["metadata"]["ownerReferences"]
        self.assertEqual((owner["kind"], owner["name"]), ("IPAMProvider", "in-cluster"))
        self.world.start_on(self.releases)
        self.world.until("all are taken over", self.world.all_ready, words=self.world.states)
        self.assertEqual(self.world.deployments(), before)
        installed = {item["metadata"]["name"]: item["status"]["installedVersion"] for item in self.world.providers()}
        self.assertEqual(installed, {name: version for _, name, version, *_ in PROVIDERS})
        self.assertIn("AWS_B64ENCODED_CREDENTIALS", self.world.get("secret", "infrastructure-aws-variables", "-n", self.aws_namespace())["data"])
        out, _ = self.ours("adopt", "--all")
        self.assertEqual(out, "every provider is adopted already\n")
        out, _ = self.ours("adopt", "cluster-api")
        self.assertIn("is there already", out)

        # L20: and what is written of the objects is what they are.
        text, _ = self.ours("convert")
        self.world.must("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", given=text)
        self.assertEqual(self.ours("diff", "-f", "-", given=text)[0], "")
        self.assertIn("--from-literal=HIDDEN=", text)

    def aws_namespace(self):
        (found,) = (item["metadata"]["namespace"] for item in self.world.providers() if item["metadata"]["name"] == "aws")
        return found

    def differences(self):
        """L18, before an upgrade and after it; what somebody changed; a file; a Secret."""
        for name in ("cluster-api", "kubeadm", "aws", "in-cluster"):
            self.assertEqual(self.ours("diff", name), ("", ""), name)
        out, _ = self.ours("diff", f"cluster-api:{NEW}", code=1)
        self.assertIn("diff -u -N LIVE/apps.v1.Deployment.capi-system.capi-controller-manager MERGED/", out)
        self.assertRegex(out, rf"(?m)^\+.*image: .*:{NEW}$")
        self.assertNotIn("managedFields", out)
        provider = self.world.get("coreprovider", "cluster-api", "-n", "capi-system")
        file = {key: provider[key] for key in ("apiVersion", "kind")}
        file["metadata"] = {key: provider["metadata"][key] for key in ("name", "namespace")}
        file["spec"] = {"version": NEW}
        given, _ = self.ours("diff", "-f", "-", code=1, given=json.dumps(file))
        self.assertEqual(given, out)
        self.world.must("patch", "coreprovider", "cluster-api", "-n", "capi-system", "--type=merge", "-p", json.dumps({"spec": {"version": NEW}}))
        version = lambda: self.world.get("coreprovider", "cluster-api", "-n", "capi-system")["status"]["installedVersion"]  # noqa: E731
        self.world.until("the upgrade is done", lambda: version() == NEW and self.world.all_ready(), words=self.world.states)
        self.assertEqual(self.ours("diff", "cluster-api"), ("", ""))
        self.world.end_operator()
        value = {"stringData": {"AWS_B64ENCODED_CREDENTIALS": "b3RoZXI="}}
        self.world.must("patch", "secret", "infrastructure-aws-variables", "-n", self.aws_namespace(), "--type=merge", "-p", json.dumps(value))
        out, _ = self.ours("diff", "aws", code=1)
        self.assertRegex(out, r"(?m)^-  credentials: '\*\*\* \(before\)'$")
        self.assertRegex(out, r"(?m)^\+  credentials: '\*\*\* \(after\)'$")
        for kept in ("c2VzYW1l", "other", "b3RoZXI", "sesame"):
            self.assertNotIn(kept, out)
        # P1: what is paused has no pods.
        self.world.must("patch", "infrastructureprovider", "aws", "-n", self.aws_namespace(), "--type=merge", "-p", json.dumps({"spec": {"paused": True}}))
        out, _ = self.ours("diff", "aws", code=1)
        self.assertRegex(out, r"(?m)^-  replicas: 1\n\+  replicas: 0$")
        _, errors = self.ours("diff", "aws:v0.0.1", code=2)
        self.assertIn("versions there: v2.11.1", errors)


if __name__ == "__main__":
    unittest.main()
