#!/usr/bin/env python3
"""`clusterctl describe` on a real API server, beside Cluster API's own clusterctl: clusters in many states, and what each program
printed of them (L15). The managers don't run: what they would write is written here. What Cluster API's has no command for is looked
at alone (L16)."""

import concurrent.futures
import datetime
import itertools
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import cluster  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402
import tiers  # noqa: E402
import worlds  # noqa: E402

VERSION = "v1.12.0"
CORE, ADDONS, KCP = "cluster.x-k8s.io", "addons.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io"
INFRA = "infrastructure.example.com"
# Kinds of a provider, and which of its versions is of which contract.
KINDS = {
    "InfraCluster": {"cluster.x-k8s.io/v1beta2": "v1beta2"},
    "InfraMachine": {"cluster.x-k8s.io/v1beta2": "v1beta2"},
    "InfraMachinePool": {"cluster.x-k8s.io/v1beta2": "v1beta2"},
    "InfraMachineTemplate": {"cluster.x-k8s.io/v1beta2": "v1beta2"},
    "BootConfig": {"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta1_v1beta2"},
    "OldControlPlane": {"cluster.x-k8s.io/v1beta1": "v1beta1"},
}
GROUPS = {
    "ClusterResourceSetBinding": ADDONS,
    "KubeadmControlPlane": KCP,
    "Provider": "clusterctl.cluster.x-k8s.io",
    "Deployment": "apps",
    **dict.fromkeys(KINDS, INFRA),
}
VERSIONS = {"OldControlPlane": "v1beta1", "Provider": "v1alpha3", "Deployment": "v1"}
LONG = "word " * 45 + "end"
BULLETS = "* MachineDeployment md:\n  * Machine m-0: it is long enough to be broken, as a message has a hundred columns, and this one more\n* 日本語 ü"


def crd(kind, labels):
    versions = [
        {
            "name": version,
            "served": True,
            "storage": version == (VERSIONS.get(kind) or "v1beta2"),
            "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        }
        for version in ("v1beta1", "v1beta2")
    ]
    names = {"kind": kind, "plural": kind.lower() + "s", "singular": kind.lower()}
    spec = {"group": INFRA, "scope": "Namespaced", "names": names, "versions": versions}
    metadata = {"name": f"{names['plural']}.{INFRA}", "labels": labels}
    return json.dumps({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec})


def ago(days, hours=0):
    """Of which the age is the same for some minutes."""
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days, hours=hours, minutes=20)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(kind, status, reason="Because", message="", days=10, hours=0, **more):
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": ago(days, hours), **more}


def well(*kinds, **more):
    return [condition(kind, "True", **more) for kind in kinds]


def short(old):
    """A condition of the contract before, which has no empty texts."""
    return {key: value for key, value in old.items() if value != ""}


def reference(kind, name):
    return {"apiGroup": GROUPS.get(kind, CORE), "kind": kind, "name": name}


class World(rights.World):
    """With the kinds of Cluster API, whose conversion nobody answers here, and those of a provider."""

    def __init__(self):
        super().__init__()
        (programs,) = {plan.link_folder(["clusterctl"])}
        self.programs = {"ours": built.find("clusterctl"), "theirs": os.path.join(programs, "clusterctl")}
        (releases,) = plan.have(["releases"])
        files = ("cluster-api/{}/core-components.yaml", "control-plane-kubeadm/{}/control-plane-components.yaml")
        texts = cluster.crds_of([os.path.join(releases, file.format(VERSION)) for file in files])
        self.must("create", "-f", "-", given="\n---\n".join(texts + [crd(*item) for item in KINDS.items()]))
        self.plane.api.without_conversion()
        self.await_kinds()
        self.must("create", "namespace", "team")

    def path(self, kind, name="", ns="team"):
        group, version = GROUPS.get(kind, CORE), VERSIONS.get(kind, "v1beta2")
        return f"/apis/{group}/{version}/namespaces/{ns}/{kind.lower()}s/{name}".rstrip("/")

    def make(self, kind, name, spec=None, status=None, owner=None, labels=None, ns="team", **fields):
        """Makes the object with its status; returns a reference for what it owns."""
        group, version = GROUPS.get(kind, CORE), VERSIONS.get(kind, "v1beta2")
        metadata = {"name": name, "namespace": ns, "labels": labels or {}}
        if owner:
            metadata["ownerReferences"] = [{**owner, "controller": True}]
        whole = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": metadata, **fields}
        if spec is not None:
            whole["spec"] = spec
        made = self.plane.api.create_with_status(self.path(kind, ns=ns), whole, status)
        return {"apiVersion": made["apiVersion"], "kind": kind, "name": name, "uid": made["metadata"]["uid"]}

    def delete(self, kind, name):
        """It stays, as a finalizer holds it."""
        path = self.path(kind, name)
        self.merge(path, {"metadata": {"finalizers": ["example.com/held"]}})
        self.request("DELETE", path)


