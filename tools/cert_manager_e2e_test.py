#!/usr/bin/env python3
"""The variant of manifests/ in which cert-manager issues the webhooks' certificate, on a real API server with cert-manager's kinds
and without cert-manager."""

import base64
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import pages  # noqa: E402
import process  # noqa: E402
import provider_rights  # noqa: E402
import rights  # noqa: E402
from cluster import API_GROUP  # noqa: E402

NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class CertManager(provider_rights.WithWebhooks):
    """T7: the variant in which cert-manager issues the certificate. The test stands in for it: it does what the Certificate and the
    annotations ask for, and mounts the Secret as the Deployment says."""

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="cert-manager-test-"))

    def openssl(self, *words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=self.folder)

    def wanted(self, kind, name):
        return self.world.get(kind, name, "-n", rights.NAMESPACE)["spec"]

    def certify(self):
        """The CA, as its Certificate asks for it; the other's issuer is that CA."""
        issuer = self.wanted("certificate", "capi-operator-serving-cert")["issuerRef"]["name"]
        authority = self.wanted("certificate", "capi-operator-ca")
        self.assertEqual(self.wanted("issuer", issuer), {"ca": {"secretName": authority["secretName"]}})
        self.assertEqual(self.wanted("issuer", authority["issuerRef"]["name"]), {"selfSigned": {}})
        self.assertTrue(authority["isCA"])
        subject = f"/CN={authority['commonName']}"
        self.openssl("req", "-x509", *NEW_KEY, "-days", "3650", "-subj", subject, "-keyout", "ca.key", "-out", "ca.crt")

    def issue(self):
        """A certificate of the CA, for the Certificate's names and the address that this API server calls; as its Secret."""
        wanted = self.wanted("certificate", "capi-operator-serving-cert")
        with open(os.path.join(self.folder, "names"), "w", encoding="utf-8") as file:
            file.write("subjectAltName=" + ",".join([*(f"DNS:{name}" for name in wanted["dnsNames"]), "IP:127.0.0.1"]))
        self.openssl("req", *NEW_KEY, "-subj", "/CN=capi-operator", "-keyout", "tls.key", "-out", "request")
        by = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial")
        self.openssl("x509", "-req", "-in", "request", *by, "-days", "30", "-extfile", "names", "-out", "tls.crt")
        files = [f"--from-file={os.path.join(self.folder, name)}" for name in ("tls.crt", "tls.key", "ca.crt")]
        secret = self.world.must("create", "secret", "generic", wanted["secretName"], "-n", rights.NAMESPACE, *files, "--dry-run=client", "-o", "json")
        self.world.must("apply", "--server-side", "-f", "-", given=secret)
        return {name: base64.b64decode(text) for name, text in json.loads(secret)["data"].items()}

    def inject(self, authority):
        """As the injector: into what names the Certificate, and nothing else."""
        world, bundle = self.world, base64.b64encode(authority).decode()
        found = 0
        for item in world.get("crds,mutatingwebhookconfigurations,validatingwebhookconfigurations")["items"]:
            annotations = item["metadata"].get("annotations", {})
            if annotations.get("cert-manager.io/inject-ca-from") != f"{rights.NAMESPACE}/capi-operator-serving-cert":
                continue
            found += 1
            clients = [webhook["clientConfig"] for webhook in item.get("webhooks", [])]
            clients = clients or [item["spec"]["conversion"]["webhook"]["clientConfig"]]
            for client in clients:
                client["caBundle"] = bundle
            item["metadata"].pop("managedFields", None)
            world.must("replace", "-f", "-", given=json.dumps(item))
        self.assertEqual(found, 4 + 2, "the kinds that are converted, and the two configurations")

    def install_as_the_page_says(self):
        (block,) = pages.blocks("cert-manager", "docs/webhooks.md")
        with tempfile.TemporaryDirectory(prefix="cert-manager-page-") as folder:
            variables = pages.environment(self.world.plane, folder, IMAGE="registry.example.com/operator:v1")
            done = pages.run(block, pages.checkout(folder), variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.world.await_kinds()

    def mount(self, files, folder):
        for name, content in files.items():
            path = os.path.join(folder, name)
            with open(path + ".new", "wb") as file:
                file.write(content)
            os.replace(path + ".new", path)

    def arguments(self, port, folder):
        """Of the Deployment, but for where this one listens and where its Secret is mounted."""
        pod = self.world.get("deployment", "capi-operator-controller-manager", "-n", rights.NAMESPACE)["spec"]["template"]["spec"]
        (container,), (volume,) = pod["containers"], pod["volumes"]
        (mount,) = container["volumeMounts"]
        self.assertEqual((volume["name"], volume["secret"]["secretName"]), (mount["name"], "capi-operator-serving-cert"))
        directory = f"--webhook-cert-dir={mount['mountPath']}"
        self.assertEqual(container["args"][-2:], ["--webhook-port=9443", directory])
        return f"--webhook-port={port}", f"--webhook-cert-dir={folder}"

    def await_served(self, port, files):
        wanted = files["tls.crt"].decode().split()
        served = lambda: ssl.get_server_certificate(("127.0.0.1", port)).split() == wanted
        self.world.until("the certificate is served", lambda: not self.world.operator.poll() and quietly(served))

    def test_its_certificate_is_served_and_its_next_ones(self):
        world = self.world
        self.install_as_the_page_says()
        self.assertEqual(world.kubectl("get", "role", "capi-operator-webhook-certificate", "-n", rights.NAMESPACE).returncode, 1)
        world.prepare(self.OF_PROVIDERS)
        (port,) = process.free_ports(1)
        world.call_at(port)
        mounted = os.path.join(self.folder, "mounted")
        os.mkdir(mounted)
        self.certify()
        files = self.issue()
        self.mount(files, mounted)
        self.inject(files["ca.crt"])
        world.start_operator(*self.arguments(port, mounted))
        self.await_served(port, files)
        spec = {"version": "v1.0.0", "fetchConfig": {"selector": {"matchLabels": {"release": "none"}}}}
        for version in ("v1alpha2", "v1alpha1"):
            world.until("a provider is taken", lambda version=version: self.call("there", spec, version).returncode == 0)
            self.assertIn("spec.version", self.call("wrong", {"version": "one"}, version).stderr)
        with Load(world.plane.api, self.OF_PROVIDERS, spec) as load:
            for _ in range(3):
                files = self.issue()
                self.mount(files, mounted)
                self.await_served(port, files)
                before = load.answered
                world.until("it is served to who writes", lambda before=before: load.answered > before + 20)
        self.assertEqual(load.refused, [], "T7: what is renewed loses no request")
        self.assertEqual(world.kubectl("get", "secret", "capi-operator-webhook-cert", "-n", rights.NAMESPACE).returncode, 1)
        world.kill_operator()
        requests = world.requests()
        self.assertEqual([request for request in requests if request[-1] == 403], [])
        bundles = {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
        self.assertEqual([request for request in requests if request[2] in bundles and request[0] == "patch"], [])


class Load:
    """Writes that take admission and a conversion, one after the other, while it is entered. They leave nothing."""

    def __init__(self, api, namespace, spec):
        self.api, self.answered, self.refused = api, 0, []
        self.path = f"/apis/{API_GROUP}/v1alpha1/namespaces/{namespace}/infrastructureproviders?dryRun=All"
        item = {"apiVersion": f"{API_GROUP}/v1alpha1", "kind": "InfrastructureProvider", "metadata": {"name": "load"}, "spec": spec}
        self.item = json.dumps(item)
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.ends.is_set():
            status, text = self.api.request("POST", self.path, self.item)
            if status != 201:
                self.refused.append((status, text))
            self.answered += 1
        self.api.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


def quietly(check):
    """False while nobody listens yet."""
    try:
        return check()
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
