"""An OCI image layout: of each architecture one layer, its configuration and a manifest; of several an index of these manifests;
each named by the digest of its bytes (github.com/opencontainers/image-spec)."""

import datetime
import hashlib
import json
import os

import archive
import rootfs
from program import ImageError

MOST_BYTES = 25_000_000
MEDIA = "application/vnd.oci.image"
LABELS = "org.opencontainers.image"


class Facts:
    """What the image says of itself."""

    def __init__(self, version, revision, source, epoch):
        self.version = version
        self.revision = revision
        self.source = source
        self.epoch = epoch

    @property
    def created(self):
        return datetime.datetime.fromtimestamp(self.epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def labels(self):
        found = {
            "title": "capi-operator",
            "description": "Manages the life of Cluster API providers declaratively",
            "licenses": "Apache-2.0",
            "version": self.version,
            "revision": self.revision,
            "source": self.source,
        }
        return {f"{LABELS}.{name}": value for name, value in found.items() if value}


def layer(files, epoch):
    """The tar archive of all files."""
    entries = [(name, None, rootfs.folder_mode(name)) for name in files.folders()]
    entries += [(name, content, mode) for name, (content, mode) in files.files.items()]
    return archive.tar(entries, epoch)


def config(facts, architecture, diff_id):
    return {
        "created": facts.created,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": f"{rootfs.USER}:{rootfs.USER}",
            "Entrypoint": ["/capi-operator"],
            "ExposedPorts": {"8443/tcp": {}, "9440/tcp": {}, "9443/tcp": {}},
            "WorkingDir": "/",
            "Labels": facts.labels(),
        },
        "rootfs": {"type": "layers", "diff_ids": [diff_id]},
        "history": [{"created": facts.created, "created_by": "tools/image"}],
    }


class Blobs:
    def __init__(self, folder):
        self.folder = os.path.join(folder, "blobs", "sha256")
        os.makedirs(self.folder)

    def add(self, kind, content):
        """Its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        with open(os.path.join(self.folder, digest), "wb") as file:
            file.write(content)
        return {"mediaType": f"{MEDIA}.{kind}", "digest": f"sha256:{digest}", "size": len(content)}


def encode(value):
    return json.dumps(value, indent=2, sort_keys=True).encode() + b"\n"


def add_manifest(files, facts, blobs):
    """Adds the image of one architecture: (its descriptor, the size of what a node downloads, in bytes)."""
    content = layer(files, facts.epoch)
    packed = archive.packed(content)
    if len(packed) > MOST_BYTES:
        raise ImageError(f"the image for {files.architecture} is {len(packed) / 1e6:.1f} MB compressed, {MOST_BYTES / 1e6:.0f} MB are allowed")
    packed_layer = blobs.add("layer.v1.tar+gzip", packed)
    diff_id = f"sha256:{hashlib.sha256(content).hexdigest()}"
    described = blobs.add("config.v1+json", encode(config(facts, files.architecture, diff_id)))
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{MEDIA}.manifest.v1+json",
        "config": described,
        "layers": [packed_layer],
        "annotations": facts.labels(),
    }
    entry = blobs.add("manifest.v1+json", encode(manifest))
    entry["platform"] = {"architecture": files.architecture, "os": "linux"}
    return entry, sum(item["size"] for item in (packed_layer, described, entry))


def index(entries):
    return {"schemaVersion": 2, "mediaType": f"{MEDIA}.index.v1+json", "manifests": entries}


def write(images, facts, folder):
    """Writes the layout of the Files of each architecture; what a node of each downloads, in bytes. The one name in it is the
    version, of the image or of the index of all of them."""
    blobs = Blobs(folder)
    entries, sizes = [], {}
    for files in images:
        entry, sizes[files.architecture] = add_manifest(files, facts, blobs)
        entries.append(entry)
    named = entries[0] if len(entries) == 1 else blobs.add("index.v1+json", encode(index(entries)))
    named["annotations"] = {f"{LABELS}.ref.name": facts.version}
    for name, value in (("oci-layout", {"imageLayoutVersion": "1.0.0"}), ("index.json", index([named]))):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(encode(value))
    return sizes
