#!/usr/bin/env python3
"""Tests of what the Helm chart has for Prometheus and Grafana: the objects of manifests/monitoring, for those who ask."""

import json
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d", "chart.d")]

import chart  # noqa: E402
import plan  # noqa: E402
import yaml_texts  # noqa: E402
from chart import NAMESPACE  # noqa: E402

FOLDER = os.path.join(chart.ROOT, "manifests", "monitoring")
PARTS = {
    "serviceMonitor": ("ServiceMonitor", "capi-operator"),
    "rules": ("PrometheusRule", "capi-operator"),
    "dashboard": ("ConfigMap", "capi-operator-dashboard"),
}
ALL = {name: {"enabled": True} for name in PARTS}


def render(metrics, program="helm", namespace=NAMESPACE, **values):
    """What the chart has of these objects, by kind and name."""
    values = {"crds": {"install": False}, "metrics": metrics, **values}
    items = chart.objects(values, "--show-only=templates/monitoring.yaml", program=program, namespace=namespace)
    return {(item["kind"], item["metadata"]["name"]): item for item in items}


def with_part(name, **more):
    (made,) = render({name: {"enabled": True, **more}}).values()
    return made


class Objects(unittest.TestCase):
    def test_they_are_those_of_manifests(self):
        (kubectl,) = plan.have(["kubectl"])
        text = subprocess.run([kubectl, "kustomize", FOLDER], capture_output=True, text=True, check=True).stdout
        wanted = {(item["kind"], item["metadata"]["name"]): item for item in yaml_texts.documents(text)}
        self.assertEqual(set(wanted), set(PARTS.values()))
        for program in chart.HELMS:
            found = render(ALL, program)
            for name, item in wanted.items():
                with self.subTest(program, name=name):
                    self.assertEqual(chart.difference(found.get(name), item), "")

    def test_none_is_there_unless_it_is_asked_for(self):
        """The kinds of Prometheus' operator may not be there."""
        there = {(item["kind"], item["metadata"]["name"]) for item in chart.objects({"crds": {"install": False}})}
        self.assertEqual(there & set(PARTS.values()), set())
        for name, (kind, called) in PARTS.items():
            with self.subTest(name):
                self.assertEqual(set(render({name: {"enabled": True}})), {(kind, called)})

    def test_they_are_in_the_namespace_of_the_release(self):
        for item in render(ALL, namespace="elsewhere").values():
            self.assertEqual(item["metadata"]["namespace"], "elsewhere")

    def test_labels_are_added(self):
        for name in PARTS:
            with self.subTest(name):
                labels = with_part(name, labels={"release": "prometheus"})["metadata"]["labels"]
                self.assertLessEqual({"release": "prometheus", "app.kubernetes.io/name": "capi-operator"}.items(), labels.items())
        self.assertEqual(with_part("dashboard", annotations={"folder": "x"})["metadata"]["annotations"], {"folder": "x"})


class Scraping(unittest.TestCase):
    """T5: what Prometheus does is what the operator's metrics endpoint takes."""

    def endpoint(self, **values):
        monitor = values.pop("monitor", {})
        (made,) = render({"serviceMonitor": {"enabled": True, **monitor}}, **values).values()
        (found,) = made["spec"]["endpoints"]
        return found

    def test_the_service_is_found(self):
        monitor = with_part("serviceMonitor")["spec"]
        service = next(item for item in chart.objects({}) if item["metadata"]["name"] == "capi-operator-metrics-service")
        self.assertLessEqual(monitor["selector"]["matchLabels"].items(), service["metadata"]["labels"].items())
        self.assertEqual(monitor["endpoints"][0]["port"], service["spec"]["ports"][0]["name"])
        # The rules look for this name of the job.
        self.assertEqual(service["metadata"]["labels"][monitor["jobLabel"]], "capi-operator")

    def test_with_a_token_over_a_connection_that_nobody_can_verify(self):
        found = self.endpoint(monitor={"interval": "15s"})
        self.assertEqual((found["scheme"], found["tlsConfig"], found["interval"]), ("https", {"insecureSkipVerify": True}, "15s"))
        self.assertIn("bearerTokenFile", found)

    def test_with_the_token_of_a_secret(self):
        secret = {"name": "prometheus", "key": "token"}
        found = self.endpoint(monitor={"tokenSecret": secret})
        self.assertEqual(found["authorization"], {"credentials": secret})
        self.assertNotIn("bearerTokenFile", found)

    def test_without_either_where_metrics_are_for_everybody(self):
        found = self.endpoint(insecureDiagnostics=True)
        self.assertEqual(found["scheme"], "http")
        self.assertEqual({"tlsConfig", "bearerTokenFile", "authorization"} & set(found), set())

    # What would be ignored, or alert for ever: the values, and what Helm says of them.
    REFUSED = (
        ("serviceMonitor", {"diagnosticsAddress": "0"}, 'serviceMonitor.enabled: there are no metrics, since diagnosticsAddress is "0"'),
        # Nobody is scraped then, which is what CapiOperatorDown looks for.
        ("rules", {"diagnosticsAddress": "0"}, 'rules.enabled: there are no metrics, since diagnosticsAddress is "0"'),
        # It was dropped, and the metrics were for everybody.
        ("serviceMonitor", {"insecureDiagnostics": True}, "serviceMonitor.tokenSecret: nobody asks for a token where insecureDiagnostics is true"),
    )

    def test_what_is_refused(self):
        for name, values, words in self.REFUSED:
            more = {"tokenSecret": {"name": "prometheus", "key": "token"}} if "tokenSecret" in words else {}
            for program in chart.HELMS:
                with self.subTest(words, program=program):
                    given = {"crds": {"install": False}, "metrics": {name: {"enabled": True, **more}}, **values}
                    done = chart.template(given, program=program)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertIn(words, done.stderr)


class Dashboard(unittest.TestCase):
    def test_grafana_reads_it(self):
        made = with_part("dashboard")
        with open(os.path.join(FOLDER, "capi-operator.json"), encoding="utf-8") as file:
            self.assertEqual(made["data"], {"capi-operator.json": file.read()})
        self.assertIn("panels", json.loads(made["data"]["capi-operator.json"]))
        self.assertEqual(made["metadata"]["labels"]["grafana_dashboard"], "1")


if __name__ == "__main__":
    unittest.main()
