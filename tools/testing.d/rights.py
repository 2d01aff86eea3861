"""A real control plane with an audit log, and the operator on it as a ServiceAccount with no more than that one's rights.

What the operator was allowed is read from the audit log: each line names user, verb and resource of one request.
"""

import functools
import json
import os
import re
import subprocess

import built
import cluster
import plan
import worlds

ROOT = built.ROOT
NAMESPACE = "capi-operator-system"
ACCOUNT = "capi-operator-manager"
# In that namespace.
OWN_ROLES = ("capi-operator-leader-election", "capi-operator-webhook-certificate")
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
RELEASES = os.path.join(ROOT, "testdata", "releases")
LIMIT = worlds.LIMIT
# Selects all objects of ours, and of cluster-api-operator.
OUR_LABEL = "app.kubernetes.io/name=capi-operator"
PART_OF_ROLE = f"{cluster.API_GROUP}/aggregate-to-manager=true"
PEER_LABEL = "clusterctl.cluster.x-k8s.io/core=capi-operator"
# Kinds that either installs, with the place of their group.
IN_NAMESPACES = {
    "deployments": "/apis/apps/v1",
    "services": "/api/v1",
    "poddisruptionbudgets": "/apis/policy/v1",
    "networkpolicies": "/apis/networking.k8s.io/v1",
    "serviceaccounts": "/api/v1",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "rolebindings": "/apis/rbac.authorization.k8s.io/v1",
}
WEBHOOKS = {
    "mutatingwebhookconfigurations": "/apis/admissionregistration.k8s.io/v1",
    "validatingwebhookconfigurations": "/apis/admissionregistration.k8s.io/v1",
}
IN_CLUSTER = {
    "clusterroles": "/apis/rbac.authorization.k8s.io/v1",
    "clusterrolebindings": "/apis/rbac.authorization.k8s.io/v1",
    **WEBHOOKS,
}
# What an operator writes into its own namespace.
LEASES, SECRETS, EVENTS = "/apis/coordination.k8s.io/v1", "/api/v1", "/apis/events.k8s.io/v1"

# A watch is written down when it starts: its end may come after the log was read.
POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""


class Audited(cluster.ControlPlane):
    """A control plane that writes down every request."""

    # A client that may stream its lists does. What takes a list is asked of older servers.
    GATES = ("--feature-gates=WatchList=false",)

    @property
    def audit_log(self):
        return os.path.join(self.state, "audit.log")

    def _api_server_flags(self):
        policy = os.path.join(self.state, "audit-policy.yaml")
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        return [*super()._api_server_flags(), *self.GATES, f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}"]


