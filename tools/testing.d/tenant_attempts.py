"""How one team tries to reach what is another's, or the cluster's: an attempt for each field of a provider's spec that can name
something elsewhere, and why the other fields can't."""

import collections
import json
import re

# provider: (kind, name, namespace); spec: with which it is Ready; names of objects of its release.
Team = collections.namedtuple("Team", "provider version spec deployment role")
# spec: what is put over the team's own; reason of Ready, and words of its message.
Attempt = collections.namedtuple("Attempt", "what spec reason words annotations", defaults=({},))

API_GROUP = "operator.cluster.x-k8s.io"
EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
# A record of T1 that somebody made up.
FORGED = {f"{API_GROUP}/allowed-references": '{"references":[],"user":"system:admin","digest":"sha256:00"}'}
FORCE = {f"{API_GROUP}/force-delete": "true", f"{API_GROUP}/delete-crds": "true", f"{API_GROUP}/overwrite-differences": "true"}


def move_to(namespace):
    return json.dumps([{"op": "replace", "path": "/metadata/namespace", "value": namespace}])


def references(there):
    """Of every field that has a namespace beside a name."""
    secret = {"name": "variables", "namespace": there}
    url = "https://github.com/example/provider/releases/latest/infrastructure-components.yaml"
    foreign = "CrossNamespaceReference"
    return [
        Attempt("its Secret", {"configSecret": secret}, foreign, "spec.configSecret"),
        Attempt("its Secret, with a record that is made up", {"configSecret": secret}, foreign, "spec.configSecret", FORGED),
        Attempt("its ConfigMap", {"additionalManifests": {"name": "any", "namespace": there}}, foreign, "spec.additionalManifests"),
        Attempt("its Secret for a source", {"fetchConfig": {"url": url, "secretRef": secret}}, "InvalidSpec", "spec.fetchConfig.secretRef"),
        Attempt("its Secret for a registry", {"fetchConfig": {"oci": "registry.example/a", "secretRef": secret}}, foreign, "spec.fetchConfig.secretRef"),
        Attempt("its Secret for git", {"fetchConfig": {"git": {"url": "a", "secretRef": secret}}}, "InvalidSpec", "spec.fetchConfig.git"),
        Attempt(
            "its Secret with keys",
            {"fetchConfig": {"url": url, "verify": {"provider": "cosign", "secretRef": secret}}},
            foreign,
            "spec.fetchConfig.verify",
        ),
    ]


def sources(there, label):
    """Of releases."""
    return [
        Attempt("its releases", {"fetchConfig": {"selector": {"matchLabels": label}}}, "NoReleaseFound", "no ConfigMaps found"),
        Attempt(
            "its releases, by an expression",
            {"fetchConfig": {"selector": {"matchExpressions": [{"key": key, "operator": "In", "values": [value]} for key, value in label.items()]}}},
            "NoReleaseFound",
            "no ConfigMaps found",
        ),
        Attempt("a server within the cluster", {"fetchConfig": {"url": f"http://service.{there}.svc/a.yaml"}}, "InvalidSpec", "spec.fetchConfig.url"),
        Attempt(
            "a registry within the cluster",
            {"version": "v99.0.0", "fetchConfig": {"oci": f"registry.{there}.svc/a"}},
            "FetchConfigValidationError",
            f"registry.{there}.svc isn't asked: the operator was started without --allowed-sources",
        ),
        Attempt("a folder of the operator", {"version": "v0.0.0/../../etc"}, "IncorrectVersionFormat", "v0.0.0/../../etc"),
    ]


def objects(me, other):
    """Of what is applied: into the other's namespace, over its objects, or with rights that nobody gave."""
    there = other.provider[2]
    deployment, role = {"kind": "Deployment"}, {"kind": "ClusterRole"}
    lacking = f"create, delete, get, patch, update deployments.apps in namespace {there}"
    rules = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": me.role}, "rules": EVERYTHING}
    escalate = f"escalate clusterroles.rbac.authorization.k8s.io {me.role}"
    target = deployment | {"group": "apps", "version": "v1", "name": other.deployment, "namespace": there, "labelSelector": "a!=b"}
    further = {"additionalDeployments": {other.deployment: {"deployment": {"replicas": 0}}}}
    renamed = json.dumps([{"op": "replace", "path": "/metadata/name", "value": other.role}])
    return [
        Attempt("an object among the manifests", {"additionalManifests": {"name": "manifests"}}, "WorkloadsReady", ""),
        Attempt("an object that is moved", {"patches": [{"patch": move_to(there), "target": deployment}]}, "PermissionsMissing", lacking),
        Attempt("the same, by all means", {"patches": [{"patch": move_to(there), "target": deployment}]}, "PermissionsMissing", lacking, FORCE),
        Attempt("its Deployment, as a target", {"patches": [{"patch": "{spec: {replicas: 0}}", "target": target}]}, "WorkloadsReady", ""),
        Attempt("its ClusterRole, by its name", {"patches": [{"patch": renamed, "target": role}]}, "ObjectOwnedByAnotherProvider", other.role),
        Attempt(
            "any right, by a ClusterRole",
            {"patches": [{"patch": json.dumps({"rules": EVERYTHING}), "target": role}]},
            "PermissionsMissing",
            escalate,
        ),
        Attempt("the same, by a patch of manifests", {"manifestPatches": [json.dumps(rules)]}, "PermissionsMissing", escalate),
        Attempt("its Deployment's settings", further, "WorkloadsReady", ""),
    ]


