#!/usr/bin/env python3
"""Commands of clusterctl that look into a management cluster, on a real API server, beside Cluster API's own clusterctl: the same
command lines, and what each printed (L5, L6). The managers don't run: what they would make is made here."""

import base64
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import cluster  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402
import worlds  # noqa: E402
from tree import WithFolder  # noqa: E402

VERSION = "v1.12.0"
TEMPLATE = """\
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: "${CLUSTER_NAME}"}
spec:
  topology: {classRef: {name: quick}, version: "${KUBERNETES_VERSION}"}
"""
CLASS = """\
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: quick}
spec:
  controlPlane: {templateRef: {apiVersion: example.com/v1, kind: Control, name: quick}}
  infrastructure: {templateRef: {apiVersion: example.com/v1, kind: Infrastructure, name: quick}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: of-the-class}
data: {size: "${SIZE:=big}"}
"""
PROVIDER = """\
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Provider
metadata:
  name: infrastructure-docker
  namespace: capd-system
  labels: {clusterctl.cluster.x-k8s.io: "", cluster.x-k8s.io/provider: infrastructure-docker, clusterctl.cluster.x-k8s.io/core: inventory}
providerName: docker
type: InfrastructureProvider
version: v1.12.0
"""


MACHINES = """\
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: md, namespace: team}
spec:
  clusterName: mine
  selector: {}
  template:
    spec:
      clusterName: mine
      bootstrap: {dataSecretName: x}
      infrastructureRef: {apiGroup: example.com, kind: Machine, name: x}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: kcp, namespace: team}
spec:
  version: v1.34.0
  kubeadmConfigSpec: {verbosity: 1}
  machineTemplate: {spec: {infrastructureRef: {apiGroup: example.com, kind: Machine, name: x}}}
"""


class World(rights.World):
    """Without any kind of Cluster API's."""

    def __init__(self):
        super().__init__()
        (programs,) = {plan.link_folder(["clusterctl"])}
        self.programs = {"ours": built.find("clusterctl"), "theirs": os.path.join(programs, "clusterctl")}

    def add_kinds(self):
        """Those of Cluster API's core, whose conversion nobody answers here."""
        (releases,) = plan.have(["releases"])
        files = ("cluster-api/{}/core-components.yaml", "control-plane-kubeadm/{}/control-plane-components.yaml")
        paths = [os.path.join(releases, file.format(VERSION)) for file in files]
        self.must("create", "-f", "-", given="\n---\n".join(cluster.crds_of(paths)))
        self.plane.api.without_conversion()
        self.await_kinds()


