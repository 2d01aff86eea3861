#!/usr/bin/env python3
"""Tests of what tools/bench makes of its measurements."""

import contextlib
import glob
import io
import json
import os
import random
import re
import select
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("bench.d", "run.d", "assets.d")]

import built  # noqa: E402
import commands  # noqa: E402
import drift  # noqa: E402
import edits  # noqa: E402
import figures  # noqa: E402
import image  # noqa: E402
import init  # noqa: E402
import install  # noqa: E402
import plot  # noqa: E402
import render  # noqa: E402
import reviews  # noqa: E402
import rig  # noqa: E402
import starts  # noqa: E402
import steady  # noqa: E402
import upgrade  # noqa: E402
import verify  # noqa: E402
from progress import AssetError  # noqa: E402


class Figures(unittest.TestCase):
    def test_a_cell_has_the_median_and_the_spread(self):
        self.assertEqual(figures.cell([3.0, 1.0, 2.25], "ms"), "2.2 ms (1.0 to 3.0)")
        self.assertEqual(figures.cell([3, 1, 2], ""), "2 (1 to 3)")

    def test_ratios_are_the_first_to_the_second(self):
        self.assertEqual(figures.ratios([1, 5], [10, 2]), ["0.10", "2.50"])
        self.assertEqual(figures.ratios([1, 0], [0, 0]), ["", ""])

    def test_a_table_compares_medians(self):
        rows = install.compared({"ours": [(1.0, 4), (3.0, 4), (2.0, 4)], "theirs": [(4.0, 0)]}, ("s", ""))
        self.assertEqual(rows[0], ["ours", "2.00 s (1.00 to 3.00)", "4 (4 to 4)"])
        self.assertEqual(rows[2], ["ratio", "0.50", ""])

    def test_a_number_of_the_environment_is_one(self):
        for text, number in (("1", 1), ("20", 20), (None, 3)):
            with mock.patch.dict(os.environ, {"ROUNDS": text} if text else {}):
                self.assertEqual(figures.whole_number("ROUNDS", 3), number)
        for text in ("", "0", "-1", "two", "1.5", "1,2"):
            with self.subTest(text=text), mock.patch.dict(os.environ, {"ROUNDS": text}):
                with self.assertRaisesRegex(AssetError, f"^ROUNDS={text}: a whole number of at least 1$"):
                    figures.whole_number("ROUNDS", 3)

    def test_a_process_is_measured(self):
        wall, cpu = figures.times_ms(["/bin/sh", "-c", "exit 0"], {})
        self.assertGreater(wall, 0)
        self.assertLess(cpu, 1000)
        self.assertGreater(figures.peak_mb(["/bin/sh", "-c", "exit 0"], {}), 0.1)

    def test_a_program_that_fails_ends_the_measurement(self):
        for measure in (figures.times_ms, figures.peak_mb):
            with self.subTest(measure=measure.__name__), self.assertRaisesRegex(RuntimeError, "ended with 3"):
                measure(["/bin/sh", "-c", "exit 3"], {})


class Image(unittest.TestCase):
    def test_a_star_is_found_wherever_it_gives_something(self):
        fine = [{"verbs": ["get"], "resources": ["pods/*"], "apiGroups": [""]}, {"verbs": ["get"], "nonResourceURLs": ["/metrics/*"]}]
        wide = [{"verbs": ["*"], "resources": ["pods"]}, {"verbs": ["get"], "resources": ["*"]}, {"verbs": ["get"], "resources": ["pods"], "apiGroups": ["*"]}]
        objects = [{"kind": "ClusterRole", "rules": fine + wide[:1]}, {"kind": "Role", "rules": wide[1:]}]
        objects += [{"kind": "ClusterRole", "aggregationRule": {}, "rules": None}, {"kind": "ConfigMap", "rules": wide}, None]
        self.assertEqual(image.with_a_star(image.rules(objects)), wide)

    def test_an_image_is_measured_as_it_is_packed(self):
        files = image.rootfs.Files("amd64")
        files.add("program", b"a" * 2_000_000, 0o755)
        files.add("etc/text", b"b" * 1_000_000)
        program, everything, packed = image.sizes(files)
        self.assertEqual((program, everything), (2.0, 3.0))
        self.assertTrue(0 < packed < 0.1, packed)


