#!/usr/bin/env python3
"""Tests of what tools/bench makes of many providers, and of what it takes for the floor."""

import contextlib
import io
import json
import os
import re
import socket
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("bench.d", "run.d", "assets.d")]

import cluster  # noqa: E402
import drift  # noqa: E402
import floor  # noqa: E402
import models  # noqa: E402
import rig  # noqa: E402
import scale  # noqa: E402
from progress import AssetError  # noqa: E402


class Models(unittest.TestCase):
    RELEASE = """kind: Namespace
metadata:
  name: caaph
---
kind: Role
metadata:
  name: caaph-role
  namespace: caaph
rules: []
---
kind: RoleBinding
metadata:
  labels:
    name: no
  name: caaph-binding
roleRef:
  name: caaph-role
---
kind: Deployment
metadata:
  name: caaph
"""

    def test_a_copy_has_other_names_and_groups(self):
        text = b"name: caaph-role\ngroup: addons.cluster.x-k8s.io\nlabel: cluster.x-k8s.io/v1beta1\n"
        copy = models.renamed(text, "p0007", "caaph", "addons.cluster.x-k8s.io")
        self.assertEqual(copy, b"name: p0007-role\ngroup: p0007.addons.cluster.x-k8s.io\nlabel: cluster.x-k8s.io/v1beta1\n")
        self.assertEqual(models.renamed(text, "p0007", "caaph", None).count(b"p0007"), 1)

    def test_a_release_has_as_many_objects_as_are_asked_for_each_under_a_name_of_its_own(self):
        text = models.padded(self.RELEASE.encode(), 7).decode()
        documents = cluster.split_documents(text)
        self.assertEqual(len(documents), 1 + 7)  # the Namespace isn't applied
        names = [(re.search(r"kind: (.*)", item)[1], re.search(r"(?m)^  name: (.*)", item)[1]) for item in documents]
        self.assertEqual(len(set(names)), 8, names)
        self.assertEqual(names[4:], [("Role", "caaph-role-0"), ("RoleBinding", "caaph-binding-1"), ("Role", "caaph-role-2"), ("RoleBinding", "caaph-binding-3")])
        self.assertEqual(text.count("roleRef:\n  name: caaph-role\n"), 3, "what a binding is of stays")
        self.assertEqual(models.padded(self.RELEASE.encode(), 2).decode().count("kind:"), 4, "nothing is left out")

    def test_the_first_few_stand_for_all(self):
        self.assertEqual(models.representative(0), 0)
        for number in range(1, 30):
            first = models.representative(number)
            self.assertIn(first, range(1, len(models.MODELS) + 1))
            self.assertEqual(models.provider(number).kind, models.provider(first).kind)
            self.assertEqual(models.provider(number).version, models.provider(first).version)


class Floor(unittest.TestCase):
    def test_what_is_sent_is_what_was_applied_of_a_provider(self):
        def line(target, label="p", verb="patch", group="apps", subresource=None, **item):
            body = {"metadata": {"labels": {floor.LABEL: label}}, **item}
            reference = {"apiGroup": group, **({"subresource": subresource} if subresource else {})}
            return json.dumps({"verb": verb, "requestURI": target, "objectRef": reference, "requestObject": body})

        log = [
            line("/a?force=true", spec=1),
            line("/b?force=true&dryRun=All"),
            line("/c?force=true", group="clusterctl.cluster.x-k8s.io"),
            line("/d?force=true", group="operator.cluster.x-k8s.io"),
            line("/e", verb="update"),
            line("/f"),  # a patch, which isn't an apply
            line("/g?force=true", subresource="scale"),
            line("/h?force=true", label=None),
            json.dumps({"verb": "patch", "requestURI": "/i?force=true", "objectRef": {}, "requestObject": [{"op": "test"}]}),
            line("/j?force=true", group="", spec=2),
            line("/a?force=true", spec=3),  # once more: a manager was quicker
        ]
        found = floor.recorded(log)
        self.assertEqual([(apply.label, apply.target) for apply in found], [("p", "/a?force=true"), ("p", "/j?force=true")])
        self.assertEqual([json.loads(apply.body)["spec"] for apply in found], [3, 2])

    def test_without_a_deployment_there_is_nothing_to_wait_for(self):
        applies = [floor.Apply("p", "/apis/apps/v1/namespaces/n/deployments/d?force=true", "{}"), floor.Apply("p", "/j", "{}")]
        self.assertEqual(floor.with_workloads(applies), applies)
        with self.assertRaisesRegex(AssetError, "^of 1 applies .* none is of a Deployment"):
            floor.with_workloads(applies[1:])

    def test_an_apply_is_two_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "applies")
            floor.write(path, [floor.Apply("p", "/a", '{"b":"c\\nd"}'), floor.Apply("p", "/e", "{}")])
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), '/a\n{"b":"c\\nd"}\n/e\n{}\n')

    def test_what_it_can_not_send_is_no_measurement(self):
        failed = mock.Mock(returncode=1, stderr="floor_benchmark: /a: refused\n")
        with tempfile.TemporaryDirectory() as folder, mock.patch("subprocess.run", return_value=failed):
            run = mock.Mock(state=mock.Mock(path=folder), plane=mock.Mock(requests=lambda: []))
            with self.assertRaisesRegex(AssetError, "^floor_benchmark: /a: refused$"):
                floor.send(run, [])


