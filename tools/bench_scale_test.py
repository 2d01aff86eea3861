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


class Scale(unittest.TestCase):
    def test_the_applies_of_many_are_those_of_the_first_few_under_other_names(self):
        templates = [floor.Apply("cluster-api", "/core", "core")]
        for number in range(1, len(models.MODELS) + 1):
            name = models.name_of(number)
            templates += [floor.Apply(models.provider(number).label, f"/{name}/x", f"{name}-{number}"), floor.Apply(models.provider(number).label, f"/{name}/y", "")]
        applies = list(scale.applies_of(templates, 12))
        self.assertEqual(len(applies), 1 + 2 * 11)
        self.assertEqual(applies[0].target, "/core")
        self.assertEqual([apply.target for apply in applies[1::2]], [f"/p{number:04}/x" for number in range(1, 12)])
        self.assertEqual(applies[21].body, "p0011-1")
        self.assertEqual(applies[21].label, models.provider(11).label)

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

    def test_every_value_that_is_measured_is_told(self):
        columns = {key for table in scale.TABLES for key, *_ in table}
        self.assertLessEqual(set(scale.FITTED), columns)
        values = dict.fromkeys(columns, 1.5)
        said = io.StringIO()
        with mock.patch.object(scale, "draw"), contextlib.redirect_stdout(said):
            scale.tell({10: values, 50: dict.fromkeys(columns, 3.0)})
        self.assertEqual(len(re.findall(r"(?m)^\| (?:10|50) \|", said.getvalue())), 2 * len(scale.TABLES))
        self.assertEqual(said.getvalue().count("linear fit"), len(scale.FITTED))


if __name__ == "__main__":
    unittest.main()
