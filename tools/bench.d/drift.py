"""Edits and deletes what the operator applied, of every kind, and takes the time until it is as before.

A watch of the object is open meanwhile: the time is that between its event of the change (of an object with a finalizer,
of its disappearance) and the event that has the former value back, or a new object. One object at a time, so that times
are those of one restoration. The peer restores Deployments that were edited; with it, only objects of four providers are
deleted, of all kinds, and each has five seconds.
"""

import collections
import concurrent.futures
import contextlib
import itertools
import json
import os
import random
import sys
import time

import edits
import fleet
import install
import rig
import stream
from figures import print_table
from progress import AssetError

CHANGES = int(os.environ.get("CHANGES", "1000"))
SEED = int(os.environ.get("SEED", "1"))
OF_THE_PEER, PATIENCE = 40, 5.0
LABEL = "clusterctl.cluster.x-k8s.io"
COLLECTIONS = {
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "Deployment": "/apis/apps/v1/deployments",
    "Service": "/api/v1/services",
    "ServiceAccount": "/api/v1/serviceaccounts",
    "ConfigMap": "/api/v1/configmaps",
    "Secret": "/api/v1/secrets",
    "Role": "/apis/rbac.authorization.k8s.io/v1/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/rolebindings",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "Certificate": "/apis/cert-manager.io/v1/certificates",
    "Issuer": "/apis/cert-manager.io/v1/issuers",
}
# A fifth change of the same thing within a minute is a fight, which the operator leaves alone for a while (D2).
MOST_A_MINUTE = 4


class Target:
    """One object of the operator."""

    def __init__(self, kind, item):
        self.kind = kind
        self.name = item["metadata"]["name"]
        group, _, plural = COLLECTIONS[kind].rpartition("/")
        ns = item["metadata"].get("namespace")
        self.collection = f"{group}/namespaces/{ns}/{plural}" if ns else COLLECTIONS[kind]
        self.path = f"{self.collection}/{self.name}"
        self.deletions = collections.deque(maxlen=MOST_A_MINUTE)

    def may_be_deleted(self, now):
        return len(self.deletions) < MOST_A_MINUTE or now - self.deletions[0] > 65


def targets(api, kinds=tuple(COLLECTIONS)):
    found = {}
    for kind in kinds:
        path = COLLECTIONS[kind]
        items = (api.get(f"{path}?labelSelector={LABEL}") or {}).get("items") or []
        if items:
            found[kind] = [Target(kind, item) for item in items]
    return found


def await_event(watch, deadline, holds):
    """Time and object of the first event for which it holds; None when there is none in time."""
    while (event := watch.next(deadline - time.monotonic())) is not None:
        if holds(event[1], event[2]):
            return event[0], event[2]
    return None


def changed(api, target, before, path, value, number):
    """Sends the edit; False where the server doesn't take it, or nothing is another afterwards."""
    patch = [{"op": "remove", "path": edits.pointer(path)}]
    if value is not None:
        patch = [{"op": "replace", "path": edits.pointer(path), "value": value}]
    patch.insert(0, {"op": "test", "path": "/metadata/resourceVersion", "value": before["metadata"]["resourceVersion"]})
    # Each by somebody else, so that it is no fight.
    where = f"{target.path}?fieldManager=editor-{number}"
    status, text = api.request("PATCH", where, json.dumps(patch), "application/json-patch+json")
    # What is removed may come back as a default.
    return status == 200 and edits.at(json.loads(text), path) != edits.at(before, path)


@contextlib.contextmanager
def watched(api, target):
    """The object as it is, and a watch of it."""
    with stream.Watch(api, target.collection, fieldSelector=f"metadata.name={target.name}") as watch:
        first = watch.next(30)
        if first is None or first[1] != "ADDED":
            raise AssetError(f"{target.path} isn't there")
        yield first[2], watch


def restored_edit(api, target, rng, number):
    """Seconds; None where the server refuses the edit, or an object has nothing to edit."""
    with watched(api, target) as (before, watch):
        choices = [choice for choice in edits.owned_scalars(before, rig.OURS) if choice[0][0] not in ("apiVersion", "kind")]
        if not choices:
            return None
        path, old = rng.choice(choices)
        if path == ("metadata", "labels", LABEL):  # to the operator's watch, it is gone
            if not target.may_be_deleted(time.monotonic()):
                return None
            target.deletions.append(time.monotonic())
        value = None if rng.random() < 0.25 else edits.another(old, target.kind == "Secret")
        if not changed(api, target, before, path, value, number):
            return None
        deadline = time.monotonic() + PATIENCE
        begin = await_event(watch, deadline, lambda _, item: edits.at(item, path) != old)
        end = begin and await_event(watch, deadline, lambda _, item: edits.at(item, path) == old)
        if end is None:
            print(f"not back: {edits.pointer(path)} of {target.path}", file=sys.stderr)
        return end[0] - begin[0] if end else PATIENCE