class Makes:
    """Clusters, in the states that Cluster API's managers bring them into."""

    def __init__(self, world, name):
        self.world, self.name, self.labels = world, name, {"cluster.x-k8s.io/cluster-name": name}

    def cluster(self, conditions, counts=True, old=(), **spec):
        status = {"conditions": conditions} if conditions is not None else None
        if counts:
            status["controlPlane"] = {"desiredReplicas": 3, "replicas": 3, "readyReplicas": 2, "availableReplicas": 2, "upToDateReplicas": 3}
            status["workers"] = {"desiredReplicas": 5, "replicas": 4, "readyReplicas": 3}
        if old:
            status["deprecated"] = {"v1beta1": {"conditions": [short(one) for one in old]}}
        return self.world.make("Cluster", self.name, {"controlPlaneEndpoint": {"host": "a", "port": 1}, **spec}, status)

    def machine(self, name, conditions=(), owner=None, infra=None, boot=None, old=(), control_plane=False):
        """`infra` and `boot` are the conditions of what is behind it, None for nothing there."""
        labels = {**self.labels, **({"cluster.x-k8s.io/control-plane": ""} if control_plane else {})}
        spec = self.template(f"{name}-i", f"{name}-b")
        status = {"conditions": list(conditions)}
        if old:
            status["deprecated"] = {"v1beta1": {"conditions": [short(one) for one in old]}}
        self.world.make("Machine", name, spec, status, owner, labels)
        for kind, suffix, state in (("InfraMachine", "i", infra), ("BootConfig", "b", boot)):
            if state is not None:
                self.world.make(kind, f"{name}-{suffix}", {}, {"conditions": list(state)}, labels=self.labels)

    def template(self, infra, boot, kind="InfraMachine"):
        boot = {"configRef": reference("BootConfig", boot)} if boot else {"dataSecretName": "given"}
        return {"clusterName": self.name, "bootstrap": boot, "infrastructureRef": reference(kind, infra)}

    def deployment(self, name, status, boot="boot"):
        spec = {"clusterName": self.name, "replicas": 4, "selector": {}, "template": {"spec": self.template("infra", boot, "InfraMachineTemplate")}}
        deployment = self.world.make("MachineDeployment", name, spec, status, labels=self.labels)
        counts = {"replicas": 3, "readyReplicas": 2}
        return self.world.make("MachineSet", f"{name}-set", spec, {**counts, "conditions": well("MachinesReady")}, deployment, self.labels)

    def kubeadm(self, name, conditions, old=()):
        template = {"spec": {"infrastructureRef": reference("InfraMachineTemplate", "infra")}}
        spec = {"version": "v1.34.0", "replicas": 3, "kubeadmConfigSpec": {"verbosity": 1}, "machineTemplate": template}
        counts = {"replicas": 3, "readyReplicas": 2, "availableReplicas": 2, "upToDateReplicas": 3}
        self.world.make("KubeadmControlPlane", name, spec, {**counts, "conditions": conditions}, labels=self.labels)


