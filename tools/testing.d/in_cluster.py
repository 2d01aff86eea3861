"""A control plane on which `clusterctl init` installs the operator: its pods are simulated, and the operator runs as a process
beside, with its webhooks where the API server looks for them."""

import re

import forward
import process
import rights

NAMESPACE = rights.NAMESPACE
# What init looks for of cert-manager beside its kinds.
CERT_MANAGER = """\
apiVersion: v1
kind: Namespace
metadata: {name: cert-manager}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cert-manager, namespace: cert-manager}
spec:
  selector: {matchLabels: {app: cert-manager}}
  template:
    metadata: {labels: {app: cert-manager}}
    spec: {containers: [{name: controller, image: "quay.io/jetstack/cert-manager-controller:v1.19.1"}]}
---
"""


def is_age(word):
    """Whether a word of a tree is the time since something is so: 5s, 2m10s."""
    return re.fullmatch(r"(\d+[dhms])+", word) is not None


class World(rights.World):
    forwarder = None

    def serve(self):
        """Runs the operator that init has asked for, once what it needs is there."""
        self.until("the webhooks' Service is there", lambda: self.service() is not None)
        (port,) = process.free_ports(1)
        self.forwarder = forward.Forwarder(self.service()["spec"]["clusterIP"], port)
        self.until("its ServiceAccount is there", lambda: self.kubectl("get", "serviceaccount", rights.ACCOUNT, "-n", NAMESPACE).returncode == 0)
        self.start_operator(f"--webhook-port={port}")

    def service(self):
        return self.plane.api.get(f"/api/v1/namespaces/{NAMESPACE}/services/capi-operator-webhook-service")

    def close(self):
        if self.forwarder:
            self.forwarder.close()
            self.forwarder = None
        super().close()
