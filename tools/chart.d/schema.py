"""The chart's values.schema.json: what the chart has of its own, and the spec of providers as the CRDs have it.

JSON Schema's draft 7, which every Helm 3 and 4 reads. It is closed: what it doesn't know is refused, with its path.
"""

import refused

# What of a CRD's schema means the same in JSON Schema. The rest is for the API server: CEL, defaults, list types.
_KEPT = ("type", "enum", "minimum", "maximum", "pattern", "minLength", "maxLength", "minItems", "maxItems", "required", "anyOf")

PORT = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
ADDRESS = r"^(0\.0\.0\.0|\[::\])?:" + PORT + "$"
NAME = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
OWN_LABEL = ("app.kubernetes.io/name",)
# As Go writes durations, of whole seconds: what the operator's flags take.
DURATION = r"^([0-9]+(h|m|s))+$"


def from_crd(node):
    """The JSON Schema of a part of a CRD's."""
    made = {key: node[key] for key in _KEPT if key in node}
    if node.get("x-kubernetes-preserve-unknown-fields"):
        return made
    if "items" in node:
        made["items"] = from_crd(node["items"])
    if "properties" in node:
        made["properties"] = {name: from_crd(child) for name, child in node["properties"].items()}
        made["additionalProperties"] = False
    elif isinstance(node.get("additionalProperties"), dict):
        made["additionalProperties"] = from_crd(node["additionalProperties"])
    return made


def closed(**properties):
    return {"type": "object", "additionalProperties": False, "properties": properties}


def ref(name):
    return {"$ref": f"#/definitions/{name}"}


def text(pattern=None, words=None):
    made = {"type": "string"}
    if pattern:
        made["pattern"] = pattern
    if words:
        made["enum"] = words
    return made


def integer(least, most=None):
    return {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most})


def map_of(schema):
    return {"type": "object", "additionalProperties": schema}


def list_of(schema):
    return {"type": "array", "items": schema}


BOOLEAN = {"type": "boolean"}
# A part of the API of Kubernetes that no kind of ours has: the API server says what is wrong in it.
OBJECT = {"type": "object"}
TEXTS = map_of({"type": "string"})
COUNT_OR_PERCENTAGE = {"anyOf": [integer(0), text(r"^[0-9]+%$")]}


def _texts_except(*kept):
    """A map of texts without these keys."""
    return TEXTS | {"properties": {key: refused.never("remove it: the chart sets it") for key in kept}}


def _provider(spec):
    """A value of a provider: its spec, and what the chart does for it."""
    fields = dict(spec["properties"])
    fields["version"] = {"type": "string"}  # "" means none
    fields["configSecret"] = ref("configSecret")
    fields["additionalManifests"] = dict(fields["additionalManifests"])
    fields["additionalManifests"]["properties"] = fields["additionalManifests"]["properties"] | {"manifests": {"type": "string"}}
    fields["namespace"] = text(r"^$|" + NAME)
    fields["createNamespace"] = BOOLEAN
    return closed(**fields) | {"type": ["object", "null"]}


def _definitions(spec):
    deployment = spec["properties"]["deployment"]["properties"]
    container = deployment["containers"]["items"]["properties"]
    shared = {name: deployment[name] for name in ("affinity", "tolerations", "imagePullSecrets")}
    shared |= {name: container[name] for name in ("env", "resources")}
    shared["fetchConfig"] = spec["properties"]["fetchConfig"]
    shared["additionalDeployments"] = spec["properties"]["additionalDeployments"]
    # In a provider's value, either of the two may come from the value for all of them.
    shared["configSecret"] = closed(name={"type": "string"}, namespace={"type": "string"})
    return shared | {"provider": _provider(spec)}


def _providers():
    kinds = ("bootstrap", "controlPlane", "infrastructure", "addon", "ipam", "runtimeExtension")
    return {
        "core": closed(**{"cluster-api": ref("provider")}),
        **{kind: closed() | {"patternProperties": {NAME: ref("provider")}} for kind in kinds},
        "installProviders": BOOLEAN,
        "configSecret": ref("configSecret"),
        "fetchConfig": map_of(ref("fetchConfig")),
        "additionalDeployments": ref("additionalDeployments"),
    }


def _image():
    image = closed(
        registry={"type": "string"},
        repository=text(r"^$|^[^\s:@]+(:[0-9]+/[^\s:@]+)?$"),
        tag=text(r"^$|^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"),
        digest=text(r"^$|^[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]{32,}$"),
        pullPolicy=text(words=["Always", "IfNotPresent", "Never"]),
    )
    return closed(manager=image | {"required": ["pullPolicy"]}) | {"required": ["manager"]}


def _clusterctl_config():
    types = ["Core", "Bootstrap", "ControlPlane", "Infrastructure", "Addon", "IPAM", "RuntimeExtension"]
    provider = closed(name=text(SUBDOMAIN), url=text(r"^\S+$"), type=text(words=[f"{name}Provider" for name in types]))
    override = closed(repository=text(), name=text(), tag=text())
    return closed(providers=list_of(provider | {"required": ["name", "url", "type"]}), images=map_of(override))