def managers(there):
    """What becomes a flag of the team's own manager reaches as far as that one's ServiceAccount."""
    return [
        Attempt("the objects of its namespace", {"manager": {"cacheNamespace": there}}, "WorkloadsReady", ""),
        Attempt(
            "its Lease",
            {"manager": {"leaderElection": {"leaderElect": True, "resourceNamespace": there, "resourceName": "lease", "resourceLock": "leases"}}},
            "WorkloadsReady",
            "",
        ),
        Attempt("a flag of one's own", {"manager": {"additionalArgs": {"--other-namespace": there}}}, "WorkloadsReady", ""),
        Attempt("the same, of a container", {"deployment": {"containers": [{"name": "manager", "args": {"--a-namespace": there}}]}}, "WorkloadsReady", ""),
    ]


def accounts(there):
    return [
        Attempt("its ServiceAccount", {"serviceAccountName": f"{there}:applier"}, "InvalidSpec", "spec.serviceAccountName"),
        Attempt("the operator's", {"serviceAccountName": ""}, "ServiceAccountRequired", "spec.serviceAccountName"),
    ]


def attempts(me, other):
    there, kind = other.provider[2], other.provider[0].removesuffix("provider")
    label = {"provider.cluster.x-k8s.io/type": kind, "provider.cluster.x-k8s.io/name": other.provider[1]}
    return references(there) + sources(there, label) + objects(me, other) + managers(there) + accounts(there)


def guesses(me, other):
    """(what, the spec for a name, a name that is there, reason): what is said of a name must be the same whether the other team has such an object."""
    there = other.provider[2]

    def moved(name):
        steps = [{"op": "replace", "path": f"/metadata/{field}", "value": value} for field, value in (("namespace", there), ("name", name))]
        return {"patches": [{"patch": json.dumps(steps), "target": {"kind": "Deployment"}}]}

    return [
        ("a Secret", lambda name: {"configSecret": {"name": name, "namespace": there}}, "variables", "CrossNamespaceReference"),
        ("a ConfigMap", lambda name: {"additionalManifests": {"name": name, "namespace": there}}, "hidden-map", "CrossNamespaceReference"),
        ("a Deployment", moved, other.deployment, "PermissionsMissing"),
    ]


# Fields that name nothing elsewhere, as regular expressions of their paths, with the reason. Numbers, flags and enumerations name
# nothing at all.
ELSEWHERE = {
    r"deployment\.(init)?[cC]ontainers\[\]\.(name|command\[\]|env\[\]\.(name|value)|resources\.claims\[\].*)": "of the team's own pods",
    r"deployment\.(init)?[cC]ontainers\[\]\.env\[\]\.valueFrom\..*": "the kubelet reads the pod's own namespace",
    r"deployment\.(init)?[cC]ontainers\[\]\.(imageUrl|image\.\w+)": "a registry is asked by nodes, with the pod's own Secrets",
    r"deployment\.initContainers\[\]\.args\{\}": "like those of containers",
    r"deployment\.(imagePullSecrets\[\]\.name|serviceAccountName)": "of the pod's own namespace",
    r"deployment\.(labels|annotations|nodeSelector)\{\}": "of the team's own pods",
    r"deployment\.(affinity|securityContext|priorityClassName|tolerations\[\]\.\w+|topologySpreadConstraints\[\]\..*)": "of the team's pods",
    r"fetchConfig\.digest": "a sum",
    r"fetchConfig\.git\.path": "below what git.url names",
    r"manager\.(gracefulShutDown|syncPeriod|leaderElection\.(leaseDuration|renewDeadline|retryPeriod))|rollout\.timeout": "a time",
    r"upgradePolicy\.window\.(start|duration)": "a time",
    r"manager\.(health\.\w+|metrics\.\w+|profilerAddress|webhook\.(certDir|host))": "of the team's own process",
}


def leaves(schema, path=""):
    """Paths of all texts and free objects below a schema: "[]" is any item of a list, "{}" any value of a map."""
    if schema.get("properties"):
        for name, below in schema["properties"].items():
            yield from leaves(below, f"{path}.{name}".lstrip("."))
    elif schema.get("type") == "array":
        yield from leaves(schema["items"], f"{path}[]")
    elif isinstance(schema.get("additionalProperties"), dict):
        yield from leaves(schema["additionalProperties"], f"{path}{{}}")
    elif schema.get("type") in ("string", "object") and not schema.get("enum"):
        yield path


def named(spec, schema, path=""):
    """The same paths, of what a spec has."""
    if isinstance(spec, list):
        return set().union(*(named(item, schema.get("items", {}), f"{path}[]") for item in spec))
    if not isinstance(spec, dict):
        return {path}
    of_a_map = isinstance(schema.get("additionalProperties"), dict)
    found = set()
    for name, below in spec.items():
        inner = schema["additionalProperties"] if of_a_map else schema.get("properties", {}).get(name, {})
        found |= named(below, inner, f"{path}{{}}" if of_a_map else f"{path}.{name}".lstrip("."))
    return found


def untried(schema, tried):
    """Fields of a spec that no attempt has and ELSEWHERE doesn't explain, and reasons there for fields that aren't or are tried.
    What additionalDeployments has is what the spec has of manager and deployment."""
    have = set().union(*(named(attempt.spec, schema) for attempt in tried))
    fields = {path for path in leaves(schema) if not path.startswith("additionalDeployments")}
    open_fields = {path for path in fields - have if not any(re.fullmatch(reason, path) for reason in ELSEWHERE)}
    idle = {reason for reason in ELSEWHERE if not any(re.fullmatch(reason, path) for path in fields - have)}
    return open_fields, idle
