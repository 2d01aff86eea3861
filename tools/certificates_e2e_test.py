#!/usr/bin/env python3
"""Certificates that the operator makes in cert-manager's place (behaviour.md I19), on a real API server, with the rights of
manifests/ and no others: releases with Issuers, Certificates and webhooks, without cert-manager, and with one that comes and goes."""

import base64
import json
import os
import socket
import ssl
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import cluster  # noqa: E402
import issued  # noqa: E402
import plan  # noqa: E402
import provider_rights  # noqa: E402
import rights  # noqa: E402
from provider_rights import AWS, CORE  # noqa: E402
from tiers import only_full  # noqa: E402

WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/capa-validating-webhook-configuration"
CRD = f"{cluster.CRDS}/awsclusters.infrastructure.cluster.x-k8s.io"
SECRET = "/api/v1/namespaces/capa-system/secrets/capa-webhook-service-cert"
HOST = "capa-webhook-service.capa-system.svc"
GROUP = "/apis/cert-manager.io/v1/namespaces/capa-system"
# What cert-manager's manifests give its controller, and the chart does.
LABELS = {"app.kubernetes.io/name": "cert-manager", "app.kubernetes.io/component": "controller"}
CONTROLLER = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "cert-manager", "namespace": "default", "labels": LABELS},
    "spec": {
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "controller", "image": "example.com/none:v1"}]}},
    },
}


class World(provider_rights.World):
    """Without cert-manager's kinds, until a test wants them."""

    def __init__(self):
        super().__init__()
        self.forget_cert_manager()

    def forget_cert_manager(self):
        for crd in self.crds():
            if crd["spec"]["group"].endswith("cert-manager.io"):
                self.remove_kind(crd)

    def secret(self, path=SECRET):
        """Its data, decoded; None where it isn't there."""
        found = self.find(path)
        return found and {name: base64.b64decode(value).decode() for name, value in found.get("data", {}).items()}

    def bundles(self):
        """Of the webhooks and of a CRD's conversion."""
        clients = [webhook["clientConfig"] for webhook in self.find(WEBHOOKS)["webhooks"]]
        clients.append(self.find(CRD)["spec"]["conversion"]["webhook"]["clientConfig"])
        return [base64.b64decode(client.get("caBundle", "")).decode() for client in clients]

    def events(self, reason):
        return [item["message"] for item in self.get("events", "-A")["items"] if item["reason"] == reason]


def verified(secret, bundle, host=HOST):
    """Whether a client that trusts the bundle alone takes what a server with that Secret serves for that host: as an API server does,
    which tries all of a bundle. OpenSSL takes the first one of a name, and those that sign themselves have the same, or none."""
    return any(is_taken(secret, one, host) for one in issued.certificates(bundle))


def is_taken(secret, bundle, host):
    with tempfile.TemporaryDirectory(prefix="certificates-test-") as folder:
        paths = {name: os.path.join(folder, name) for name in ("tls.crt", "tls.key")}
        for name, path in paths.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(secret[name])
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(paths["tls.crt"], paths["tls.key"])
    client = ssl.create_default_context(cadata=bundle)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for end in (ours, theirs):
            end.settimeout(30)

        def serve():
            try:
                server.wrap_socket(theirs, server_side=True).close()
            except OSError:  # the client has said why
                theirs.close()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            client.wrap_socket(ours, server_hostname=host).close()
            return True
        except ssl.SSLError:
            return False
        finally:
            ours.close()
            thread.join(timeout=60)


