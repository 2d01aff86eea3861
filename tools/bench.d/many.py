"""Our operator restarted over 200 providers, which are made of a few real releases with their objects renamed.

They are installed first, and that is timed too. Then the operator is stopped and started; it has seen to all when its
metrics have every provider as Ready, which they have after its first pass. Writes are those since the start, without the
lease, up to ten seconds after that moment.
"""

import collections
import json
import os
import sys
import time

import preload
import rig
from figures import print_table

COUNT = int(os.environ.get("PROVIDERS", "200"))
# Kind, name and version of what is copied; the prefix of its objects' names; the group of its CRDs.
MODELS = [
    ("BootstrapProvider", "rke2", "v0.25.0", "rke2-bootstrap", "bootstrap.cluster.x-k8s.io"),
    ("IPAMProvider", "in-cluster", "v1.0.3", "capi-ipam-in-cluster", "ipam.cluster.x-k8s.io"),
    ("AddonProvider", "helm", "v0.6.4", "caaph", "addons.cluster.x-k8s.io"),
    ("BootstrapProvider", "k3s", "v0.3.1", "capi-k3s-bootstrap", "bootstrap.cluster.x-k8s.io"),
    ("RuntimeExtensionProvider", "test-extension", "v1.12.0", "test-extension", None),
]
CORE = ("CoreProvider", "capi-system", "cluster-api", "v1.12.0")
QUIET = 10.0


def renamed(components, name, prefix, group):
    """A release whose objects have other names, and whose kinds another group."""
    text = components.decode()
    if group:
        text = text.replace(group, f"{name}.{group}")
    return text.replace(prefix, name).encode()


def create(run, number):
    """The Namespace, the release and the provider."""
    kind, model, version, prefix, group = MODELS[number % len(MODELS)]
    name = f"p{number:03}"
    provider = preload.Provider(kind, name, name, version)
    metadata, components = preload.read_release(run.bench.source, preload.Provider(kind, name, model, version))
    run.api.create("/api/v1/namespaces", json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
    release = preload.config_map(provider, metadata, renamed(components, name, prefix, group))
    run.api.create(f"/api/v1/namespaces/{name}/configmaps", json.dumps(release))
    selector = {"matchLabels": {f"{preload.LABELS}/name": name}}
    run.create(provider, {"fetchConfig": {"selector": selector}})
    return provider


def ready_in(metrics):
    """How many providers the metrics have as Ready."""
    return sum(line.startswith("capi_operator_provider_ready{") and line.endswith(" 1") for line in metrics.splitlines())


def install_all(run):
    """Seconds until all are Ready."""
    core = preload.Provider(*CORE)
    run.preload([core])
    run.start()
    begin = time.monotonic()
    run.create(core)
    for number in range(1, COUNT):
        create(run, number)
    await_all(run, 900)
    return time.monotonic() - begin


def await_all(run, timeout=rig.TIMEOUT):
    run.await_that(f"{COUNT} providers are Ready", lambda: ready_in(rig.ask(run.metrics, "/metrics")[1]) == COUNT, timeout)


def one_round(bench):
    with rig.Rig(bench, rig.OURS) as run:
        installed = install_all(run)
        time.sleep(QUIET)
        print(f"{COUNT} providers installed in {installed:.0f} s, {rig.memory_kib(run.pid, 'VmHWM') * 1024 / 1e6:.0f} MB at most",
              file=sys.stderr)
        run.end_operator()
        before = len(run.plane.requests())
        begin = time.monotonic()
        run.start()
        await_all(run)
        seconds = time.monotonic() - begin
        cpu = rig.cpu_seconds(run.pid)
        time.sleep(QUIET)
        requests = rig.beyond_watches(run.plane.requests()[before:])
        print(f"requests: {dict(collections.Counter(requests))}", file=sys.stderr)
        writes = sum(verb in rig.WRITES for verb, _ in requests)
        memory = [rig.memory_kib(run.pid, field) * 1024 / 1e6 for field in ("VmRSS", "VmHWM")]
        return installed, seconds, cpu, writes, len(requests), *memory


def run(rounds):
    """Prints the table."""
    with rig.Bench() as bench:
        wanted = [preload.Provider(*CORE), *(preload.Provider(kind, "", name, version) for kind, name, version, *_ in MODELS)]
        if lacking := bench.lacks(wanted):
            print(f"left out: many; RELEASES_DIR names no folder with {lacking}", file=sys.stderr)
            return
        head = [f"{COUNT} providers", "first installation", "start to in sync", "CPU time of that", "writes", "other requests",
                "memory then", "peak"]
        rows = []
        for _ in range(rounds):
            installed, seconds, cpu, writes, requests, memory, peak = one_round(bench)
            rows.append(["capi-operator, restarted", f"{installed:.0f} s", f"{seconds:.2f} s", f"{cpu:.2f} s", str(writes),
                         str(requests - writes), f"{memory:.1f} MB", f"{peak:.1f} MB"])
        print_table(head, rows)
