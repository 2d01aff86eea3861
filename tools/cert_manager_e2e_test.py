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
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import pages  # noqa: E402
import process  # noqa: E402
import provider_rights  # noqa: E402
import rights  # noqa: E402


class CertManager(provider_rights.WithWebhooks):
    """T7: the variant in which cert-manager issues the certificate. The test stands in for it: it does what the Certificate and the
    annotations ask for, and mounts the Secret as the Deployment says."""

    def issue(self):
        """A certificate that signs itself, for the Certificate's names and the address that this API server calls; as its Secret."""
        wanted = self.world.get("certificate", "capi-operator-serving-cert", "-n", rights.NAMESPACE)["spec"]
        names = ",".join([*(f"DNS:{name}" for name in wanted["dnsNames"]), "IP:127.0.0.1"])
        with tempfile.TemporaryDirectory(prefix="cert-manager-test-") as folder:
            key, certificate = os.path.join(folder, "tls.key"), os.path.join(folder, "tls.crt")
            command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
            command += ["-subj", "/CN=capi-operator", "-addext", f"subjectAltName={names}", "-keyout", key, "-out", certificate]
            subprocess.run(command, check=True, capture_output=True)
            files = [f"--from-file={name}" for name in (certificate, key)]
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

    def test_its_certificate_is_served_and_its_next_one(self):
        world = self.world
        self.install_as_the_page_says()
        world.prepare("capa-system")
        (port,) = process.free_ports(1)
        world.call_at(port)
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="cert-manager-test-"))
        for version in ("v1alpha2", "v1alpha1"):
            files = self.issue()
            self.mount(files, folder)
            self.inject(files["tls.crt"])
            if world.operator is None:
                world.start_operator(*self.arguments(port, folder))
            served = lambda files=files: ssl.get_server_certificate(("127.0.0.1", port)).split() == files["tls.crt"].decode().split()
            world.until("the certificate is served", lambda served=served: not world.operator.poll() and quietly(served))
            spec = {"version": "v1.0.0", "fetchConfig": {"selector": {"matchLabels": {"release": "none"}}}}
            world.until("a provider is taken", lambda spec=spec, version=version: self.call("there", spec, version).returncode == 0)
            self.assertIn("spec.version", self.call("wrong", {"version": "one"}, version).stderr)
        self.assertEqual(world.kubectl("get", "secret", "capi-operator-webhook-cert", "-n", rights.NAMESPACE).returncode, 1)
        world.kill_operator()
        requests = world.requests()
        self.assertEqual([request for request in requests if request[-1] == 403], [])
        bundles = {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
        self.assertEqual([request for request in requests if request[2] in bundles and request[0] == "patch"], [])


def quietly(check):
    """False while nobody listens yet."""
    try:
        return check()
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
