"""How our operator's costs grow with the number of providers, which are made of a few real releases (models.py).

For each number of SCALE there are two fresh control planes. One gets the same objects from floor_benchmark (floor.py),
without an operator. On the other one the operator

  installs      from the creation of all providers until its metrics have all of them as Ready
  is restarted  from the start of its process until its metrics have all of them as Ready, which takes a pass of each;
                requests are those up to ten seconds later, memory, threads and connections those of then
  is at rest    for WINDOW seconds, as in the part `steady`
  mends drift   of one object after the other, each deleted just after a workload with clusterctl's label that is nobody's,
                at which the operator looks at all providers again
  says that contracts don't fit
                status.contract of the core, which the operator is kept from writing (P4), is changed by hand to one that
                accepts nobody, and back: until condition ContractCompatible of each of the others says so
"""

import collections
import json
import os
import random
import sys
import time

import drift
import edits
import floor
import models
import rig
import steady
import stream
from figures import ROOT, cell, fit, median, print_table, whole_number
from plot import Plot
from progress import AssetError

PICTURED = (10, 50, 200, 1000)  # a run of all these draws the pictures of the page
DRIFTING = ("ConfigMap", "Role", "RoleBinding", "ServiceAccount")
QUIET = 10.0
PASSES = "controller_runtime_reconcile_total{"
NOBODYS = "/apis/apps/v1/namespaces/default/deployments"
ACCEPTS_NOBODY = "v1alpha4"


def asked():
    """The numbers of providers. The contract that changes is the core's: it takes another provider to see it."""
    text = os.environ.get("SCALE", "10,50,200")
    numbers = [int(number) if number.isascii() and number.isdigit() else 0 for number in text.split(",")]
    if min(numbers) < 2 or len(set(numbers)) < len(numbers):
        raise AssetError(f"SCALE={text}: different numbers of at least 2, with commas between")
    return numbers


def drifts():
    """How many objects are deleted."""
    return whole_number("DRIFTS", 100)


def limit(count):
    """Seconds that an installation may take."""
    return 120 + 5 * count


def pause(count):
    """Between two questions for the metrics, which grow too."""
    return max(0.02, count / 400)


def await_all(run, count):
    """Seconds until all are Ready."""
    begin = time.monotonic()
    run.await_that(f"{count} providers are Ready", lambda: run.ready_now() == count, limit(count), pause(count))
    return time.monotonic() - begin


def applies_of(templates, count):
    """The applies of so many providers, made of those of the first few; those of one provider stay together."""
    by_label = collections.defaultdict(list)
    for apply in templates:
        by_label[apply.label].append(apply)
    for number in range(min(count, len(models.MODELS) + 1)):
        label, least = models.provider(number).label, models.OBJECTS if number else 1
        if (has := len(by_label[label])) < least:
            raise AssetError(f"the operator applied {has} objects of {label}, and at least {least} are to be measured")
    for number in range(count):
        like = models.representative(number)
        for apply in by_label[models.provider(like).label]:
            yield floor.Apply(models.provider(number).label, *(renumbered(text, like, number) for text in (apply.target, apply.body)))


def renumbered(text, former, number):
    return text.replace(models.name_of(former), models.name_of(number)) if number else text


def of_floor(bench, count, templates):
    """What floor_benchmark says, and how many objects it sent."""
    applies = list(applies_of(templates, count))
    with rig.Rig(bench, floor.FLOOR) as run:
        models.prepare(run, count)
        return {**floor.send(run, applies, limit(count)), "objects": len(applies)}


def installed(run, count):
    """The first installation."""
    models.prepare(run, count)
    run.start()
    before, begin = len(run.plane.requests()), time.monotonic()
    models.create(run, count)
    await_all(run, count)
    seconds, cpu = time.monotonic() - begin, rig.cpu_seconds(run.pid)
    requests = len(run.plane.requests()) - before
    return {"install": seconds, "install cpu": cpu, "install requests": requests, "install peak": megabytes(run, "VmHWM")}