class Usage(unittest.TestCase):
    def test_names_variables_that_are_read(self):
        with open(os.path.join(TOOLS, "bench"), encoding="utf-8") as file:
            usage = file.read().split('"""')[1]
        named = re.findall(r"^  ([A-Z_]+(?:, [A-Z_]+)*)(?:=N(?:,N)*)?(?:  |$)", usage, re.MULTILINE)
        names = {name for line in named for name in line.split(", ")}
        self.assertLessEqual({"ROUNDS", "SCALE", "RELEASES_DIR", "CAPI_CLUSTERCTL", "AUDIT_LOG"}, names)
        code = ""
        for path in [os.path.join(TOOLS, "bench"), *glob.glob(os.path.join(TOOLS, "bench.d", "*.py")), built.__file__]:
            with open(path, encoding="utf-8") as file:
                code += file.read().replace(usage, "")
        for name in names:
            self.assertIn(f'"{name}"', code)

    def test_says_how_many_rounds_each_part_has(self):
        with open(os.path.join(TOOLS, "bench"), encoding="utf-8") as file:
            text = file.read()
        said = re.search(r"rounds of each \(([^)]*)\)", text)[1]
        told = {}
        for number, names in re.findall(r"(\d+) of ([^\d]*)", " ".join(said.split())):
            told |= dict.fromkeys(re.findall(r"\w+", names.replace(" and ", " ")), number)
        others = told.pop("others")
        told.pop("the")
        parts = dict(re.findall(r'^    "(\w+)": \([\w.]+, (\d+)\)', text, re.MULTILINE))
        self.assertGreater(len(parts), 15)
        self.assertEqual({part: told.get(part, others) for part in parts}, parts)
        self.assertLessEqual(set(told), set(parts))


class Init(unittest.TestCase):
    def test_whoever_may_listen_at_the_port_measures(self):
        """It was left out for everybody but root, though the setting that the pages name serves too."""
        another = mock.patch("os.geteuid", return_value=1000)
        with another, mock.patch("socket.create_server"), mock.patch.object(rig, "Bench", side_effect=AssetError("begun")):
            with self.assertRaisesRegex(AssetError, "^begun$"):
                init.run(1)

    def test_nobody_else_does_and_is_told_what_it_takes(self):
        said, refused = io.StringIO(), mock.patch("socket.create_server", side_effect=PermissionError)
        with refused, mock.patch.object(rig, "Bench", side_effect=AssertionError), contextlib.redirect_stderr(said):
            init.run(1)
        self.assertRegex(said.getvalue(), "^left out: init; .* takes root or net.ipv4.ip_unprivileged_port_start=443\n$")

    def test_a_label_begins_with_the_kind(self):
        """Two of the kinds were unknown, and their providers so taken for core providers."""
        for label, name, kind in (
            ("cluster-api", "cluster-api", None),
            ("control-plane-kubeadm", "kubeadm", "ControlPlaneProvider"),
            ("addon-helm", "helm", "AddonProvider"),
            ("runtime-extension-nutanix", "nutanix", "RuntimeExtensionProvider"),
        ):
            found, beginning = init.in_cluster.name_of(label)
            self.assertEqual((found, init.in_cluster.KINDS.get(beginning)), (name, kind))

    def test_one_that_does_not_end_is_told_and_leaves_nobody_behind(self):
        """time(1) was killed, and the clusterctl that it had started went on; what was told was a trace of Python's."""
        with tempfile.TemporaryDirectory() as folder:
            path, alive = os.path.join(folder, "clusterctl"), os.path.join(folder, "alive")
            os.mkfifo(alive)
            reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
            self.addCleanup(os.close, reader)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nexec 9>{alive}\necho up >&9\nexec sleep 60\n")
            os.chmod(path, 0o755)
            run = init.Rig(None, rig.OURS)
            run.state, run.program, run.environment = mock.Mock(path=folder), init.OURS, {"PATH": "/usr/bin:/bin"}
            run.serve = lambda _: select.select([reader], [], [], 60)  # until it runs
            with mock.patch.object(commands, "both", return_value={init.OURS: path}), mock.patch.object(rig, "TIMEOUT", 1.0):
                with self.assertRaisesRegex(AssetError, " init .*: not within 1 s$"):
                    run.init(serve=True)
            self.assertEqual(os.read(reader, 100), b"up\n")
            self.assertTrue(select.select([reader], [], [], 10)[0], "clusterctl goes on")
            self.assertEqual(os.read(reader, 100), b"")


