#!/usr/bin/env python3
"""Tests of the Helm chart beside that of cluster-api-operator: it knows the same values, and makes the same objects of them."""

import json
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d", "chart.d")]

import chart  # noqa: E402
import plan  # noqa: E402
import yaml_texts  # noqa: E402
from chart import providers, small  # noqa: E402


def trimmed(value):
    """Texts without what is at the end of their lines: the peer's templates put a space there."""
    if isinstance(value, dict):
        return {key: trimmed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [trimmed(item) for item in value]
    return "\n".join(line.rstrip() for line in value.splitlines()) if isinstance(value, str) else value


class LikeThePeers(unittest.TestCase):
    """Values of cluster-api-operator's chart make the same providers, namespaces and ConfigMaps as there."""

    VERSIONS = {"namespace": "custom", "version": "v2.0.0"}
    SAME = (
        {},
        {"core": {"cluster-api": {}}},
        {"core": {"cluster-api": {"version": "v1.12.0", "namespace": "elsewhere", "createNamespace": False}}},
        {"infrastructure": {"docker": {}}},
        {"infrastructure": {"docker": {}, "azure": {"version": "v1.4.9"}}},
        {"infrastructure": {"docker": {"manager": {"featureGates": {"A": True, "B": False}}}}},
        {"bootstrap": {"talos": {}, "rke2": VERSIONS}},
        {"controlPlane": {"talos": VERSIONS}},
        {"ipam": {"in-cluster": {}}, "infrastructure": {"metal3": {}}},
        {"addon": {"helm": {"version": "v0.1.0"}}, "infrastructure": {"docker": {"version": ""}}},
        {"infrastructure": {"docker": {}}, "configSecret": {"name": "s", "namespace": "other"}},
        {"infrastructure": {"docker": {"configSecret": {"namespace": "own"}}}, "configSecret": {"name": "s"}},
        {"addon": {"helm": {"configSecret": {"name": "own", "namespace": "o"}}}},
        {"core": {"cluster-api": {"version": "v1", "manifestPatches": ["a: b\n"]}}},
        {"core": {"cluster-api": {"version": "v1", "fetchConfig": {"url": "https://g.example/x"}}}},
        {"core": {"cluster-api": {"version": "v1", "manager": {"featureGates": {"A": True}, "metrics": {"insecureDiagnostics": True, "diagnosticsAddress": ":1"}}}}},
        {"infrastructure": {"docker": {"version": "v1"}}, "fetchConfig": {"docker": {"url": "https://g.example/x"}}},
        {"infrastructure": {"azure": {"version": "v1"}}, "additionalDeployments": {"aso": {"deployment": {"replicas": 2}}}},
        {"core": {"cluster-api": {"version": "v1", "additionalManifests": {"name": "m", "manifests": "kind: X\n"}}}},
        {"core": {"cluster-api": {"version": "v1", "deployment": {"replicas": 2, "containers": [{"name": "manager", "imageUrl": "i:v1"}]}}}},
        {"infrastructure": {"docker": {"version": "v1", "patches": [{"patch": "a: b", "target": {"kind": "Service"}}]}}},
    )

    @classmethod
    def setUpClass(cls):
        (cls.peer,) = plan.have(["peer-chart"])

    def known(self):
        with open(os.path.join(chart.CHART, "values.schema.json"), encoding="utf-8") as file:
            return set(json.load(file)["properties"])

    def of_the_peer(self, values):
        return providers(values, chart=self.peer)

    def test_the_same_values_mean_the_same(self):
        for values in self.SAME:
            with self.subTest(values=values):
                self.assertEqual(trimmed(providers(values)), trimmed(self.of_the_peer(values)))

    def test_where_it_is_different_on_purpose(self):
        """A provider's own Secret takes precedence over the one for all (docs/adopting.md); there it is the other way round."""
        values = {"addon": {"a": {"configSecret": {"name": "own"}}}, "configSecret": {"name": "all", "namespace": "other"}}
        provider = ("AddonProvider", "a-addon-system", "a")
        self.assertEqual(providers(values)[provider], {"configSecret": {"name": "own"}})
        self.assertEqual(self.of_the_peer(values)[provider], {"configSecret": {"name": "all", "namespace": "other"}})

    def test_every_value_of_its_values_file_is_known(self):
        """At its default, it is taken or refused with words."""
        with open(os.path.join(self.peer, "values.yaml"), encoding="utf-8") as file:
            (defaults,) = yaml_texts.documents(file.read())
        self.assertGreater(len(defaults), 25)
        self.assertLessEqual(set(defaults), self.known())
        told = {name: value for name, value in defaults.items() if chart.template(small({name: value})).returncode != 0}
        self.assertEqual(set(told), {"enableHelmHook", "profilerAddress", "watchConfigSecret", "watchConfigMap", "volumes"})

    def test_every_value_that_its_templates_read_is_known(self):
        read = set()
        for name in os.listdir(os.path.join(self.peer, "templates")):
            with open(os.path.join(self.peer, "templates", name), encoding="utf-8") as file:
                read.update(re.findall(r"\.Values\)?\.(\w+)", file.read()))
        self.assertGreater(len(read), 35)
        self.assertLessEqual(read, self.known())


if __name__ == "__main__":
    unittest.main()
