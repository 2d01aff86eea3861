"""A management plane of processes, `clusterctl local`, with the real managers of four providers and a Cluster of three machines.

Its floor is what nobody can do without: etcd and the API server until they are ready, and then the providers' objects, sent by
one kubectl for each provider side by side; no operator, no controller, and no manager that has to get ready. Each round has both in turn.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time

import built
import cluster
import plane
import process
import programs
import releases
import rig
import workload_ports
from figures import ROOT, cell, median, print_table, ratios
from progress import AssetError

sys.path.append(os.path.join(ROOT, "tools", "testing.d"))

import local_plane  # noqa: E402

TEMPLATE = os.path.join(ROOT, "manifests", "samples", "in-memory-cluster.yaml")
FLAGS = {"CoreProvider": "--core", "BootstrapProvider": "--bootstrap", "ControlPlaneProvider": "--control-plane", "InfrastructureProvider": "--infrastructure"}
FLOOR, OURS = "bare servers and kubectl", "clusterctl local up"


class BareServers(cluster.ControlPlane):
    """etcd and the API server alone."""

    def start(self):
        self._write_files()
        self._run("etcd", *self._etcd_flags())
        self._run("kube-apiserver", *self._api_server_flags())
        self._await_ready()


def must(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise AssetError(f"{' '.join(command[:4])} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def objects(clusterctl, config, folder):
    """A file for each provider, without what only cert-manager's kinds are for."""
    paths = []
    for kind, (name, label, _, _) in plane.PROVIDERS.items():
        text = must(clusterctl, "generate", "provider", FLAGS[kind], f"{name}:{plane.VERSION}", "--config", config)
        kept = [document for document in cluster.split_documents(text) if "apiVersion: cert-manager.io/" not in document]
        paths.append(os.path.join(folder, f"{label}.yaml"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write("---\n".join(kept))
    return paths


def floor(servers, paths):
    """Seconds."""
    state = process.StateFolder()
    processes = process.Processes(state.path)
    try:
        begin = time.monotonic()
        control_plane = BareServers(servers, state.path, processes)
        control_plane.start()
        kubectl = [os.path.join(servers, "kubectl"), f"--kubeconfig={control_plane.kubeconfig}", "apply", "--server-side"]
        running = [subprocess.Popen([*kubectl, "-f", path], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) for path in paths]
        if any([child.wait(rig.TIMEOUT) for child in running]):
            raise AssetError("kubectl has failed")
        return time.monotonic() - begin
    finally:
        processes.stop()
        state.remove()


def together_mb(place):
    """Of the supervisor and the operator, in MB; a page of a library that several processes map counts for each in proportion."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        words = local_plane.command_of(pid)
        ours = "supervise" in words and place in words
        ours = ours or (words[:1] and os.path.basename(words[0]) == "capi-operator" and place in local_plane.environment_of(pid).get("HOME", ""))
        if ours and local_plane.is_alive(pid):
            found += rig.memory_kib(pid, "Pss", "smaps_rollup")
    return found * 1024 / 1e6


def one_round(clusterctl, config, servers, binaries, folder):
    """Seconds until all are Ready, until the Cluster is Available, and to end; megabytes."""
    place, manifests = os.path.join(folder, "plane"), os.path.join(folder, "manifests")
    ours = [clusterctl, "--config", config, "local"]
    words = [*ours, "up", "--dir", place, "--programs", servers]
    for _, _, _, provider in plane.PROVIDERS.values():
        words += ["--provider", f"{provider}:{plane.VERSION}"]
    for image, path in binaries.items():
        words += ["--binary", f"{image}={path}"]
    times = []
    with contextlib.ExitStack() as stack:
        for more in (["--delete"], []):  # in the opposite order
            stack.callback(subprocess.run, [*ours, "down", *more, "--dir", place], stdout=subprocess.DEVNULL, check=False)
        steps = (
            [words],
            [
                [*ours, "manifests", "c", "--from", TEMPLATE, "--kubernetes-version", "v1.34.0", "--control-plane-machine-count", "1",
                 "--worker-machine-count", "2", "-o", manifests],
                [*ours, "apply", manifests, "--dir", place],
                [*ours, "wait", "c", "--dir", place],
            ],
        )
        for commands in steps:
            begin = time.monotonic()
            for command in commands:
                must(*command)
            times.append(time.monotonic() - begin)
        machines = must(os.path.join(servers, "kubectl"), f"--kubeconfig={place}/kubeconfig", "get", "machines", "-o", "name").split()
        if len(machines) != 3:
            raise AssetError(f"there are {len(machines)} machines, not three")
        memory = together_mb(place)
        begin = time.monotonic()
        must(clusterctl, "local", "down", "--dir", place)
        times.append(time.monotonic() - begin)
    return *times, memory


def run(rounds):
    """Prints both tables."""
    servers = programs.link_folder(["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"])
    clusterctl, binaries = built.find("clusterctl"), {"capi-operator": built.find("capi-operator")}
    binaries |= {image: programs.locate(name) for name, image in plane.IMAGES.items()}
    floors, measured = [], []
    with workload_ports.one_at_a_time(rig.TIMEOUT), tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "clusterctl.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(plane.configuration(os.environ.get("RELEASES_DIR") or releases.locate()))
        paths = objects(clusterctl, config, folder)
        for number in range(rounds):
            floors.append(floor(servers, paths))
            with tempfile.TemporaryDirectory() as own:
                measured.append(one_round(clusterctl, config, servers, binaries, own))
            print("round {}: floor {:.2f} s; up {:.2f} s, Cluster {:.2f} s, down {:.2f} s, {:.1f} MB".format(number + 1, floors[-1], *measured[-1]),
                  file=sys.stderr)
    up, available, down, memory = zip(*measured)
    rows = [[FLOOR, cell(floors, "s")], [OURS, cell(up, "s")], ["ratio", *ratios([median(up)], [median(floors)])]]
    print_table(["four providers", "until all are Ready"], rows)
    print_table(["then", "measured"], [
        ["a Cluster of three machines, until it is Available", cell(available, "s")],
        ["`local down`", cell(down, "s")],
        ["supervisor and operator, proportional set size", cell(memory, "MB")],
    ])