def restored_deletion(api, target, patience=PATIENCE, before=lambda: None):
    """Seconds from its disappearance; `before` is called just before that."""
    with watched(api, target) as (_, watch):
        before()
        status, text = api.request("DELETE", target.path)
        if status not in (200, 202):
            raise AssetError(f"deleting {target.path}: {text}")
        target.deletions.append(time.monotonic())
        begin = await_event(watch, time.monotonic() + 30, lambda kind, _: kind == "DELETED")
        if begin is None:
            raise AssetError(f"deleting {target.path}: it is still there after 30s")
        end = await_event(watch, begin[0] + patience, lambda kind, _: kind == "ADDED")
        if end is None:
            print(f"not back: {target.path}", file=sys.stderr)
        return end[0] - begin[0] if end else patience


def changes(api, found, count, rng):
    """(edit or deletion, kind, seconds) of each: all kinds alike, as far as there are enough objects to stay clear of D2."""
    results = []
    number = 0
    while len(results) < count:
        number += 1
        target = rng.choice(found[rng.choice(sorted(found))])
        if rng.random() < 0.5:
            if not target.may_be_deleted(time.monotonic()):
                continue
            results.append(("deletion", target.kind, restored_deletion(api, target)))
        elif (seconds := restored_edit(api, target, rng, number)) is not None:
            results.append(("edit", target.kind, seconds))
        else:
            continue
        if len(results) % 100 == 0:
            print(f"{len(results)} of {count}", file=sys.stderr)
    return results


def everything(api, found):
    return {target.path: edits.essence(api.get(target.path) or {}) for group in found.values() for target in group}


def of_ours(bench, wanted, rng):
    with rig.Rig(bench, rig.OURS) as run:
        fleet.install_all(run, wanted)
        found = targets(run.api)
        was = everything(run.api, found)
        results = changes(run.api, found, CHANGES, rng)
        run.await_ready(wanted)
        other = [path for path, item in everything(run.api, found).items() if item != was[path]]
        return results, other


def spread(found, count, rng):
    """That many objects, none twice, of all kinds in turn as far as these go."""
    piles = [rng.sample(found[kind], len(found[kind])) for kind in sorted(found)]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*piles))
    return list(itertools.islice((target for target in turns if target is not None), count))


def of_peer(bench, wanted, rng):
    """Seconds of each deletion, PATIENCE for what isn't back."""
    with rig.Rig(bench, rig.PEER) as run:
        fleet.install_all(run, wanted)
        found = targets(run.api)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda target: restored_deletion(run.api, target), spread(found, OF_THE_PEER, rng)))


def row(title, seconds):
    late = sum(value >= PATIENCE for value in seconds)
    times = [f"{edits.percentile(seconds, share) * 1000:.1f} ms" if edits.percentile(seconds, share) < PATIENCE
             else f"over {PATIENCE:.0f} s" for share in (50, 99, 100)]
    return [title, f"{len(seconds) - late} of {len(seconds)}", *times]


def rows_of(results):
    """All, then edits and deletions, then each kind."""
    rows = [row("capi-operator, all", [seconds for *_, seconds in results])]
    for what in ("edit", "deletion"):
        rows.append(row(f"{what}s", [seconds for which, _, seconds in results if which == what]))
    for kind in sorted({kind for _, kind, _ in results}):
        rows.append(row(kind, [seconds for _, of, seconds in results if of == kind]))
    return rows


def run(rounds):
    """Prints a table; what isn't as it was after all of it is an error."""
    with rig.Bench() as bench:
        wanted = fleet.providers(bench)
        for number in range(rounds):
            results, other = of_ours(bench, wanted, random.Random(SEED + number))
            peer = of_peer(bench, install.quickstart(), random.Random(SEED + number))
            head = [f"{len(results)} changes of {len(wanted)} providers", f"back within {PATIENCE:.0f} s", "p50", "p99", "most"]
            print_table(head, [*rows_of(results), row("peer, deletions", peer)])
            if other:
                raise AssetError(f"not as before: {', '.join(other)}")
