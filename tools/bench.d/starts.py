"""How soon an operator is at work: one that is started, and one that waits for the lease of another that stops.

A start is from the beginning of the process until /readyz says so, and until a provider that was there before has its first
status. Ours serves webhooks, with a certificate that it has made; it has a lease, as every operator of ours. Each of
the two has a control plane of its own, one after the other.

A hand-over is from SIGTERM to the leader until the lease names the other one. The peer holds a lease only within a pod: it has
no flag for the namespace of one. So ours is alone in that table.
"""

import signal
import sys
import time

import preload
import process
import rig
import stream
from figures import cell, print_table
from install import compared
from progress import AssetError

NAMESPACE = "default"
PROVIDERS = f"{rig.API}/bootstrapproviders"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
LEASE = "controller-leader-election-capi-operator"


def flags(name):
    if name == rig.PEER:
        return []
    return [f"--leader-elect-namespace={NAMESPACE}", f"--webhook-port={process.free_ports(1)[0]}"]


def has_status(_, item):
    return bool((item.get("status") or {}).get("conditions"))


def first(watch, what, holds):
    """When the first event came that does."""
    deadline = time.monotonic() + rig.TIMEOUT
    while event := watch.next(deadline - time.monotonic()):
        at, kind, item = event
        if holds(kind, item):
            return at
    raise AssetError(f"not after {rig.TIMEOUT:.0f}s: {what}")


def start_once(run, number):
    """Seconds until it is ready, and until it has seen to a provider."""
    provider = preload.Provider("BootstrapProvider", NAMESPACE, f"p{number}", "v1.0.0")
    run.create(provider)
    with stream.Watch(run.api, PROVIDERS, fieldSelector=f"metadata.name={provider.name}") as watch:
        more = flags(run.name)
        begin = time.monotonic()
        run.start(more)
        ready = time.monotonic() - begin
        seen = first(watch, f"{provider.name} has a status", has_status) - begin
    run.end_operator()
    return ready, seen


def holder(item):
    return (item.get("spec") or {}).get("holderIdentity") or ""


def hand_over(run):
    """Seconds from the leader's SIGTERM until the other one leads."""
    with stream.Watch(run.api, LEASES, fieldSelector=f"metadata.name={LEASE}") as watch:
        leader = run.start(flags(run.name))
        names = []
        first(watch, "one leads", lambda _, item: holder(item) and not names.append(holder(item)))
        run.start(flags(run.name))
        time.sleep(3)  # it has asked for the lease, and waits
        watch.all()
        begin = time.monotonic()
        leader.send_signal(signal.SIGTERM)
        took = first(watch, "the other leads", lambda _, item: holder(item) not in ("", names[0])) - begin
    for _ in range(2):
        run.end_operator()
    return took


def one_program(bench, name, rounds):
    """Seconds of each start, and of each hand-over."""
    with rig.Rig(bench, name) as run:
        starts = [start_once(run, number) for number in range(rounds + 1)][1:]  # the first one makes a certificate
        return starts, [hand_over(run) for _ in range(rounds if name == rig.OURS else 0)]


def run(rounds):
    """Prints both tables."""
    starts, hand_overs = {}, {}
    with rig.Bench() as bench:
        for name in (rig.OURS, rig.PEER):
            starts[name], hand_overs[name] = one_program(bench, name, rounds)
            print(f"{name}: {starts[name]} {hand_overs[name]}", file=sys.stderr)
    in_ms = {name: [[value * 1000 for value in values] for values in measured] for name, measured in starts.items()}
    print_table(["start", "until ready", "until the first status"], compared(in_ms, ("ms", "ms")))
    print_table(["the leader stops", "until the other leads"], [[rig.OURS, cell(hand_overs[rig.OURS], "s")]])
