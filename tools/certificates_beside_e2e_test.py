#!/usr/bin/env python3
"""Certificates that the operator makes in cert-manager's place (behaviour.md I19) beside those that cert-manager itself makes for
the same release, and what becomes of them when one takes over from the other. cert-manager is the real one (e2e/tools/cert-manager)."""

import base64
import json
import os
import re
import shutil
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import certificates_e2e_test as alone  # noqa: E402
import cluster  # noqa: E402
import issued  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402
from provider_rights import AWS, CORE  # noqa: E402

NAMESPACES = (CORE["ns"], AWS["ns"])
NAME = "cert-manager.io/certificate-name"
STATE = issued.OURS + "certificate-state"
INJECT, INJECT_SECRET = "cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret"
CERTIFICATES_GROUP = "/apis/cert-manager.io/v1"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
VERSIONS = {CORE["name"]: "v1.10.4", AWS["name"]: "v2.11.9"}

# What the aws release has in v2.11.9 on top: a CA that signs itself, one that this one has issued, what both issue, of every
# sort of key and with every field that the operator knows; and who trusts that.
ON_TOP = """
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: capa-root, namespace: capa-system}
spec:
  isCA: true
  commonName: capa-root
  secretName: capa-root
  duration: 87600h
  privateKey: {algorithm: ECDSA, size: 256}
  issuerRef: {kind: Issuer, name: capa-selfsigned-issuer, group: cert-manager.io}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: capa-root-issuer, namespace: capa-system}
spec: {ca: {secretName: capa-root}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: capa-intermediate, namespace: capa-system}
spec:
  isCA: true
  commonName: capa-intermediate
  secretName: capa-intermediate
  duration: 8760h
  privateKey: {algorithm: RSA, size: 3072, encoding: PKCS8}
  issuerRef: {name: capa-root-issuer}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: capa-intermediate-issuer, namespace: capa-system}
spec: {ca: {secretName: capa-intermediate}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: capa-of-root, namespace: capa-system}
spec:
  secretName: capa-of-root
  secretTemplate: {labels: {team: clouds}, annotations: {example.com/note: "1"}}
  commonName: capa-webhook-service.capa-system.svc
  subject: {organizations: [clouds, others]}
  dnsNames: [capa-webhook-service.capa-system.svc, capa.example.com]
  ipAddresses: [127.0.0.1, "2001:db8::1"]
  duration: 2160h
  renewBefore: 360h
  usages: [server auth, client auth, digital signature]
  privateKey: {algorithm: ECDSA, size: 384, encoding: PKCS8, rotationPolicy: Never}
  issuerRef: {kind: Issuer, name: capa-root-issuer}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: capa-of-intermediate, namespace: capa-system}
spec:
  secretName: capa-of-intermediate
  secretTemplate: {annotations: {cert-manager.io/allow-direct-injection: "true"}}
  dnsNames: [capa-webhook-service.capa-system.svc]
  privateKey: {algorithm: ECDSA, size: 521, rotationPolicy: Always}
  issuerRef: {kind: Issuer, name: capa-intermediate-issuer}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: capa-of-root
  annotations: {cert-manager.io/inject-ca-from: capa-system/capa-of-root}
webhooks:
- name: root.awscluster.infrastructure.cluster.x-k8s.io
  clientConfig: {service: {name: capa-webhook-service, namespace: capa-system, path: /root}}
  rules: [{apiGroups: [infrastructure.cluster.x-k8s.io], apiVersions: [v1beta2], operations: [DELETE], resources: [awsclusters]}]
  admissionReviewVersions: [v1]
  sideEffects: None
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: capa-of-intermediate
  annotations: {cert-manager.io/inject-ca-from-secret: capa-system/capa-of-intermediate}
webhooks:
- name: intermediate.awscluster.infrastructure.cluster.x-k8s.io
  clientConfig: {service: {name: capa-webhook-service, namespace: capa-system, path: /intermediate}}
  rules: [{apiGroups: [infrastructure.cluster.x-k8s.io], apiVersions: [v1beta2], operations: [CREATE], resources: [awsclusters]}]
  admissionReviewVersions: [v1]
  sideEffects: None
"""
CERTIFICATES = {"capi-serving-cert", "capa-serving-cert", "capa-root", "capa-intermediate", "capa-of-root", "capa-of-intermediate"}

