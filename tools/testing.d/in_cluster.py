"""A control plane on which `clusterctl init` installs the operator: its pods are simulated, and the operator runs as a process
beside, with its webhooks where the API server looks for them."""

import os

import forward
import plan
import preload
import process
import rights

NAMESPACE = rights.NAMESPACE
SERVICE = f"/api/v1/namespaces/{NAMESPACE}/services/capi-operator-webhook-service"
# What clusterctl looks for of cert-manager beside its kinds.
CERT_MANAGER = """\
apiVersion: v1
kind: Namespace
metadata: {{name: cert-manager}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: cert-manager, namespace: cert-manager, labels: {{app.kubernetes.io/version: "{version}"}}}}
spec:
  selector: {{matchLabels: {{app: cert-manager}}}}
  template:
    metadata: {{labels: {{app: cert-manager}}}}
    spec: {{{pod}containers: [{{name: controller, image: "quay.io/jetstack/cert-manager-controller:{version}"{container}}}]}}
---
"""
VERSION = "v1.19.1"  # of cert-manager
# The beginning of a provider's label: its kind.
KINDS = {prefix.rstrip("-"): kind for kind, (_, prefix) in preload.KINDS.items() if prefix}


def name_of(label):
    """The name of a provider, as a command line has it, and the beginning of its label; that is None for the core."""
    beginning = next((word for word in KINDS if label.startswith(f"{word}-")), None)
    return label.removeprefix(f"{beginning}-") if beginning else label, beginning


def cert_manager(version, pod="", container=""):
    """Its manifests without its kinds; with more fields of its pod, each with a comma behind it, and of the container, before it."""
    return CERT_MANAGER.format(version=version, pod=pod, container=container)


def write_cert_manager(folder, version, pod="", container="", more=""):
    """The place of its manifests in a folder of releases, with more documents."""
    place = os.path.join(folder, "cert-manager", version, "cert-manager.yaml")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(plan.have(["crds"])[0], encoding="utf-8") as kinds, open(place, "w", encoding="utf-8") as file:
        file.write(cert_manager(version, pod, container) + more + kinds.read())
    return place


def configuration(folder, repositories):
    """What clusterctl's configuration file says of providers, by folder of releases and label, and of cert-manager, whose
    manifests are written into `folder`."""
    place = write_cert_manager(folder, VERSION)
    text = "providers:\n"
    for source, labels in repositories.items():
        for label in labels:
            name, beginning = name_of(label)
            url = f"{source}/{label}/latest/{beginning or 'core'}-components.yaml"
            text += f"- {{name: {name}, type: {KINDS.get(beginning, 'CoreProvider')}, url: {url}}}\n"
    return f"{text}cert-manager: {{url: {place}, version: {VERSION}}}\n"


class World(rights.World):
    forwarder = None

    def serve(self, init):
        """Runs the operator that `init`, a process, asks for, once what it needs is there."""

        def asked_for():
            if init.poll():
                raise AssertionError(f"init has ended with {init.returncode}: {init.communicate()[1]}")
            return self.service()

        address = self.until("the webhooks' Service is there", asked_for)["spec"]["clusterIP"]
        (port,) = process.free_ports(1)
        self.forwarder = forward.Forwarder(address, port)
        self.until("its ServiceAccount is there", lambda: self.kubectl("get", "serviceaccount", rights.ACCOUNT, "-n", NAMESPACE).returncode == 0)
        self.start_operator(f"--webhook-port={port}")

    def service(self):
        return self.plane.api.get(SERVICE)

    def close(self):
        if self.forwarder:
            self.forwarder.close()
            self.forwarder = None
        super().close()
