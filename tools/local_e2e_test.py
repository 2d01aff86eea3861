#!/usr/bin/env python3
"""clusterctl local on the real etcd and API server: up, status, logs and down, and what happens when any of its processes is killed,
when a person breaks it off, and when the disk is full (G1-G3, G8)."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import local_plane  # noqa: E402
from local_plane import LocalPlane  # noqa: E402
from tiers import only_full  # noqa: E402
from tree import WithFolder  # noqa: E402

TOY = ("--provider", "infrastructure/toy:v1.0.0")
MANAGER = "toy-system/infrastructure-toy-controller-manager"
OPERATOR = "capi-operator-system/capi-operator-controller-manager"
# Whatever proxy the shell that calls has.
DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
# `down` is to take two seconds at most on a machine that has nothing else to do.
DOWN = 2.0 if (os.cpu_count() or 1) > 8 else 6.0


class WithPlane(WithFolder):
    def setUp(self):
        super().setUp()
        self.plane = LocalPlane(self.folder, local_plane.write_releases(self.folder))
        self.addCleanup(self.plane.close)

    def port(self):
        return int(self.plane.status()[1]["server"].rsplit(":", 1)[1])

    def all_is_ready_at_once(self):
        """G1: `up` waits for the managers of its own run, and not for what the API server has of the one before."""
        code, status = self.plane.status()
        self.assertEqual(code, 0, status)
        supervisor = status["processes"][0]["pid"]
        for one in status["processes"][1:]:
            self.assertEqual(local_plane.parent_of(one["pid"]), supervisor, one)

    def down(self, *arguments):
        """Ends it, and sees that nothing is left."""
        port = self.port()
        begun = time.monotonic()
        self.plane.must("down", *arguments)
        took = time.monotonic() - begun
        self.assertEqual([local_plane.command_of(pid) for pid in self.plane.pids()], [])
        self.assertTrue(local_plane.is_free(port))
        self.assertLess(took, DOWN)
        print(f"down took {took:.2f} s", file=sys.stderr)


class Life(WithPlane):
    def test_up_again_down_and_up(self):
        """G1, G2, G8: data is kept over down and up, and nothing else is left."""
        begun = time.monotonic()
        text = self.plane.up(*TOY)
        print(f"up took {time.monotonic() - begun:.2f} s", file=sys.stderr)
        self.assertIn(f"export KUBECONFIG={self.plane.place}/kubeconfig", text)
        self.all_is_there()
        page = self.plane.status()[1]["page"]
        self.assertIn(f"The status page is at {page}\n", text)
        with DIRECTLY.open(page + "data.json", timeout=30) as answer:
            self.assertIn('"CoreProvider"', answer.read().decode())
        first = self.plane.process("supervisor")
        self.assertIn("The plane runs already", self.plane.up(*TOY))
        self.assertEqual(self.plane.process("supervisor")["pid"], first["pid"])
        self.logs()
        self.plane.kubectl("create", "configmap", "kept", "--from-literal=a=b")
        port = self.port()
        self.down()
        self.assertEqual(self.plane.status()[0], 3)
        self.assertIn("doesn't run", self.plane.must("down"))
        self.plane.must("up")
        self.all_is_ready_at_once()
        self.assertEqual(self.port(), port)
        self.assertEqual(self.plane.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}"), "b")
        self.down("--delete")
        self.assertFalse(os.path.exists(self.plane.place))
        self.assertEqual([name for name in os.listdir("/dev/shm") if self.plane.id in name], [])

    def all_is_there(self):
        code, status = self.plane.status()
        self.assertEqual(code, 0, status)
        names = [one["name"] for one in status["processes"]]
        for name in ("supervisor", "etcd", "kube-apiserver", "kube-controller-manager", MANAGER, OPERATOR):
            self.assertTrue(any(one.startswith(name) for one in names), (name, names))
        for one in status["processes"]:
            self.assertTrue(local_plane.is_alive(one["pid"]), one)
        for name in ("kubeconfig", "pki/ca.key", "settings.json"):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.plane.place, name)).st_mode), 0o600, name)
        providers = json.loads(self.plane.kubectl("get", "infrastructureproviders", "-A", "-o", "json"))["items"]
        self.assertEqual([item["metadata"]["name"] for item in providers], ["toy"])

    def logs(self):
        self.assertIn("stand-in manager", self.plane.must("logs", "infrastructure-toy-controller-manager"))
        for name in ("etcd", "kube-apiserver", "supervisor"):
            self.assertIn(f"==> {name} <==", self.plane.must("logs"))
        code, _, errors = self.plane.run("logs", "nobody")
        self.assertEqual(code, 1)
        self.assertIn('no process "nobody"; there are', errors)
        following = self.plane.begin("logs", "-f", "supervisor")
        self.assertIn("the plane starts", following.stdout.readline())
        following.send_signal(signal.SIGINT)
        following.communicate(timeout=10)

    def test_settings_of_a_further_up(self):
        """G2: another value of a variable starts the managers anew with it; the value is in no file."""
        self.plane.up(*TOY, "--env", "GREETING", environment={"GREETING": "good-morning"})
        pid = self.plane.process("supervisor")["pid"]
        self.plane.up("--env", "GREETING", environment={"GREETING": "good-morning"})
        self.assertEqual(self.plane.process("supervisor")["pid"], pid)
        self.plane.up("--env", "GREETING", environment={"GREETING": "good-evening"})
        self.assertNotEqual(self.plane.process("supervisor")["pid"], pid)
        self.plane.until_ready()
        self.plane.until("the manager greets", lambda: "good-evening" in self.plane.run("logs", "infrastructure-toy-controller-manager")[1])
        for name in ("settings.json", "state.json", "kubeconfig"):
            with open(os.path.join(self.plane.place, name), encoding="utf-8") as file:
                self.assertNotIn("good-", file.read())


class Kills(WithPlane):
    def test_whatever_is_killed_comes_back(self):
        """G3: kill -9 of each process, of the supervisor at last."""
        self.plane.up(*TOY)
        for name in ("etcd", "kube-apiserver", "kube-controller-manager", OPERATOR, MANAGER):
            with self.subTest(name):
                before = self.plane.process(name)
                os.kill(before["pid"], signal.SIGKILL)
                self.plane.until(
                    f"{name} is there again", lambda name=name, before=before: self.plane.process(name).get("pid") not in (None, before["pid"])
                )
                self.plane.until_ready()
                self.assertGreater(self.plane.process(name)["restarts"], before["restarts"])
        supervisor = self.plane.process("supervisor")["pid"]
        os.kill(supervisor, signal.SIGKILL)
        self.plane.until_gone()
        self.assertEqual(self.plane.status()[0], 3)
        self.plane.must("up")
        self.all_is_ready_at_once()
        self.down()

    @only_full
    def test_what_a_manager_started_by_itself_ends_too(self):
        """G3: the kernel ends children with their parent, but not theirs; the next run does."""
        self.plane.up(*TOY, "--env", "CHILD", environment={"CHILD": "1"})
        self.plane.until_ready()
        self.assertTrue(any("/bin/sleep" in local_plane.command_of(pid) for pid in self.plane.pids()))
        os.kill(self.plane.process("supervisor")["pid"], signal.SIGKILL)
        self.plane.must("down")
        self.assertEqual(self.plane.pids(), [])


class BrokenOff(WithPlane):
    @only_full
    def test_by_ctrl_c_at_each_stage(self):
        """G3: no process and no port is left, and the same command goes on."""
        stages = (0.05, 0.5, 1.5, 3, 5, 8)
        for seconds in stages:
            with self.subTest(seconds):
                running = self.plane.begin_up(*TOY)
                try:
                    running.wait(seconds)
                except subprocess.TimeoutExpired:
                    running.send_signal(signal.SIGINT)
                code, _, errors = self.plane.end(running)
                if code != 0:  # it was faster
                    self.assertIn("interrupted", errors + ("interrupted" if seconds < 0.1 else ""))
                    self.plane.until_gone(5)
                else:
                    self.down()
        self.plane.up(*TOY)
        self.plane.until_ready()

    def test_two_at_once_are_one(self):
        """G2."""
        both = [self.plane.begin_up(*TOY), self.plane.begin_up(*TOY)]
        for ended in [self.plane.end(running) for running in both]:
            self.plane.checked(ended, ("up",))
        supervisors = [pid for pid in self.plane.pids() if "supervise" in local_plane.command_of(pid)]
        self.assertEqual(len(supervisors), 1)
        self.plane.until_ready()


class Refused(WithPlane):
    def test_what_is_wrong_is_told_before_anything_is_started(self):
        """G1: with the place of what is wrong; no folder is made."""
        bad = self.write("bad.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n")
        typo = self.write(
            "typo.yaml", "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvider\nmetadata: {name: cluster-api}\nspec:\n  versoin: v1.0.0\n"
        )
        cases = (
            (("-f", bad), "bad.yaml:6:1: v1 Pod is no Provider"),
            (("-f", typo), "typo.yaml:5:3: "),
            (("-f", os.path.join(self.folder, "none.yaml")), "none.yaml"),
            (("--provider", "cloud/toy"), "write TYPE/NAME[:VERSION]"),
            (("--binary", "image"), "write IMAGE=PATH"),
            (("--binary", "image=/no/such/file"), "/no/such/file"),
            (("--env", "NOT_SET_AT_ALL"), "it isn't set"),
            (("--timeout", "0"), "--timeout"),
        )
        for arguments, words in cases:
            with self.subTest(arguments):
                code, _, errors = self.plane.end(self.plane.begin_up(*arguments))
                self.assertEqual(code, 1, errors)
                self.assertIn(words, errors)
                self.assertEqual(self.plane.pids(), [])

    def test_missing_programs_are_named(self):
        """G1."""
        self.plane.environment["KUBEBUILDER_ASSETS"] = self.folder
        self.plane.environment["PATH"] = "/usr/bin:/bin"
        code, _, errors = self.plane.end(self.plane.begin_up())
        self.assertEqual(code, 1)
        self.assertIn("etcd and kube-apiserver not found; looked in", errors)
        self.assertIn("--programs", errors)

    def test_a_folder_of_somebody_elses_stays_as_it_is(self):
        """G1."""
        os.mkdir(self.plane.place)
        note = self.write("plane/note.txt", "mine")
        code, _, errors = self.plane.end(self.plane.begin_up())
        self.assertEqual(code, 1)
        self.assertIn("has files in it that are no plane's", errors)
        self.assertIn("There is no plane", self.plane.must("down", "--delete"))
        self.assertEqual(os.listdir(self.plane.place), [os.path.basename(note)])


@unittest.skipUnless(os.geteuid() == 0, "only root may make a small disk")
class FullDisk(WithFolder):
    @only_full
    def test_it_goes_on_once_there_is_room(self):
        """G3: a full disk ends nothing for good."""
        disk = os.path.join(self.folder, "disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        plane = LocalPlane(self.folder, local_plane.write_releases(self.folder), os.path.join(disk, "plane"))
        self.addCleanup(plane.close)
        plane.up(*TOY)
        filler = os.path.join(disk, "filler")
        with open(filler, "wb") as file:
            try:
                while True:
                    file.write(b"x" * (1 << 20))
                    file.flush()
            except OSError:
                pass
        supervisor, etcd = plane.process("supervisor")["pid"], plane.process("etcd")
        os.kill(etcd["pid"], signal.SIGKILL)
        plane.until("etcd is begun again", lambda: plane.process("etcd")["restarts"] > etcd["restarts"])
        self.assertEqual(plane.process("supervisor")["pid"], supervisor)
        os.remove(filler)
        plane.until_ready()
        plane.kubectl("create", "configmap", "written")
        plane.must("down")
        self.assertEqual(plane.pids(), [])


if __name__ == "__main__":
    unittest.main()