class Beside(WithFolder, worlds.OnAWorld):
    WORLD = World

    def setUp(self):
        super().setUp()
        self.start_world()

    def run_one(self, which, *arguments, kubeconfig=True):
        """(exit code, what it printed, its errors)"""
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder, "CLUSTERCTL_DISABLE_VERSIONCHECK": "true", "GOPROXY": "off"}
        if kubeconfig:
            environment["KUBECONFIG"] = self.world.plane.kubeconfig
        done = subprocess.run(
            [self.world.programs[which], *arguments], capture_output=True, text=True, check=False, env=environment, timeout=60, stdin=subprocess.DEVNULL
        )
        return done.returncode, done.stdout, done.stderr

    def both(self, *arguments):
        """What ours printed, which is what theirs printed."""
        ours, theirs = self.run_one("ours", *arguments), self.run_one("theirs", *arguments)
        self.assertEqual(ours, theirs, arguments)
        return ours

    def differ(self, arguments, ours, theirs):
        """Both fail; each of them in its own words, of which these are a part."""
        for which, words in (("ours", ours), ("theirs", theirs)):
            code, out, errors = self.run_one(which, *arguments)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(words, errors)

    def test_a_cluster_from_its_first_day_on(self):
        """In one test, as each step needs what the one before made."""
        self.without_cluster_api()
        self.world.add_kinds()
        self.kubeconfigs()
        self.templates_in_config_maps()
        self.templates_of_providers()
        self.completion()
        self.rollouts()
        self.another_contract()

    def without_cluster_api(self):
        code, _, errors = self.both("get", "kubeconfig", "mine")
        self.assertEqual(code, 1)
        self.assertIn('customresourcedefinitions.apiextensions.k8s.io "clusters.cluster.x-k8s.io" not found', errors)

    def kubeconfigs(self):
        value = base64.b64encode(b"apiVersion: v1\nkind: Config\n").decode()
        secret = "apiVersion: v1\nkind: Secret\nmetadata: {{name: {}-kubeconfig}}\ndata: {{{}: {}}}\n"
        self.world.must("create", "namespace", "team")
        self.world.must("create", "-n", "team", "-f", "-", given=secret.format("mine", "value", value))
        self.world.must("create", "-n", "team", "-f", "-", given=secret.format("odd", "another", value))
        self.assertEqual(self.both("get", "kubeconfig", "mine", "-n", "team")[:2], (0, "apiVersion: v1\nkind: Config\n\n"))
        self.differ(["get", "kubeconfig", "mine"], '"mine-kubeconfig" not found in namespace "default"', '"mine-kubeconfig" not found')
        self.differ(["get", "kubeconfig", "odd", "-n", "team"], 'missing key "value" in secret data', 'missing key "value" in secret data')

    def templates_in_config_maps(self):
        text = "apiVersion: v1\nkind: Secret\nmetadata: {name: '${CLUSTER_NAME}', namespace: x}\nstringData: {a: '${A:=b}', n: '${NAMESPACE}'}\n"
        path = self.write("template.yaml", text)
        self.world.must("create", "configmap", "templates", "-n", "team", f"--from-file=template={path}", f"--from-file=other={path}")
        base = ["generate", "cluster", "c1", "--from-config-map", "templates"]
        code, out, _ = self.both(*base, "--from-config-map-namespace", "team")
        self.assertEqual((code, out.count("namespace: default\n")), (0, 1))
        self.both(*base, "--from-config-map-namespace", "team", "--from-config-map-key", "other", "-n", "elsewhere")
        self.both(*base, "--from-config-map-namespace", "team", "--list-variables")
        self.both(*base, "--from-config-map-namespace", "team", "--from-config-map-key", "none")
        self.differ(base, "error reading ConfigMap default/templates", "error reading ConfigMap")

    def templates_of_providers(self):
        release = os.path.join("releases", "infrastructure-docker", VERSION)
        for name, content in {"cluster-template.yaml": TEMPLATE, "clusterclass-quick.yaml": CLASS, "infrastructure-components.yaml": "", "metadata.yaml": ""}.items():
            self.write(os.path.join(release, name), content)
        url = os.path.join(self.folder, release, "infrastructure-components.yaml")
        config = self.write("clusterctl.yaml", f"providers: [{{name: docker, type: InfrastructureProvider, url: {url}}}]\n")
        base = ["generate", "cluster", "c1", "--config", config, "--kubernetes-version", "v1.34.0"]
        self.differ(
            base,
            "failed to identify the default infrastructure provider. Please specify an infrastructure provider (the cluster has 0 of them)",
            "failed to identify the default infrastructure provider. Please specify an infrastructure provider",
        )
        # Theirs has made the kind of its inventory now.
        self.world.must("create", "namespace", "capd-system")
        self.world.must("apply", "-f", "-", given=PROVIDER)
        code, out, _ = self.both(*base)
        self.assertEqual((code, out.count("kind: ClusterClass\n")), (0, 1))
        # Those of the ClusterClass are asked for, too: only ours says so.
        listed = [self.run_one(which, *base, "--list-variables") for which in ("ours", "theirs")]
        self.assertEqual(listed[0][1].replace('  - SIZE                (defaults to "big")\n', "", 1), listed[1][1])
        self.assertNotEqual(listed[0], listed[1])
        self.both(*base, "-i", "docker", "-n", "team")
        self.both(*base, "-i", f"docker:{VERSION}", "--control-plane-machine-count=3")
        self.world.must("create", "configmap", "of-the-class")
        code, _, errors = self.both(*base)
        self.assertEqual(code, 1)
        self.assertIn("already exists in the cluster", errors)
        self.world.must("delete", "configmap", "of-the-class")
        self.world.must("create", "--validate=false", "-f", "-", given=CLASS.split("---")[0])
        code, out, _ = self.both(*base)
        self.assertEqual((code, out.count("kind: ClusterClass\n")), (0, 0))

    def completion(self):
        self.world.must("create", "-f", "-", given="apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: mine, namespace: team}\n"
                        "spec: {controlPlaneEndpoint: {host: a, port: 1}}\n")  # fmt: skip
        names = lambda *words: self.run_one("ours", "__complete", *words)[1].split()  # noqa: E731
        self.assertEqual(names("get", "kubeconfig", "-n", "team", ""), ["mine"])
        self.assertEqual(names("get", "kubeconfig", ""), [])
        self.assertIn("team", names("get", "kubeconfig", "--namespace", ""))
        kubeconfig = ["--kubeconfig", self.world.plane.kubeconfig]
        self.assertNotEqual(names("get", "kubeconfig", *kubeconfig, "--kubeconfig-context", ""), [])

    def rollouts(self):
        """L8: what each of them leaves in the cluster. Ours says what it has done."""
        for kind, name in (("machinedeployment", "md"), ("kubeadmcontrolplane", "kcp")):
            words = lambda verb, name=f"{kind}/{name}": ["alpha", "rollout", verb, name, "-n", "team"]  # noqa: E731
            left = {}
            for which in ("ours", "theirs"):
                seen = left[which] = []
                self.world.must("delete", "--ignore-not-found", "-f", "-", given=MACHINES)
                self.world.must("create", "-f", "-", given=MACHINES)
                for verb, done in (("restart", "restarted"), ("pause", "paused"), ("resume", "resumed")):
                    said = f"{kind}/{name} {done}\n" if which == "ours" else ""
                    self.assertEqual(self.run_one(which, *words(verb)), (0, said, ""))
                    whole = self.world.get(kind, name, "-n", "team")
                    after = whole["spec"]["rollout"].pop("after")
                    self.assertRegex(after, r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                    seen.append((whole["spec"], whole["metadata"].get("annotations")))
                    if verb == "pause":
                        self.differ(words("pause"), "is already paused", "is already paused")
                        self.differ(words("restart"), "can't restart paused", "can't restart paused")
                self.differ(words("resume"), "is not currently paused", "is not currently paused")
            self.assertEqual(left["ours"], left["theirs"])
        before = self.world.get("machinedeployment", "md", "-n", "team")
        # The first is there, and isn't paused beside one that isn't.
        self.differ(
            ["alpha", "rollout", "pause", "md/md", "md/none", "-n", "team"],
            'failed to fetch machinedeployment/none in namespace "team": machinedeployments.cluster.x-k8s.io "none" not found',
            'Invalid resource type "md"',
        )
        self.assertEqual(self.world.get("machinedeployment", "md", "-n", "team"), before)
        code, out, _ = self.run_one("ours", "alpha", "rollout", "pause", "md/md", "kcp/kcp", "md/md", "-n", "team")
        self.assertEqual((code, out), (0, "machinedeployment/md paused\nkubeadmcontrolplane/kcp paused\n"))
        names = self.run_one("ours", "__complete", "alpha", "rollout", "pause", "-n", "team", "")[1].split()
        self.assertEqual(names, ["kubeadmcontrolplane/kcp", "machinedeployment/md"])

    def another_contract(self):
        crd = "crd/clusters.cluster.x-k8s.io"
        versions = self.world.must("get", crd, "-o", "jsonpath={range .spec.versions[*]}{.name} {end}").split()
        changes = [f'{{"op": "replace", "path": "/spec/versions/{at}/storage", "value": {str(name == "v1beta1").lower()}}}' for at, name in enumerate(versions)]
        self.world.must("patch", crd, "--type=json", "-p", f"[{', '.join(changes)}]")
        code, _, errors = self.both("get", "kubeconfig", "mine")
        self.assertEqual(code, 1)
        self.assertIn('"v1beta1" detected', errors)
        config = ["--config", os.path.join(self.folder, "clusterctl.yaml")]
        self.assertEqual(self.both("generate", "cluster", "c1", "--kubernetes-version=v1.34.0", *config)[0], 0)


if __name__ == "__main__":
    unittest.main()
