"""Provider releases from a local folder, as the ConfigMaps in which the operator keeps what it has downloaded.

The operator writes such ConfigMaps too (releases/release_store.cc), in C++; but it writes what it has fetched, and
there is no command that stores a folder's releases before an operator runs. Both are held to testdata/kept/releases.json by a
test of their own.
"""

import base64
import gzip
import os
import re

from cluster import split_documents
from progress import AssetError

# Above this size the components are stored compressed.
PLAIN_LIMIT = 1 << 20

# kind: (type in names and labels, prefix of the provider's label in a clusterctl local repository)
KINDS = {
    "CoreProvider": ("core", ""),
    "BootstrapProvider": ("bootstrap", "bootstrap-"),
    "ControlPlaneProvider": ("control-plane", "control-plane-"),
    "InfrastructureProvider": ("infrastructure", "infrastructure-"),
    "AddonProvider": ("addon", "addon-"),
    "IPAMProvider": ("ipam", "ipam-"),
    "RuntimeExtensionProvider": ("runtimeextension", "runtime-extension-"),
}

LABELS = "provider.cluster.x-k8s.io"


class Provider:
    """One provider of a sample file."""

    def __init__(self, kind, namespace, name, version):
        self.kind = kind
        self.namespace = namespace
        self.name = name
        self.version = version

    @property
    def type(self):
        return KINDS[self.kind][0]

    @property
    def label(self):
        return KINDS[self.kind][1] + self.name

    @property
    def plural(self):
        return self.kind.lower() + "s"


def read_providers(text):
    """The providers of a sample file. It is ours and plain, so four patterns are enough to read it."""
    providers = []
    for document in split_documents(text):
        kind = _field(document, "kind", "")
        if kind not in KINDS:
            continue
        names = [_field(document, field, "  ") for field in ("namespace", "name", "version")]
        if None in names:
            raise AssetError(f"a {kind} of the sample lacks its namespace, name or version")
        providers.append(Provider(kind, *names))
    return providers


def _field(document, field, indent):
    match = re.search(rf"(?m)^{indent}{field}: *(\S+)\s*$", document)
    return match.group(1).strip("\"'") if match else None


def config_map(provider, metadata, components):
    """The ConfigMap of one release, under the names, labels and keys that existing tools use."""
    item = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": f"{provider.type}-{provider.name}-{provider.version}",
            "namespace": provider.namespace,
            "labels": {
                f"{LABELS}/version": provider.version,
                f"{LABELS}/type": provider.type,
                f"{LABELS}/name": provider.name,
                "managed-by.operator.cluster.x-k8s.io": "true",
            },
        },
        "data": {"metadata": metadata.decode()},
    }
    if len(metadata) + len(components) > PLAIN_LIMIT:
        item["metadata"]["annotations"] = {f"{LABELS}/compressed": "true"}
        packed = gzip.compress(components, mtime=0)
        item["binaryData"] = {"components": base64.b64encode(packed).decode()}
    else:
        item["data"]["components"] = components.decode()
    return item


def read_release(folder, provider):
    """The metadata and the components of a release in a clusterctl local repository."""
    release = os.path.join(folder, provider.label, provider.version)
    if not os.path.isdir(release):
        raise AssetError(f"{folder} has no {provider.label}/{provider.version}, which the sample asks for")
    names = sorted(name for name in os.listdir(release) if re.fullmatch(r".*-components.*\.yaml", name))
    if len(names) != 1:
        raise AssetError(f"{release} holds {len(names)} components files, not one")
    return _read(release, "metadata.yaml"), _read(release, names[0])


def _read(folder, name):
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise AssetError(f"cannot read {path}: {error.strerror}") from error


def objects(folder, providers):
    """Everything to create before the providers themselves, as (path, object): namespaces, then their releases."""
    for namespace in sorted({provider.namespace for provider in providers}):
        yield "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    for provider in providers:
        path = f"/api/v1/namespaces/{provider.namespace}/configmaps"
        yield path, config_map(provider, *read_release(folder, provider))