def megabytes(run, field):
    return rig.memory_kib(run.pid, field) * 1024 / 1e6


def restarted(run, count):
    """Over what there is, and nothing to do."""
    time.sleep(QUIET)
    run.end_operator()
    before, begin = len(run.plane.requests()), time.monotonic()
    run.start()
    await_all(run, count)
    seconds, cpu = time.monotonic() - begin, rig.cpu_seconds(run.pid)
    time.sleep(QUIET)
    requests = rig.beyond_watches(run.plane.requests()[before:])
    run.processes.check()
    steady.say(requests)
    writes = sum(verb in rig.WRITES for verb, _ in requests)
    return {
        "restart": seconds,
        "restart cpu": cpu,
        "writes": writes,
        "reads": len(requests) - writes,
        "memory": megabytes(run, "VmRSS"),
        "peak": megabytes(run, "VmHWM"),
        "threads": rig.memory_kib(run.pid, "Threads"),
        "connections": rig.connections(run.pid, run.plane.port),
    }


def at_rest(run, _):
    """Requests a minute but watches and the lease; CPU seconds an hour."""
    others, _, _, cpu = steady.window(run)
    return {"rest": others, "rest cpu": cpu}


def wake_all(api, number):
    """Deletes a workload that only looks like a provider's."""
    api.write("DELETE", f"{NOBODYS}/nobody-{number}", None)


def create_nobodys(api, number):
    labels = {drift.LABEL: "", floor.LABEL: "nobody"}
    pod = {"metadata": {"labels": {"app": "nobody"}}, "spec": {"containers": [{"name": "nobody", "image": "nobody"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "nobody"}}, "template": pod}
    metadata = {"name": f"nobody-{number}", "labels": labels}
    api.create(NOBODYS, json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}))


def passes(run):
    """How many passes the operator has made; never 0 for want of an answer, with which all of them would seem to be over."""
    lines = rig.ask(run.metrics, "/metrics")[1].splitlines()
    found = [float(line.rpartition(" ")[2]) for line in lines if line.startswith(PASSES)]
    if not found:
        raise AssetError(f"the operator's metrics have no {PASSES}...}}")
    return sum(found)


def looked_at(run, count):
    """Fails where a workload that goes doesn't wake all providers: drift would be measured beside nothing."""
    create_nobodys(run.api, "alone")
    run.await_that("all passes are over", lambda: settled(run), limit(count))
    before = passes(run)
    wake_all(run.api, "alone")
    run.await_that("all are looked at again", lambda: passes(run) >= before + count, limit(count))
    run.await_that("all passes are over", lambda: settled(run), limit(count))


def drifted(run, count):
    """Milliseconds until a deleted object is back, while all providers are being looked at again."""
    rng = random.Random(count)
    found = [target for of_kind in drift.targets(run.api, DRIFTING).values() for target in of_kind]
    looked_at(run, count)
    before, seconds = passes(run), []
    for number, target in enumerate(rng.sample(found, min(drifts(), len(found)))):
        create_nobodys(run.api, number)
        took = drift.restored_deletion(run.api, target, limit(count), before=lambda: wake_all(run.api, number))  # noqa: B023 - at once
        if took >= limit(count):
            raise AssetError(f"not back after {limit(count)}s: {target.path}")
        seconds.append(took)
    run.await_that("all passes are over", lambda: settled(run), limit(count))
    woken = (passes(run) - before) / len(seconds)
    return {"drift p50": edits.percentile(seconds, 50) * 1000, "drift p99": edits.percentile(seconds, 99) * 1000, "woken": woken}


def settled(run):
    """Whether no pass is made for half a second."""
    before = passes(run)
    time.sleep(0.5)
    return passes(run) == before