CLOCKS_DIFFER = 300  # seconds


def parts(text):
    return sorted(re.split("[,+]", text))


# What differs on purpose: the fact's path: how ours and theirs may differ, and why.
DIFFERENCES = {
    "certificate/lasts": (
        lambda ours, theirs: ours == theirs + CLOCKS_DIFFER,
        "ours counts from five minutes before: an API server whose clock is behind takes it at once",
    ),
    "certificate/Subject": (
        lambda ours, theirs: parts(ours) == parts(theirs),
        "several organizations stand one by one, and not as one set: who reads certificates finds the same names",
    ),
    "certificate/extensions/X509v3 Extended Key Usage": (
        lambda ours, theirs: sorted(ours[1].split(", ")) == sorted(theirs[1].split(", ")),
        "the order means nothing, and ours doesn't change with the release's",
    ),
    "annotations/cert-manager.io/issuer-kind": (
        lambda ours, theirs: (ours, theirs) == ("Issuer", ""),
        "the release names none: cert-manager reads both alike",
    ),
    "annotations/cert-manager.io/issuer-group": (
        lambda ours, theirs: (ours, theirs) == ("cert-manager.io", ""),
        "the release names none: cert-manager reads both alike",
    ),
    "labels/cluster.x-k8s.io/provider": (
        lambda ours, theirs: ours in ("cluster-api", "infrastructure-aws") and theirs is None,
        "ours is an object of the provider, and goes with it",
    ),
    "labels/clusterctl.cluster.x-k8s.io": (
        lambda ours, theirs: ours == "" and theirs is None,
        "ours is an object of the provider, and goes with it",
    ),
}


def setUpModule():
    try:
        plan.have(["cert-manager"])
    except plan.Missing as error:
        raise unittest.SkipTest(str(error)) from error