class Parts(unittest.TestCase):
    def test_what_they_run_is_built_before(self):
        """One wasn't: on a fresh clone all parts after it were never measured, and elsewhere it measured a program of an earlier build."""
        named = set()
        for path in glob.glob(os.path.join(TOOLS, "bench.d", "*.py")):
            with open(path, encoding="utf-8") as file:
                named.update(re.findall(r'"(\w+_benchmark)"', file.read()))
        self.assertGreaterEqual(len(named), 3)
        with open(os.path.join(figures.ROOT, "Makefile"), encoding="utf-8") as file:
            (recipe,) = re.findall(r"^bench: .*\n((?:\t.*\n)+)", file.read(), re.MULTILINE)
        self.assertEqual(set(re.findall(r"\w+_benchmark", recipe)), named)

    def test_the_page_names_them(self):
        with open(os.path.join(figures.ROOT, "docs", "benchmarks.md"), encoding="utf-8") as file:
            told = re.findall(r"^\| `(\w+)` \|", file.read(), re.MULTILINE)
        with open(os.path.join(TOOLS, "bench"), encoding="utf-8") as file:
            parts = re.findall(r'^    "(\w+)": \(', file.read(), re.MULTILINE)
        self.assertEqual(told, parts)


class Within(unittest.TestCase):
    def test_a_benchmark_that_says_an_error_is_no_measurement(self):
        """It ended all of tools/bench from within, where every other failure is an error that its caller tells."""
        failed = json.dumps({"benchmarks": [{"name": "release/real_time", "error_occurred": True, "error_message": "no such file"}]})
        listed, answer = mock.Mock(stdout="release/real_time\n"), mock.Mock(stdout=failed)
        with mock.patch.dict(os.environ, {"RELEASES_DIR": "/none"}), mock.patch("subprocess.run", side_effect=[listed, answer]):
            with self.assertRaisesRegex(AssetError, "^release/real_time: no such file$"):
                render.measure(1)
        with mock.patch("subprocess.run", return_value=answer), self.assertRaisesRegex(AssetError, ": no such file$"):
            verify.run(1)


class Fit(unittest.TestCase):
    def test_finds_a_line(self):
        base, slope, worst = figures.fit([(x, 0.5 + 3 * x) for x in (0.01, 1, 50)])
        self.assertAlmostEqual(base, 0.5)
        self.assertAlmostEqual(slope, 3)
        self.assertAlmostEqual(worst, 0)

    def test_says_how_far_a_parabola_is_from_it(self):
        _, _, worst = figures.fit([(x, x * x) for x in (1, 2, 4, 8, 16)])
        self.assertGreater(worst, 0.3)