def run_manifests(*arguments):
    """tools/manifests, run to its end."""
    command = [os.path.join(ROOT, "tools", "manifests"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@functools.cache
def kustomize(*arguments):
    """What tools/manifests prints."""
    done = run_manifests(*arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class World(worlds.World):
    PLANE = Audited

    def __init__(self):
        super().__init__()
        self.audited = 0  # bytes of the audit log that are of earlier tests
        self.start_plane(self.PLANE)

    def kubectl(self, *arguments, given=None):
        """The finished process: its exit code, what it printed, and its errors."""
        command = [os.path.join(self.plane.programs, "kubectl"), f"--kubeconfig={self.plane.kubeconfig}"]
        command += [f"--cache-dir={os.path.join(self.state.path, 'kubectl')}", *arguments]
        return subprocess.run(command, input=given or "", capture_output=True, text=True, check=False, timeout=LIMIT)

    def must(self, *arguments, given=None):
        done = self.kubectl(*arguments, given=given)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def lists(self, kinds):
        return self.kubectl("get", kinds, "-A").returncode == 0

    def get(self, *arguments):
        return json.loads(self.must("get", *arguments, "-o", "json"))

    def reset(self, kept_group=None):
        """Removes the operator and all kinds, except for those of groups that end like this, and leaves Namespaces, whose end
        takes seconds. Requests to the API server are far quicker than kubectl."""
        self.remove_aggregated()
        for label in (OUR_LABEL, PEER_LABEL):
            for kind, group in IN_CLUSTER.items():
                self.remove(f"{group}/{kind}?labelSelector={label}")
            for kind, group in IN_NAMESPACES.items():
                for namespace in (NAMESPACE, "capi-providers"):
                    self.remove(f"{group}/namespaces/{namespace}/{kind}?labelSelector={label}")
        for kind, group in {"leases": LEASES, "secrets": SECRETS, "events": EVENTS}.items():
            self.remove(f"{group}/namespaces/{NAMESPACE}/{kind}")
        for crd in self.crds():
            if kept_group is None or not crd["spec"]["group"].endswith(kept_group):
                self.remove_kind(crd)
        self.audited = os.path.getsize(self.plane.audit_log)

    def remove_aggregated(self):
        """ClusterRoles that a controller puts together of others. It makes one anew, as nobody's, that goes while it still
        works on the end of a part: first the parts go, then it has none."""
        group = IN_CLUSTER["clusterroles"]
        self.remove(f"{group}/clusterroles?labelSelector={OUR_LABEL},{PART_OF_ROLE}")

        def whole():
            roles = json.loads(self.request("GET", f"{group}/clusterroles?labelSelector={OUR_LABEL}")[1])["items"]
            return [role["metadata"]["name"] for role in roles if "aggregationRule" in role and role.get("rules")]

        self.until("no role is put together of what is gone", lambda: not whole())

    def remove_kind(self, crd):
        """A kind and its objects, whatever finalizers hold them. The API server itself takes seconds to see that there are no
        objects left, and now and then forgets to look."""
        spec, name = crd["spec"], crd["metadata"]["name"]
        (stored,) = (version["name"] for version in spec["versions"] if version["storage"])  # takes no conversion
        group, plural = f"/apis/{spec['group']}/{stored}", spec["names"]["plural"]
        objects = self.until(f"objects of {name}", lambda: self.plane.api.get(f"{group}/{plural}"))
        for item in objects["items"]:
            place = f"namespaces/{item['metadata']['namespace']}/" if spec["scope"] == "Namespaced" else ""
            self.remove(f"{group}/{place}{plural}/{item['metadata']['name']}", finalizers=True)
        self.remove(f"{cluster.CRDS}/{name}", finalizers=True)

    def remove(self, path, finalizers=False):
        """Removes what is there; with its finalizers where it may have some."""
        self.request("DELETE", path)
        if finalizers:
            self.request("PATCH", path, '{"metadata":{"finalizers":null}}', cluster.MERGE_PATCH)

    def request(self, method, path, *body):
        """The answer of a request that finds something or nothing, and doesn't fail."""
        status, text = self.plane.api.request(method, path, *body)
        if status not in (200, 404):
            raise AssertionError(f"{method} {path}: {text}")
        return status, text

    def find(self, path):
        """An object, or None where there is none. A server that doesn't answer says neither: that fails."""
        status, text = self.request("GET", path)
        return json.loads(text) if status == 200 else None

    def merge(self, path, patch):
        """Patches an object that is there."""
        self.plane.api.write("PATCH", path, patch, cluster.MERGE_PATCH)

    def crds(self):
        return json.loads(self.request("GET", cluster.CRDS)[1])["items"]

    def apply_manifests(self, variant):
        """What tools/manifests prints, until its kinds can be used."""
        self.must("apply", "--server-side", "-f", "-", given=kustomize(variant))
        self.await_kinds()

    def have_cert_managers_kinds(self):
        self.plane.api.create_crds(cluster.documents(plan.have(["crds"])))

    def await_kinds(self):
        """kubectl takes a tenth of a second for each."""
        self.until("all kinds can be used", lambda: all(map(cluster.is_established, self.crds())))

    def start_operator(self, *flags, diagnostics="0", program=None):
        """The operator, or another program in its place, with the ServiceAccount's own token. It ends with its world, or with
        stop_operator."""
        token = self.must("create", "token", ACCOUNT, "-n", NAMESPACE, "--duration=2h").strip()
        config = self.plane.access()
        config["users"] = [{"name": "admin", "user": {"token": token}}]
        config["contexts"][0]["context"]["namespace"] = NAMESPACE
        path = os.path.join(self.state.path, "operator-kubeconfig")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        fixed = [f"--diagnostics-address={diagnostics}", "--health-addr=127.0.0.1:0", f"--releases-dir={RELEASES}"]
        self.run_operator([program or built.find("capi-operator"), f"--kubeconfig={path}", *fixed, *flags])

    def call_at(self, port):
        """Has the API server call the operator's port: one outside of the cluster knows no Services. The operator's flags."""
        for item in self.crds():
            if item["spec"]["conversion"]["strategy"] == "Webhook":
                url = {"service": None, "url": f"https://127.0.0.1:{port}/convert"}
                patch = {"spec": {"conversion": {"webhook": {"clientConfig": url}}}}
                self.merge(f"{cluster.CRDS}/{item['metadata']['name']}", patch)
        for kind, group in WEBHOOKS.items():
            for item in json.loads(self.request("GET", f"{group}/{kind}")[1])["items"]:
                for webhook in item["webhooks"]:
                    path = webhook["clientConfig"].pop("service")["path"]
                    webhook["clientConfig"]["url"] = f"https://127.0.0.1:{port}{path}"
                self.merge(f"{group}/{kind}/{item['metadata']['name']}", {"webhooks": item["webhooks"]})
        return f"--webhook-port={port}", "--webhook-hosts=127.0.0.1"

    def kill_operator(self):
        """Ends it at once: one with webhooks serves them for five seconds more when it is stopped (T7). The next one needn't
        wait for the lease either."""
        self.end_operator()
        self.remove(f"{LEASES}/namespaces/{NAMESPACE}/leases")

    def token(self, namespace, account):
        """Of a ServiceAccount, which is made where there is none."""
        self.kubectl("create", "namespace", namespace)
        self.kubectl("create", "serviceaccount", account, "-n", namespace)
        return self.must("create", "token", account, "-n", namespace).strip()

    def requests(self):
        """What the operator's ServiceAccount asked for since the last reset, each once: (verb, group, resource with its
        subresource, namespace, name, status)."""
        found = set()
        with open(self.plane.audit_log, encoding="utf-8") as file:
            file.seek(self.audited)
            for line in file:
                if not line.endswith("\n"):
                    continue
                event = json.loads(line)
                if event["user"].get("username") != USER or "objectRef" not in event:
                    continue
                ref = event["objectRef"]
                resource = ref.get("resource", "")
                if ref.get("subresource"):
                    resource += "/" + ref["subresource"]
                code = event.get("responseStatus", {}).get("code", 0)
                found.add((event["verb"], ref.get("apiGroup", ""), resource, ref.get("namespace", ""), ref.get("name", ""), code))
        return found

    def certificates(self):
        """The kinds of cert-manager, which releases of providers bring objects of."""
        (path,) = plan.have(["crds"])
        self.must("apply", "--server-side", "-f", path)
        self.await_told("issuers,certificates")


class OnAServer(worlds.OnAWorld):
    """Tests that share a server, and find nothing but Namespaces of each other's on it."""

    WORLD = World
    KEPT_GROUP = None  # kinds of groups that end like this stay

    def setUp(self):
        if not self.start_world():
            self.world.reset(self.KEPT_GROUP)
        # A test that failed would leave one that leads, and writes, in the next test.
        self.addCleanup(self.world.end_operator)


def provider_path(kind, name, namespace, version="v1alpha2"):
    """For requests: tests look at providers again and again, and kubectl takes a tenth of a second each time."""
    return f"/apis/{cluster.API_GROUP}/{version}/namespaces/{namespace}/{kind.lower()}s/{name}"


def conditions(item):
    return {entry["type"]: entry for entry in item.get("status", {}).get("conditions") or []}


def documents(text, kind=None):
    """The documents of what was rendered, of one kind where one is named."""
    found = cluster.split_documents(text)
    return [item for item in found if kind is None or re.search(rf"^kind: {kind}$", item, re.MULTILINE)]
