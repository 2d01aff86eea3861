"""Any number of providers, made of a few real releases: their objects are renamed, and each has as many as the others.

A provider's Roles, bindings, accounts and ConfigMaps are copied until it has OBJECTS objects, which is what a large one
has; the CRDs, of which an API server bears only so many, are those of the release. Each but the core has a Secret with
variables and a ConfigMap with one more object: the operator watches both.
"""

import concurrent.futures
import itertools
import json
import re

import preload
from cluster import split_documents

CORE = preload.Provider("CoreProvider", "capi-system", "cluster-api", "v1.12.0")
# Kind, name and version of what is copied; the prefix of its objects' names; the group of its CRDs.
MODELS = [
    ("BootstrapProvider", "rke2", "v0.25.0", "rke2-bootstrap", "bootstrap.cluster.x-k8s.io"),
    ("IPAMProvider", "in-cluster", "v1.0.3", "capi-ipam-in-cluster", "ipam.cluster.x-k8s.io"),
    ("AddonProvider", "helm", "v0.6.4", "caaph", "addons.cluster.x-k8s.io"),
    ("BootstrapProvider", "k3s", "v0.3.1", "capi-k3s-bootstrap", "bootstrap.cluster.x-k8s.io"),
    ("RuntimeExtensionProvider", "test-extension", "v1.12.0", "test-extension", None),
]
OBJECTS = 50
COPIED = re.compile(r"^kind: (ConfigMap|Role|RoleBinding|ServiceAccount)$", re.MULTILINE)
NAME = re.compile(r"^  name: \S+$", re.MULTILINE)
CONNECTIONS = 8


VARIABLES, MORE = "variables", "more"


def releases_needed():
    return [CORE, *(preload.Provider(kind, "", name, version) for kind, name, version, *_ in MODELS)]


def name_of(number):
    return f"p{number:04}"


def provider(number):
    """0 is the core; the others are copies of the models in turn."""
    if number == 0:
        return CORE
    kind, _, version, _, _ = MODELS[number % len(MODELS)]
    return preload.Provider(kind, name_of(number), name_of(number), version)


def representative(number):
    """The provider of the first few that is a copy of the same model."""
    return number and (number - 1) % len(MODELS) + 1


def renamed(components, name, prefix, group):
    """A release whose objects have other names, and whose kinds another group."""
    text = components.decode()
    if group:
        text = text.replace(group, f"{name}.{group}")
    return text.replace(prefix, name).encode()


def padded(components, count=OBJECTS - 1):
    """A release of that many objects, its Namespace left aside, which isn't applied; one comes beside it."""
    documents = split_documents(components.decode())
    copied = [text for text in documents if COPIED.search(text)]
    lacking = count - sum(not re.search(r"(?m)^kind: Namespace$", text) for text in documents)
    for number, text in enumerate(itertools.islice(itertools.cycle(copied), max(0, lacking))):
        documents.append(NAME.sub(lambda found, number=number: f"{found.group()}-{number}", text, count=1))
    return "\n---\n".join(text.strip("\n") for text in documents).encode() + b"\n"


def release(source, number):
    """The ConfigMap."""
    if number == 0:
        return preload.config_map(CORE, *preload.read_release(source, CORE))
    kind, model, version, prefix, group = MODELS[number % len(MODELS)]
    made = provider(number)
    metadata, components = preload.read_release(source, preload.Provider(kind, made.namespace, model, version))
    return preload.config_map(made, metadata, renamed(padded(components), made.name, prefix, group))


def for_each(run, count, do):
    """Calls it with each number, side by side."""
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(do, range(count)))


def beside(number):
    """What a provider's spec names, as (path, object)."""
    if number == 0:
        return
    name = name_of(number)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": VARIABLES}, "stringData": {"SETTING": f"setting-of-{name}"}}
    yield f"/api/v1/namespaces/{name}/secrets", secret
    more = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-more"}, "data": {"key": "value"}}
    item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": MORE}, "data": {"manifests": json.dumps(more)}}
    yield f"/api/v1/namespaces/{name}/configmaps", item


def prepare(run, count):
    """Namespaces, releases and what the providers name, before anything is measured."""

    def one(number):
        namespace = provider(number).namespace
        run.api.create("/api/v1/namespaces", json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}))
        run.api.create(f"/api/v1/namespaces/{namespace}/configmaps", json.dumps(release(run.bench.source, number)))
        for path, item in beside(number):
            run.api.create(path, json.dumps(item))

    for_each(run, count, one)


def spec(number):
    """Beside the version."""
    if number == 0:
        return {}
    selector = {"matchLabels": {f"{preload.LABELS}/name": name_of(number)}}
    return {"fetchConfig": {"selector": selector}, "configSecret": {"name": VARIABLES}, "additionalManifests": {"name": MORE}}


def create(run, count):
    """The providers; the core is the first."""
    for_each(run, count, lambda number: run.create(provider(number), spec(number)))