class Picture(unittest.TestCase):
    def test_is_a_picture_with_every_point(self):
        drawn = plot.Plot("a < b", "MB", "ms", "note")
        drawn.add("measured", [(0.01, 0.4), (1.0, 12.0), (50.0, 700.0)])
        drawn.add_line("line", lambda x: 0.3 + 14 * x)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plot.svg")
            drawn.write(path)
            root = xml.etree.ElementTree.parse(path).getroot()
        circles = root.findall("{http://www.w3.org/2000/svg}circle")
        self.assertEqual(len(circles), 3)
        heights = [float(circle.get("cy")) for circle in circles]
        self.assertEqual(heights, sorted(heights, reverse=True))  # more is higher
        self.assertIn("a < b", [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")])

    def test_values_that_do_not_grow_are_drawn_too(self):
        """Where all were the same power of ten it ended in a division by zero, after all had been measured."""
        for points in ([(10, 1.0), (50, 1.0)], [(10, 10.0), (50, 10.0)], [(10, 64.0), (50, 64.0)], [(10, 2.0)]):
            with self.subTest(points=points), tempfile.TemporaryDirectory() as folder:
                drawn = plot.Plot("flat", "", "", "note")
                drawn.add("measured", points)
                drawn.add_line("line", lambda _, value=points[0][1]: value)
                path = os.path.join(folder, "plot.svg")
                drawn.write(path)
                circles = xml.etree.ElementTree.parse(path).getroot().findall("{http://www.w3.org/2000/svg}circle")
                self.assertEqual(len({circle.get("cy") for circle in circles}), 1)


def audited(number, stage, verb, resource=None):
    reference = {"objectRef": {"resource": resource}} if resource else {}
    return json.dumps({"auditID": f"id-{number}", "stage": stage, "verb": verb, **reference})


class Requests(unittest.TestCase):
    LOG = [
        audited(1, "ResponseStarted", "watch", "pods"),
        audited(2, "ResponseComplete", "patch", "services"),
        audited(1, "ResponseComplete", "watch", "pods"),
        audited(3, "ResponseComplete", "update", "leases"),
        audited(4, "ResponseComplete", "get"),
    ]

    def test_a_watch_counts_once(self):
        requests = rig.parse_audit(self.LOG)
        self.assertEqual(requests, [("watch", "pods"), ("patch", "services"), ("update", "leases"), ("get", "")])

    def test_watches_and_the_lease_are_told_apart(self):
        requests = rig.parse_audit(self.LOG)
        self.assertEqual(rig.beyond_watches(requests), [("patch", "services"), ("get", "")])
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(steady.per_minute(requests, 30), (4, 2, 2))

    def test_a_process_is_read_from_proc(self):
        self.assertGreater(rig.memory_kib(os.getpid(), "VmRSS"), 1000)
        self.assertGreaterEqual(rig.memory_kib(os.getpid(), "VmHWM"), rig.memory_kib(os.getpid(), "VmRSS"))
        self.assertGreater(rig.cpu_seconds(os.getpid()), 0)

    def test_ready_means_the_version_that_is_asked_for(self):
        status = {"installedVersion": "v1.11.0", "conditions": [{"type": "Ready", "status": "True"}]}
        self.assertTrue(rig.is_ready(status))
        self.assertTrue(rig.is_ready(status, "v1.11.0"))
        self.assertFalse(rig.is_ready(status, "v1.12.0"))
        self.assertFalse(rig.is_ready({"conditions": [{"type": "Ready", "status": "False"}]}))

    def test_metrics_tell_how_many_are_ready(self):
        text = 'a{capi="1"} 1\ncapi_operator_provider_ready{name="x"} 1\ncapi_operator_provider_ready{name="y"} 0\n'
        self.assertEqual(rig.ready_in(text), 1)


class Outage(unittest.TestCase):
    """Upgrades: how long nothing served."""

    @staticmethod
    def deployment(at, available, kind="MODIFIED", name="a"):
        return at, kind, {"metadata": {"name": name}, "status": {"availableReplicas": available}}

    def test_is_the_time_in_which_no_object_holds(self):
        events = [self.deployment(0, 1, "ADDED"), self.deployment(12, 0), self.deployment(15, 1), self.deployment(30, 0)]
        self.assertEqual(upgrade.outage(events, upgrade.is_available, 10, 20), 3)

    def test_one_of_two_is_enough(self):
        events = [self.deployment(0, 1), self.deployment(1, 1, name="b"), self.deployment(12, 0), self.deployment(14, 1)]
        self.assertEqual(upgrade.outage(events, upgrade.is_available, 10, 20), 0)

    def test_a_deleted_object_serves_nobody_and_lasts_to_the_end(self):
        events = [self.deployment(0, 1), self.deployment(13, 1, "DELETED")]
        self.assertEqual(upgrade.outage(events, upgrade.is_available, 10, 20), 7)

    def test_an_address_counts_when_it_is_ready(self):
        self.assertTrue(upgrade.has_address({"endpoints": [{"conditions": {}}, {"conditions": {"ready": True}}]}))
        self.assertFalse(upgrade.has_address({"endpoints": [{"conditions": {"ready": False}}]}))
        self.assertFalse(upgrade.has_address({"endpoints": None}))


class Edits(unittest.TestCase):
    ITEM = {
        "metadata": {
            "labels": {"a/b": "c", "foreign": "d"},
            "managedFields": [
                {"manager": "somebody", "operation": "Update", "fieldsV1": {"f:data": {}}},
                {
                    "manager": "capi-operator",
                    "operation": "Apply",
                    "fieldsV1": {
                        "f:metadata": {"f:labels": {"f:a/b": {}}},
                        "f:spec": {
                            "f:containers": {'k:{"name":"two"}': {".": {}, "f:name": {}, "f:port": {}, "f:args": {}}}
                        },
                    },
                },
            ],
        },
        "data": {"x": "y"},
        "spec": {"containers": [{"name": "one", "port": 1}, {"name": "two", "port": 2, "args": ["-v", True]}]},
    }

    def test_what_a_manager_applied_may_be_changed_but_for_what_names_an_item(self):
        self.assertEqual(
            list(edits.owned_scalars(self.ITEM, "capi-operator")),
            [
                (("metadata", "labels", "a/b"), "c"),
                (("spec", "containers", 1, "port"), 2),
                (("spec", "containers", 1, "args", 0), "-v"),
                (("spec", "containers", 1, "args", 1), True),
            ],
        )

    def test_a_path_is_found_again(self):
        for path, value in edits.owned_scalars(self.ITEM, "capi-operator"):
            self.assertEqual(edits.at(self.ITEM, path), value)
        self.assertIsNone(edits.at(self.ITEM, ("spec", "containers", 7, "port")))
        self.assertEqual(edits.pointer(("metadata", "labels", "a/b~c", 0)), "/metadata/labels/a~1b~0c/0")

    def test_another_value_differs_and_has_the_type(self):
        for value in ("text", 5, True):
            self.assertNotEqual(edits.another(value), value)
            self.assertIs(type(edits.another(value)), type(value))

    def test_the_essence_is_without_what_the_server_makes(self):
        item = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}, "spec": {"clusterIP": "x", "y": 1}, "status": {}}
        self.assertEqual(edits.essence(item), {"metadata": {"name": "a"}, "spec": {"y": 1}})
        self.assertEqual(item["metadata"]["uid"], "u")  # a copy

    def test_percentiles_are_measured_values(self):
        values = list(range(1, 1001))
        self.assertEqual([edits.percentile(values, share) for share in (50, 99, 100)], [500, 990, 1000])
        self.assertEqual(edits.percentile([3], 99), 3)


