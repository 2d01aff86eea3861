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
import toys  # noqa: E402
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
DOCKERS_USER = "workload clusters use InfrastructureProvider capd-system/docker: DockerMachineTemplate default/used; delete"
LABEL = "clusterctl.cluster.x-k8s.io"
WEBHOOKS = "mutatingwebhookconfigurations,validatingwebhookconfigurations"
ROLES = "clusterroles,clusterrolebindings"
INSIDE = "deployments,services,serviceaccounts,roles,rolebindings,secrets,configmaps,providers.clusterctl.cluster.x-k8s.io"
EACH = 'jsonpath={range .items[*]}{.metadata.deletionTimestamp}{"|"}{.kind}{"/"}{.metadata.namespace}{"/"}{.metadata.name}{"\\n"}{end}'


class World(rights.World):
    """With cert-manager's kinds, and both programs."""

    def __init__(self):
        super().__init__()
        self.have_cert_managers_kinds()
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


class Toys(toys.Releases):
    """What clusterctl finds for as long as a test wants it."""

    def __init__(self, world):
        super().__init__(os.path.join(world.state.path, "toys"))
        self.world = world
        self.before = world.config
        world.config = os.path.join(world.state.path, "toys.yaml")
        with open(world.config, "w", encoding="utf-8") as file:
            json.dump({"providers": self.sources()}, file)

    def remove(self):
        self.world.config = self.before

    def versions(self):
        items = self.world.get("providers.clusterctl.cluster.x-k8s.io", "-A")["items"]
        return {item["providerName"]: item["version"] for item in items}

    def deployment(self):
        """Its version, and how many pods it is to have."""
        item = self.world.get("deployment", "toy", "-n", "toy-system")
        return item["spec"]["template"]["spec"]["containers"][0]["image"].split(":")[1], item["spec"]["replicas"]


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
        self.refused("-i", "docker", "--force", words="with --yes it is done")
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
        self.assertEqual({item for item in self.world.objects() if ".infrastructure." not in item}, set(), "CRDs of docker were to stay")
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
        self.world.apply_manifests("no-webhooks")
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
        (crd,) = [item for item in cluster.crds_of([path]) if "  name: dockermachinetemplates." in item]
        self.world.must("create", "-f", "-", given=crd)
        self.world.plane.api.without_conversion()
        self.world.await_kinds()
        self.world.must("create", "-f", "-", given=USER)
        self.world.start_operator()
        self.world.until("all are ready", self.all_ready)

    def all_ready(self):
        items = json.loads(self.world.must("get", "capi-providers", "-A", "-o", "json"))["items"]
        return all(rights.conditions(item).get("Ready", {}).get("status") == "True" for item in items)

    def left(self):
        """Namespaces stay, some with the label of an earlier test's provider."""
        return {item for item in self.world.objects() if not item.startswith("Namespace/")}

    def somebody_elses_objects(self):
        """They keep the Namespace of kubeadm."""
        ns, arguments = KUBEADM[3], ("-b", "kubeadm", "--include-crd", "--include-namespace")
        self.world.must("create", "configmap", "mine", "-n", ns)
        self.refused(*arguments, words=f"namespace {ns} also has ConfigMap/{ns}/mine, which would go with it")
        out, _ = self.must("ours", "delete", *arguments, "--dry-run", "--force")
        self.assertIn(f"Namespace/{ns}\n", out)
        self.assertIn(f"  ConfigMap/{ns}/mine\n", out)
        self.world.must("delete", "configmap", "mine", "-n", ns)
        self.must("ours", "delete", *arguments)
        self.assertEqual({item for item in self.left() if "kubeadm" in item}, set())
        self.world.until(f"namespace {ns} has gone", lambda: self.world.gone("namespace", ns))

    def completed_by_name(self):
        """docker has gone without its Namespace, as where a run with that flag was broken off."""
        ns, arguments = DOCKER[3], ("-i", "docker", "--include-namespace")
        self.refused(*arguments, words='failed to identify the namespace for the "docker" provider')
        note = f"delete.operator.cluster.x-k8s.io/{DOCKER[0]}=InfrastructureProvider/{ns}/docker"
        self.world.must("annotate", "namespace", ns, note)
        self.refused(*arguments, words=f"namespace {ns} also has ConfigMap/{ns}/{VERSION}")
        self.world.must("delete", "configmap", VERSION, "-n", ns)
        self.must("ours", "delete", *arguments)
        self.world.until(f"namespace {ns} has gone", lambda: self.world.gone("namespace", ns))

    def not_taken_over(self):
        """Cluster API's clusterctl installed it, and the operator can't take it over: its release isn't to be had (A1, L22)."""
        _, kind, name, ns, _ = KUBEADM
        self.must("theirs", "init", f"--bootstrap=kubeadm:{VERSION}", "--infrastructure=-", "--control-plane=-")
        more = ", fetchConfig: {selector: {matchLabels: {release: none}}}"
        self.world.must("create", "-f", "-", given=OBJECT.format(kind=kind, name=name, ns=ns, version=VERSION, more=more))
        out, _ = self.must("ours", "delete", "-b", name, "--dry-run")
        self.assertIn(f"  Deployment.apps/{ns}/capi-kubeadm-bootstrap-controller-manager\n", out)
        self.must("ours", "delete", "-b", name, "--include-crd", "--include-namespace")
        self.assertEqual({item for item in self.left() if "kubeadm" in item}, set())
        self.world.until(f"namespace {ns} has gone", lambda: self.world.gone("namespace", ns))

    def operator_in_part(self):
        """A removal of the operator was broken off; and somebody's object elsewhere has the operator's label."""
        self.world.must("create", "role", "watcher", "-n", "default", "--verb=get", "--resource=pods")
        self.world.must("label", "role", "watcher", "-n", "default", rights.OUR_LABEL)
        out, _ = self.must("ours", "delete", "--all", "--include-crd", "--dry-run")
        self.assertIn(f"  Deployment.apps/{rights.NAMESPACE}/capi-operator-controller-manager\n", out)
        self.assertIn(f"  CustomResourceDefinition.apiextensions.k8s.io/coreproviders.{cluster.API_GROUP}\n", out)
        self.assertNotIn("watcher", out)
        self.world.must("delete", "services,networkpolicies", "-n", rights.NAMESPACE, "-l", rights.OUR_LABEL)

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
        self.somebody_elses_objects()
        self.completed_by_name()
        self.not_taken_over()
        self.operator_in_part()
        self.must("ours", "delete", "--all", "--include-crd")
        self.world.must("get", "role", "watcher", "-n", "default")
        self.world.must("delete", "role", "watcher", "-n", "default")
        self.assertEqual({item for item in self.left() if ".infrastructure." not in item}, set())
        for kind in (*rights.IN_CLUSTER, "deployments", "serviceaccounts", "roles"):
            self.assertEqual(self.world.must("get", kind, "-A", "-l", rights.OUR_LABEL, "-o", "name"), "", kind)
        self.assertNotIn(cluster.API_GROUP, self.world.must("get", "crds", "-o", "name"))
        self.world.must("get", "namespace", rights.NAMESPACE)

    def test_5_upgrades_without_an_operator(self):
        """In place; where a CRD stores another version, or the contract changes, by way of zero replicas (L13, L23)."""
        local = Toys(self.world)
        self.addCleanup(local.remove)
        local.release("v1.0.0", "v1beta2", "v1alpha1")
        self.must("ours", "init", *local.flags("v1.0.0"), "--operator=false", "--bootstrap=-", "--control-plane=-")
        self.world.must("scale", "deployment", "toy", "-n", "toy-system", "--replicas=3")
        local.release("v1.1.0", "v1beta2", "v1beta1")
        arguments = ["upgrade", "apply", *local.flags("v1.1.0"), "--operator=false"]
        out, _ = self.must("ours", *arguments, "--dry-run")
        self.assertIn("InfrastructureProvider toy-system/toy: v1.0.0 -> v1.1.0, contract v1beta2\n", out)
        self.assertEqual(local.versions(), {"cluster-api": "v1.0.0", "toy": "v1.0.0"})
        code, _, errors = self.world.run_one("ours", *arguments[:-1])
        self.assertEqual(code, 1)
        self.assertIn("with --operator=false", errors)
        _, errors = self.must("ours", *arguments)
        self.assertIn('Scaling down provider="infrastructure-toy"', errors)
        self.assertEqual(local.versions(), {"cluster-api": "v1.1.0", "toy": "v1.1.0"})
        self.assertEqual(local.deployment(), ("v1.1.0", 3), "what kubectl scale said counts")
        local.release("v1.2.0", "v1beta2", "v1beta1", earlier="v1alpha4")
        _, errors = self.must("ours", "upgrade", "apply", "--contract=v1beta2", "--operator=false", "--wait-providers")
        self.assertIn('Scaling down provider="cluster-api"', errors)
        self.assertEqual(local.versions(), {"cluster-api": "v1.2.0", "toy": "v1.2.0"})
        self.assertEqual(local.deployment(), ("v1.2.0", 3))
        _, errors = self.must("ours", "upgrade", "apply", "--contract=v1beta2", "--operator=false")
        self.assertIn("You are already up to date!", errors)
        code, _, errors = self.world.run_one("ours", "upgrade", "apply", *local.flags("v1.0.0"), "--operator=false")
        self.assertEqual(code, 1, errors)
        self.another_of_its_name()
        self.must("ours", "delete", "--all", "--include-crd", "--include-namespace")
        for ns in ("toy-system", "toy-core-system"):
            self.world.until(f"namespace {ns} has gone", lambda ns=ns: self.world.gone("namespace", ns))

    def another_of_its_name(self):
        """It needs what has no namespace as well; and its own is nobody's to delete."""
        entry = {"apiVersion": f"{LABEL}/v1alpha3", "kind": "Provider", "providerName": "toy", "type": DOCKER[1], "version": "v1.2.0"}
        entry["metadata"] = {"name": "infrastructure-toy", "namespace": "default"}
        self.world.must("create", "-f", "-", given=json.dumps(entry))
        out, errors = self.must("ours", "delete", "-i", "toy", "-n", "toy-system", "--include-crd", "--dry-run")
        self.assertIn("  Provider.clusterctl.cluster.x-k8s.io/toy-system/infrastructure-toy\n", out)
        self.assertNotIn("CustomResourceDefinition", out)
        self.assertIn("the provider of this name in another namespace has it as well", errors)
        self.refused("-i", "toy", "-n", "default", "--include-namespace", words="namespace default is Kubernetes' own")
        self.world.must("delete", "providers.clusterctl.cluster.x-k8s.io", "infrastructure-toy", "-n", "default")


if __name__ == "__main__":
    unittest.main()
