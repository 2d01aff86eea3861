#!/usr/bin/env python3
"""clusterctl delete on a real control plane, beside Cluster API's own clusterctl: what that one installed is deleted by either, and
what is left is compared (L22, L23); what the operator looks after is deleted by it, and with --all the operator goes last (X5)."""

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
import plan  # noqa: E402
import rights  # noqa: E402
import worlds  # noqa: E402
from tiers import only_full  # noqa: E402

VERSION = "v1.12.0"
# (label, kind, name, namespace, file)
CORE = ("cluster-api", "CoreProvider", "cluster-api", "capi-system", "core-components.yaml")
KUBEADM = ("bootstrap-kubeadm", "BootstrapProvider", "kubeadm", "capi-kubeadm-bootstrap-system", "bootstrap-components.yaml")
DOCKER = ("infrastructure-docker", "InfrastructureProvider", "docker", "capd-system", "infrastructure-components.yaml")
PROVIDERS = (CORE, KUBEADM, DOCKER)
OBJECT = """\
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: {kind}
metadata: {{name: {name}, namespace: {ns}}}
spec: {{version: {version}{more}}}
"""
# The operator knows this provider by a file that the tree's release hasn't.
FROM_A_CONFIG_MAP = ", fetchConfig: {selector: {matchLabels: {release: docker}}}"
USER = """\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DockerMachineTemplate
metadata: {name: used, namespace: default, labels: {cluster.x-k8s.io/cluster-name: mine}}
spec: {template: {spec: {}}}
"""
DOCKERS_USER = "workload clusters use InfrastructureProvider capd-system/docker: DockerMachineTemplate default/used (1 in all)"
LABEL = "clusterctl.cluster.x-k8s.io"
WEBHOOKS = "mutatingwebhookconfigurations,validatingwebhookconfigurations"
ROLES = "clusterroles,clusterrolebindings"
INSIDE = "deployments,services,serviceaccounts,roles,rolebindings,secrets,configmaps,providers.clusterctl.cluster.x-k8s.io"
EACH = 'jsonpath={range .items[*]}{.metadata.deletionTimestamp}{"|"}{.kind}{"/"}{.metadata.namespace}{"/"}{.metadata.name}{"\\n"}{end}'


class World(rights.World):
    """With cert-manager's kinds, and both programs."""

    def __init__(self):
        super().__init__()
        self.plane.api.create_crds(cluster.documents(plan.have(["crds"])))
        self.config = os.path.join(self.state.path, "clusterctl.yaml")
        sources = [
            {"name": name, "type": kind, "url": os.path.join(rights.RELEASES, label, VERSION, file)}
            for label, kind, name, _, file in PROVIDERS
        ]
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"providers": sources}, file)
        (programs,) = {plan.link_folder(["clusterctl"])}
        self.programs = {"ours": built.find("clusterctl"), "theirs": os.path.join(programs, "clusterctl")}

    def run_one(self, which, *arguments):
        """(exit code, what it printed, its errors)"""
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.state.path, "CLUSTERCTL_DISABLE_VERSIONCHECK": "true", "GOPROXY": "off"}
        command = [self.programs[which], *arguments, "--config", self.config, "--kubeconfig", self.plane.kubeconfig]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=120, stdin=subprocess.DEVNULL
        )
        return done.returncode, done.stdout, done.stderr

    def objects(self):
        """Kind, namespace and name of all that is labelled as a provider's, but for what is going."""
        kinds = f"crds,namespaces,{WEBHOOKS},{ROLES},{INSIDE}"
        lines = self.must("get", kinds, "-A", "-l", f"{LABEL},cluster.x-k8s.io/provider", "-o", EACH).splitlines()
        return {line[1:] for line in lines if line.startswith("|")}

    def gone(self, kind, name):
        return self.kubectl("get", kind, name).returncode != 0


def without_roles(objects):
    return {item for item in objects if not item.startswith(("ClusterRole/", "ClusterRoleBinding/"))}


def roles(objects):
    return objects - without_roles(objects)


