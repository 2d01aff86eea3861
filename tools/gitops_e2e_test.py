#!/usr/bin/env python3
"""docs/gitops.md on a real control plane: its commands, and what its scripts make of every state that a provider is seen in.

The states are recorded by `kubectl get --watch`, from before the operator is there: an installation, an upgrade whose pods don't
come up, a version that isn't one, two kinds of pause, a missing variable, a deletion. Then gitops-health (e2e/tools/gitops) says
what Argo CD, Flux and kstatus take each for. What they have to is in the page's first table; Expected tells the row."""

import functools
import itertools
import json
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d")]

import pages  # noqa: E402
import plan  # noqa: E402
from cluster import API_GROUP  # noqa: E402
from pages import blocks  # noqa: E402

PAGE = "docs/gitops.md"
KINDS = ("coreproviders", "infrastructureproviders", "ipamproviders")
CORE = "coreprovider/cluster-api -n capi-system"
AWS = "infrastructureprovider/aws -n capa-system"
IPAM = "ipamprovider/in-cluster -n capi-system"
LIMIT = 60

PROVIDERS = """
kubectl apply -f - <<'EOF'
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: IPAMProvider
metadata: {name: in-cluster, namespace: capi-system, annotations: {cluster.x-k8s.io/paused: ""}}
spec: {version: v1.0.3}
EOF
kubectl create namespace capa-system
kubectl create secret generic variables -n capa-system --from-literal=EXP_MACHINE_POOL=true
kubectl apply -f - <<'EOF'
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: InfrastructureProvider
metadata: {name: aws, namespace: capa-system}
spec: {version: v2.0.2, configSecret: {name: variables}}
EOF
"""
ADD_VARIABLE = """kubectl patch secret variables -n capa-system -p '{"stringData":{"AWS_B64ENCODED_CREDENTIALS":"bm9uZQ=="}}'"""


def parse(text):
    """The objects of a stream of JSON texts; the last one may still be on its way."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text):
        try:
            item, end = decoder.raw_decode(text, at)
        except ValueError:
            return found
        found.append(item)
        at = re.compile(r"\s*").match(text, end).end()
    return found


class Recording:
    """Every state of the providers, as `kubectl get --watch` prints it."""

    def __init__(self, world):
        self.world = world
        kubectl = os.path.join(world.plane.programs, "kubectl")
        for kind in KINDS:
            command = [kubectl, "get", kind, "--all-namespaces", "--watch", "--output=json", "--output-watch-events"]
            world.processes.start(kind, command, env=world.environment)

    def events(self, kind):
        """What happened to objects: a bookmark is none of them, nor is the error that a watch ends with."""
        everything = parse(pages.read(self.world.processes.log_path(kind)))
        return [event for event in everything if event["type"] in ("ADDED", "MODIFIED", "DELETED")]

    def states(self, kind):
        return [event["object"] for event in self.events(kind)]

    def until(self, kind, what, check):
        """Waits for an event of that kind: (its type, the object)."""

        def is_recorded():
            return any(check(event["type"], event["object"]) for event in self.events(kind))

        self.world.until(f"{kind}: one is recorded that {what}", is_recorded, LIMIT)


ROWS = ("new", "changing", "as declared", "failed", "paused", "hands off", "deleted")
# What Flux makes of one that is paused by annotation. So it is of another row, too.
AS_BEFORE = "what it was before; InProgress after an edit, or if it was created so"


@functools.cache
def table():
    """The page's first table: of each row what Argo CD shows, and Flux."""
    with open(os.path.join(pages.ROOT, PAGE), encoding="utf-8") as file:
        lines = re.findall(r"^\|.*\|$", file.read().partition("\n## ")[0], re.MULTILINE)[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row: (argo, flux) for row, (_, _, argo, flux) in zip(ROWS, cells, strict=True)}