class Drift(unittest.TestCase):
    def test_a_row_says_what_did_not_come_back(self):
        self.assertEqual(drift.row("x", [0.01, 0.02, drift.PATIENCE]), ["x", "2 of 3", "20.0 ms", "over 5 s", "over 5 s"])

    def test_objects_are_taken_of_all_kinds_in_turn(self):
        found = {"A": ["a1", "a2", "a3"], "B": ["b1"]}
        chosen = drift.spread(found, 3, random.Random(1))
        self.assertEqual(sorted(item[0] for item in chosen), ["a", "a", "b"])
        self.assertEqual(len(set(drift.spread(found, 40, random.Random(1)))), 4)

    def test_no_object_is_deleted_so_often_that_it_is_a_fight(self):
        target = drift.Target("Role", {"metadata": {"name": "n", "namespace": "s"}})
        self.assertEqual(target.path, "/apis/rbac.authorization.k8s.io/v1/namespaces/s/roles/n")
        for at in range(4):
            self.assertTrue(target.may_be_deleted(at))
            target.deletions.append(at)
        self.assertFalse(target.may_be_deleted(5))
        self.assertTrue(target.may_be_deleted(66))


class Reviews(unittest.TestCase):
    def test_an_answer_has_to_be_the_right_one(self):
        def is_right(status, response, check, uid=reviews.UID):
            return reviews.is_right(status, json.dumps({"response": {"uid": uid, **response}}), check)

        self.assertTrue(is_right(200, {"allowed": True}, reviews.allows))
        self.assertFalse(is_right(200, {"allowed": False}, reviews.allows))
        self.assertFalse(is_right(500, {"allowed": True}, reviews.allows))
        self.assertFalse(is_right(200, {"allowed": True}, reviews.allows, uid="another"))
        for text in ("", "{", "[]", '{"response": null}', '{"response": {}}'):
            self.assertFalse(reviews.is_right(200, text, reviews.allows), text)
        self.assertFalse(reviews.is_right(0, b"", reviews.allows), "no answer")
        spec = {"configSecret": {"name": "variables"}}
        item = {"apiVersion": f"{reviews.GROUP}/v1alpha2", "spec": spec}
        check = reviews.converts("v1alpha2", lambda spec: spec["configSecret"]["name"])
        success = {"status": "Success"}
        for items, result, right in (
            ([item] * reviews.CONVERTED, success, True),
            ([item] * reviews.CONVERTED, {"status": "Failed"}, False),
            ([item] * (reviews.CONVERTED - 1), success, False),
            ([], success, False),
            ([{**item, "apiVersion": f"{reviews.GROUP}/v1alpha1"}] + [item] * (reviews.CONVERTED - 1), success, False),
            ([{**item, "spec": {}}] + [item] * (reviews.CONVERTED - 1), success, False),
        ):
            self.assertEqual(is_right(200, {"result": result, "convertedObjects": items}, check), right, items[:1])

    def test_a_row_has_percentiles_in_milliseconds(self):
        row = reviews.row("all", [0.001] * 98 + [0.002, 0.5], 1, 4.4, 20.04)
        self.assertEqual(row, ["all", "100", "1", "1.0 ms", "2.0 ms", "500.0 ms", "4 %", "20.0 MB"])


