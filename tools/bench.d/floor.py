"""What the API server itself takes for what an operator applies: our operator beside a program that does nothing else.

What the operator applies of four providers is read from the audit log of an installation that isn't measured. In each
round a fresh control plane gets just these objects from floor_benchmark, by server-side applies over eight connections:
CRDs first, the others once these are established, until all Deployments are available. Another one has the operator,
from the creation of the four providers until all are Ready. Both find Namespaces and the ConfigMaps with the releases.
"""

import json
import os
import subprocess
import sys
import time

import install
import repetitions
import rig
from figures import print_table
from progress import AssetError

FLOOR = "the floor"
PROGRAM = repetitions.program("floor_benchmark")
LABEL = "cluster.x-k8s.io/provider"


class Apply:
    """One server-side apply of an object of a provider's."""

    def __init__(self, label, target, body):
        self.label, self.target, self.body = label, target, body


def recorded(lines):
    """What an audit log with bodies has of applies of providers' objects, each object once, in their order; without dry
    runs, and without what the operator and clusterctl keep for themselves."""
    found = {}
    for line in lines:
        entry = json.loads(line)
        reference, item = entry.get("objectRef") or {}, entry.get("requestObject")
        if entry["verb"] != "patch" or not isinstance(item, dict) or reference.get("subresource"):
            continue
        label = ((item.get("metadata") or {}).get("labels") or {}).get(LABEL)
        of_ours = reference.get("apiGroup", "").endswith(("operator.cluster.x-k8s.io", "clusterctl.cluster.x-k8s.io"))
        target = entry["requestURI"]
        if label and not of_ours and "force=true" in target and "dryRun" not in target:
            found[target] = Apply(label, target, json.dumps(item, separators=(",", ":")))
    return list(found.values())


def record(bench, install_all):
    """What the operator applies in an installation."""
    with rig.Rig(bench, rig.OURS, bodies=True) as run:
        install_all(run)
        run.plane.requests()  # until they are in the log
        with open(run.plane.audit_log, encoding="utf-8") as file:
            return with_workloads(recorded(file))


def with_workloads(applies):
    """Fails where there is no Deployment for whose availability the program would wait."""
    if not any("/deployments/" in apply.target for apply in applies):
        raise AssetError(f"of {len(applies)} applies of the operator none is of a Deployment: there is nothing to wait for")
    return applies


def write(path, applies):
    with open(path, "w", encoding="utf-8") as file:
        for apply in applies:
            file.write(f"{apply.target}\n{apply.body}\n")


def send(run, applies, seconds=rig.TIMEOUT):
    """What floor_benchmark says: seconds until all is established, is sent, and is available; its CPU time and memory."""
    path = os.path.join(run.state.path, "applies")
    write(path, applies)
    before = len(run.plane.requests())
    command = [PROGRAM, run.plane.operator_kubeconfig, path, f"{seconds:.0f}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssetError(done.stderr.strip() or f"{PROGRAM} ended with {done.returncode}")
    return {**json.loads(done.stdout), "requests": len(run.plane.requests()) - before}


def of_floor(bench, providers, applies):
    """Seconds, CPU seconds, requests, requests for each object, MiB."""
    with rig.Rig(bench, FLOOR) as run:
        run.preload(providers)
        told = send(run, applies)
        return told["seconds"], told["cpu"], told["requests"], told["requests"] / len(applies), told["peak"] / 1024


def install_four(run, providers):
    """Seconds from their creation until all are Ready."""
    run.preload(providers)
    run.start()
    begin = time.monotonic()
    for provider in providers:
        run.create(provider)
    run.await_ready(providers)
    return time.monotonic() - begin


def of_ours(bench, providers, applies):
    """The same of the operator."""
    with rig.Rig(bench, rig.OURS) as run:
        seconds = install_four(run, providers)
        cpu, peak = rig.cpu_seconds(run.pid), rig.memory_kib(run.pid, "VmHWM")
        requests = len(run.plane.requests())
        return seconds, cpu, requests, requests / len(applies), peak / 1024


def run(rounds):
    """Prints the table; `rounds` of each, in turn."""
    providers = install.quickstart()
    measured = {rig.OURS: [], FLOOR: []}
    with rig.Bench() as bench:
        applies = record(bench, lambda run: install_four(run, providers))
        for number in range(rounds):
            for name, measure in ((FLOOR, of_floor), (rig.OURS, of_ours)):
                measured[name].append(measure(bench, providers, applies))
                values = "{:.2f} s, {:.2f} s of CPU time, {} requests, {:.2f} for each object, {:.0f} MiB".format(*measured[name][-1])
                print(f"round {number + 1}, {name}: {values}; load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    head = [f"four providers from ConfigMaps, {len(applies)} objects", "until all is there", "CPU time of its own", "API requests",
            "for each object", "peak memory"]
    print_table(head, install.compared(measured, ("s", "s", "", "x", "MiB")))