def plain(world):
    """Of all there is: groups, failures, what echoes its machine and what doesn't."""
    at = Makes(world, "plain")
    at.cluster(
        [
            condition("Available", "False", "NotAvailable", BULLETS, days=3, hours=5),
            *well("InfrastructureReady", "ControlPlaneAvailable"),
            condition("Paused", "False", "NotPaused"),
        ],
        infrastructureRef=reference("InfraCluster", "plain"),
        controlPlaneRef=reference("KubeadmControlPlane", "plain-cp"),
        old=[condition("Ready", "False", "Scaling", LONG, severity="Warning"), condition("ControlPlaneReady", "True")],
    )
    world.make("InfraCluster", "plain", {}, {"conditions": well("Ready")}, labels=at.labels)
    rolls = condition("RollingOut", "True", "RollingOut", LONG)
    at.kubeadm("plain-cp", [condition("Available", "True", "Available"), rolls, condition("ScalingUp", "False")])
    good = well("Available", "Ready", "UpToDate")
    for number, days in enumerate((10, 12, 9)):
        known = well("Available", "Ready", "UpToDate", days=days)
        at.machine(f"plain-cp-{number}", known, infra=well("Ready"), boot=well("Ready"), control_plane=True)
    new = [condition("Ready", "Unknown", "Unknown", "one\ntwo\n\nfour"), condition("Deleting", "True")]
    at.machine("plain-cp-new", new, infra=[condition("Ready", "False", "Waiting", LONG)], boot=[], control_plane=True)
    counts = {"replicas": 4, "readyReplicas": 3, "availableReplicas": 0, "upToDateReplicas": 4}
    md = at.deployment("plain-md", {**counts, "conditions": [condition("Available", "False", "NotAvailable", "  indented " + LONG)]})
    for number in range(3):
        at.machine(f"plain-md-{number}", good, md, infra=well("Ready"), boot=well("Ready"))
    same = condition("Ready", "False", "Same", "1 of 2")
    at.machine("plain-md-bad", [same], md, infra=[{**same, "severity": "Info"}], boot=well("Ready"), old=[condition("Ready", "False", "Failed", severity="Error")])
    other = at.deployment("plain-a", {"conditions": []}, boot=None)
    at.machine("plain-a-0", [], other, infra=[], boot=[condition("Ready", "False", "x" * 130, "y" * 130)])
    at.machine("plain-lone", good, infra=well("Ready"))
    at.machine("plain-lone-too", good)
    bindings = [{"clusterResourceSetName": name, "resources": []} for name in ("net", "csi")]
    world.make("ClusterResourceSetBinding", "plain", {"clusterName": "plain", "bindings": bindings})


