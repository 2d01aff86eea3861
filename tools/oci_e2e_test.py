#!/usr/bin/env python3
"""Providers whose releases come from a real registry (behaviour.md T9)."""

import json
import os
import sys

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import unittest  # noqa: E402

import oci_registry  # noqa: E402
import provider_rights  # noqa: E402
import rights  # noqa: E402
from provider_rights import BOOTSTRAP, CORE  # noqa: E402

CORE_REPOSITORY, SHARED_REPOSITORY = "providers/cluster-api", "providers/all"
LABELS = {"core": "cluster-api", "bootstrap": "bootstrap-kubeadm"}
NAMES = {"core": "core-cluster-api", "bootstrap": "bootstrap-kubeadm"}


def files_of(kind, version, full_names=False):
    """The files of a release of this tree, under the plain titles or with what they are of in them."""
    folder = os.path.join(rights.RELEASES, LABELS[kind], version)
    found = {}
    for name, title in (("metadata.yaml", "metadata.yaml"), (f"{kind}-components.yaml", "components.yaml")):
        with open(os.path.join(folder, name), "rb") as file:
            found[f"{NAMES[kind]}-{version}-{title}" if full_names else title] = file.read()
    return found


class World(provider_rights.World):
    def __init__(self):
        super().__init__()
        self.registry = oci_registry.Registry(self.state.path, self.processes)
        for tag in ("v1.10.4", "v1.11.0", "v1.12.0"):
            self.registry.push(CORE_REPOSITORY, tag, files_of("core", tag))
        self.registry.push(CORE_REPOSITORY, "latest", {"readme.txt": b"no release"})
        shared = files_of("core", "v1.12.0", True) | files_of("bootstrap", "v1.10.4", True)
        self.shared = self.registry.push(SHARED_REPOSITORY, "all-of-them", shared)
        self.install()

    def write_credentials(self, provider, password):
        self.prepare(provider["ns"])
        item = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "registry", "namespace": provider["ns"]}}
        item["stringData"] = {"OCI_USERNAME": oci_registry.USER, "OCI_PASSWORD": password}
        self.must("apply", "-f", "-", given=json.dumps(item))

    def source(self, repository):
        return {"oci": f"http://{self.registry.address}/{repository}", "secretRef": {"name": "registry"}}


class Registry(unittest.TestCase):
    # T9, I2, I3, I14: from the pages of tags to the release that is kept, with the source's name; then without the registry.
    def test_a_provider_from_its_tags_to_an_operator_without_the_registry(self):
        world = World()
        world.start_operator(f"--allowed-sources={world.registry.address}")
        world.write_credentials(CORE, oci_registry.PASSWORD)
        world.declare(CORE, fetchConfig=world.source(CORE_REPOSITORY))
        world.await_ready(CORE, "v1.12.0")
        reference = f"http://{world.registry.address}/{CORE_REPOSITORY}"
        item = world.get(CORE["kind"], CORE["name"], "-n", CORE["ns"])
        self.assertEqual(item["spec"]["version"], "v1.12.0")
        self.assertIn(f"{reference} v1.12.0", json.dumps(item["status"]))
        kept = world.get("configmaps", "-n", CORE["ns"], "-l", "provider.cluster.x-k8s.io/type=core")["items"]
        self.assertEqual([one["metadata"]["annotations"]["provider.cluster.x-k8s.io/source"] for one in kept], [f"{reference} v1.12.0"])

        # A Secret that isn't there, has the wrong password, and is then put right; one artifact with the files of several providers.
        world.declare(BOOTSTRAP, version="v1.10.4", fetchConfig=world.source(f"{SHARED_REPOSITORY}@{world.shared}"))
        world.await_words(BOOTSTRAP, "SecretNotFound", "spec.fetchConfig.secretRef")
        world.write_credentials(BOOTSTRAP, "wr0ng")
        world.await_words(BOOTSTRAP, "SourceCredentialsRejected", "refused the credentials (HTTP 401 UNAUTHORIZED)")
        world.write_credentials(BOOTSTRAP, oci_registry.PASSWORD)
        world.await_ready(BOOTSTRAP, "v1.10.4")

        # Without the registry what is kept is enough; what isn't is told.
        world.registry.stop()
        world.must("delete", "secret", "registry", "-n", CORE["ns"])
        world.kill_operator()
        world.start_operator(f"--allowed-sources={world.registry.address}")
        world.declare(CORE, version="v1.12.0", fetchConfig=world.source(CORE_REPOSITORY), rollout={"timeout": "9m"})
        world.await_ready(CORE, "v1.12.0")
        world.declare(BOOTSTRAP, version="v1.12.0", fetchConfig=world.source(f"{SHARED_REPOSITORY}:all-of-them"))
        world.await_words(BOOTSTRAP, "SourceUnreachable", world.registry.address)
        world.registry.start()
        world.await_words(BOOTSTRAP, "VersionNotFound", "of this one they name v1.10.4")
        told = world.told()
        self.assertIn("refused the credentials (HTTP 401 UNAUTHORIZED)", told)
        for secret in (oci_registry.PASSWORD, "wr0ng"):
            self.assertNotIn(secret, told)


if __name__ == "__main__":
    unittest.main()