class Expected:
    """What the page says of one state, by the object alone."""

    def __init__(self, item):
        self.item = item
        self.status = item.get("status", {})
        self.generation = item["metadata"]["generation"]
        everything = self.status.get("conditions", [])
        self.said = {entry["type"]: entry for entry in everything if entry["observedGeneration"] == self.generation}
        self.deleting = "deletionTimestamp" in item["metadata"]
        self.hands_off = self.is_true("Paused") and self.reason("Paused") == "HandsOff"
        self.ready = self.is_true("Ready") and self.status.get("observedGeneration") == self.generation

    def is_true(self, name):
        return self.said.get(name, {}).get("status") == "True"

    def reason(self, name):
        return self.said.get(name, {}).get("reason")

    def row(self):
        if self.deleting:
            return "deleted"
        return "hands off" if self.hands_off else self.row_as_reported()

    def row_as_reported(self):
        """By what the operator has said of this generation; where its hands are off, that is what it said before."""
        if "Ready" not in self.said:
            return "new"
        if self.is_true("Paused") and self.reason("Ready") == "Paused":
            return "paused"
        if self.is_true("Stalled"):
            return "failed"
        return "as declared" if self.ready else "changing"

    def argo(self):
        return table()[self.row()][0]

    def flux(self):
        shown = table()[self.row()][1]
        if shown == AS_BEFORE:
            shown = table()[self.row_as_reported()][1]
        return "InProgress" if shown == "waits" else shown

    def kstatus(self):
        """What it makes of the object without the page's lines. It knows no hands off: what the operator has said before
        stands, of the generation that it was said of."""
        if self.deleting:
            return "Terminating"
        return "InProgress" if self.row_as_reported() == "new" else self.flux()

    def is_as_declared(self):
        spec = self.item["spec"]
        return self.status.get("installedVersion") == spec["version"] and not spec.get("paused")