def pools(world):
    """Machine pools, beside a control plane of the contract before."""
    at = Makes(world, "pools")
    at.cluster([], counts=False, infrastructureRef=reference("InfraCluster", "gone"), controlPlaneRef=reference("OldControlPlane", "pools-cp"))
    old = {"apiVersion": f"{INFRA}/v1beta1", "kind": "InfraMachineTemplate", "name": "old", "namespace": "team"}
    ready = condition("Ready", "False", "Old", "not yet", severity="Info")
    conditions = [ready, condition("Z", "True"), condition("A", "Unknown", "", "m")]
    status = {"replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "conditions": conditions}
    world.make("OldControlPlane", "pools-cp", {"replicas": 1, "machineTemplate": {"infrastructureRef": old}}, status, labels=at.labels)
    for name, conditions in (("pools-a", well("Available", "Ready")), ("pools-b", [condition("Available", "False", "No", LONG)])):
        spec = {"clusterName": "pools", "replicas": 2, "template": {"spec": at.template(f"{name}-i", f"{name}-b", "InfraMachinePool")}}
        pool = world.make("MachinePool", name, spec, {"replicas": 2, "readyReplicas": 1, "conditions": conditions}, labels=at.labels)
        world.make("InfraMachinePool", f"{name}-i", {}, {"conditions": [condition("Ready", "False", "Pending")]})
        world.make("BootConfig", f"{name}-b", {}, {"v1beta2": {"conditions": well("Ready")}, "conditions": [condition("Ready", "False")]})
        for number in range(2):
            at.machine(f"{name}-{number}", well("Ready"), pool)


def going(world):
    """A cluster that is deleted while it is paused, with a class. (No two groups of one size below one owner: Cluster API's prints
    them in any order.)"""
    at = Makes(world, "going")
    topology = {"classRef": {"name": "quick"}, "version": "v1.34.0"}
    at.cluster(
        [
            condition("Available", "False", "Deleting"),
            condition("Paused", "True", "Paused"),
            condition("Deleting", "True", "WaitingForWorkers", "* MachineDeployments: going-md"),
        ],
        infrastructureRef=reference("InfraCluster", "going"),
        controlPlaneRef=reference("KubeadmControlPlane", "going"),
        paused=True,
        topology=topology,
    )
    world.make("InfraCluster", "going", {}, {"conditions": [condition("Ready", "Perhaps")]}, labels=at.labels)
    at.kubeadm("going", [condition("Ready", "False", "Deleting")])
    md = at.deployment("going-md", {"conditions": [condition("Available", "True", "Available", LONG)]})
    for number in range(4):
        at.machine(f"going-md-{number}", [condition("Ready", "False", "Deleting" if number < 3 else "Other", f"{number} pods")], md)
    for kind, name in (("Machine", "going-md-2"), ("InfraCluster", "going"), ("KubeadmControlPlane", "going"), ("Cluster", "going")):
        world.delete(kind, name)


def lone(world):
    """As it is in its first second."""
    Makes(world, "lone").cluster(conditions=None, counts=False)


SHAPES = (plain, pools, going, lone)
FLAGS = (
    [],
    ["--show-conditions=all", "--show-machinesets", "--show-templates"],
    ["--show-conditions=all+", "--grouping=false", "--show-resourcesets"],
    ["--show-conditions=Cluster+,kubeadmcontrolplane,Machine/plain-md-bad,infracluster/going", "--echo"],
    ["--grouping=false", "--echo", "--show-templates"],
)


def normal(text):
    """Cluster API's makes the white of a group bolder each time that it looks at one."""
    return re.sub(r"\x1b\[0;22(;22)*m", "\x1b[0;22m", re.sub(r"\x1b\[37;1(;1)*m", "\x1b[37;1m", text))


class Describes(worlds.OnAWorld):
    WORLD = World

    def setUp(self):
        self.start_world()
        folder = tempfile.TemporaryDirectory(prefix="clusterctl-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_one(self, which, *arguments, terminal=None):
        environment = {"HOME": self.folder, "KUBECONFIG": self.world.plane.kubeconfig, "CLUSTERCTL_DISABLE_VERSIONCHECK": "true"}
        command = [self.world.programs[which], "describe", *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=60, stdin=terminal or subprocess.DEVNULL
        )
        return done.returncode, done.stdout, done.stderr

    def test_clusters(self):
        """What both print is the same, byte for byte, the ages too."""
        for shape in SHAPES:
            shape(self.world)
        cases = [["cluster", shape.__name__, "-n", "team", *flags] for shape, flags in itertools.product(SHAPES, FLAGS)]
        cases += [["cluster", shape.__name__, "-n", "team", "-c", "--show-conditions=all"] for shape in SHAPES]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            runs = [(case, *(pool.submit(self.run_one, which, *case) for which in ("ours", "theirs"))) for case in cases]
        for case, ours, theirs in runs:
            with self.subTest(case=" ".join(case)):
                self.assertEqual((ours.result()[0], normal(ours.result()[1])), (theirs.result()[0], normal(theirs.result()[1])))
                self.assertEqual(ours.result()[0], 0)
        self.of_the_contract_before()
        self.on_purpose()
        self.failures()
        self.for_programs()

    def of_the_contract_before(self):
        """Cluster API's writes these to standard input."""
        for shape in SHAPES:
            arguments = ["cluster", shape.__name__, "-n", "team", "--v1beta2=false", "--show-conditions=all", "--grouping=false"]
            with tempfile.TemporaryFile("w+") as terminal:
                code, out, _ = self.run_one("theirs", *arguments, terminal=terminal)
                terminal.seek(0)
                self.assertEqual((code, out), (0, ""))
                self.assertEqual(self.run_one("ours", *arguments)[:2], (0, terminal.read()), arguments)

    def on_purpose(self):
        """What Cluster API's leaves out: machines whose control plane is gone, and deployments that have no machines yet. And what is
        named but isn't there is told, on standard error."""
        at = Makes(self.world, "odd")
        at.cluster(well("Available"), counts=False, controlPlaneRef=reference("KubeadmControlPlane", "gone"))
        at.machine("odd-0", well("Ready"), control_plane=True)
        code, out, errors = self.run_one("ours", "cluster", "odd", "-n", "team")
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["NAME", "Cluster/odd", "└─Workers", "└─Other", "└─Machine/odd-0"])
        missing = 'KubeadmControlPlane/gone is left out: kubeadmcontrolplanes.controlplane.cluster.x-k8s.io "gone" not found'
        self.assertIn(f"Warning: {missing}", errors)
        self.assertEqual(code, 0)
        self.assertEqual(len(self.run_one("theirs", "cluster", "odd", "-n", "team")[1].splitlines()), 2)
        at = Makes(self.world, "early")
        at.cluster([], counts=False)
        at.deployment("early-md", {"conditions": [condition("Available", "False", "WaitingForTemplates")]})
        self.assertIn("MachineDeployment/early-md", self.run_one("ours", "cluster", "early", "-n", "team")[1])
        self.assertNotIn("MachineDeployment", self.run_one("theirs", "cluster", "early", "-n", "team")[1])

    def failures(self):
        for arguments, words in (
            (["cluster", "none", "-n", "team"], 'clusters.cluster.x-k8s.io "none" not found'),
            (["cluster", "plain"], 'clusters.cluster.x-k8s.io "plain" not found'),
            (["cluster"], "please specify a cluster name"),
        ):
            for which in ("ours", "theirs"):
                code, out, errors = self.run_one(which, *arguments)
                self.assertEqual((code, out), (1, ""))
                self.assertIn(words, errors)

    def for_programs(self):
        code, out, _ = self.run_one("ours", "cluster", "plain", "-n", "team", "-o", "json")
        tree = json.loads(out)
        self.assertEqual((code, tree["kind"], tree["name"]), (0, "Cluster", "plain"))
        roles = [child.get("role") or child["name"] for child in tree["children"]]
        self.assertEqual(roles, ["ClusterInfrastructure", "ControlPlane", "Workers"])
        names = self.run_one("ours", "cluster", "plain", "-n", "team", "-o", "name")[1].splitlines()
        self.assertEqual(names[0], "cluster.cluster.x-k8s.io/plain")
        self.assertEqual(self.world.must("get", "-n", "team", names[0], "-o", "name").strip(), names[0])
        self.assertTrue(self.run_one("ours", "cluster", "plain", "-n", "team", "-o", "yaml")[1].startswith("apiVersion: cluster.x-k8s.io/v1beta2\n"))

    def test_providers(self):
        """First none, then those that clusterctl installed, then the operator's."""
        said = lambda *arguments: self.run_one("ours", "providers", *arguments)  # noqa: E731
        self.assertEqual(said(), (0, "There are no providers in the cluster: `clusterctl init` installs them.\n", ""))
        self.installed_by_clusterctl()
        code, out, errors = said()
        self.assertEqual((code, errors), (0, ""))
        rows = [" ".join(line.split()) for line in out.splitlines()[1:]]
        self.assertEqual(
            rows,
            [
                "Inventory no operator looks after these providers: clusterctl installed them",
                f"└─InfrastructureProvider/docker team {VERSION} False WorkloadsNotReady Deployment capd: 0 of 1 replicas are available",
                "└─Deployment/capd team False 0 of 1 replicas are available",
            ],
        )
        self.assertEqual(said("-o", "name")[1], "provider.clusterctl.cluster.x-k8s.io/infrastructure-docker\n")
        self.with_an_operator()
        code, out, errors = said("-o", "json")
        self.assertEqual((code, errors), (0, ""))
        tree = json.loads(out)
        self.assertEqual([one["managedBy"] for one in tree["providers"]], ["operator", "operator", "clusterctl"])
        self.assertEqual(tree["providers"][1]["waitsFor"], ["CoreProvider team/cluster-api"])
        self.assertIn("waits for CoreProvider team/cluster-api", said()[1])
        elsewhere = json.loads(said("-n", "elsewhere", "-o", "json")[1])
        self.assertEqual(elsewhere, {"operators": [], "providers": []})

    def installed_by_clusterctl(self):
        text = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: providers.clusterctl.cluster.x-k8s.io}
