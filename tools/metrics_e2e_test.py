#!/usr/bin/env python3
"""The metrics of an operator at work, scraped as the ServiceMonitor of manifests/monitoring has it done (T5): it has installed
a provider, restored a drift and failed a provider, and its webhooks have answered.

What it gives is the recorded scrape that tools/metrics_test.py works with; CAPI_METRICS_RECORD=1 writes it anew."""

import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d", "chart.d")]

import cluster  # noqa: E402
import exposition  # noqa: E402
import monitoring  # noqa: E402
import pages  # noqa: E402
import process  # noqa: E402
import rights  # noqa: E402
import yaml_texts  # noqa: E402
from rights import NAMESPACE  # noqa: E402

PROVIDER = """
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: {kind}
metadata: {{name: {name}, namespace: default}}
spec: {{version: {version}{more}}}
"""
CORE = PROVIDER.format(kind="CoreProvider", name="cluster-api", version="v1.12.0", more="")
# A patch of it fits nothing. What is wrong in the object alone, as a version, the webhooks refuse.
PATCH = ", patches: [{patch: '- {op: remove, path: /nothing}', target: {kind: Deployment}}]"
FAILS = PROVIDER.format(kind="BootstrapProvider", name="kubeadm", version="v1.12.0", more=PATCH)


class World(rights.World):
    """With the operator at work, and its webhooks asked."""

    def __init__(self):
        super().__init__()
        self.have_cert_managers_kinds()
        self.apply_manifests("default")
        webhooks, self.port = process.free_ports(2)
        self.start_operator(*self.call_at(webhooks), diagnostics=f"0.0.0.0:{self.port}")

    def scrape(self, token=None):
        """(status, text), as the ServiceMonitor says."""
        (monitor,) = yaml_texts.documents(monitoring.read(monitoring.FOLDER, "service_monitor.yaml"))
        (endpoint,) = monitor["spec"]["endpoints"]
        url = f"{endpoint['scheme']}://127.0.0.1:{self.port}{endpoint['path']}"
        return exposition.scrape(url, token, verify=not endpoint["tlsConfig"]["insecureSkipVerify"])

    def value(self, token, name, provider):
        """Of a metric of the provider of that name; None while it isn't there, or nothing is served."""
        status, text = self.scrape(token)
        found = exposition.parse(text).samples if status == 200 else []
        return next((value for sample, labels, value in found if (sample, labels.get("name")) == (name, provider)), None)

    def work(self, token):
        """Installs a provider, restores a drift, and fails a provider."""
        self.until("admission answers", lambda: self.kubectl("apply", "-f", "-", given=CORE).returncode == 0)
        self.must("apply", "-f", "-", given=FAILS)
        ready, stalled = "capi_operator_provider_ready", "capi_operator_provider_stalled"
        restored = "capi_operator_provider_drift_corrected_total"
        self.until("the core provider is Ready", lambda: self.value(token, ready, "cluster-api") == 1)
        self.must("delete", "service", "capi-webhook-service", "-n", "default")
        self.until("the drift is restored", lambda: (self.value(token, restored, "cluster-api") or 0) > 0)
        self.until("one has failed", lambda: self.value(token, stalled, "kubeadm") == 1)


class Scrape(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World()

    def test_what_prometheus_gets(self):
        world = self.world
        token = world.token("monitoring", "prometheus-k8s")  # of the ServiceAccount that docs/metrics.md names
        world.until("metrics are served", lambda: "serving metrics" in world.operator_log())
        self.assertEqual((world.scrape()[0], world.scrape("nobody's")[0], world.scrape(token)[0]), (401, 401, 403))
        (_, allow, discover, *_) = pages.blocks("Have Prometheus scrape them", "docs/metrics.md")
        for block in (allow, discover):
            done = pages.run(block, world.state.path, pages.environment(world.plane, world.state.path))
            self.assertEqual(done.returncode, 0, done.stderr)
        for kind in ("services", "endpoints", "pods", "endpointslices.discovery.k8s.io"):
            for verb in ("get", "list", "watch"):
                world.must("auth", "can-i", verb, kind, "-n", NAMESPACE, "--as=system:serviceaccount:monitoring:prometheus-k8s")
        world.until("the token may", lambda: world.scrape(token)[0] == 200)
        world.work(token)
        _, text = world.scrape(token)
        if os.environ.get("CAPI_METRICS_RECORD"):
            with open(monitoring.RECORDED, "w", encoding="utf-8") as file:
                file.write(re.sub(r'host="[^"]*"', 'host="192.0.2.9:6443"', text))
        done = monitoring.promtool("check", "metrics", given=text)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        scrape = exposition.parse(text)
        self.assertEqual(scrape.shape, monitoring.recorded().shape, "record it anew, and read docs/metrics.md")
        self.assertEqual(monitoring.without_an_answer(monitoring.queries(), scrape), "")

    def test_who_may_sets_the_verbosity(self):
        world = self.world
        world.until("metrics are served", lambda: "serving metrics" in world.operator_log())
        url = f"https://127.0.0.1:{world.port}/debug/flags/v"
        grant, _ = pages.blocks("Hear more for a while", "docs/metrics.md")
        token = world.token(NAMESPACE, "prometheus")
        self.assertEqual(exposition.scrape(url, token, put=b"4")[0], 403)
        done = pages.run(grant, world.state.path, pages.environment(world.plane, world.state.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        token = world.must("create", "token", "verbosity", "-n", NAMESPACE).strip()
        world.until("the token may", lambda: exposition.scrape(url, token, put=b"4") == (200, "the verbosity is 4\n"))
        self.assertIn(f"the verbosity was set v=4 by=system:serviceaccount:{NAMESPACE}:verbosity", world.operator_log())
        world.until("admission answers", lambda: world.kubectl("apply", "-f", "-", given=FAILS).returncode == 0)
        world.must("annotate", "bootstrapprovider", "kubeadm", "-n", "default", f"{cluster.API_GROUP}/reconcile-at=now")
        world.until("passes are told", lambda: re.search(r"decided .*step=\w+", world.operator_log()))


if __name__ == "__main__":
    unittest.main()
