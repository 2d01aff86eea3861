"""A management cluster for tests of `move`: an API server with the kinds of Cluster API's providers and the garbage collector, no
provider; and the objects that these providers would have made in it."""

import base64
import concurrent.futures
import json
import os
import re

import cluster
import plan
import process
from built import ROOT

VERSION = "v1.12.0"
RELEASES = os.path.join(ROOT, "testdata", "releases")
FILES = (
    "cluster-api/{}/core-components.yaml",
    "bootstrap-kubeadm/{}/bootstrap-components.yaml",
    "control-plane-kubeadm/{}/control-plane-components.yaml",
    "infrastructure-docker/{}/infrastructure-components.yaml",
)
CORE, ADDONS = "cluster.x-k8s.io", "addons.cluster.x-k8s.io"
CONTROL_PLANE, BOOTSTRAP, INFRASTRUCTURE = (f"{group}.cluster.x-k8s.io" for group in ("controlplane", "bootstrap", "infrastructure"))
INVENTORY = "/apis/clusterctl.cluster.x-k8s.io/v1alpha3"
# Kind: (group, plural)
KINDS = {
    "Secret": ("", "secrets"),
    "ConfigMap": ("", "configmaps"),
    "Cluster": (CORE, "clusters"),
    "ClusterClass": (CORE, "clusterclasses"),
    "MachineDeployment": (CORE, "machinedeployments"),
    "MachineSet": (CORE, "machinesets"),
    "Machine": (CORE, "machines"),
    "ClusterResourceSet": (ADDONS, "clusterresourcesets"),
    "ClusterResourceSetBinding": (ADDONS, "clusterresourcesetbindings"),
    "KubeadmControlPlane": (CONTROL_PLANE, "kubeadmcontrolplanes"),
    "KubeadmConfig": (BOOTSTRAP, "kubeadmconfigs"),
    "DockerCluster": (INFRASTRUCTURE, "dockerclusters"),
    "DockerMachine": (INFRASTRUCTURE, "dockermachines"),
    "Template": (INFRASTRUCTURE, "templates"),
    "Forced": (INFRASTRUCTURE, "forceds"),
    "Identity": (INFRASTRUCTURE, "identities"),
}
PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager"]
GLOBAL = ("Identity",)
MOVE = "clusterctl.cluster.x-k8s.io/move"
RECORD = "operator.cluster.x-k8s.io/move"
CLUSTER_READY = {
    "initialization": {"infrastructureProvisioned": True, "controlPlaneInitialized": True},
    "conditions": [
        {"type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    ],
}
MACHINE_READY = {"phase": "Running", "nodeRef": {"name": "node"}}


class Plane(cluster.ControlPlane):
    """Without pods. Two of them are begun before the first is awaited."""

    def begin(self):
        self._write_files()
        self._run("etcd", *self._etcd_flags())
        self._run("kube-apiserver", *self._api_server_flags())

    def start(self):
        self._await_ready()
        quiet = ["--bind-address=127.0.0.1", "--secure-port=0", "--leader-elect=false", "--profiling=false"]
        only = "--controllers=garbage-collector-controller,namespace-controller"
        self._run("kube-controller-manager", f"--kubeconfig={self.kubeconfig}", only, *quiet, *self._controller_flags())


def definition(kind, scope="Namespaced", label=None, of=None, version="v1beta2"):
    """A CustomResourceDefinition that the releases of this tree lack."""
    group, plural = of or KINDS[kind]
    labels = {"clusterctl.cluster.x-k8s.io": "", **({label: ""} if label else {})}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": version, "served": True, "storage": True, "subresources": {"status": {}}, "schema": schema}
    return json.dumps(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}", "labels": labels},
            "spec": {"group": group, "scope": scope, "names": {"kind": kind, "plural": plural}, "versions": [version]},
        }
    )


def definitions():
    """Those of the releases, as clusterctl installs them, but for the conversion, which nobody answers here; and a few more."""
    paths = [os.path.join(RELEASES, file.format(VERSION)) for file in FILES]
    found = [re.sub(r"(?m)^  conversion:\n(?:    .*\n)+", "", document) for document in cluster.crds_of(paths)]
    found = [re.sub(r"(?m)^  labels:(\n    | \{)", labelled, document, count=1) for document in found]
    more = [definition(kind) for kind in ("ClusterResourceSetBinding", "DockerMachine", "Template")]
    more.append(definition("Forced", label=MOVE))
    inventory = definition("Provider", of=("clusterctl.cluster.x-k8s.io", "providers"), version="v1alpha3")
    return [*found, *more, definition("Identity", "Cluster", f"{MOVE}-hierarchy"), inventory]