class Starts(unittest.TestCase):
    def test_the_first_event_that_holds_counts(self):
        events = [(1.0, "ADDED", {}), (2.0, "MODIFIED", {"status": {"conditions": [{}]}}), (3.0, "DELETED", {})]
        watch = mock.Mock()
        watch.next.side_effect = [*events, None]
        self.assertEqual(starts.first(watch, "a status", starts.has_status), 2.0)
        with self.assertRaisesRegex(AssetError, "another one"):
            starts.first(watch, "another one", starts.has_status)

    def test_a_lease_that_was_given_back_has_no_holder(self):
        for spec, holder in (({"holderIdentity": "a"}, "a"), ({"holderIdentity": ""}, ""), ({}, "")):
            self.assertEqual(starts.holder({"spec": spec}), holder)
        self.assertEqual(starts.holder({}), "")


class Command(unittest.TestCase):
    def test_an_unknown_part_is_refused(self):
        done = subprocess.run([os.path.join(TOOLS, "bench"), "nothing"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no part is called nothing", done.stderr)

    def test_what_a_variable_can_not_be_is_told_without_a_trace(self):
        """A bad SCALE ended other parts too, and ROUNDS=0 ended each of them after what comes before its rounds."""
        for part, variable, said in (("scale", "SCALE=ten", "different numbers of at least 2"), ("startup", "ROUNDS=0", "a whole number")):
            name, value = variable.split("=")
            environment = {**os.environ, name: value}
            done = subprocess.run([os.path.join(TOOLS, "bench"), part], capture_output=True, text=True, check=False, env=environment)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"^bench: {variable}: {said}.*\n$")
        environment = {**os.environ, "SCALE": "ten"}
        done = subprocess.run([os.path.join(TOOLS, "bench"), "nothing"], capture_output=True, text=True, check=False, env=environment)
        self.assertIn("no part is called nothing", done.stderr)


if __name__ == "__main__":
    unittest.main()
