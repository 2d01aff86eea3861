#!/usr/bin/env python3
"""`clusterctl init`, `upgrade apply` and `delete --all`, with the operator and without, killed or interrupted at a seeded write: the
same command again completes it, and leaves what one does that nobody broke off (L10, L13, L22, L23). Pods are simulated; the
operator runs as a process for as long as its Deployment asks for it."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import cluster  # noqa: E402
import cutting_proxy  # noqa: E402
import forward  # noqa: E402
import in_cluster  # noqa: E402
import process  # noqa: E402
import progress  # noqa: E402
import rights  # noqa: E402
import tiers  # noqa: E402
import toys  # noqa: E402
import worlds  # noqa: E402

SEED = int(os.environ.get("CAPI_TEST_SEED", "1"))
STEPS = ("init", "upgrade", "delete")
APART = 8  # writes, in `make test-full`
FORMER, NEWER = "v1.19.1", "v1.20.2"  # of cert-manager
VARIABLES = {"TOY_CREDENTIALS": "bm90IGEgc2VjcmV0", "TOY_NEEDED": "from now on"}
SECRET = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: credentials, namespace: toy-system}\nstringData: {x: '${TOY_CREDENTIALS}'}\n"
FORMER_MAP = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: former, namespace: toy-system}\n"
NEW_MAP = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: toy-system}\ndata: {x: '${TOY_NEEDED}'}\n"
CORES_KIND = """\
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.cluster.x-k8s.io}
spec:
  group: cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Box, plural: boxes, singular: box, listKind: BoxList}
  versions:
  - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""