def labelled(match):
    return f'  labels:{match.group(1)}clusterctl.cluster.x-k8s.io: ""' + (", " if "{" in match.group(1) else match.group(1))


class Side:
    """One management cluster: made, then started."""

    PLANE, PROGRAMS = Plane, PROGRAMS

    def __init__(self):
        self.state = process.StateFolder()
        self.processes = process.Processes(self.state.path)
        self.plane = self.PLANE(plan.link_folder(self.PROGRAMS), self.state.path, self.processes)
        self.api = self.plane.api
        self.plane.begin()

    def start(self):
        self.plane.start()
        self.api.create_crds(self.kinds())

    def kinds(self):
        return definitions()

    def close(self):
        self.api.close()
        self.processes.stop()
        self.state.remove()

    def ask(self, method, path, body=None, content_type="application/json", wanted=(200, 201)):
        status, text = self.api.request(method, path, None if body is None else json.dumps(body), content_type)
        if status not in wanted:
            raise AssertionError(f"{method} {path}: {status} {text}")
        return json.loads(text)

    def path(self, kind, ns, name="", part=""):
        group, plural = KINDS[kind]
        root = f"/apis/{group}/v1beta2" if group else "/api/v1"
        place = "" if kind in GLOBAL or not ns else f"/namespaces/{ns}"
        return f"{root}{place}/{plural}" + (f"/{name}" if name else "") + (f"/{part}" if part else "")

    def make_namespace(self, ns):
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": ns}}, wanted=(201, 409))

    def make(self, kind, ns, name, owners=(), finalizers=(), status=None, labels=None, **more):
        """Creates an object, and gives it as the server has it."""
        group, _ = KINDS[kind]
        metadata = {"name": name, "labels": {"mine": name, **(labels or {})}, "annotations": {"example.com/made": name}}
        if kind not in GLOBAL:
            metadata["namespace"] = ns
        if finalizers:
            metadata["finalizers"] = list(finalizers)
        if owners:
            metadata["ownerReferences"] = [reference(owner, at == 0) for at, owner in enumerate(owners)]
        body = {"apiVersion": f"{group}/v1beta2" if group else "v1", "kind": kind, "metadata": metadata, **more}
        if group and "spec" not in body:
            body["spec"] = {"of": name}
        made = self.ask("POST", self.path(kind, ns), body)
        if status:
            self.set_status(kind, ns, name, status)
        return made

    def set_status(self, kind, ns, name, status):
        self.ask("PATCH", self.path(kind, ns, name, "status"), {"status": status}, cluster.MERGE_PATCH)

    def set_statuses(self, kind, ns, names, status):
        for name in names:
            self.set_status(kind, ns, name, status)
        self.api.close()  # of this thread

    def list(self, kind, ns):
        return self.ask("GET", self.path(kind, ns))["items"]

    def get(self, kind, ns, name):
        return self.ask("GET", self.path(kind, ns, name))

    def make_ready(self, ns):
        """As the providers would do with what has come, which leave alone what a move holds."""
        clusters = self.list("Cluster", ns)
        held = {item["metadata"]["name"] for item in clusters if RECORD in item["metadata"].get("annotations", {})}
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for kind, status in (("Cluster", CLUSTER_READY), ("Machine", MACHINE_READY)):
                items = clusters if kind == "Cluster" else self.list(kind, ns)
                names = [item["metadata"]["name"] for item in items if item["spec"].get("clusterName", item["metadata"]["name"]) not in held]
                list(pool.map(lambda part, kind=kind, status=status: self.set_statuses(kind, ns, part, status), [names[at::4] for at in range(4)]))

    def add_to_inventory(self, kind, label, ns, version=VERSION):
        self.make_namespace(ns)
        name = label.split("-", 1)[1] if kind != "CoreProvider" else label
        labels = {"clusterctl.cluster.x-k8s.io": "", "cluster.x-k8s.io/provider": label, "clusterctl.cluster.x-k8s.io/core": "inventory"}
        body = {
            "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3",
            "kind": "Provider",
            "metadata": {"name": label, "namespace": ns, "labels": labels},
            "providerName": name,
            "type": kind,
            "version": version,
        }
        self.ask("POST", f"{INVENTORY}/namespaces/{ns}/providers", body)

    def snapshot(self, *namespaces):
        """{(kind, namespace, name): what counts of it}. Owners have to be there."""
        found = {}
        for kind in KINDS:
            for ns in namespaces if kind not in GLOBAL else ("",):
                found |= {(kind, ns, item["metadata"]["name"]): item for item in self.list(kind, ns)}
        found = {key: item for key, item in found.items() if key[2] != "kube-root-ca.crt"}
        by_uid = {item["metadata"]["uid"]: key for key, item in found.items()}
        return {key: essence(item, by_uid) for key, item in found.items()}