spec:
  group: clusterctl.cluster.x-k8s.io
  names: {kind: Provider, plural: providers, singular: provider}
  scope: Namespaced
  versions:
  - {name: v1alpha3, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
"""
        self.world.must("create", "-f", "-", given=text)
        self.world.await_kinds()
        self.world.make("Provider", "infrastructure-docker", providerName="docker", type="InfrastructureProvider", version=VERSION)
        containers = [{"name": "manager", "image": f"capd:{VERSION}"}]
        pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers, "nodeSelector": {"no": "where"}}}
        labels = {"cluster.x-k8s.io/provider": "infrastructure-docker"}
        self.world.make("Deployment", "capd", {"selector": {"matchLabels": {"a": "b"}}, "template": pod}, labels=labels)
        self.world.until("its status", lambda: self.world.get("deployment", "capd", "-n", "team")["status"].get("observedGeneration"))

    def with_an_operator(self):
        self.world.plane.api.create_crds(cluster.documents(cluster.own_crds()))
        ready = condition("Ready", "True", "WorkloadsReady")
        waits = condition("Ready", "False", "WaitingForCoreProviderReady", "Waiting for the CoreProvider to be installed")
        for kind, name, state in (("CoreProvider", "cluster-api", ready), ("BootstrapProvider", "kubeadm", waits)):
            GROUPS[kind], VERSIONS[kind] = cluster.API_GROUP, "v1alpha2"
            self.world.make(kind, name, {"version": VERSION}, {"observedGeneration": 1, "installedVersion": VERSION, "conditions": [state]})

    def timed(self, which, *arguments):
        """What it printed, and the seconds of CPU that it took: others may keep the machine busy."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code, out, _ = self.run_one(which, "cluster", "large", "-n", "team", *arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(code, 0)
        return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    @tiers.longer_in_full
    def test_a_large_cluster(self):
        """A thousand machines (`make test`: thirty), as one group, and each by itself with all that is behind it: for that Cluster
        API's makes six requests a machine, twenty a second, so it is asked for few."""
        at, many = Makes(self.world, "large"), 1000 if tiers.FULL else 30
        at.cluster([], counts=False)
        md = at.deployment("large-md", {"conditions": []})

        def make(some):
            for number in some:
                at.machine(f"large-{number}", [condition("Ready", "False", "Same")], md, well("Ready"), well("Ready"))
            self.world.plane.api.close()  # this thread's connection

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(make, [range(first, many, 8) for first in range(8)]))
        ours, took = self.timed("ours")
        theirs, they_took = self.timed("theirs")
        print(f"{many} machines: ours {took:.2f} s of CPU, theirs {they_took:.2f} s", file=sys.stderr)
        self.assertEqual(ours, theirs)
        self.assertIn(f"{many} Machines...", ours)
        self.assertLess(took, they_took)
        each = ["--grouping=false", "--echo"]
        ours, took = self.timed("ours", *each)
        print(f"each by itself: ours {took:.2f} s of CPU", file=sys.stderr)
        self.assertEqual(ours.count("InfraMachine/large-"), many)
        self.assertEqual(ours.count("BootConfig/large-"), many)
        self.assertLess(took, 2, "within a second on a machine of its own")
        if not tiers.FULL:
            self.assertEqual(ours, self.timed("theirs", *each)[0])


if __name__ == "__main__":
    unittest.main()