# For the operator, which knows nothing of these providers' kinds.
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "toys", "labels": {f"{cluster.API_GROUP}/aggregate-to-manager": "true"}},
    "rules": [{"apiGroups": ["cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io"], "resources": ["boxes", "toys"], "verbs": ["*"]}],
}
DEPLOYMENT = f"/apis/apps/v1/namespaces/{rights.NAMESPACE}/deployments/capi-operator-controller-manager"
USERS_TOY = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1", "kind": "Toy", "metadata": {"name": "mine"}}
SECRET_OF_TOY = "/api/v1/namespaces/toy-system/secrets/infrastructure-toy-variables"  # stays where its Namespace does
TOYS = "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/default/toys"
# All kinds that somebody writes in the course of this, but for those of CRDs.
BUILTIN = [
    cluster.CRDS,
    *(f"/api/v1/{kind}" for kind in ("namespaces", "configmaps", "secrets", "services", "serviceaccounts")),
    *(f"/apis/rbac.authorization.k8s.io/v1/{kind}" for kind in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")),
    *(f"{group}/{kind}" for kind, group in rights.WEBHOOKS.items()),
    *(f"{rights.IN_NAMESPACES[kind]}/{kind}" for kind in ("deployments", "poddisruptionbudgets", "networkpolicies")),
]
# What the server or the operator makes up, or tells when it was.
WRITTEN_BY_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")
MADE_UP = ("caBundle", "clusterIP", "clusterIPs", "uid", "observedGeneration", "lastTransitionTime", "lastUpdateTime", "message")
TOLD = ("conditions", "contract", "installedVersion", "inventory", "storedVersions")
GOING = "deletionTimestamp"
CERTIFICATE = "capi-operator-webhook"


class Break(cutting_proxy.Cut):
    """At the `at`-th write that the server carries out. One that it refuses until a webhook or a kind is there is made again."""

    def __init__(self, at=None, after=False, signal_=signal.SIGKILL):
        super().__init__(at, after)
        self.signal = signal_

    def __str__(self):
        return f"{self.signal.name} {'after' if self.after else 'before'} write {self.at}"

    def is_now(self, method, path):
        return is_write(method, path) and super().is_now(method, path)

    def takes_back(self, method, path, status, is_the_one):
        refused = is_write(method, path) and (status >= 500 or status == 429 or (status == 404 and method != "DELETE"))
        if refused:
            with self.lock:
                self.count -= 1
                self.reached = self.reached and not is_the_one  # others may have been counted meanwhile
        return refused

    def end(self):
        """The server's answer is outstanding for as long as the program lives."""
        self.happened = True
        self.process.send_signal(self.signal)
        self.process.wait(timeout=20)


def is_write(method, path):
    return method != "GET" and "dryRun=All" not in path and "/authorization.k8s.io/" not in path


class Pod(threading.Thread):
    """The operator's: it runs while its Deployment is there and wants a replica, at the address of its Service."""

    def __init__(self, world):
        super().__init__(daemon=True)
        self.world, self.over = world, threading.Event()
        self.forwarder, self.address = None, None
        self.trouble = ""

    def run(self):
        while not self.over.wait(0.1):
            try:
                self.look()
                self.trouble = ""
            except (AssertionError, progress.AssetError, OSError) as error:  # the next look tries again
                self.trouble = f"the pod had trouble: {error}\n"
        self.end()
        self.world.plane.api.close()  # of this thread

    def look(self):
        """A server that doesn't answer neither starts nor ends it."""
        deployment = self.world.find(DEPLOYMENT)
        service = deployment and deployment["spec"]["replicas"] and self.world.find(in_cluster.SERVICE)
        account = f"/api/v1/namespaces/{rights.NAMESPACE}/serviceaccounts/{rights.ACCOUNT}"
        address = service["spec"]["clusterIP"] if service and self.world.find(account) else None
        alive = self.world.operator is not None and self.world.operator.poll() is None
        if address == self.address and (alive or not address):
            return
        self.end()
        if address:
            (port,) = process.free_ports(1)
            self.world.start_operator(f"--webhook-port={port}")
            self.forwarder = forward.Forwarder(address, port)
            self.address = address

    def end(self):
        self.world.kill_operator()
        if self.forwarder:
            self.forwarder.close()
        self.forwarder = self.address = None


class World(in_cluster.World):
    PLANE = cluster.ControlPlane
    pod = proxy = None

    def __init__(self):
        super().__init__()
        self.releases = toys.Releases(os.path.join(self.state.path, "releases"))
        self.releases.release("v1.0.0", "v1alpha4", "v1alpha1", core=CORES_KIND, toy=SECRET + FORMER_MAP)
        self.releases.release("v1.1.0", "v1beta1", "v1beta1", earlier="v1alpha4", core=CORES_KIND, toy=SECRET + NEW_MAP)
        for step, version in zip(STEPS, (FORMER, NEWER, NEWER), strict=True):
            place = in_cluster.write_cert_manager(self.state.path, version)
            config = {"providers": self.releases.sources(), "cert-manager": {"url": place, "version": version}}
            self.write(step, config)
        self.plane.api.write("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", ROLE)
        self.proxy = cutting_proxy.CuttingProxy(self.plane)
        access = self.plane.access()
        access["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{self.proxy.port}"}
        self.write("proxied", access)
        self.pod = Pod(self)
        self.pod.start()

    def place(self, name):
        return os.path.join(self.state.path, f"{name}.json")

    def write(self, name, content):
        with open(self.place(name), "w", encoding="utf-8") as file:
            json.dump(content, file)

    def close(self):
        if self.pod:
            self.pod.over.set()
            self.pod.join()
        if self.proxy:
            self.proxy.close()
        self.pod = self.proxy = None
        super().close()

    def run(self, step, arguments, cut):
        """clusterctl through the proxy, until the cut: its exit code and what it said."""
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.state.path, "KUBECONFIG": self.place("proxied"), **VARIABLES}
        environment |= {"CLUSTERCTL_DISABLE_VERSIONCHECK": "true", "GOPROXY": "off"}
        command = [built.find("clusterctl"), *arguments, "--config", self.place(step)]
        self.proxy.cut = cut
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        process = cut.begin(lambda: subprocess.Popen(command, env=environment, **streams))
        try:
            _, errors = process.communicate(timeout=worlds.LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{command} doesn't end: {process.communicate()[1]}{self.last_words()}") from None
        return process.returncode, errors

    def snapshot(self):
        """What counts of all that there is, by the path of its list and its names."""
        lists = list(BUILTIN)
        for crd in self.crds():
            if GOING in crd["metadata"]:  # the server takes seconds for it
                self.remove(f"{cluster.CRDS}/{crd['metadata']['name']}", finalizers=True)
            (stored,) = (version["name"] for version in crd["spec"]["versions"] if version["storage"])
            lists.append(f"/apis/{crd['spec']['group']}/{stored}/{crd['spec']['names']['plural']}")
        found = {}
        for path in lists:
            for item in self.items(path):
                metadata = item["metadata"]
                if "kubernetes.io/bootstrapping" not in metadata.get("labels", {}):
                    found[f"{path} {metadata.get('namespace', '')}/{metadata['name']}"] = essence(item)
        return found

    def items(self, path):
        """Of a list, which a kind has not as long as its storage is made anew; none of a kind that is gone."""

        def answered():
            status, text = self.plane.api.request("GET", path)
            return (status, text) if status in (200, 404) else None

        status, text = self.until(f"{path} is answered", answered)
        return json.loads(text)["items"] if status == 200 else []

    def last_words(self):
        return (self.pod.trouble if self.pod else "") + super().last_words()

    def settled(self):
        """A snapshot once nothing goes or changes any more."""

        def look():
            found = self.snapshot()
            return None if any(GOING in item["metadata"] for item in found.values()) else found

        return worlds.settled(look, self.last_words)

    def forget_cert_manager(self):
        """As if it had never been there."""
        self.remove("/apis/apps/v1/namespaces/cert-manager/deployments/cert-manager")
        for crd in self.crds():
            if crd["spec"]["group"].endswith("cert-manager.io"):
                self.remove(f"{cluster.CRDS}/{crd['metadata']['name']}", finalizers=True)


def essence(item):
    metadata = {name: value for name, value in item["metadata"].items() if name not in WRITTEN_BY_SERVER}
    metadata.get("annotations", {}).pop("deployment.kubernetes.io/revision", None)
    status = {name: value for name, value in item.get("status", {}).items() if name in TOLD}
    # Whether a newer version was told of depends on how long there was one that wasn't declared yet.
    if "conditions" in status:
        status["conditions"] = [condition for condition in status["conditions"] if condition["type"] != "UpgradeAvailable"]
    rest = {name: value for name, value in item.items() if name not in ("metadata", "status")}
    if metadata["name"].startswith(CERTIFICATE) and "data" in rest:
        rest["data"] = sorted(rest["data"])
    return without_made_up({"metadata": metadata, "status": status, **rest})


def without_made_up(value):
    if isinstance(value, dict):
        return {name: without_made_up(part) for name, part in value.items() if name not in MADE_UP}
    if isinstance(value, list):
        return [without_made_up(part) for part in value]
    return value


class Kills(worlds.OnAWorld):
    WORLD = World

    def setUp(self):
        self.start_world()
        self.addCleanup(self.leave_world)
        self.maxDiff = 20000

    def leave_world(self):
        """As it is, where a step failed: the next test begins with a new one."""
        self.world.close()
        worlds.OnAWorld.world = None

    def commands(self, *more):
        flags = self.world.releases.flags
        return {
            "init": ["init", *flags("v1.0.0"), "--bootstrap=-", "--control-plane=-", "--validate=false", "--wait-providers", *more],
            "upgrade": ["upgrade", "apply", *flags("v1.1.0"), "--wait-providers", *more],
            "delete": ["delete", "--all", "--include-crd", *more],
        }

    def before(self, step):
        """What isn't clusterctl's to do."""
        if step == "init":
            self.world.forget_cert_manager()
            self.world.remove(SECRET_OF_TOY)
        elif step == "upgrade":
            self.world.plane.api.close()  # the server may have, and what isn't made twice isn't sent twice
            self.world.plane.api.write("POST", TOYS, USERS_TOY)
        else:
            self.world.remove(f"{TOYS}/mine")

    def go(self, step, cuts):
        """Through one command to its end, past each that breaks it off."""
        for cut in [*cuts, Break()]:
            code, errors = self.world.run(step, self.commands_[step], cut)
            if cut.happened and cut.signal == signal.SIGINT:
                self.assertEqual(code, 1, errors)
                self.assertRegex(errors, "(?m)^Error: interrupted.*to go on, run the same command again")
            elif not cut.happened:
                self.assertEqual(code, 0, errors + self.world.last_words())
        # Not every run makes quite as many writes.
        self.assertTrue(cuts[0].happened or cuts[0].at > self.writes[step] * 9 // 10, "there are fewer writes than before")

    def first_cycle(self):
        """Nobody breaks anything off: how many writes each command makes, and what it leaves."""
        self.writes, self.left = {}, {}
        for step in STEPS:
            self.before(step)
            counted = Break()
            code, errors = self.world.run(step, self.commands_[step], counted)
            self.assertEqual(code, 0, errors + self.world.last_words())
            self.writes[step], self.left[step] = counted.count, self.world.settled()

    def passes(self, step, cuts):
        passed = False
        with self.subTest(step=step, cuts=", ".join(map(str, cuts)), of=self.writes[step], seed=SEED):
            self.before(step)
            self.go(step, cuts)
            self.assert_left(step)
            passed = True
        return passed

    def cycles(self, cuts):
        """Up to a step that fails: one after it would begin with what that left, and fail too."""
        for at in range(max(map(len, cuts.values()))):
            if not all(self.passes(step, cuts[step][at % len(cuts[step])]) for step in STEPS):
                return

    def assert_left(self, step):
        """Controllers may be behind."""
        words = lambda: difference(self.world.snapshot(), self.left[step])  # noqa: E731
        worlds.until("it is as if it hadn't been broken off", lambda: self.world.snapshot() == self.left[step], words=words)

    def all_cycles(self, *more):
        self.commands_ = self.commands(*more)
        self.first_cycle()
        print(f"seed {SEED}, writes: {self.writes}", file=sys.stderr)
        self.cycles({step: breaks(step, self.writes[step]) for step in STEPS})

    @tiers.longer_in_full
    def test_1_with_the_operator(self):
        self.all_cycles()

    @tiers.only_full
    def test_2_without_an_operator(self):
        self.all_cycles("--operator=false")


def breaks(step, writes):
    """What breaks off one run after the other: a kill, and then an interruption of the one that goes on; in `make test-full` one or
    the other, in each part of the writes."""
    generator = random.Random(f"{SEED} {step}")
    if not tiers.FULL:
        at = generator.randint(1, writes)
        again = generator.randint(1, max(1, (writes - at) // 2))
        return [[one(step, at, [signal.SIGKILL]), one(step, again, [signal.SIGINT])]]
    begin = generator.randrange(APART)
    return [[one(step, at + 1)] for at in range(min(begin, writes - 1), writes, APART)]


def one(step, at, signals=(signal.SIGKILL, signal.SIGINT)):
    """The same one for a seed and a write, however many writes there are."""
    generator = random.Random(f"{SEED} {step} {at}")
    return Break(at, generator.random() < 0.5, generator.choice(signals))


def difference(found, wanted):
    """In words."""
    lines = [f"too much: {key}" for key in found.keys() - wanted.keys()] + [f"missing: {key}" for key in wanted.keys() - found.keys()]
    for key in found.keys() & wanted.keys():
        if found[key] != wanted[key]:
            lines.append(f"{key}: {json.dumps(found[key], sort_keys=True)}\n  instead of {json.dumps(wanted[key], sort_keys=True)}")
    return "\n".join(sorted(lines))


if __name__ == "__main__":
    unittest.main()
