#!/usr/bin/env python3
"""An operator that calls itself another version comes and goes over live providers, as docs/upgrades.md says: nothing that they
brought is written, and nothing restarts. (One that renders them in another way: U10.)"""

import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import rights  # noqa: E402

# A provider of which the folder of releases has no file by the name that it would be fetched by: from a ConfigMap.
IN_A_CONFIGMAP = ("InfrastructureProvider", "docker")
SOURCE = ", fetchConfig: {selector: {matchLabels: {release: docker}}}"
# Kind, name, version: all that testdata/releases has.
PROVIDERS = [
    ("CoreProvider", "cluster-api", "v1.12.0"),
    ("InfrastructureProvider", "aws", "v2.11.1"),
    ("BootstrapProvider", "kubeadm", "v1.12.0"),
    ("ControlPlaneProvider", "kubeadm", "v1.12.0"),
    (*IN_A_CONFIGMAP, "v1.12.0"),
    ("InfrastructureProvider", "gcp", "v1.12.0"),
    ("InfrastructureProvider", "kubevirt", "v0.11.2"),
    ("InfrastructureProvider", "metal3", "v1.11.8"),
    ("InfrastructureProvider", "openstack", "v0.14.7"),
    ("IPAMProvider", "in-cluster", "v1.0.3"),
]
PROVIDER = """
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: {0}
metadata: {{name: {1}, namespace: {ns}}}
spec: {{version: {2}, configSecret: {{name: variables}}{source}}}
"""
VARIABLES = [f"--from-literal={name}_B64ENCODED_CREDENTIALS=bm9uZQ==" for name in ("AWS", "GCP")]
# What an operator writes for itself, whichever version it has.
ITS_OWN = {"leases", "events"}


def namespace(provider):
    return f"{provider[0].removesuffix('Provider').lower()}-{provider[1]}"


def version_of(program):
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0].split()[-1]


def another_version(folder):
    """(path, version) of the operator with another version in it, by which it calls itself to the API server."""
    ours = built.find("capi-operator")
    version = version_of(ours)
    other = version[:-1] + ("2" if version.endswith("1") else "1")
    with open(ours, "rb") as file:
        program = file.read()
    path = os.path.join(folder, "capi-operator-other")
    with open(path, "wb") as file:
        file.write(program.replace(version.encode(), other.encode()))
    os.chmod(path, 0o755)
    return path, other


class World(rights.World):
    def __init__(self):
        super().__init__()
        self.have_cert_managers_kinds()

    def all_ready(self):
        items = self.get("capi-providers", "-A")["items"]
        ready = [item for item in items if rights.conditions(item).get("Ready", {}).get("status") == "True"]
        return len(ready) == len(PROVIDERS)

    def running(self):
        """What would be another one, had it been restarted."""
        pods = {item["metadata"]["uid"] for item in self.get("pods", "-A")["items"]}
        workloads = {
            (item["metadata"]["uid"], item["metadata"]["generation"])
            for item in self.get("deployments", "-A", "-l", "cluster.x-k8s.io/provider")["items"]
        }
        return pods, workloads

    def look_at_all(self, program, version):
        """Starts that program in the place of the one before, and waits until it has looked at every provider."""
        self.audited = os.path.getsize(self.plane.audit_log)
        self.must("apply", "--server-side", "-f", "-", given=rights.kustomize("no-webhooks"))
        self.start_operator("--v=4", program=program)

        def seen():
            log = self.operator_log()
            keys = (f"{kind}/{namespace((kind, name))}/{name}" for kind, name, _ in PROVIDERS)
            return all(re.search(rf"the pass is over .*{re.escape(key)}\b", log) for key in keys)

        self.until("it has looked at every provider", seen)
        with open(self.plane.audit_log, encoding="utf-8") as file:
            file.seek(self.audited)
            assert f'"capi-operator/{version}"' in file.read(), f"it isn't of version {version}"
        self.stop_operator()

    def written(self):
        return [
            (verb, resource, name)
            for verb, _, resource, _, name, _ in self.requests()
            if verb in ("create", "patch", "update", "delete") and resource not in ITS_OWN
        ]


class OwnUpgrade(rights.OnAServer):
    WORLD = World

    def test_nothing_restarts(self):
        world = self.world
        world.apply_manifests("no-webhooks")
        world.start_operator()
        for provider in PROVIDERS:
            ns = namespace(provider)
            world.must("create", "namespace", ns)
            world.must("create", "secret", "generic", "variables", "-n", ns, *VARIABLES)
            source = ""
            if provider[:2] == IN_A_CONFIGMAP:
                source = SOURCE
                folder = os.path.join(rights.RELEASES, "infrastructure-docker", provider[2])
                files = {"components": "infrastructure-components.yaml", "metadata": "metadata.yaml"}
                data = [f"--from-file={key}={os.path.join(folder, name)}" for key, name in files.items()]
                world.must("create", "configmap", provider[2], "-n", ns, *data)
                world.must("label", "configmap", provider[2], "-n", ns, "release=docker")
            world.must("apply", "-f", "-", given=PROVIDER.format(*provider, ns=ns, source=source))
        world.until(f"{len(PROVIDERS)} providers are Ready", world.all_ready, words=lambda: world.must("get", "capi-providers", "-A"))
        world.stop_operator()
        before = world.running()
        self.assertEqual(len(before[1]), len(PROVIDERS))
        ours = built.find("capi-operator")
        for program, version in (another_version(world.state.path), (ours, version_of(ours))):
            world.look_at_all(program, version)
            self.assertEqual(world.written(), [])
            self.assertEqual(world.running(), before)
        self.assertTrue(world.all_ready())


if __name__ == "__main__":
    unittest.main()