class Counter:
    """A run whose metrics tell of passes: `woken` for each workload that goes, at once."""

    def __init__(self, woken):
        self.woken, self.made, self.metrics, self.gone = woken, 5, 1, []
        self.api, self.plane, self.processes = mock.Mock(write=self.write), mock.Mock(requests=lambda: []), mock.Mock()

    def write(self, method, path, _):
        self.gone.append(path)
        self.made += self.woken

    def await_that(self, what, holds, *_):
        if not holds() and not holds():
            raise AssetError(f"not after 1s: {what}")

    def ask(self, *_):
        return 200, f'a 1\ncontroller_runtime_reconcile_total{{result="success"}} {self.made - 3}\ncontroller_runtime_reconcile_total{{result="error"}} 3\n'


class Drifted(unittest.TestCase):
    def measure(self, woken, took, answer=None):
        run = Counter(woken)
        found = {"Role": [mock.Mock(path=f"/roles/{number}") for number in range(4)]}

        def restored(_, __, patience, before):
            before()
            return min(took, patience)

        with (
            mock.patch.object(rig, "ask", answer or run.ask),
            mock.patch("time.sleep"),
            mock.patch.object(drift, "targets", return_value=found),
            mock.patch.object(drift, "restored_deletion", restored),
        ):
            return scale.drifted(run, 10), run

    def test_it_is_measured_while_all_are_looked_at(self):
        values, run = self.measure(10, 0.25)
        self.assertEqual(values, {"drift p50": 250, "drift p99": 250, "woken": 10})
        self.assertEqual(len(set(run.gone)), 1 + 4)

    def test_it_is_nothing_where_they_are_not(self):
        """Plain drift passed for it once nobody was woken any more."""
        for woken in (0, 9):
            with self.subTest(woken=woken), self.assertRaisesRegex(AssetError, "all are looked at again$"):
                self.measure(woken, 0.25)

    def test_without_an_answer_no_pass_is_over(self):
        for answer in ((0, ""), (200, "another 1\n")):
            with self.subTest(answer=answer), self.assertRaisesRegex(AssetError, "^the operator's metrics have no controller_runtime_reconcile_total"):
                self.measure(10, 0.25, lambda *_, answer=answer: answer)

    def test_what_does_not_come_back_is_no_value(self):
        """It was told as the 5.0 s for which it had been waited."""
        values, _ = self.measure(10, 6.0)
        self.assertEqual(values["drift p99"], 6000)
        with self.assertRaisesRegex(AssetError, "^not back after 170s: /roles/"):
            self.measure(10, 1000.0)


