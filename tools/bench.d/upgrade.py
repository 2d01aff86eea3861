"""Upgrades the core provider with this operator and with the peer, side by side in one run.

Each round has a fresh control plane with the old version, installed by the operator that is measured. Time runs from the
change of spec.version until the new version is installed and Ready. Watches of the manager's Deployment and of its
EndpointSlices tell how long it had no available replica, and its Service no ready address.
"""

import json
import sys
import time

import preload
import rig
import stream
from install import compared
from figures import print_table
from progress import AssetError

STEPS = [("v1.11.0", "v1.12.0"), ("v1.10.4", "v1.11.0")]
NAMESPACE = "capi-system"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices"
SERVICE = "kubernetes.io/service-name=capi-webhook-service"


def is_available(deployment):
    return ((deployment.get("status") or {}).get("availableReplicas") or 0) > 0


def has_address(slices):
    """Whether an EndpointSlice has a ready address."""
    endpoints = slices.get("endpoints") or []
    return any((endpoint.get("conditions") or {}).get("ready") for endpoint in endpoints)


def outage(events, holds, begin, end):
    """Seconds between begin and end in which no object did hold; events before begin say how it stood."""
    good, since, total = {}, begin, 0.0
    for at, kind, item in [*events, (end, "END", None)]:
        at = min(max(at, begin), end)
        if not any(good.values()):
            total += at - since
        since = at
        if item is not None:
            good[item["metadata"]["name"]] = kind != "DELETED" and holds(item)
    return total


def one_round(bench, name, old, new):
    """Seconds until Ready, without an available replica, and without a ready address."""
    providers = [preload.Provider("CoreProvider", NAMESPACE, "cluster-api", version) for version in (old, new)]
    with rig.Rig(bench, name) as run:
        run.preload(providers)
        run.start()
        run.create(providers[0])
        run.await_ready(providers[:1])
        with stream.Watch(run.api, DEPLOYMENTS) as deployments, stream.Watch(run.api, SLICES, labelSelector=SERVICE) as slices:
            seen = [[], []]

            def settled():
                for taken, watch, holds in zip(seen, (deployments, slices), (is_available, has_address)):
                    taken += watch.all()
                    last = {item["metadata"]["name"]: kind != "DELETED" and holds(item) for _, kind, item in taken}
                    if not any(last.values()):
                        return False
                return True

            run.await_that(f"{old} serves", settled)
            begin = time.monotonic()
            status, text = run.api.request("PATCH", rig.path_of(providers[0]), json.dumps({"spec": {"version": new}}),
                                           "application/merge-patch+json")
            if status != 200:
                raise AssetError(f"changing spec.version: {text}")
            run.await_that(f"{new} is Ready and serves", lambda: run.ready(providers[1]) and settled())
            end = time.monotonic()
        return end - begin, outage(seen[0], is_available, begin, end), outage(seen[1], has_address, begin, end)


def run(rounds):
    """Prints a table for each step; `rounds` of each program."""
    with rig.Bench() as bench:
        for old, new in STEPS:
            wanted = [preload.Provider("CoreProvider", NAMESPACE, "cluster-api", version) for version in (old, new)]
            if lacking := bench.lacks(wanted):
                print(f"left out: an upgrade to {new}; RELEASES_DIR names no folder with {lacking}", file=sys.stderr)
                continue
            measured = {name: [] for name in (rig.OURS, rig.PEER)}
            for number in range(rounds):
                for name, results in measured.items():
                    results.append(one_round(bench, name, old, new))
                    print("round {}, {}: {:.2f} s, {:.2f} s without a replica, {:.2f} s without an address".format(
                        number + 1, name, *results[-1]), file=sys.stderr)
            head = [f"core {old} to {new}", "until Ready", "without an available replica", "without a ready address"]
            print_table(head, compared(measured, ("s", "s", "s")))