class Delete(worlds.OnAWorld):
    WORLD = World

    def setUp(self):
        self.start_world()
        self.addCleanup(self.world.end_operator)

    def must(self, which, *arguments):
        """What it printed, and its errors."""
        code, out, errors = self.world.run_one(which, *arguments)
        if which == "theirs" and "cert-manager.yaml" in errors:  # it takes kinds that are just going for a missing cert-manager
            self.world.await_told("issuers,certificates")
            code, out, errors = self.world.run_one(which, *arguments)
        self.assertEqual(code, 0, f"{which} {arguments}\n{out}{errors}{self.world.last_words()}")
        return out, errors

    def refused(self, *arguments, words):
        """Ours says so, and changes nothing."""
        before = self.world.objects()
        code, out, errors = self.world.run_one("ours", "delete", *arguments)
        self.assertEqual((code, out), (1, ""), errors)
        self.assertIn(words, errors)
        self.assertEqual(self.world.objects(), before)

    def init(self):
        names = [f"--core=cluster-api:{VERSION}", f"--infrastructure=docker:{VERSION}", "--bootstrap=-", "--control-plane=-"]
        self.must("theirs", "init", *names)

    def use_docker(self):
        """By a cluster; nobody answers for its webhooks."""
        self.world.must("delete", WEBHOOKS, "-l", "cluster.x-k8s.io/provider=infrastructure-docker")
        self.world.must("create", "-f", "-", given=USER)

    def test_1_what_clusterctl_installed(self):
        """Each deletes the same, step by step; ours also what theirs forgets."""
        left = {}
        for which in ("theirs", "ours"):
            self.init()
            if which == "ours":
                self.what_is_refused()
            seen = left[which] = []
            for arguments in (["--infrastructure=docker"], ["--all", "--include-crd"]):
                self.must(which, "delete", *arguments)
                seen.append(self.world.objects())
            self.world.kubectl("delete", ROLES, "-l", f"{LABEL},cluster.x-k8s.io/provider")
        for ours, theirs in zip(left["ours"], left["theirs"], strict=True):
            self.assertEqual(without_roles(ours), without_roles(theirs))
        self.assertEqual(roles(left["ours"][1]), set())
        self.assertNotEqual(roles(left["theirs"][1]), set(), "it forgets them")
        code, out, errors = self.world.run_one("ours", "delete", "--all")
        self.assertEqual((code, out, errors), (0, "", ""), "nothing is left to do")

    def what_is_refused(self):
        self.refused("--core=cluster-api", words="other providers need the core: InfrastructureProvider capd-system/docker;")
        self.refused("-i", "docker:v1.0.0", words='failed to identify the provider "docker" with version "v1.0.0"')
        for names in (["-i", "aws"], ["-i", "aws,docker"], ["-i", "docker", "-i", "aws"]):
            self.refused(*names, words='failed to identify the namespace for the "aws" provider')
        self.use_docker()
        self.refused("-i", "docker", words=DOCKERS_USER)
        self.refused("-i", "docker", "--force", words="it needs --yes as well")
        objects = 'found existing objects for provider CRDs "infrastructure-docker": [DockerMachineTemplate]'
        self.refused("-i", "docker", "--include-crd", "--force", "--yes", words=objects)
        self.world.must("delete", "dockermachinetemplate", "used")
        before = self.world.objects()
        out, _ = self.must("ours", "delete", "--all", "--dry-run")
        self.assertIn("InfrastructureProvider capd-system/docker v1.12.0\n", out)
        self.assertIn("  Deployment.apps/capd-system/capd-controller-manager\n", out)
        self.assertLess(out.index("InfrastructureProvider"), out.index("CoreProvider"))
        self.assertEqual(self.world.objects(), before)

    @only_full
    def test_2_by_force_and_with_the_namespace(self):
        self.init()
        self.use_docker()
        _, errors = self.must("ours", "delete", "-i", "docker", "--include-namespace", "--force", "--yes")
        self.assertIn(f"Warning: {DOCKERS_USER}", errors)
        self.world.must("delete", "dockermachinetemplate", "used")
        self.must("ours", "delete", "--all", "--include-crd", "--include-namespace")
        for ns in ("capd-system", "capi-system"):
            self.world.until(f"namespace {ns} has gone", lambda ns=ns: self.world.gone("namespace", ns))
        self.assertEqual({item for item in self.world.objects() if "docker" not in item}, set())
        self.world.must("delete", "crds", "-l", LABEL + ",cluster.x-k8s.io/provider")

    @only_full
    def test_3_without_an_operator(self):
        """Ours installs what theirs does, with its inventory; either may go on from there (L23)."""
        names = [f"--core=cluster-api:{VERSION}", f"--infrastructure=docker:{VERSION}", "--bootstrap=-", "--control-plane=-"]
        made = {}
        for which in ("theirs", "ours"):
            flags = ["--operator=false", "--wait-providers"] if which == "ours" else []
            self.must(which, "init", *names, *flags)
            made[which] = self.everything()
            if which == "ours":
                _, errors = self.must("theirs", "init", *names)
                self.assertIn("already", errors)
            # With --include-crd, theirs lists kinds of the first provider once they are gone, and fails.
            self.must("theirs" if which == "ours" else "ours", "delete", "--all")
            self.world.kubectl("delete", f"crds,{ROLES}", "-l", f"{LABEL},cluster.x-k8s.io/provider")
        self.assertEqual(made["ours"].keys(), made["theirs"].keys())
        for name, item in made["ours"].items():
            self.assertEqual(item, made["theirs"][name], name)

    def everything(self):
        """What is labelled, by kind, namespace and name, without what the server and controllers write."""
        kinds = f"crds,namespaces,{WEBHOOKS},{ROLES},{INSIDE},certificates,issuers"
        found = {}
        for item in self.world.get(kinds, "-A", "-l", f"{LABEL},cluster.x-k8s.io/provider")["items"]:
            metadata = item["metadata"]
            for name in ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"):
                metadata.pop(name, None)
            metadata.get("annotations", {}).pop("deployment.kubernetes.io/revision", None)
            if not metadata.get("annotations"):
                metadata.pop("annotations", None)
            item.pop("status", None)
            if item["kind"] == "Service":
                for name in ("clusterIP", "clusterIPs"):
                    item["spec"].pop(name)
            found[f"{item['kind']}/{metadata.get('namespace', '')}/{metadata['name']}"] = item
        return found

    def install(self):
        """All three, by the operator. What an earlier test left of their kinds goes first."""
        self.world.must("delete", "crds", "-l", LABEL + ",cluster.x-k8s.io/provider", "--timeout=60s")
        self.world.must("apply", "--server-side", "-f", "-", given=rights.kustomize("no-webhooks"))
        self.world.await_kinds()
        for _, kind, name, ns, _ in PROVIDERS:
            self.world.kubectl("create", "namespace", ns)
            more = FROM_A_CONFIG_MAP if name == "docker" else ""
            self.world.must("create", "-f", "-", given=OBJECT.format(kind=kind, name=name, ns=ns, version=VERSION, more=more))
        release = os.path.join(rights.RELEASES, DOCKER[0], VERSION)
        files = [f"--from-file=metadata={release}/metadata.yaml", f"--from-file=components={release}/{DOCKER[4]}"]
        self.world.must("create", "configmap", VERSION, "-n", DOCKER[3], *files)
        self.world.must("label", "configmap", VERSION, "-n", DOCKER[3], "release=docker")
        self.world.await_told()
        # Before the provider's webhooks come, which nobody answers.
        path = os.path.join(rights.RELEASES, DOCKER[0], VERSION, DOCKER[4])
        (crd,) = [item for item in cluster.documents([path]) if "  name: dockermachinetemplates." in item]
        self.world.must("create", "-f", "-", given=crd)
        whole = "crd/dockermachinetemplates.infrastructure.cluster.x-k8s.io"
        self.world.must("patch", whole, "--type=json", "-p", '[{"op": "replace", "path": "/spec/conversion", "value": {"strategy": "None"}}]')
        self.world.must("wait", whole, "--for=condition=Established", "--timeout=60s")
        self.world.must("create", "-f", "-", given=USER)
        self.world.start_operator()
        self.world.until("all are ready", self.all_ready)

    def all_ready(self):
        items = json.loads(self.world.must("get", "capi-providers", "-A", "-o", "json"))["items"]
        return all(rights.conditions(item).get("Ready", {}).get("status") == "True" for item in items)

    def left(self):
        """Namespaces stay, some with the label of an earlier test's provider."""
        return {item for item in self.world.objects() if not item.startswith("Namespace/")}

    def test_4_what_the_operator_looks_after(self):
        self.install()
        self.refused("-i", "docker", words=DOCKERS_USER)
        self.refused("-i", "docker", "--operator=false", words="capi-operator in namespace capi-operator-system looks after")
        out, _ = self.must("ours", "delete", "--all", "--dry-run", "--force")
        self.assertIn("InfrastructureProvider capd-system/docker v1.12.0, by the operator\n  Service/capd-system/capd-webhook-service\n", out)
        self.assertIn("capi-operator in namespace capi-operator-system\n", out)
        _, errors = self.must("ours", "delete", "-i", "docker", "--force", "-y")
        self.assertIn('Deleted provider="InfrastructureProvider capd-system/docker"\n', errors)
        left = {item.split("/")[0] for item in self.left() if "capd" in item or "docker" in item}
        self.assertEqual(left, {"CustomResourceDefinition"})
        self.world.must("delete", "dockermachinetemplate", "used")
        self.must("ours", "delete", "-b", "kubeadm", "--include-crd", "--include-namespace")
        self.assertEqual({item for item in self.left() if "kubeadm" in item}, set())
        self.must("ours", "delete", "--all", "--include-crd")
        self.assertEqual({item for item in self.left() if ".infrastructure." not in item}, set())
        for kind in (*rights.IN_CLUSTER, "deployments", "serviceaccounts", "roles"):
            self.assertEqual(self.world.must("get", kind, "-A", "-l", rights.OUR_LABEL, "-o", "name"), "", kind)
        self.assertNotIn(cluster.API_GROUP, self.world.must("get", "crds", "-o", "name"))
        self.world.must("get", "namespace", rights.NAMESPACE)


if __name__ == "__main__":
    unittest.main()