class World(alone.World):
    """With cert-manager as a process, while a test wants it."""

    def __init__(self):
        super().__init__()
        self.cert_manager, self.runs = None, 0

    def start_cert_manager(self):
        """Its kinds are there. Its webhook isn't needed: nobody installs what would call it."""
        (program,) = plan.have(["cert-manager"])
        self.runs += 1
        name = f"cert-manager-{self.runs}"
        self.cert_manager = (name, self.processes.start(name, [program, f"--kubeconfig={self.plane.kubeconfig}"]))

    def end_cert_manager(self):
        if self.cert_manager:
            self.cert_manager[1].kill()
            self.cert_manager[1].wait()
            self.processes.started.remove(self.cert_manager)
            self.cert_manager = None

    def words(self):
        """For the message of a failure."""
        said = self.log_of(self.cert_manager[0]).splitlines(True)[-30:] if self.cert_manager else []
        return "".join([self.status(CORE)[2], "\n", self.status(AWS)[2], "\n---- cert-manager\n", *said])

    def listed(self, path):
        return json.loads(self.request("GET", path)[1])["items"]

    def in_namespaces(self, group, plural):
        return [item for ns in NAMESPACES for item in self.listed(f"{group}/namespaces/{ns}/{plural}")]

    def issued(self):
        """The Secrets of Certificates, by these ones' names."""
        found = {item["metadata"].get("annotations", {}).get(NAME): item for item in self.in_namespaces("/api/v1", "secrets")}
        return {name: item for name, item in found.items() if name}

    def trusting(self):
        """(kind and name, the Secret's or the Certificate's name): the caBundles of what names one."""
        found = {}
        for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
            for item in self.listed(f"{ADMISSION}/{kind}"):
                self._note(found, kind, item, [webhook["clientConfig"] for webhook in item["webhooks"]])
        for item in self.crds():
            conversion = item["spec"]["conversion"]
            self._note(found, "crds", item, [conversion["webhook"]["clientConfig"]] if conversion["strategy"] == "Webhook" else [])
        return found

    def _note(self, found, kind, item, clients):
        annotations = item["metadata"].get("annotations", {})
        named = annotations.get(INJECT) or annotations.get(INJECT_SECRET)
        if named:
            place = f"{kind}/{item['metadata']['name']}", named.partition("/")[2]
            found[place] = [base64.b64decode(client.get("caBundle", "")).decode() for client in clients]

    def find_certificates(self):
        return self.in_namespaces(CERTIFICATES_GROUP, "certificates")

    def renew(self, name):
        """As `cmctl renew` does."""
        path = f"{CERTIFICATES_GROUP}/namespaces/{AWS['ns']}/certificates/{name}"
        others = [entry for entry in self.find(path)["status"]["conditions"] if entry["type"] != "Issuing"]
        asked = {**others[0], "type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "a test"}
        self.merge(f"{path}/status", {"status": {"conditions": [*others, asked]}})

    def pods(self):
        """What a restart of any of them would change."""
        deployments = self.in_namespaces("/apis/apps/v1", "deployments")
        told = {item["metadata"]["name"]: (item["metadata"]["uid"], item["metadata"]["generation"], item["spec"]) for item in deployments}
        return told, sorted(item["metadata"]["uid"] for item in self.in_namespaces("/api/v1", "pods"))


class Beside(rights.OnAServer):
    """I19."""

    WORLD = World

    def setUp(self):
        super().setUp()
        self.addCleanup(self.tidy)
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="certificates-beside-"))
        releases = shutil.copytree(rights.RELEASES, os.path.join(folder, "releases"))
        aws = os.path.join(releases, "infrastructure-aws")
        release = shutil.copytree(os.path.join(aws, "v2.11.1"), os.path.join(aws, VERSIONS[AWS["name"]]))
        with open(os.path.join(release, "infrastructure-components.yaml"), "a", encoding="utf-8") as file:
            file.write(ON_TOP)
        self.enterContext(mock.patch.object(rights, "RELEASES", releases))

    def tidy(self):
        self.world.end_operator()
        self.world.end_cert_manager()
        self.world.kubectl("delete", "deployment", "cert-manager", "-n", "default")
        self.world.forget_cert_manager()
        for item in self.world.issued().values():  # cert-manager leaves them
            self.world.remove(f"/api/v1/namespaces/{item['metadata']['namespace']}/secrets/{item['metadata']['name']}")
        installed = ("-A", "-l", "cluster.x-k8s.io/provider")
        self.world.must("delete", "deployments,mutatingwebhookconfigurations,validatingwebhookconfigurations", *installed)

    def bring_up(self):
        for provider in (CORE, AWS):
            self.world.apply(provider, VERSIONS[provider["name"]])
            self.world.await_ready(provider, VERSIONS[provider["name"]])

    def kinds_of_cert_manager(self):
        self.world.plane.api.create_crds(cluster.documents(plan.have(["crds"])))

    def await_issued(self):
        """All Secrets are there, and whoever calls a webhook trusts what its Secret serves."""
        world, lacks = self.world, []

        def found():
            world.processes.check()
            secrets, trusting = world.issued(), world.trusting()
            lacks[:] = CERTIFICATES - set(secrets) or [
                place for place, bundles in trusting.items() for bundle in bundles if not self.trusts(secrets[place[1]], bundle)
            ]
            return not lacks and trusting and (secrets, trusting)

        return world.until("all trust what is served", found, words=lambda: f"not {lacks}\n{world.words()}")

    def trusts(self, secret, bundle):
        data = issued.decoded(secret)
        if not {"tls.crt", "tls.key", "ca.crt"} <= set(data):
            return False
        host = issued.hosts(data["tls.crt"])[0]
        return alone.verified(data, bundle, host)

    def test_1_they_issue_the_same(self):
        world = self.world
        world.install()
        world.start_operator("--certificates=builtin")
        self.bring_up()
        ours, ours_trusted = self.await_issued()
        for provider in (AWS, CORE):
            world.delete(provider)
        self.assertEqual(world.issued(), {})
        world.kill_operator()

        self.kinds_of_cert_manager()
        world.start_cert_manager()
        world.start_operator("--certificates=cert-manager")
        self.bring_up()
        theirs, theirs_trusted = self.await_issued()

        self.assertEqual(set(ours_trusted), set(theirs_trusted))
        for place, bundles in theirs_trusted.items():
            with self.subTest(place):
                self.assertEqual(bundles, len(bundles) * [issued.decoded(theirs[place[1]])["ca.crt"]])
                self.assertEqual(ours_trusted[place], len(bundles) * [issued.decoded(ours[place[1]])["ca.crt"]])
        met = set().union(*(self.compare(name, issued.facts(ours[name]), issued.facts(theirs[name])) for name in sorted(CERTIFICATES)))
        self.assertEqual(met, set(DIFFERENCES), "these don't differ any more")

    def compare(self, name, ours, theirs):
        """The paths of what differs, each of which has a reason."""
        ours, theirs = issued.flat(ours), issued.flat(theirs)
        met = {path for path in {*ours, *theirs} if ours.get(path) != theirs.get(path)}
        for path in sorted(met):
            both = ours.get(path), theirs.get(path)
            with self.subTest(name, fact=path):
                self.assertIn(path, DIFFERENCES, both)
                self.assertTrue(DIFFERENCES[path][0](*both), both)
        return met

    def await_taken_over(self):
        """cert-manager has judged each Certificate, and is content with the Secret that it found: gives its times of renewal."""
        world = self.world

        def judged():
            world.processes.check()
            items = world.find_certificates()
            content = [item for item in items if rights.conditions(item).get("Ready", {}).get("status") == "True"]
            return {item["metadata"]["name"]: item["status"]["renewalTime"] for item in content} if len(content) == len(CERTIFICATES) else None

        return world.until("cert-manager is content", judged, words=world.words)

    def test_2_there_and_back(self):
        """Keys and pods stay, and who calls a webhook trusts what is served before and after each step."""
        world = self.world
        world.install()
        self.kinds_of_cert_manager()
        world.start_operator("--certificates=auto")
        self.bring_up()
        ours, trusting = self.await_issued()
        served, pods = {name: issued.decoded(item) for name, item in ours.items()}, world.pods()
        self.assertEqual(len(pods[1]), 2)
        renewals = {name: json.loads(item["metadata"]["annotations"][STATE])["renew"] for name, item in ours.items()}
        facts = {name: issued.facts(item) for name, item in ours.items()}

        world.start_cert_manager()
        world.must("apply", "--server-side", "-f", "-", given=json.dumps(alone.CONTROLLER))
        self.assertEqual(self.await_taken_over(), renewals, "both renew it at the same time")
        world.until("they are let go", lambda: not any(STATE in item["metadata"]["annotations"] for item in world.issued().values()))
        gone_over, now_trusting = self.await_issued()
        self.assertEqual({name: issued.decoded(item) for name, item in gone_over.items()}, served)
        self.assertEqual(now_trusting, trusting)
        self.assertEqual(world.in_namespaces(CERTIFICATES_GROUP, "certificaterequests"), [], "nothing is issued anew")
        for name, item in gone_over.items():
            self.compare(name, facts[name], issued.facts(item))
        self.assertEqual(world.pods(), pods)

        # Theirs from here on: one that signs itself, one of a CA, and a CA, of which what it issued before stays.
        theirs = {"capa-serving-cert", "capa-of-root", "capa-intermediate"}
        for name in theirs:
            world.renew(name)
        new = lambda: {name for name, item in world.issued().items() if issued.decoded(item)["tls.crt"] != served[name]["tls.crt"]}  # noqa: E731
        world.until("cert-manager has renewed them", lambda: new() == theirs, words=world.words)
        self.await_taken_over()
        self.await_issued()
        world.end_cert_manager()
        # Only now: all may trust what is served by what the operator left there, before the injector writes its own.
        last, trusting = self.await_issued()
        renewed = {name: issued.decoded(item) for name, item in last.items()}

        world.must("delete", "deployment", "cert-manager", "-n", "default")
        world.until("the Certificates are gone", lambda: world.find_certificates() == [], words=world.words)
        world.until("they are the operator's", lambda: all(STATE in item["metadata"]["annotations"] for item in world.issued().values()))
        for provider in (CORE, AWS):
            world.await_ready(provider, VERSIONS[provider["name"]])
        back, now_trusting = self.await_issued()
        self.assertEqual({name: issued.decoded(item) for name, item in back.items()}, renewed)
        self.assertEqual(now_trusting, trusting, "with the former CAs, which cert-manager left there")
        self.assertEqual(world.pods(), pods)


if __name__ == "__main__":
    unittest.main()
