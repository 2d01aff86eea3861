"""A server with cert-manager's kinds on which the operator has the rights of manifests/ and no others, and the providers that
live there."""

import json

import cluster
import exposition
import plan
import right_units
import rights
from cluster import API_GROUP

ROLES = ("capi-operator-manager", "capi-operator-namespace", "capi-operator-release-roles")
INFRASTRUCTURE = f"infrastructureproviders.{API_GROUP}"

PROVIDER = """
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: {kind}
metadata: {{name: {name}, namespace: {ns}, annotations: {{operator.cluster.x-k8s.io/delete-crds: "true"}}}}
spec: {{version: {version}, configSecret: {{name: variables}}}}
"""
CORE = {"kind": "CoreProvider", "name": "cluster-api", "ns": "capi-system"}
BOOTSTRAP = {"kind": "BootstrapProvider", "name": "kubeadm", "ns": "capi-bootstrap"}

AWS = {"kind": "InfrastructureProvider", "name": "aws", "ns": "capa-system"}
KEYS = {"EXP_MACHINE_POOL": "true", "AWS_B64ENCODED_CREDENTIALS": "bm9uZQ=="}


class World(rights.World):
    """With cert-manager's kinds, and the operator's objects once they are installed."""

    def __init__(self):
        super().__init__()
        self.prepared = set()  # namespaces
        self.plane.api.create_crds(cluster.documents(plan.have(["crds"])))

    def install(self, variant="no-webhooks"):
        self.must("apply", "--server-side", "-f", "-", given=rights.kustomize(variant))
        self.await_kinds()

    def prepare(self, namespace):
        """Makes a namespace, where there is none, with the variables in it."""
        if namespace in self.prepared:
            return
        self.prepared.add(namespace)
        self.kubectl("create", "namespace", namespace)
        values = [f"--from-literal={name}={value}" for name, value in KEYS.items()]
        self.must("create", "secret", "generic", "variables", "-n", namespace, *values)

    def declare(self, provider, **spec):
        self.prepare(provider["ns"])
        metadata = {"name": provider["name"], "namespace": provider["ns"]}
        item = {"apiVersion": f"{API_GROUP}/v1alpha2", "kind": provider["kind"], "metadata": metadata, "spec": spec}
        self.must("apply", "-f", "-", given=json.dumps(item))

    def apply(self, provider, version):
        self.prepare(provider["ns"])
        self.must("apply", "-f", "-", given=PROVIDER.format(version=version, **provider))

    def path(self, provider):
        return rights.provider_path(provider["kind"], provider["name"], provider["ns"])

    def status(self, provider):
        """(is it Ready, at which version, all its conditions in words)."""
        status, text = self.plane.api.request("GET", self.path(provider))
        if status != 200:
            return False, None, text
        item = json.loads(text)
        found = rights.conditions(item)
        words = "\n".join(f"{name}={entry['status']} {entry['reason']}: {entry.get('message', '')}" for name, entry in found.items())
        ready = found.get("Ready", {})
        settled = ready.get("status") == "True" and ready.get("observedGeneration") == item["metadata"]["generation"]
        return settled, item.get("status", {}).get("installedVersion"), words

    def await_words(self, provider, *wanted):
        words = lambda: self.status(provider)[2]  # noqa: E731
        self.until(f"{provider['kind']} says {wanted}", lambda: all(word in words() for word in wanted), words=words)

    def told(self):
        """All that operators have told anybody: in their logs, in Events, which outlive a condition, and in the objects."""
        return "".join([self.operator_logs(), *(self.must("get", kinds, "-A", "-o", "json") for kinds in ("events", "capi-providers"))])

    def await_newer(self, provider, version):
        """U12: of the minor version the newest that the source has."""
        newer = lambda: [one["version"] for one in self.plane.api.get(self.path(provider))["status"].get("availableUpgrades", [])]  # noqa: E731
        self.until(f"{version} is told of", lambda: version in newer(), words=lambda: f"{newer()}\n{self.status(provider)[2]}")

    def await_ready(self, provider, version):
        def ready():
            settled, installed, _ = self.status(provider)
            return settled and installed == version

        self.until(f"{provider['kind']} at {version}", ready)

    def delete(self, provider):
        self.must("delete", provider["kind"], provider["name"], "-n", provider["ns"], "--timeout=100s")

    def roles(self):
        return {name: self.get("clusterrole", name)["rules"] for name in ROLES}


class OnAServer(rights.OnAServer):
    WORLD = World
    KEPT_GROUP = "cert-manager.io"

    def await_aggregated(self, wanted, of):
        """A controller puts the one role together of others: of these rights it has the wanted ones, and no others."""

        def together():
            return right_units.units(self.world.get("clusterrole", "capi-operator-providers")["rules"] or []) & of == wanted

        self.world.until("the aggregated role follows", together)


class WithWebhooks(OnAServer):
    """A variant with them, and an operator that is called at a port."""

    OF_PROVIDERS = "capa-system"

    def call(self, name, spec, version="v1alpha2"):
        """kubectl applies an InfrastructureProvider, which nobody has to reconcile."""
        item = {"apiVersion": f"{API_GROUP}/{version}", "kind": "InfrastructureProvider", "spec": spec}
        item["metadata"] = {"name": name, "namespace": self.OF_PROVIDERS}
        return self.world.kubectl("apply", "--validate=strict", "-f", "-", given=json.dumps(item))

    def scraper(self):
        """The token of a ServiceAccount that has the role for it."""
        token = self.world.token("default", "scraper")
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "scraper"}}
        binding["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "capi-operator-metrics-reader"}
        binding["subjects"] = [{"kind": "ServiceAccount", "name": "scraper", "namespace": "default"}]
        self.world.must("apply", "--server-side", "-f", "-", given=json.dumps(binding))  # it is there after another test
        return token

    def scrapes(self, port, token):
        try:
            status, text = exposition.scrape(f"https://127.0.0.1:{port}/metrics", token)
        except OSError:  # nobody listens yet
            return False
        return status == 200 and "capi_operator_" in text
