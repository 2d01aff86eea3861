#!/usr/bin/env python3
"""The life of two providers on the oldest minor version of Kubernetes that docs/install.md promises and on the newest that there
was: installed as that page says, with the rights of manifests/ and no others. Everything else is tried on one minor.
Part of `make test-long`, since the servers are built for it."""

import contextlib
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import process  # noqa: E402
import programs  # noqa: E402
import provider_rights  # noqa: E402
import rights  # noqa: E402
from cluster import API_GROUP  # noqa: E402
from provider_rights import AWS, CORE  # noqa: E402

DEPLOYMENT = ("deployment/capi-controller-manager", "-n", CORE["ns"])
ELSEWHERE = {"selector": {"matchLabels": {"release": "none"}}}


class Plane(rights.Audited):
    """With the features that this minor has unless it is told otherwise: a newer one streams lists."""

    GATES = ()


class World(provider_rights.World):
    PLANE = Plane

    def __init__(self, series):
        self.series = series
        super().__init__()


class Life(provider_rights.WithWebhooks):
    def setUp(self):
        """Each minor has a world of its own."""

    def test_on_each_minor(self):
        for series in programs.KUBERNETES_SERIES:
            with self.subTest(series), contextlib.closing(World(series)) as self.world:
                version = json.loads(self.world.must("get", "--raw", "/version"))
                self.assertEqual(f"-v{version['major']}.{version['minor']}", series)
                self.begin()
                self.live()
                self.assertEqual([request for request in self.world.requests() if request[-1] == 403], [])

    def begin(self):
        """A3, I15: rules in CEL without webhooks and with them, and an older version of the API."""
        world = self.world
        world.install("no-webhooks")
        world.prepare(self.OF_PROVIDERS)
        self.refuses_two_sources()
        world.install("default")
        world.must("rollout", "status", "deployment/capi-operator-controller-manager", "-n", rights.NAMESPACE, "--timeout=100s")
        (port,) = process.free_ports(1)
        world.start_operator(*world.call_at(port))
        old = {"version": "v1.0.0", "secretName": "variables", "secretNamespace": "default", "fetchConfig": ELSEWHERE}
        world.until("a v1alpha1 is taken", lambda: self.call("old", old, "v1alpha1").returncode == 0)
        for version, name in (("v1alpha2", "configSecret"), ("v1alpha1", "secretName")):
            spec = world.get(f"infrastructureprovider.{version}.{API_GROUP}", "old", "-n", self.OF_PROVIDERS)["spec"]
            self.assertIn(name, spec)
        world.delete({**AWS, "name": "old"})
        self.refuses_two_sources()
        self.assertIn("spec.version: ", self.call("wrong", {"version": "one"}).stderr, "the webhook's own")

    def refuses_two_sources(self):
        done = self.call("two", {"fetchConfig": {**ELSEWHERE, "url": "https://example.com"}})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("spec.fetchConfig: ", done.stderr)
        self.assertIn("one and only one of", done.stderr)

    def live(self):
        """I10, U2, D1, X1, T3: two providers are installed, the core is upgraded, drift is put back, and both are deleted."""
        world = self.world
        for provider, version in ((CORE, "v1.10.4"), (AWS, "v2.11.1"), (CORE, "v1.12.0")):
            world.apply(provider, version)
            world.await_ready(provider, version)
        before = self.image()
        world.must("set", "image", *DEPLOYMENT, "*=registry.example.com/drifted:v1")
        world.until("the image is put back", lambda: self.image() == before)
        service = ("service", "capi-webhook-service", "-n", CORE["ns"])
        world.must("delete", *service)
        world.until("the Service is back", lambda: world.kubectl("get", *service).returncode == 0)
        self.assertEqual({item["kind"] for item in self.installed()}, {"CustomResourceDefinition", "Deployment"})
        for provider in (AWS, CORE):
            world.delete(provider)
        self.assertEqual(self.installed(), [])

    def installed(self):
        return self.world.get("crds,deployments", "-A", "-l", "cluster.x-k8s.io/provider")["items"]

    def image(self):
        return self.world.get(*DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["image"]


if __name__ == "__main__":
    unittest.main()