def collections_of(count):
    """The paths of the providers' kinds but the core's."""
    return sorted({f"{rig.API}/{models.provider(number).plural}" for number in range(1, count)})


def condition_of(item, name):
    """The condition; an empty one where there is none."""
    found = (item.get("status") or {}).get("conditions") or []
    return next((condition for condition in found if condition["type"] == name), {})


def accepts(item):
    """Whether the provider says that the core accepts its contract; None where it says nothing."""
    return {"True": True, "False": False}.get(condition_of(item, "ContractCompatible").get("status"))


def left_alone(item):
    return condition_of(item, "Paused").get("reason") == "HandsOff"


def changed_contract(run, count, contract, right):
    """Seconds until all others say so, and writes of statuses for each of them."""
    watches = [stream.Watch(run.api, path) for path in collections_of(count)]
    try:
        states = {}
        for watch in watches:
            while (event := watch.next(1.0)) is not None:
                states[event[2]["metadata"]["name"]] = accepts(event[2])
        if len(states) != count - 1 or right in states.values():
            raise AssetError(f"{len(states)} of {count - 1} providers, and {list(states.values()).count(right)} say already so")
        before, begin, last = len(run.plane.requests()), time.monotonic(), 0.0
        run.api.write("PATCH", f"{rig.path_of(models.CORE)}/status", {"status": {"contract": contract}}, "application/merge-patch+json")
        deadline = begin + limit(count)
        while any(state is not right for state in states.values()):
            if time.monotonic() > deadline:
                raise AssetError(f"{list(states.values()).count(right)} of {count - 1} providers say that contract {contract} is the core's")
            for watch in watches:
                while (event := watch.next(0.01)) is not None:
                    at, _, item = event
                    states[item["metadata"]["name"]] = accepts(item)
                    last = max(last, at)
    finally:
        for watch in watches:
            watch.__exit__()
    run.await_that("all passes are over", lambda: settled(run), limit(count))
    kinds = {path.rpartition("/")[2] for path in collections_of(count)}
    writes = sum(verb in rig.WRITES and resource in kinds for verb, resource in run.plane.requests()[before:])
    return last - begin, writes / (count - 1)


def fanned_out(run, count):
    """Of two changes of the core's contract the slower one."""
    core = rig.path_of(models.CORE)
    contract = run.api.get(core)["status"]["contract"]
    annotations = {"metadata": {"annotations": {"cluster.x-k8s.io/paused": "true"}}}
    run.api.write("PATCH", core, annotations, "application/merge-patch+json")
    run.await_that("the core is left alone", lambda: left_alone(run.api.get(core)))
    run.await_that("all passes are over", lambda: settled(run), limit(count))
    both = [changed_contract(run, count, ACCEPTS_NOBODY, False), changed_contract(run, count, contract, True)]
    return dict(zip(("fan-out", "fan-out writes"), map(max, zip(*both))))


def of_ours(bench, count):
    with rig.Rig(bench, rig.OURS) as run:
        values = {}
        for measure in (installed, restarted, at_rest, drifted, fanned_out):
            values |= (found := measure(run, count))
            # At once: a later point that fails takes its time to do so.
            print(f"{count} providers: {found}; load {os.getloadavg()[0]:.1f}", file=sys.stderr)
        return values


