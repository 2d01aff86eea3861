#!/usr/bin/env python3
"""`clusterctl move` between two real API servers, beside Cluster API's own clusterctl: what each of them leaves in both clusters,
files that each reads of the other, and moves that are killed at seeded requests, or meet another move there, and go on (L17)."""

import json
import os
import random
import subprocess
import sys
import tempfile
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
from management import moving, without_managers  # noqa: E402

LIMIT = 300
SEED = int(os.environ.get("CAPI_TEST_SEED", "1"))
CLAIM = "/configmaps/move.operator.cluster.x-k8s.io"
REQUESTS_OF_CLAIM = 4  # a patch and a creation in each cluster: who begins later takes over


class Meeting(cutting_proxy.Cut):
    """Another move is made as a whole at the `at`-th request since the first one to the claim, before the server has that."""

    def __init__(self, at=None, other=None):
        super().__init__(at)
        self.other = other

    def reset(self):
        super().reset()
        self.answer = None
        self.claims = False

    def is_now(self, method, path):
        self.claims = self.claims or CLAIM in path
        if self.claims and super().is_now(method, path):
            self.answer = self.other()
            self.happened = True
        return False


class World:
    """Two management clusters with the same providers, and a proxy before each."""

    def __init__(self):
        self.sides, self.proxies = [], []
        unittest.addModuleCleanup(self.close)
        (programs,) = {plan.link_folder(["clusterctl"])}
        self.programs = {"ours": built.find("clusterctl"), "theirs": os.path.join(programs, "clusterctl")}
        self.home = tempfile.TemporaryDirectory(prefix="clusterctl-move-test-")
        for _ in range(2):
            self.sides.append(management.Side())
        self.a, self.b = self.sides
        for side in self.sides:
            self.start(side)

    def start(self, side):
        side.start()
        side.add_to_inventory("CoreProvider", "cluster-api", "capi-system")
        side.add_to_inventory("InfrastructureProvider", "infrastructure-docker", "capd-system")
        proxy = cutting_proxy.CuttingProxy(side.plane)
        self.proxies.append(proxy)
        access = side.plane.access()
        access["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{proxy.port}"}
        side.proxied = os.path.join(side.state.path, "proxied.kubeconfig")
        with open(side.proxied, "w", encoding="utf-8") as file:
            json.dump(access, file)

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
        move = ["move", "-n", ns, "--kubeconfig", source.proxied, "--to-kubeconfig", target.proxied]
        process = cut.begin(lambda: self.command("ours", move))
        _, cut.errors = process.communicate(timeout=LIMIT)
        if not cut.happened and process.returncode != 0:
            raise AssertionError(cut.errors)
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

    def assert_there(self, before, target, source, ns):
        """All that moves of what there was is in the target, and nothing of it in the source."""
        self.assert_same(moving(target.snapshot(ns)), before)
        self.assertEqual(moving(source.snapshot(ns)), {})

    def assert_same(self, found, wanted):
        self.assertEqual(sorted(found), sorted(wanted))
        for key, value in found.items():
            self.assertEqual(value, wanted[key], key)

    def test_both_leave_the_same(self):
        identity = self.a.make("Identity", "", "identity")
        self.a.make("Secret", "capd-system", "credentials", [identity], data={"a": "Yg=="})
        for ns in ("ours", "theirs"):
            # Theirs leaves one paused that stays in the source, which it then refuses to move again.
            self.a.make_namespace(f"{ns}-shared")
            common = self.a.make("ClusterClass", f"{ns}-shared", "common", spec=class_of("template"))
            self.a.make("Template", f"{ns}-shared", "template", [common])
            management.make_namespace(self.a, ns, shared={"name": "common", "namespace": f"{ns}-shared"})
        before, shared = moving(self.a.snapshot("ours")), self.a.snapshot("ours-shared", "capd-system")
        for ns in ("ours", "theirs"):
            self.move(ns, ns, self.a, self.b)
        self.assert_there(before, self.b, self.a, "ours")
        for side in (self.a, self.b):
            left = renamed(side.snapshot("theirs", "theirs-shared"))
            if side is self.a:
                self.assertEqual(left["ClusterClass", "ours-shared", "common"]["annotations"].pop("cluster.x-k8s.io/paused"), "")
            self.assert_same(side.snapshot("ours", "ours-shared"), left)
        self.assertEqual(self.a.snapshot("ours-shared", "capd-system"), shared)
        self.assertEqual(self.b.snapshot("ours-shared", "capd-system"), shared)

    def test_each_reads_the_files_of_the_other(self):
        for ns in ("ours", "theirs"):
            management.make_namespace(self.a, ns + "-files")
        before, moved = {ns: self.a.snapshot(ns) for ns in ("ours-files", "theirs-files")}, {}
        names = {}
        for writer, reader in (("ours", "theirs"), ("theirs", "ours")):
            folder, ns = tempfile.TemporaryDirectory(prefix="clusterctl-move-test-"), f"{writer}-files"
            self.addCleanup(folder.cleanup)
            done = self.world.run(writer, "move", "-n", ns, "--kubeconfig", self.a.plane.kubeconfig, "--to-directory", folder.name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.a.snapshot(ns), before[ns])
            names[writer] = sorted(name.replace(ns, "team") for name in os.listdir(folder.name))
            done = self.world.run(reader, "move", "--to-kubeconfig", self.b.plane.kubeconfig, "--from-directory", folder.name)
            self.assertEqual(done.returncode, 0, done.stderr)
            moved[ns] = self.b.snapshot(ns)
        self.assertEqual(names["ours"], names["theirs"])
        self.assert_same(moving(moved["theirs-files"]), moving(before["theirs-files"]))
        # Theirs makes itself the manager of all fields.
        self.assert_same(without_managers(moved["ours-files"]), without_managers(renamed(moved["theirs-files"])))

    def test_what_was_paused_stays_so_and_what_is_said(self):
        management.make_namespace(self.a, "manners", clusters=2, machines=1, paused=("c1",))
        before = self.a.snapshot("manners")
        done = self.world.run("ours", "move", "-n", "manners", "--kubeconfig", self.a.plane.kubeconfig, "--dry-run")
        self.assertIn('Creating Machine="c0-0" Namespace="manners"', done.stderr)
        self.assertEqual(self.a.snapshot("manners"), before)
        theirs = self.world.run(
            "theirs", "move", "-n", "manners", "--kubeconfig", self.a.plane.kubeconfig, "--to-kubeconfig", self.b.plane.kubeconfig
        )
        self.assertIn("while the following Clusters are paused: manners/c1", theirs.stderr)
        self.assertIn("Cluster manners/c1 is paused, and stays so", self.move("ours", "manners", self.a, self.b).stderr)
        self.assert_there(moving(before), self.b, self.a, "manners")
        self.assertIn('0 Clusters: there is none in namespace "manners"', self.move("ours", "manners", self.a, self.b).stderr)

    def kill(self, ns, before, source, target, cut):
        """A move that is killed there, then one that goes on, or back. Where all is then."""
        came = self.world.run_cut(source, target, ns, cut)
        there = target
        if came and self.random.random() < 0.4:
            target.make_ready(ns)
            source, there = target, source
        if came:
            self.move("ours", ns, self.a if there is self.b else self.b, there)
        source = self.a if there is self.b else self.b
        self.assert_there(before, there, source, ns)
        there.make_ready(ns)
        return there

    def there_and_back(self, ns, kills, **fleet):
        management.make_namespace(self.a, ns, **fleet)
        before = moving(self.a.snapshot(ns))
        self.random = random.Random(SEED)
        counted = cutting_proxy.Cut()
        self.world.run_cut(self.a, self.b, ns, counted)
        self.b.make_ready(ns)
        where = self.b
        for at in range(kills):
            cut = cutting_proxy.Cut(self.random.randint(1, counted.count), self.random.random() < 0.5)
            with self.subTest(seed=SEED, kill=at, request=cut.at, of=counted.count, after=cut.after):
                where = self.kill(ns, before, where, self.a if where is self.b else self.b, cut)
        return before

    def test_killed_moves_go_on(self):
        self.there_and_back("killed", 6, clusters=1, machines=2, paused=())

    def assert_one_went_on(self, meeting):
        """The one that began last, for which the other one made way."""
        self.assertEqual(meeting.answer.returncode, 0, meeting.answer.stderr)
        self.assertEqual(meeting.process.returncode, 1, meeting.errors)
        self.assertIn("was begun meanwhile, and has ended in this one's place", meeting.errors)

    def test_moves_at_the_same_time(self):
        ns, generator = "twice", random.Random(SEED)
        management.make_namespace(self.a, ns, clusters=1, machines=1)
        before = moving(self.a.snapshot(ns))
        counted = Meeting()
        self.world.run_cut(self.a, self.b, ns, counted)
        for back in (True, False, True, True):
            self.b.make_ready(ns)
            self.move("ours", ns, self.b, self.a)
            self.a.make_ready(ns)
            source, target = (self.b, self.a) if back else (self.a, self.b)
            other = ["move", "-n", ns, "--kubeconfig", source.plane.kubeconfig, "--to-kubeconfig", target.plane.kubeconfig]
            meeting = Meeting(generator.randint(REQUESTS_OF_CLAIM + 1, counted.count), lambda other=other: self.world.run("ours", *other))
            with self.subTest(seed=SEED, back=back, request=meeting.at, of=counted.count):
                came = self.world.run_cut(self.a, self.b, ns, meeting)
                # Two moves make not quite as many requests, and at the last ones the claim is given back.
                if meeting.at <= counted.count * 9 // 10:
                    self.assertTrue(came)
                    self.assert_one_went_on(meeting)
                for side in (self.a, self.b):
                    side.make_ready(ns)
                self.move("ours", ns, self.a, self.b)
                self.assert_there(before, self.b, self.a, ns)

    @tiers.only_full
    def test_killed_moves_of_a_thousand_objects_go_on(self):
        before = self.there_and_back("thousand", 12, clusters=10, machines=22, paused=("c3",))
        self.assertGreaterEqual(len(before), 1000)


def renamed(snapshot):
    """What `theirs` moved, as if it had been `ours`."""
    text = {key: json.dumps(value, sort_keys=True) for key, value in snapshot.items()}
    return {tuple(part.replace("theirs", "ours") for part in key): tuples(json.loads(value.replace("theirs", "ours"))) for key, value in text.items()}


def tuples(value):
    """JSON has lists where a snapshot has tuples."""
    value["owners"] = [(tuple(owner[0]), *owner[1:]) for owner in value["owners"]]
    value["managers"] = [tuple(manager) for manager in value["managers"]]
    return value


def class_of(template):
    reference = {"templateRef": {"apiVersion": f"{management.INFRASTRUCTURE}/v1beta2", "kind": "Template", "name": template}}
    return {"of": template, "infrastructure": reference, "controlPlane": reference}


if __name__ == "__main__":
    unittest.main()