def _flags():
    """Values that become flags of the operator."""
    durations = {name: text(DURATION) for name in ("leaseDuration", "renewDeadline", "retryPeriod")}
    return {
        "watchNamespace": text(r"^$|" + NAME),
        "createWatchNamespace": BOOLEAN,
        "logLevel": integer(0),
        "logFormat": text(words=["text", "json"]),
        "concurrency": integer(1, 64),
        "syncPeriod": text(DURATION),
        "checkUpdates": text(DURATION),
        "leaderElection": closed(enabled=refused.schema(*refused.LEADER_ELECTION), **durations),
        "diagnosticsAddress": text(f"^0$|{ADDRESS}"),
        "uiAddress": text(f"^0$|{ADDRESS}"),
        "insecureDiagnostics": BOOLEAN,
        "healthAddr": text(ADDRESS),
        "environmentVariables": list_of(text(r"^[^,\s]+$")) | {"minItems": 1},
        "allowedSources": list_of(text(r"^[^,\s]+$")),
        "releasesDir": text(r"^(/.*)?$"),
        "adoptInventory": BOOLEAN,
        "allowCrossNamespaceReferences": BOOLEAN,
        "requireServiceAccount": BOOLEAN,
        "requireVerified": BOOLEAN,
        "certificates": text(words=["", "auto", "cert-manager", "builtin"]),
        "githubApiUrl": text(r"^(https?://\S+)?$"),
        "githubUrl": text(r"^(https?://\S+)?$"),
    }


def _metrics():
    """Objects for Prometheus' operator and Grafana."""
    enabled = {"required": ["enabled"]}
    secret = closed(name=text(), key=text()) | {"dependencies": {"name": ["key"], "key": ["name"]}}
    monitor = closed(enabled=BOOLEAN, interval=text(DURATION), labels=_texts_except(*OWN_LABEL), tokenSecret=secret)
    rules = closed(enabled=BOOLEAN, labels=_texts_except(*OWN_LABEL))
    dashboard = closed(enabled=BOOLEAN, labels=_texts_except(*OWN_LABEL), annotations=TEXTS)
    parts = {"serviceMonitor": monitor, "rules": rules, "dashboard": dashboard}
    return closed(**{name: part | enabled for name, part in parts.items()}) | {"required": list(parts)}


def _pod():
    """Values of the Deployment and its pods."""
    selector = ("app.kubernetes.io/name", "control-plane")
    annotations = ("kubectl.kubernetes.io/default-container", "operator.cluster.x-k8s.io/clusterctl-config")
    none = {"type": "object", "maxProperties": 0}  # as the peer's values.yaml has it
    return {
        "replicaCount": integer(0),
        "strategy": OBJECT,
        "deploymentLabels": _texts_except(*selector),
        "deploymentAnnotations": TEXTS,
        "podLabels": _texts_except(*selector),
        "podAnnotations": _texts_except(*annotations),
        "imagePullSecrets": {"anyOf": [ref("imagePullSecrets"), none]},
        "env": closed(manager=ref("env")),
        "resources": closed(manager=ref("resources")),
        "securityContext": OBJECT,
        "containerSecurityContext": closed(manager=OBJECT),
        "volumes": list_of(OBJECT | {"required": ["name"]}),
        "volumeMounts": closed(manager=list_of(OBJECT | {"required": ["name", "mountPath"]})),
        "nodeSelector": TEXTS,
        "affinity": ref("affinity"),
        "tolerations": ref("tolerations"),
        "topologySpreadConstraints": list_of(OBJECT),
        "podDnsPolicy": text(words=["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]),
        "podDnsConfig": OBJECT,
    }


def make(spec):
    """The schema; `spec` is that of the spec of providers, as a CRD has it."""
    enabled = {"required": ["enabled"]}
    budget = closed(enabled=BOOLEAN, minAvailable=COUNT_OR_PERCENTAGE, maxUnavailable=COUNT_OR_PERCENTAGE) | enabled
    budget["not"] = {"required": ["minAvailable", "maxUnavailable"]}
    own = {
        "crds": closed(install=BOOLEAN) | {"required": ["install"]},
        "webhooks": closed(enabled=BOOLEAN, port=integer(1, 65535), certManager=BOOLEAN) | {"required": ["enabled", "port"]},
        "rbac": closed(clusterAdmin=BOOLEAN),
        "networkPolicy": closed(enabled=BOOLEAN) | enabled,
        "metrics": _metrics(),
        "podDisruptionBudget": budget,
        "clusterctlConfig": _clusterctl_config(),
        "image": _image(),
        # Helm gives the globals of an umbrella chart to each of its charts. Nothing here reads them.
        "global": OBJECT,
        "enabled": refused.schema(*refused.ENABLED),
    }
    taken = own | _providers() | _flags() | _pod()
    properties = taken | {name: refused.schema(*value) for name, value in refused.VALUES.items()}
    # What the templates look into: Helm removes a value that is set to null.
    needed = "crds webhooks rbac image env resources containerSecurityContext volumeMounts leaderElection networkPolicy".split()
    needed += "podDisruptionBudget replicaCount diagnosticsAddress healthAddr metrics".split()
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart capi-operator",
        "type": "object",
        "required": needed,
        "additionalProperties": False,
        "properties": dict(sorted(properties.items())),
        "definitions": dict(sorted(_definitions(from_crd(spec)).items())),
    }