def moving(snapshot):
    """Of what make_namespace makes."""
    return {key: value for key, value in snapshot.items() if key[2] != "foreign" and key[0] not in GLOBAL}


def without_managers(snapshot):
    return {key: {**value, "managers": []} for key, value in snapshot.items()}


def reference(owner, controller):
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": controller,
        "blockOwnerDeletion": True,
    }


def essence(item, by_uid):
    metadata = item["metadata"]
    owners = [
        (by_uid.get(owner["uid"], f"dangling {owner['uid']}"), owner["apiVersion"], owner.get("controller"), owner.get("blockOwnerDeletion"))
        for owner in metadata.get("ownerReferences", [])
    ]
    managers = [
        (entry["manager"], entry["operation"], entry.get("subresource"), json.dumps(entry.get("fieldsV1"), sort_keys=True))
        for entry in metadata.get("managedFields", [])
        if entry["manager"] != "clusterctl" and "k:{" not in json.dumps(entry)
    ]
    kept = {name: metadata.get(name) or None for name in ("labels", "annotations", "finalizers", "deletionTimestamp")}
    rest = {name: value for name, value in item.items() if name not in ("metadata", "status")}
    return {**kept, "owners": sorted(owners, key=str), "managers": sorted(managers, key=str), **rest}


def make_clusters(side, ns, names, machines, classes, paused):
    for at, name in names:
        make_cluster(side, ns, name, machines, classes[at % 2] if at < 2 else None, name in paused)
    side.api.close()  # of this thread


def make_cluster(side, ns, name, machines=2, topology=None, paused=False):
    """A Cluster with all that its providers would make."""
    spec = {"of": name, "controlPlaneRef": {"apiGroup": CONTROL_PLANE, "kind": "KubeadmControlPlane", "name": name}}
    if topology:
        spec["topology"] = {"classRef": topology, "version": "v1.34.0"}
    if paused:
        spec["paused"] = True
    top = side.make("Cluster", ns, name, spec=spec, finalizers=["cluster.cluster.x-k8s.io"], status=CLUSTER_READY)
    side.make("DockerCluster", ns, name, [top], finalizers=["dockercluster.infrastructure.cluster.x-k8s.io"])
    control = side.make("KubeadmControlPlane", ns, name, [top], finalizers=["kubeadm.controlplane.cluster.x-k8s.io"])
    side.make("Template", ns, name, [top])
    deployment = side.make("MachineDeployment", ns, name, [top])
    machine_set = side.make("MachineSet", ns, name, [deployment])
    secret = {"data": {"value": base64.b64encode(f"<secret> & of {name}".encode()).decode()}}
    side.make("Secret", ns, f"{name}-kubeconfig", [control], **secret)
    for purpose in ("ca", "etcd", "sa", "proxy"):
        side.make("Secret", ns, f"{name}-{purpose}", **secret)
    side.make("ClusterResourceSetBinding", ns, name, spec={"clusterName": name, "bindings": []})
    for at in range(machines):
        machine = f"{name}-{at}"
        owner = control if at == 0 else machine_set
        machine_spec = {"clusterName": name, "of": machine, "providerID": f"x://{machine}"}
        made = side.make("Machine", ns, machine, [owner], finalizers=["machine.cluster.x-k8s.io"], status=MACHINE_READY, spec=machine_spec)
        config = side.make("KubeadmConfig", ns, machine, [made])
        side.make("DockerMachine", ns, machine, [made], finalizers=["dockermachine.infrastructure.cluster.x-k8s.io"])
        side.make("Secret", ns, machine, [config], **secret)


def make_namespace(side, ns, clusters=2, machines=2, shared=None, paused=()):
    """A team's namespace: Clusters, what they share, and what has nothing to do with them."""
    side.make_namespace(ns)
    quick = side.make("ClusterClass", ns, "quick", spec={"of": "quick"})
    side.make("Template", ns, "of-quick", [quick])
    resources = side.make("ClusterResourceSet", ns, "crs")
    side.make("ConfigMap", ns, "crs-content", [resources], data={"a": "b"})
    side.make("Forced", ns, "forced")
    side.make("Secret", ns, "labelled", labels={MOVE: ""}, data={"a": "Yg=="})
    side.make("Secret", ns, "foreign", data={"a": "Yg=="})
    side.make("ConfigMap", ns, "foreign", data={"a": "b"})
    classes = [{"name": "quick"}, shared or {"name": "quick"}]
    names = [(at, f"c{at}") for at in range(clusters)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda part: make_clusters(side, ns, part, machines, classes, paused), [names[at::4] for at in range(4)]))