def one_point(bench, count, templates):
    of_the_floor = of_floor(bench, count, templates)
    print(f"{count} providers, the floor: {of_the_floor}; load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    values = {**of_ours(bench, count), "floor": of_the_floor["seconds"], "floor cpu": of_the_floor["cpu"], "objects": of_the_floor["objects"]}
    values["to the floor"] = values["install"] / values["floor"]
    values["for each object"] = values["install requests"] / values["objects"]
    return values


TABLES = [
    [("objects", "", "objects"), ("floor", "s", "the floor"), ("floor cpu", "s", "CPU time of its program"), ("install", "s", "first installation"),
     ("to the floor", "x", "ratio"), ("install requests", "", "requests"), ("for each object", "x", "for each object"), ("install cpu", "s", "CPU time"),
     ("install peak", "MB", "peak memory")],
    [("restart", "s", "start to in sync"), ("restart cpu", "s", "CPU time of that"), ("writes", "", "writes"), ("reads", "", "other requests"),
     ("memory", "MB", "memory then"), ("peak", "MB", "peak"), ("threads", "", "threads"), ("connections", "", "connections")],
    [("drift p50", "ms", "drift while all are looked at, p50"), ("drift p99", "ms", "p99"), ("woken", "", "passes for each deletion"),
     ("fan-out", "s", "the core's contract changes, until all say so"),
     ("fan-out writes", "x", "status writes of each"), ("rest", "", "requests a minute at rest"), ("rest cpu", "s", "CPU s an hour")],
]  # fmt: skip
FITTED = {
    "floor": "The floor",
    "install": "First installation",
    "restart": "Start to in sync",
    "memory": "Memory after a restart",
    "threads": "Threads",
    "connections": "Connections",
    "drift p99": "Drift while all are looked at, p99",
    "fan-out": "A change of the core's contract",
    "rest cpu": "CPU time of an hour at rest",
}


def curve(points, key):
    """(providers, value) of each point; nothing where there is no line to be found."""
    found = [(count, values[key]) for count, values in points.items()]
    return found if len(found) > 1 and all(value > 0 for _, value in found) else []


def line_of(found, unit):
    """The function, and its text."""
    base, slope, worst = fit(found)
    unit = f" {unit}" if unit and unit != "x" else ""
    text = f"linear fit: {base:.3g}{unit} + {slope:.3g}{unit} per provider; no point is farther from it than {worst:.0%}"
    return lambda count: base + slope * count, text


def draw(key, title, unit, found, function, text):
    """Into docs where it is a run of all points, else beside what is built."""
    folder = os.path.join(ROOT, "docs") if set(PICTURED) <= {count for count, _ in found} else os.path.join(ROOT, "build", "bench")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"scale-{key.replace(' ', '-')}.svg")
    plot = Plot(f"{title} over the number of providers", "", unit, text)
    plot.add("measured", found)
    low = min(value for _, value in found) / 10  # of a line that begins below zero
    plot.add_line("linear fit", lambda count: max(low, function(count)))
    plot.write(path)
    print(f"drawn: {os.path.relpath(path, ROOT)}", file=sys.stderr)


def tell(points):
    """Tables, lines and pictures of what was measured: the number of providers to the values of each round."""
    for table in TABLES:
        rows = []
        for count, rounds in points.items():
            rows.append([str(count), *(cell([values[key] for values in rounds], unit) for key, unit, _ in table)])
        print_table(["providers", *(title for *_, title in table)], rows)
    print()
    middles = {count: middle(rounds) for count, rounds in points.items()}
    units = {key: unit for table in TABLES for key, unit, _ in table}
    for key, title in FITTED.items():
        if found := curve(middles, key):
            function, text = line_of(found, units[key])
            print(f"{title}: {text}")
            draw(key, title, units[key], found, function, text)
    sys.stdout.flush()


def middle(measured):
    """The median of each value."""
    return {key: median(values[key] for values in measured) for key in measured[0]}


def run(rounds):
    """Prints the tables; `rounds` of each point."""
    few, counts = len(models.MODELS) + 1, asked()
    drifts()  # what is wrong is told before anything is measured
    with rig.Bench() as bench:
        if lacking := bench.lacks(models.releases_needed()):
            print(f"left out: scale; RELEASES_DIR names no folder with {lacking}", file=sys.stderr)
            return

        def install_few(run):
            installed(run, few)

        templates = floor.record(bench, install_few)
        points = {count: [one_point(bench, count, templates) for _ in range(rounds)] for count in counts}
    tell(points)