class Watched(unittest.TestCase):
    """What is measured over a while is of an operator that lives."""

    LOG = [[("get", "leases")], [("get", "leases"), ("patch", "roles"), ("patch", "roles"), ("watch", "roles"), ("get", "secrets")]]

    def run_of(self, check=None):
        plane = mock.Mock(port=1, requests=mock.Mock(side_effect=self.LOG))
        return mock.Mock(pid=os.getpid(), plane=plane, processes=mock.Mock(check=check or mock.Mock()))

    def test_one_that_ends_is_no_measurement(self):
        """It was told as one that asks nothing and takes nothing."""
        for measure in (scale.at_rest, scale.restarted):
            run = self.run_of(mock.Mock(side_effect=AssetError("operator ended by itself")))
            with self.subTest(measure=measure.__name__), mock.patch("time.sleep"), mock.patch.object(scale, "await_all"):
                with self.assertRaisesRegex(AssetError, "^operator ended by itself$"):
                    measure(run, 10)

    def test_what_a_restart_asks_is_told_by_name(self):
        said = io.StringIO()
        with mock.patch("time.sleep"), mock.patch.object(scale, "await_all"), contextlib.redirect_stderr(said):
            values = scale.restarted(self.run_of(), 10)
        self.assertEqual((values["writes"], values["reads"]), (2, 1))
        self.assertEqual(said.getvalue(), "requests: {('patch', 'roles'): 2, ('get', 'secrets'): 1}\n")


