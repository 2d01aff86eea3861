#!/usr/bin/env python3
"""The proposal's examples of testdata/proposal, at v1alpha1 and as they are written, given to strict kubectl and the webhooks on
a real API server: each is taken, says why it waits, and the one whose release there is becomes Ready with its arguments."""

import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import process  # noqa: E402
import rights  # noqa: E402
from cluster import API_GROUP  # noqa: E402

PROPOSAL = os.path.join(rights.ROOT, "testdata", "proposal")
CORE = f"""
apiVersion: {API_GROUP}/v1alpha1
kind: CoreProvider
metadata: {{name: cluster-api, namespace: capi-system}}
spec: {{version: v1.12.0, secretName: core-variables}}
"""
# Each file: its provider, the Secret that it names, and the reason why it goes no further, with words of the message.
WAITING = {
    "1-manager-flags": ("infrastructureprovider", "capa-system", "aws", None, "VersionNotFound", "v0.6.0"),
    "2-image": ("infrastructureprovider", "capa-system", "aws", None, "VersionNotFound", "v0.6.0"),
    "3-resources": ("controlplaneprovider", "capi-kubeadm-control-plane-system", "kubeadm", "capi-variables", "VersionNotFound", "v0.3.10"),
    "4-repository": ("infrastructureprovider", "capz-system", "myazure", "azure-variables", "SourceUnreachable", "awesome-azure-provider"),
    "5-default-repository": ("infrastructureprovider", "capv-system", "vsphere", "vsphere-variables", "VersionNotFound", "v0.4.9"),
}


def example(name):
    with open(os.path.join(PROPOSAL, f"{name}.yaml"), encoding="utf-8") as file:
        return file.read()


class World(rights.World):
    """With the operator and its webhooks, and a core that runs."""

    def __init__(self):
        super().__init__()
        self.have_cert_managers_kinds()
        self.apply_manifests("default")
        for namespace in ("capi-system", "capa-system", "capi-kubeadm-control-plane-system", "capz-system", "capv-system"):
            self.must("create", "namespace", namespace)
        self.secret("capi-system", "core-variables")
        port, nobody = process.free_ports(2)
        flags = self.call_at(port)
        # A source on the network is away, wherever this runs.
        self.proxy = {"HTTPS_PROXY": f"http://127.0.0.1:{nobody}"}
        self.start_operator(*flags)
        self.until("webhooks take a provider", lambda: self.kubectl("apply", "--validate=strict", "-f", "-", given=CORE).returncode == 0)
        self.await_ready("coreprovider", "capi-system", "cluster-api", "v1.12.0")

    def run_operator(self, command, env=None):
        super().run_operator(command, env={**os.environ, **(env or {}), **self.proxy})

    def secret(self, namespace, name):
        self.must("create", "secret", "generic", name, "-n", namespace, "--from-literal=AWS_B64ENCODED_CREDENTIALS=bm9uZQ==")

    def apply(self, text):
        self.must("apply", "--validate=strict", "-f", "-", given=text)

    def provider(self, kind, namespace, name, version="v1alpha2"):
        """Fails where the API server doesn't give it."""
        status, text = self.plane.api.request("GET", rights.provider_path(kind, name, namespace, version))
        if status != 200:
            raise AssertionError(f"{kind} {namespace}/{name}: {text}")
        return json.loads(text)

    def told(self, kind, namespace, name):
        """(reason, message) of Ready, of this generation; ("", "") until there is one."""
        item = self.provider(kind, namespace, name)
        ready = rights.conditions(item).get("Ready", {})
        if ready.get("observedGeneration") != item["metadata"]["generation"]:
            return "", ""
        return ready["reason"], ready.get("message", "")

    def await_told(self, kind, namespace, name, reason):
        self.until(f"{name} says {reason}", lambda: self.told(kind, namespace, name)[0] == reason, words=lambda: str(self.told(kind, namespace, name)))
        return self.told(kind, namespace, name)[1]

    def await_ready(self, kind, namespace, name, version):
        def ready():
            return self.told(kind, namespace, name)[0] == "WorkloadsReady" and self.installed(kind, namespace, name) == version

        self.until(f"{name} is Ready at {version}", ready, words=lambda: str(self.told(kind, namespace, name)))

    def installed(self, kind, namespace, name):
        return self.provider(kind, namespace, name)["status"].get("installedVersion")

    def container(self, namespace, name):
        (found,) = self.get("deployment", name, "-n", namespace)["spec"]["template"]["spec"]["containers"]
        return found


class Proposal(unittest.TestCase):
    """What readers of the proposal write."""

    @classmethod
    def setUpClass(cls):
        cls.world = World()

    def test_each_example_is_taken_and_says_what_it_waits_for(self):
        world = self.world
        for name, (kind, namespace, provider, secret, reason, words) in WAITING.items():
            with self.subTest(name):
                world.apply(example(name))
                if secret:
                    world.await_told(kind, namespace, provider, "SecretNotFound")
                    world.secret(namespace, secret)
                self.assertIn(words, world.await_told(kind, namespace, provider, reason))
        manager = world.provider("infrastructureprovider", "capa-system", "aws")["spec"]["deployment"]["containers"][0]
        self.assertEqual(manager, {"name": "manager", "imageUrl": "gcr.io/myregistry/capa-controller:v0.6.0-foo"}, "the second example")

    def test_arguments_reach_the_manager(self):
        """Numbers where texts are meant, and the proposal's name of an address, on a release that there is."""
        world = self.world
        world.apply(example("1-manager-flags").replace("version: v0.6.0", "version: v2.11.1"))
        world.await_ready("infrastructureprovider", "capa-system", "aws", "v2.11.1")
        arguments = world.container("capa-system", "capa-controller-manager")["args"]
        for argument in ("--awscluster-concurrency=12", "--awsmachine-concurrency=11", "--sync-period=660s"):
            self.assertIn(argument, arguments)
        address = [argument for argument in arguments if argument.startswith("--diagnostics-address=")]
        self.assertEqual(address, ["--diagnostics-address=:8181"], "this release has no flag for metrics alone")
        spec = world.provider("infrastructureprovider", "capa-system", "aws", "v1alpha1")["spec"]
        self.assertEqual((spec["manager"]["metricsAddress"], spec["manager"]["syncPeriod"]), (":8181", 660), "as it was written")
        # Both ways of naming an image reach it, too.
        world.apply(example("2-image").replace("version: v0.6.0", "version: v2.11.1"))
        wanted = "gcr.io/myregistry/capa-controller:v0.6.0-foo"
        world.until("the image is the second example's", lambda: world.container("capa-system", "capa-controller-manager")["image"] == wanted)
        world.must("delete", "infrastructureprovider", "aws", "-n", "capa-system", "--timeout=100s")

    def test_without_a_network(self):
        world = self.world
        world.apply(example("air-gapped"))
        world.kubectl("create", "secret", "generic", "azure-variables", "-n", "capz-system", "--from-literal=A=b")
        world.await_ready("infrastructureprovider", "capz-system", "azure", "v0.4.9")
        image = world.container("capz-system", "capz-controller-manager")["image"]
        self.assertEqual(image, "registry.example.com/cluster-api-azure-controller:v0.4.9")
        # The older version lies beside it.
        world.apply(example("air-gapped").replace(" version: v0.4.9", " version: v0.4.8"))
        world.await_ready("infrastructureprovider", "capz-system", "azure", "v0.4.8")
        image = world.container("capz-system", "capz-controller-manager")["image"]
        self.assertEqual(image, "registry.example.com/cluster-api-azure-controller:v0.4.8")


if __name__ == "__main__":
    unittest.main()