class Certificates(rights.OnAServer):
    """I19."""

    WORLD = World

    def setUp(self):
        super().setUp()
        self.addCleanup(self.tidy)

    def tidy(self):
        self.world.kubectl("delete", "deployment", "cert-manager", "-n", "default")
        self.world.forget_cert_manager()

    def install(self, *flags, variant="no-webhooks"):
        self.world.install(variant)
        self.world.start_operator(*flags)

    def bring_up(self):
        for provider, version in ((CORE, "v1.10.4"), (AWS, "v2.11.1")):
            self.world.apply(provider, version)
            self.world.await_ready(provider, version)

    def await_trust(self):
        """The Secret is there, and whoever calls the webhooks trusts it."""

        def trusted():
            secret = self.world.secret()
            return secret and all(bundle and verified(secret, bundle) for bundle in self.world.bundles()) and secret

        return self.world.until("all trust the Secret", trusted, words=lambda: self.world.status(AWS)[2])

    def test_1_without_cert_manager(self):
        """Installed, trusted, mended, and gone with the provider."""
        world = self.world
        self.install("--certificates=builtin")
        self.bring_up()
        first = self.await_trust()
        self.assertEqual(set(first), {"tls.crt", "tls.key", "ca.crt"})
        self.assertEqual(world.find(SECRET)["type"], "kubernetes.io/tls")
        self.assertFalse(verified(first, world.bundles()[0], "another.svc"))
        self.assertNotIn(first["tls.key"].splitlines()[1], world.told())
        self.assertTrue(any("capa-webhook-service-cert" in message for message in world.events("CertificateIssued")))

        world.must("delete", "secret", "capa-webhook-service-cert", "-n", "capa-system")
        world.until("the Secret is back", lambda: world.secret() and world.secret()["tls.key"] != first["tls.key"])
        second = self.await_trust()
        world.merge(SECRET, {"data": {"tls.key": None, "tls.crt": None}, "stringData": {"tls.key": "", "tls.crt": ""}})
        world.until("it is mended", lambda: "BEGIN" in world.secret()["tls.key"])
        third = self.await_trust()
        self.assertNotEqual(second["tls.crt"], third["tls.crt"])

        patch = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": None}}}}}
        world.merge(CRD, patch)
        self.await_trust()
        self.assertEqual(world.secret(), third, "a lost bundle makes no new certificate")
        world.delete(AWS)
        self.assertIsNone(world.secret())
        self.assertEqual([request for request in world.requests() if request[-1] == 403], [])

    @only_full
    def test_2_in_one_namespace(self):
        """An operator that sees one namespace alone keeps them there."""
        world = self.world
        world.install("single-namespace")
        for kind in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"):  # nothing leads to the operator's own here
            world.must("delete", kind, "-l", "app.kubernetes.io/name=capi-operator")
        world.start_operator("--certificates=builtin", "--namespace=capi-providers")
        core = {**CORE, "ns": "capi-providers"}
        world.apply(core, "v1.10.4")
        world.await_ready(core, "v1.10.4")
        path = "/api/v1/namespaces/capi-providers/secrets/capi-webhook-service-cert"
        first = world.until("the Secret", lambda: world.secret(path))
        self.assertTrue(verified(first, first["ca.crt"], "capi-webhook-service.capi-providers.svc"))
        state = json.loads(world.find(path)["metadata"]["annotations"]["operator.cluster.x-k8s.io/certificate-state"])
        state["renew"] = "2020-01-01T00:00:00Z"
        patch = {"metadata": {"annotations": {"operator.cluster.x-k8s.io/certificate-state": json.dumps(state)}}}
        world.merge(path, patch)
        world.until("it is looked at", lambda: "2020-01-01" not in json.dumps(world.find(path)["metadata"]["annotations"]))
        world.must("delete", "secret", "capi-webhook-service-cert", "-n", "capi-providers")
        world.until("the Secret is back", lambda: world.secret(path) and world.secret(path)["tls.key"] != first["tls.key"])

    def workloads(self):
        return [(item["metadata"]["uid"], item["metadata"]["generation"]) for item in self.world.get("deployments", "-n", "capa-system")["items"]]

    def told_of(self):
        status = self.world.get(AWS["kind"], AWS["name"], "-n", AWS["ns"])["status"]
        return status["history"], status["applied"]

    @only_full
    def test_3_to_cert_manager_and_back(self):
        """auto: cert-manager's kinds alone are nothing; a controller that is available is. Keys and pods stay."""
        world = self.world
        world.plane.api.create_crds(cluster.documents(plan.have(["crds"])))
        self.install("--certificates=auto")
        self.bring_up()
        secret, workloads, told = self.await_trust(), self.workloads(), self.told_of()
        self.assertIsNone(world.find(f"{GROUP}/certificates/capa-serving-cert"))

        world.must("apply", "--server-side", "-f", "-", given=json.dumps(CONTROLLER))
        world.until("cert-manager is asked", lambda: world.find(f"{GROUP}/certificates/capa-serving-cert"), words=lambda: world.status(AWS)[2])
        self.assertIsNotNone(world.find(f"{GROUP}/issuers/capa-selfsigned-issuer"))
        state = "operator.cluster.x-k8s.io/certificate-state"
        world.until("the Secret is let go", lambda: state not in world.find(SECRET)["metadata"]["annotations"])
        annotations = world.find(SECRET)["metadata"]["annotations"]
        self.assertEqual(annotations["cert-manager.io/certificate-name"], "capa-serving-cert")
        self.assertEqual((world.secret(), self.workloads(), self.told_of()), (secret, workloads, told))
        world.await_ready(AWS, "v2.11.1")

        # As with cert-manager's --enable-certificate-owner-ref: with its owner the Secret would go, and its key.
        owner = {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "name": "capa-serving-cert"}
        owner["uid"] = world.find(f"{GROUP}/certificates/capa-serving-cert")["metadata"]["uid"]
        world.merge(SECRET, {"metadata": {"ownerReferences": [owner]}})
        world.must("delete", "deployment", "cert-manager", "-n", "default")
        world.until("it is the operator's again", lambda: world.find(f"{GROUP}/certificates/capa-serving-cert") is None)
        world.until("and its alone", lambda: "ownerReferences" not in world.find(SECRET)["metadata"])
        world.until("and the Secret", lambda: state in world.find(SECRET)["metadata"]["annotations"])
        world.await_ready(AWS, "v2.11.1")
        self.assertEqual((self.await_trust(), self.workloads(), self.told_of()), (secret, workloads, told))

    def test_4_renewed_before_it_ends(self):
        """Both CAs are trusted before the new one is served, and after."""
        world = self.world
        self.install("--certificates=builtin")
        self.bring_up()
        first = self.await_trust()
        # One of an hour, which is due after ten seconds. What is there lives longer: it is made anew where it is lost.
        item = world.get(AWS["kind"], AWS["name"], "-n", AWS["ns"])
        certificate = {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "capa-serving-cert"}}
        patch = json.dumps({**certificate, "spec": {"duration": "1h", "renewBefore": "59m50s"}})
        target = {"group": "cert-manager.io", "kind": "Certificate", "name": "capa-serving-cert"}
        spec = json.dumps({"spec": {"patches": [{"patch": patch, "target": target}]}})
        asked = lambda: world.find(SECRET)["metadata"]["annotations"]["operator.cluster.x-k8s.io/certificate-request"]  # noqa: E731
        before = asked()
        world.must("patch", item["kind"], AWS["name"], "-n", AWS["ns"], "--type=merge", f"--patch={spec}")
        world.until("the Secret says what is asked for", lambda: asked() != before, words=lambda: world.status(AWS)[2])
        world.must("delete", "secret", "capa-webhook-service-cert", "-n", "capa-system")
        world.until("it is made anew", lambda: world.secret() and world.secret()["tls.crt"] != first["tls.crt"])
        first = self.await_trust()
        seen = []

        def renewed():
            secret, bundles = world.secret(), world.bundles()
            # The bundles are read after the Secret: what it serves was trusted before.
            self.assertTrue(all(verified(secret, bundle) for bundle in bundles), "nobody is shown what he doesn't trust")
            seen.append(secret["tls.crt"])
            return len(set(seen)) > 1

        world.until("it was renewed", renewed, seconds=240, words=lambda: world.status(AWS)[2])
        last = self.await_trust()
        self.assertNotEqual(last["tls.key"], first["tls.key"])
        self.assertGreater(world.bundles()[0].count("BEGIN CERTIFICATE"), 1, "the former one is trusted still")


if __name__ == "__main__":
    unittest.main()