class Scale(unittest.TestCase):
    def test_the_applies_of_many_are_those_of_the_first_few_under_other_names(self):
        applies = list(scale.applies_of(self.templates(), 12))
        self.assertEqual(len(applies), 1 + models.OBJECTS * 11)
        self.assertEqual(applies[0].target, "/core")
        self.assertEqual([apply.target for apply in applies[1 :: models.OBJECTS]], [f"/p{number:04}/0" for number in range(1, 12)])
        self.assertEqual(applies[-1].target, f"/p0011/{models.OBJECTS - 1}")
        self.assertEqual(applies[-1].body, "p0011-1")
        self.assertEqual(applies[-1].label, models.provider(11).label)

    @staticmethod
    def templates():
        found = [floor.Apply("cluster-api", "/core", "core")]
        for number in range(1, len(models.MODELS) + 1):
            name = models.name_of(number)
            found += [floor.Apply(models.provider(number).label, f"/{name}/{item}", f"{name}-{number}") for item in range(models.OBJECTS)]
        return found

    def test_the_floor_has_no_fewer_objects_than_the_operator(self):
        """It had fewer, and the ratios were wrong, where a provider's applies weren't found."""
        label, whole = models.provider(3).label, self.templates()
        for lacking, said in (
            ([apply for apply in whole if apply.label != label], f"0 objects of {label}, and at least 50"),
            ([apply for apply in whole if apply.target != "/p0003/7"], f"49 objects of {label}, and at least 50"),
            (whole[1:], "0 objects of cluster-api, and at least 1"),
        ):
            with self.subTest(said=said), self.assertRaisesRegex(AssetError, said):
                list(scale.applies_of(lacking, 4))
        self.assertEqual(len(list(scale.applies_of(whole[: 1 + 2 * models.OBJECTS], 3))), 1 + 2 * models.OBJECTS, "of those that are measured")

    def test_numbers_of_providers_are_asked_for(self):
        for text, numbers in (("10", [10]), ("2,1000", [2, 1000]), (None, [10, 50, 200])):
            with mock.patch.dict(os.environ, {"SCALE": text} if text else {}):
                self.assertEqual(scale.asked(), numbers)
        for text in ("", "ten", "10,", "1", "10,10", "10,-50", "2 000", "\u0662"):
            with self.subTest(text=text), mock.patch.dict(os.environ, {"SCALE": text}), mock.patch.object(rig, "Bench", side_effect=AssertionError):
                with self.assertRaisesRegex(AssetError, f"^SCALE={text}: different numbers of at least 2, with commas between$"):
                    scale.run(1)
        with mock.patch.dict(os.environ, {"DRIFTS": "0"}), mock.patch.object(rig, "Bench", side_effect=AssertionError):
            with self.assertRaisesRegex(AssetError, "^DRIFTS=0: "):
                scale.run(1)

    def test_connections_are_those_that_are_open_to_the_port(self):
        lines = [
            "   0: 0100007F:1F90 0100007F:192B 01 00000000:00000000 00:00000000 00000000     0        0 111 1 0 20 4 30 10 -1",
            "   1: 0100007F:1F91 0100007F:192B 06 00000000:00000000 00:00000000 00000000     0        0 222 1 0 20 4 30 10 -1",
            "   2: 0100007F:192B 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 333 1 0 20 4 30 10 -1",
        ]
        self.assertEqual(rig.established_to(lines, 0x192B), ["111"])
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            self.assertEqual(rig.connections(os.getpid(), port), 0)
            with socket.create_connection(("127.0.0.1", port)), server.accept()[0]:
                self.assertEqual(rig.connections(os.getpid(), port), 1, "the server's end is none")

    def test_a_provider_says_whether_its_contract_is_accepted(self):
        def item(*conditions):
            return {"status": {"conditions": [dict(zip(("type", "status", "reason"), entry)) for entry in conditions]}}

        self.assertIs(scale.accepts(item(("Ready", "True"), ("ContractCompatible", "False"))), False)
        self.assertIs(scale.accepts(item(("ContractCompatible", "True"))), True)
        self.assertIsNone(scale.accepts(item(("Ready", "True"))))
        self.assertIsNone(scale.accepts({}))
        self.assertTrue(scale.left_alone(item(("Paused", "True", "HandsOff"))))
        self.assertFalse(scale.left_alone(item(("Paused", "True", "Paused"))))

    def test_a_line_needs_two_points_that_are_something(self):
        points = {10: {"a": 1.0, "b": 0.0}, 50: {"a": 5.0, "b": 0.0}}
        self.assertEqual(scale.curve(points, "a"), [(10, 1.0), (50, 5.0)])
        self.assertEqual(scale.curve(points, "b"), [])
        self.assertEqual(scale.curve({10: {"a": 1.0}}, "a"), [])
        function, text = scale.line_of(scale.curve(points, "a"), "s")
        self.assertAlmostEqual(function(1000), 100)
        self.assertRegex(text, r"^linear fit: .* s \+ 0\.1 s per provider; no point is farther from it than 0%$")

    COLUMNS = {key for table in scale.TABLES for key, *_ in table}

    def test_every_value_that_is_measured_is_told(self):
        run = mock.MagicMock(pid=os.getpid())
        run.plane.requests.return_value = []
        run.plane.port = 1
        with contextlib.ExitStack() as stack:
            for patch in (
                mock.patch("time.sleep"),
                mock.patch.object(rig, "Rig", return_value=mock.MagicMock(__enter__=lambda _: run)),
                mock.patch.multiple(models, prepare=mock.DEFAULT, create=mock.DEFAULT),
                mock.patch.object(floor, "send", return_value={"seconds": 1.0, "cpu": 0.1}),
                mock.patch.object(drift, "targets", return_value={"Role": [mock.Mock()]}),
                mock.patch.object(drift, "restored_deletion", return_value=0.1),
                mock.patch.object(scale, "passes", return_value=7),
                mock.patch.object(scale, "changed_contract", return_value=(1.0, 2.0)),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                stack.enter_context(patch)
            values = scale.one_point(None, 10, self.templates())
        self.assertEqual(set(values), self.COLUMNS)

    def test_medians_are_told_with_their_spread_and_have_their_lines(self):
        self.assertLessEqual(set(scale.FITTED), self.COLUMNS)
        said, drawn = io.StringIO(), mock.Mock()
        with mock.patch.object(scale, "draw", drawn), contextlib.redirect_stdout(said):
            scale.tell({10: [dict.fromkeys(self.COLUMNS, value) for value in (1.5, 9.0, 1.0)], 50: [dict.fromkeys(self.COLUMNS, 3.0)]})
        self.assertEqual(len(re.findall(r"(?m)^\| (?:10|50) \|", said.getvalue())), 2 * len(scale.TABLES))
        self.assertIn("| 1.50 s (1.00 to 9.00) |", said.getvalue())
        self.assertIn("| 3.0 MB (3.0 to 3.0) |", said.getvalue())
        self.assertEqual(said.getvalue().count("linear fit"), len(scale.FITTED))
        self.assertEqual(drawn.call_args_list[0].args[3], [(10, 1.5), (50, 3.0)])


if __name__ == "__main__":
    unittest.main()