def ask(items):
    """What the page's scripts, and kstatus, make of these objects."""
    (argo,) = blocks("Argo CD", PAGE, "yaml")
    (flux,) = blocks("Flux", PAGE, "yaml")
    (program,) = plan.have(["gitops-health"])
    given = json.dumps({"argo": argo, "flux": flux, "objects": items})
    done = subprocess.run([program], input=given, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Life:
    """What happens to three providers, by the page's own commands where it has them."""

    def __init__(self, world):
        self.world = world
        self.described = {}
        self.tables = self.version_after_wait = None

    def run(self, block):
        return self.world.must_run(block)

    def edit(self, **spec):
        patch = json.dumps({"spec": spec})
        self.run(f"kubectl patch {CORE} --type=merge -p '{patch}'")

    def record(self):
        """Lives it; every state of every kind."""
        self.world.stop_operator()  # so that there is one that it hasn't looked at
        recording = Recording(self.world)
        create, self.ready, self.stalled, self.paused, self.waits, self.gone = blocks("kubectl wait", PAGE)
        self.run(create)
        recording.until("coreproviders", "is new", lambda _, item: "conditions" not in item["status"])
        self.world.start_operator()
        self.run(self.ready)
        self.fail()
        self.pause()
        self.wait_for_others(recording)
        self.delete(recording)
        return {kind: recording.states(kind) for kind in KINDS}

    def fail(self):
        table, describe = blocks("What people read", PAGE)[0].strip().splitlines()
        self.edit(version="v1.11.0", rollout={"timeout": "2s"}, deployment={"nodeSelector": {"there": "is-none"}})
        self.run(self.stalled)
        self.tables = [self.run(command).splitlines() for command in (table, table.replace(" --output wide", ""))]
        self.described["RolloutTimedOut"] = self.run(describe)
        self.edit(deployment=None, rollout=None)
        self.run(self.ready)
        self.version_after_wait = self.run(f"kubectl get {CORE} -o jsonpath='{{.status.installedVersion}}'")
        self.edit(version="newest")
        self.run(self.stalled)
        self.described["IncorrectVersionFormat"] = self.run(describe)
        self.edit(version="v1.8.0")
        self.run(self.stalled)
        self.described["UnsupportedProviderDowngradeReason"] = self.run(describe)

    def pause(self):
        self.edit(version="v1.11.0", paused=True)
        self.run(self.paused)
        self.edit(paused=False)
        self.run(self.ready)
        self.run(f"kubectl annotate {CORE} cluster.x-k8s.io/paused=true\n{self.paused}")
        self.edit(rollout={"timeout": "9m"})
        self.run(self.paused)
        self.run(f"kubectl annotate {CORE} cluster.x-k8s.io/paused-\n{self.ready}")

    def wait_for_others(self, recording):
        """One that is told to do nothing, and one that waits for a variable."""
        self.run(PROVIDERS)
        recording.until("ipamproviders", "is left alone", lambda _, item: Expected(item).hands_off)
        self.run(self.waits)
        self.described["MissingVariables"] = self.run(f"kubectl describe {AWS}")
        self.run(ADD_VARIABLE)
        self.run(f"kubectl wait {AWS} --for=condition=Ready --timeout=5m")

    def delete(self, recording):
        self.run(f"kubectl delete {IPAM}\nkubectl delete {CORE} --wait=false")
        recording.until("coreproviders", "can't go", lambda _, item: Expected(item).reason("Ready") == "DeletionBlocked")
        self.run(f"kubectl delete {AWS} --wait=false\n{self.gone}")
        for kind in KINDS:
            recording.until(kind, "is gone", lambda event, _: event == "DELETED")


def shown(judged):
    """A state and its verdicts, for the message of a failure."""
    item, verdicts = judged
    kept = {name: item["metadata"][name] for name in ("name", "generation", "deletionTimestamp") if name in item["metadata"]}
    status = {name: value for name, value in item.get("status", {}).items() if name not in ("inventory", "history")}
    return json.dumps({"metadata": kept, "spec": item["spec"], "status": status, "verdicts": verdicts}, indent=1)


def made(metadata, conditions, seen):
    """A provider of generation 2, with conditions of the generation `seen`."""
    generation = {} if seen is None else {"observedGeneration": seen}
    return {
        "apiVersion": f"{API_GROUP}/v1alpha2",
        "kind": "AddonProvider",
        "metadata": {"name": "helm", "namespace": "default", "generation": 2, **metadata},
        "spec": {"version": "v1.0.0"},
        "status": {"observedGeneration": 2, "conditions": [{"message": "", **entry, **generation} for entry in conditions]},
    }


class GitOps(unittest.TestCase):
    """F1, P2: tools that know conditions alone can tell what waits, what failed and what is as declared."""

    @classmethod
    def setUpClass(cls):
        cls.life = Life(pages.World())
        recorded = cls.life.record()
        verdicts = iter(ask([item for kind in KINDS for item in recorded[kind]]))
        cls.judged = {kind: [(item, next(verdicts)) for item in recorded[kind]] for kind in KINDS}

    def every(self):
        return itertools.chain.from_iterable(self.judged.values())

    def course(self, kind, tool):
        """What a tool has shown of a provider, one after the other; Flux waits where it can't tell."""
        statuses = (verdicts[tool]["status"].replace("Unknown", "InProgress") for _, verdicts in self.judged[kind])
        return [status for status, _ in itertools.groupby(statuses)]

    def test_every_state_is_taken_for_what_it_is(self):
        for judged in self.every():
            expected, verdicts = Expected(judged[0]), judged[1]
            found = {tool: verdict["status"] for tool, verdict in verdicts.items()}
            wanted = {"argo": expected.argo(), "flux": expected.flux(), "kstatus": expected.kstatus()}
            self.assertEqual(found, wanted, shown(judged))

    def test_every_row_of_the_first_table_is_seen(self):
        self.assertEqual({Expected(item).row() for item, _ in self.every()}, set(ROWS))
        of_hands_off = {Expected(item).row_as_reported() for item, _ in self.every() if Expected(item).row() == "hands off"}
        self.assertEqual(of_hands_off, {"new", "as declared"}, AS_BEFORE)

    def test_nothing_is_healthy_that_is_not_as_declared(self):
        healthy = 0
        for judged in self.every():
            item, verdicts = judged
            statuses = {verdicts["argo"]["status"], verdicts["flux"]["status"]}
            if statuses & {"Healthy", "Current"}:
                healthy += 1
                self.assertTrue(Expected(item).is_as_declared(), shown(judged))
        self.assertGreater(healthy, 5)

    def test_each_tool_shows_the_whole_course(self):
        waits, failed, fine, paused = "Progressing", "Degraded", "Healthy", "Suspended"
        failures = [waits, failed, waits, fine, waits, failed, waits, failed]
        self.assertEqual(
            self.course("coreproviders", "argo"),
            [waits, fine, *failures, waits, paused, waits, fine, paused, waits, paused, fine, waits],
        )
        self.assertEqual(self.course("infrastructureproviders", "argo"), [waits, fine, waits])
        waits, failed, fine = "InProgress", "Failed", "Current"
        failures = [waits, failed, waits, fine, waits, failed, waits, failed]
        self.assertEqual(self.course("coreproviders", "flux"), [waits, fine, *failures, waits, fine, waits, fine, waits])
        self.assertEqual(self.course("infrastructureproviders", "flux"), [waits, fine, waits])

    def test_states_that_are_too_rare_to_record(self):
        """A pass that got no further than the generation, the peer's conditions, and what comes together once in a while."""
        ready = {"type": "Ready", "status": "True", "reason": "WorkloadsReady"}
        waits = {"type": "Ready", "status": "False", "reason": "WaitingForContracts"}
        stalled = {"type": "Stalled", "status": "True", "reason": "InstallFailed"}
        paused = {"type": "Paused", "status": "True", "reason": "Paused"}
        failed = {**stalled, "type": "Ready", "status": "False"}
        going = {"deletionTimestamp": "2025-01-01T00:00:00Z"}
        cases = {
            "Ready of the former generation": ({}, [ready], 1, "Progressing", "InProgress"),
            "Stalled of the former generation": ({}, [failed, stalled], 1, "Progressing", "InProgress"),
            "Ready of no generation, as the peer writes it": ({}, [ready], None, "Progressing", "InProgress"),
            "still at zero, though it was unpaused": ({}, [waits, paused], 2, "Progressing", "InProgress"),
            "failed at zero": ({}, [failed, stalled, paused], 2, "Degraded", "Failed"),
            "deleted after it had failed": (going, [failed, stalled], 2, "Progressing", "InProgress"),
            "deleted, and looked at by nobody since": (going, [ready], 2, "Progressing", "InProgress"),
        }
        items = [made(metadata, conditions, seen) for metadata, conditions, seen, *_ in cases.values()]
        for (name, case), verdicts in zip(cases.items(), ask(items)):
            with self.subTest(name):
                self.assertEqual((verdicts["argo"]["status"], verdicts["flux"]["status"]), case[3:], verdicts)

    def test_the_messages_say_what_failed_and_what_is_missing(self):
        said = {verdicts["argo"]["message"] for _, verdicts in self.every()}
        for reason in self.life.described:
            self.assertTrue(any(message.startswith(reason + ": ") for message in said), reason)

    def test_kstatus_alone_takes_nothing_for_done_that_is_not(self):
        """A provider that nobody had looked at was Current, having no condition that kstatus knows."""
        alone = [(item, verdicts["kstatus"]["status"]) for item, verdicts in self.every()]
        for item, status in alone:
            self.assertTrue(status != "Current" or Expected(item).is_as_declared(), item)
        unseen = [status for item, status in alone if item["status"].get("observedGeneration") == -1]
        self.assertEqual(set(unseen), {"InProgress"})
        created = [item for item, _ in alone if Expected(item).hands_off and Expected(item).row_as_reported() == "new"]
        self.assertTrue(created, "one that was created with hands off is among them")

    def test_kubectl_wait_does_not_take_the_former_declaration_for_the_new_one(self):
        self.assertEqual(self.life.version_after_wait, "v1.11.0")

    def test_the_columns_are_those_of_the_reference(self):
        with open(os.path.join(pages.ROOT, "docs/api.md"), encoding="utf-8") as file:
            section = file.read().partition("\n## Columns of kubectl get\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| (\w+) \| (.+) \|$", section, re.MULTILINE)[1:]
        columns = ["NAMESPACE", "NAME"] + [name.upper() for name, meaning in rows if "-o wide" not in meaning]
        hidden = [name.upper() for name, meaning in rows if "-o wide" in meaning]
        wide, usual = self.life.tables
        self.assertEqual(hidden, ["MESSAGE"])
        self.assertEqual(usual[0].split(), columns)
        self.assertEqual(wide[0].split(), columns + hidden)
        self.assertEqual(usual[1].split()[2:-1], ["v1.10.4", "v1.11.0", "v1beta1", "False", "RolloutTimedOut"])
        self.assertIn("RolloutTimedOut", wide[1])
        self.assertIn("capi-controller-manager", wide[1].partition("RolloutTimedOut")[2])

    def test_describe_names_the_reason_what_is_wrong_and_what_to_do(self):
        cases = {
            "RolloutTimedOut": ("wasn't healthy within 2s (spec.rollout.timeout)", "looked at again when an input changes"),
            "IncorrectVersionFormat": ('spec.version: Invalid value: "newest"', "looked at again when an input changes"),
            "UnsupportedProviderDowngradeReason": ("v1.11.0 is installed", f'{API_GROUP}/allow-downgrade: "true"'),
            "MissingVariables": ("[AWS_B64ENCODED_CREDENTIALS] is not set", "put it into Secret capa-system/variables"),
        }
        self.assertEqual(set(cases), set(self.life.described))
        for reason, words in cases.items():
            text = self.life.described[reason]
            with self.subTest(reason):
                ready = re.search(r"Message: +(.*)\n.*\n +Reason: +(\w+)\n +Status: +False\n +Type: +Ready\n", text)
                self.assertIsNotNone(ready, text)
                self.assertEqual(ready[2], reason)
                for part in words:
                    self.assertIn(part, ready[1])


if __name__ == "__main__":
    unittest.main()
