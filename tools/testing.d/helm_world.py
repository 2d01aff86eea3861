"""The Helm chart on a real API server: helm against it, the commands of pages, and the operator where its webhooks are asked."""

import base64
import contextlib
import functools
import json
import os
import tempfile
import unittest

import chart
import forward
import pages
import plan
import process
import rights
from chart import NAMESPACE, RELEASE
from cluster import API_GROUP
from tiers import FULL, longer_in_full

KINDS = "addon bootstrap controlplane core infrastructure ipam runtimeextension".split()
CRDS = {f"{kind}providers.{API_GROUP}" for kind in KINDS}
WEBHOOKS = "mutatingwebhookconfigurations,validatingwebhookconfigurations"
OPERATOR = f"deployments,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,{WEBHOOKS}"
DEPLOYMENT = ("deployment", "capi-operator-controller-manager", "-n", NAMESPACE)
IMAGE = "registry.example.com:5000/capi-operator:v1"


def with_helm(one):
    """Runs a test with this Helm, or in `make test-full` with both, each on a server of its own."""

    def decorate(test):
        @longer_in_full
        @functools.wraps(test)
        def run(self):
            for program in chart.HELMS if FULL else [one]:
                with self.subTest(program), contextlib.closing(World()) as self.world:
                    test(self, program)

        return run

    return decorate


class World(rights.World):
    """A control plane, and helm."""

    forwarder = None

    def helm(self, verb, *arguments, program="helm", values=None, source=chart.CHART, namespace=NAMESPACE, release=RELEASE):
        sources = [] if verb == "uninstall" else [source]
        flags = ("--namespace", namespace, *arguments)
        settings = {"home": self.state.path, "kubeconfig": self.plane.kubeconfig, "limit": 300}
        return chart.run(verb, release, *sources, *flags, program=program, values=values, **settings)

    def must_helm(self, verb, *arguments, **more):
        done = self.helm(verb, *arguments, **more)
        if done.returncode != 0:
            raise AssertionError(f"helm {verb} {arguments}\n{done.stdout}{done.stderr}\n{self.last_words()}")
        return done.stdout

    def names(self, *arguments):
        return {f"{item['kind']}/{item['metadata']['name']}" for item in self.get(*arguments)["items"]}

    def ours(self):
        """What the operator has beside its kinds."""
        return self.names(OPERATOR, "-A", "-l", rights.OUR_LABEL)

    def kinds(self):
        return {item["metadata"]["name"] for item in self.get("crds")["items"] if item["metadata"]["name"] in CRDS}

    def arguments(self):
        return self.get(*DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["args"]

    def serve_webhooks(self):
        """The operator, its webhooks where the API server looks for them: another address would be a change of what Helm made."""
        service = self.get("service", "capi-operator-webhook-service", "-n", NAMESPACE)
        (port,) = process.free_ports(1)
        self.forwarder = forward.Forwarder(service["spec"]["clusterIP"], port)
        self.start_operator(f"--webhook-port={port}")

    def close_forwarder(self):
        if self.forwarder:
            self.forwarder.close()
            self.forwarder = None

    def await_end(self):
        super().await_end()
        self.close_forwarder()

    def close(self):
        self.close_forwarder()
        super().close()


class OnAServer(unittest.TestCase):
    """Each test has a server of its own: what Helm keeps would be there in the next."""

    world = None

    def install(self, program, **more):
        self.world.must_helm("install", "--create-namespace", "--wait", "--timeout=100s", program=program, **more)
        self.world.await_told("coreproviders")

    def authority(self):
        """Somebody's CA."""
        with open(self.world.plane.authority, "rb") as file:
            return base64.b64encode(file.read()).decode()

    def assert_live(self, values):
        """All objects of these values are on the server, as they were rendered."""
        for item in chart.objects(values):
            kind, namespace, name = chart.name_of(item)
            done = self.world.kubectl("get", kind, name, *(["-n", namespace] if namespace else []))
            self.assertEqual(done.returncode, 0, done.stderr)

    def image(self):
        """That of the Deployment."""
        (container,) = self.world.get(*DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
        return container["image"]


class Page(OnAServer):
    """The commands of the pages, as they stand there."""

    def folder(self, program):
        """A checkout, and a helm in it."""
        folder = tempfile.TemporaryDirectory(prefix="chart-page-")
        self.addCleanup(folder.cleanup)
        pages.checkout(folder.name)
        os.mkdir(os.path.join(folder.name, "bin"))
        (path,) = plan.have([program])
        os.symlink(path, os.path.join(folder.name, "bin", "helm"))
        return folder.name

    def run_block(self, folder, heading, number, page="docs/install.md", fails=False, **variables):
        return self.run_command(folder, pages.blocks(heading, page)[number], fails, **variables)

    def run_command(self, folder, block, fails=False, **variables):
        """The exit code of a reader's commands, and what they said."""
        variables = pages.environment(self.world.plane, folder, IMAGE=IMAGE, **variables)
        variables["PATH"] = os.path.join(folder, "bin") + os.pathsep + variables["PATH"]
        done = pages.run(block, folder, variables)
        words = f"{block}\n{done.stdout}{done.stderr}{self.world.last_words()}"
        if fails is not None:
            self.assertEqual(done.returncode != 0, fails, words)
        return done.returncode, done.stdout + done.stderr

    @contextlib.contextmanager
    def serving(self):
        """While the operator is at work, where the API server looks for it."""
        world = self.world
        world.serve_webhooks()
        item = {"apiVersion": f"{API_GROUP}/v1alpha2", "kind": "InfrastructureProvider", "spec": {"version": "v1.12.0"}}
        item["metadata"] = {"name": "docker", "namespace": "default"}
        asked = ("apply", "--server-side", "--dry-run=server", "-f", "-")
        world.until("admission answers", lambda: world.kubectl(*asked, given=json.dumps(item)).returncode == 0)
        yield
        world.stop_operator()  # what fails ends with its world

    def await_core(self, version):
        def ready():
            item = self.world.plane.api.get(rights.provider_path("CoreProvider", "cluster-api", "capi-system")) or {}
            state = rights.conditions(item).get("Ready", {})
            return state.get("status") == "True" and item["status"].get("installedVersion") == version

        self.world.until(f"the core provider is Ready at {version}", ready)
