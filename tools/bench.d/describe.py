"""`clusterctl describe cluster` of a cluster of a thousand machines, ours and the real one.

The machines are objects alone, with the conditions that Cluster API's managers give them; no manager runs, so that conversion
is switched off in the CRDs. Ungrouped, each machine's other objects are read too: of the real one that takes two minutes a round,
for it sends few requests a second.
"""

import concurrent.futures
import os
import tempfile

import cluster
import commands
import releases
import rig
from figures import side_by_side

VERSION = "v1.12.1"
COMPONENTS = (
    "cluster-api/{}/core-components.yaml",
    "bootstrap-kubeadm/{}/bootstrap-components.yaml",
    "infrastructure-docker/{}/infrastructure-components.yaml",
)
CORE, BOOTSTRAP, INFRASTRUCTURE = (f"{name}.x-k8s.io" for name in ("cluster", "bootstrap.cluster", "infrastructure.cluster"))
GROUPS = {"KubeadmConfig": BOOTSTRAP, "DockerCluster": INFRASTRUCTURE, "DockerMachine": INFRASTRUCTURE}
NAME = "large"
DEPLOYMENTS, MACHINES = 10, 100  # machines of each


def conditions(*kinds):
    then = "2026-01-01T00:00:00Z"
    return {"conditions": [{"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": then} for kind in kinds]}


def reference(kind, name):
    return {"apiGroup": GROUPS[kind], "kind": kind, "name": name}


class Rig(rig.Rig):
    def prepare(self):
        paths = [os.path.join(releases.locate(), path.format(VERSION)) for path in COMPONENTS]
        self.api.create_crds(cluster.crds_of(paths))
        self.api.without_conversion()
        self.make_cluster()

    def make(self, kind, name, spec, status, owner=None):
        """The object with its status; a reference for what it owns."""
        version = f"{GROUPS.get(kind, CORE)}/v1beta2"
        metadata = {"name": name, "labels": {"cluster.x-k8s.io/cluster-name": NAME}}
        if owner:
            metadata["ownerReferences"] = [{**owner, "controller": True}]
        folder = f"/apis/{version}/namespaces/default/{kind.lower()}s"
        item = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
        made = self.api.create_with_status(folder, item, status)
        return {"apiVersion": version, "kind": kind, "name": name, "uid": made["metadata"]["uid"]}

    def make_cluster(self):
        endpoint = {"host": "127.0.0.1", "port": 6443}
        spec = {"controlPlaneEndpoint": endpoint, "infrastructureRef": reference("DockerCluster", NAME)}
        self.make("Cluster", NAME, spec, conditions("Available", "InfrastructureReady"))
        self.make("DockerCluster", NAME, {"controlPlaneEndpoint": endpoint}, conditions("Ready"))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for number in range(DEPLOYMENTS):
                owner = self.make_deployment(f"md-{number}")
                names = (f"md-{number}-{machine:03}" for machine in range(MACHINES))
                list(pool.map(lambda name: self.make_machine(name, owner), names))  # noqa: B023 - at once

    @staticmethod
    def of_machine(name):
        boot = {"configRef": reference("KubeadmConfig", name)}
        return {"clusterName": NAME, "bootstrap": boot, "infrastructureRef": reference("DockerMachine", name)}

    def make_deployment(self, name):
        labels = {"deployment": name}
        template = {"metadata": {"labels": labels}, "spec": self.of_machine(name)}
        spec = {"clusterName": NAME, "replicas": MACHINES, "selector": {"matchLabels": labels}, "template": template}
        counts = {"replicas": MACHINES, "readyReplicas": MACHINES}
        deployment = self.make("MachineDeployment", name, spec, {**counts, **conditions("Available")})
        return self.make("MachineSet", name, spec, {**counts, **conditions("MachinesReady")}, deployment)

    def make_machine(self, name, owner):
        self.make("Machine", name, self.of_machine(name), conditions("Ready", "Available", "UpToDate"), owner)
        self.make("DockerMachine", name, {}, conditions("Ready"))
        self.make("KubeadmConfig", name, {"verbosity": 1}, conditions("Ready"))


def run(rounds):
    with rig.Bench() as bench, Rig(bench, rig.OURS) as world, tempfile.TemporaryDirectory() as folder:
        environment = commands.environment(folder) | {"KUBECONFIG": world.plane.kubeconfig}
        for times, flags in ((rounds, []), (1, ["--show-conditions", "all", "--grouping=false", "--echo"])):
            command = ["describe", "cluster", NAME, *flags]
            side_by_side(f"`{' '.join(command)}`, {DEPLOYMENTS * MACHINES} machines", commands.both(), command, environment, times)
