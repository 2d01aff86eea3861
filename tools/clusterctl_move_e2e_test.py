#!/usr/bin/env python3
"""`clusterctl move` between two real API servers, beside Cluster API's own clusterctl: what each of them leaves in both clusters,
files that each reads of the other, and moves that are killed at seeded requests and go on (L17)."""

import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import cutting_proxy  # noqa: E402
import management  # noqa: E402
import plan  # noqa: E402
import tiers  # noqa: E402
import worlds  # noqa: E402

LIMIT = 300
SEED = int(os.environ.get("CAPI_TEST_SEED", "1"))
RECORD = "operator.cluster.x-k8s.io/move"


class World:
    """Two management clusters with the same providers, and a proxy before each."""

    def __init__(self):
        self.sides, self.proxies = [], []
        unittest.addModuleCleanup(self.close)
        (programs,) = {plan.link_folder(["clusterctl"])}
        self.programs = {"ours": built.find("clusterctl"), "theirs": os.path.join(programs, "clusterctl")}
        self.home = tempfile.TemporaryDirectory(prefix="clusterctl-move-test-")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.a, self.b = pool.map(self.start, range(2))

    def start(self, _):
        side = management.Side(self)
        # Theirs makes the kind of its inventory.
        done = self.run("theirs", "move", "--dry-run", "-n", "none", "--kubeconfig", side.plane.kubeconfig)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        side.add_to_inventory("CoreProvider", "cluster-api", "capi-system")
        side.add_to_inventory("InfrastructureProvider", "infrastructure-docker", "capd-system")
        proxy = cutting_proxy.CuttingProxy(side.plane)
        self.proxies.append(proxy)
        access = side.plane.access()
        access["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{proxy.port}"}
        side.proxied = os.path.join(side.state.path, "proxied.kubeconfig")
        with open(side.proxied, "w", encoding="utf-8") as file:
            json.dump(access, file)
        return side

    def close(self):
        for each in (*self.proxies, *self.sides):
            each.close()
        self.home.cleanup()

    def command(self, which, arguments):
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.home.name, "CLUSTERCTL_DISABLE_VERSIONCHECK": "true", "GOPROXY": "off"}
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([self.programs[which], *arguments], env=environment, **streams)

    def run(self, which, *arguments):
        process = self.command(which, arguments)
        out, errors = process.communicate(timeout=LIMIT)
        return subprocess.CompletedProcess(arguments, process.returncode, out, errors)

    def run_cut(self, source, target, ns, cut):
        """Ours, through the proxies, until the cut. Whether it came."""
        for proxy in self.proxies:
            proxy.cut = cut
        cut.lock.acquire()  # no request is counted before the process is known
        process = self.command("ours", ["move", "-n", ns, "--kubeconfig", source.proxied, "--to-kubeconfig", target.proxied])
        cut.process = process
        cut.lock.release()
        _, errors = process.communicate(timeout=LIMIT)
        if not cut.happened and process.returncode != 0:
            raise AssertionError(errors)
        return cut.happened


class Move(worlds.OnAWorld):
    WORLD = World

    def setUp(self):
        self.start_world()
        self.a, self.b = self.world.a, self.world.b
        self.maxDiff = 20000

    def move(self, which, ns, source, target, *more):
        done = self.world.run(which, "move", "-n", ns, "--kubeconfig", source.plane.kubeconfig, "--to-kubeconfig", target.plane.kubeconfig, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def moving(self, snapshot):
        return {key: value for key, value in snapshot.items() if key[2] not in management.FOREIGN}

    def renamed(self, snapshot, ns):
        """Of another namespace, as if it were `ns`."""
        text = {tuple(ns if part == "theirs" else part for part in key): json.dumps(value) for key, value in snapshot.items()}
        return {key: json.loads(value.replace('"theirs"', f'"{ns}"')) for key, value in text.items()}

    def same(self, ours, theirs):
        ours = {key: json.loads(json.dumps(value)) for key, value in ours.items()}
        self.assertEqual(sorted(ours), sorted(theirs))
        for key, value in ours.items():
            self.assertEqual(value, theirs[key], key)

    def test_both_leave_the_same(self):
        self.a.make_namespace("shared")
        common = self.a.make("ClusterClass", "shared", "common", spec=class_of("template"))
        self.a.make("Template", "shared", "template", [common])
        identity = self.a.make("Identity", "", "identity")
        self.a.make("Secret", "capd-system", "credentials", [identity], data={"a": "Yg=="})
        for ns in ("ours", "theirs"):
            management.make_namespace(self.a, ns, shared={"name": "common", "namespace": "shared"})
        before = self.a.snapshot("ours")
        shared = self.a.snapshot("shared", "capd-system")
        for which in ("ours", "theirs"):
            self.move(which, which, self.a, self.b)
        self.same(self.b.snapshot("ours"), self.renamed(self.b.snapshot("theirs"), "ours"))
        self.same(self.a.snapshot("ours"), self.renamed(self.a.snapshot("theirs"), "ours"))
        self.same(self.moving(before), json.loads(json.dumps(list(self.b.snapshot("ours").items())), object_hook=None) and self.plain(self.b.snapshot("ours")))
        # Theirs leaves a ClusterClass paused that stays in the source.
        left = self.a.snapshot("shared", "capd-system")
        self.assertEqual(left.pop(("ClusterClass", "shared", "common"))["annotations"].pop("cluster.x-k8s.io/paused", None), "")
        del shared["ClusterClass", "shared", "common"]
        self.assertEqual(left, shared)
        self.assertEqual(self.b.snapshot("shared", "capd-system").keys(), {*shared, ("ClusterClass", "shared", "common")})

    def plain(self, snapshot):
        return {key: json.loads(json.dumps(value)) for key, value in snapshot.items()}


def class_of(template):
    reference = {"templateRef": {"apiVersion": f"{management.INFRASTRUCTURE}/v1beta2", "kind": "Template", "name": template}}
    return {"of": template, "infrastructure": reference, "controlPlane": reference}


if __name__ == "__main__":
    unittest.main()
