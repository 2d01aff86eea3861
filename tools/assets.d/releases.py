"""Provider releases, CRDs and the peer's manifests, made from the pinned modules that hold their sources."""

import glob
import json
import os
import re
import shutil
import subprocess

import cache
import progress
import programs
from progress import AssetError

# Part of the cache key: raise it when the same sources are to be built another way.
RECIPE = "2"

CAPI = "sigs.k8s.io/cluster-api"
CAPI_TEST = "sigs.k8s.io/cluster-api/test"
CERT_MANAGER = "github.com/cert-manager/cert-manager"
PEER = "sigs.k8s.io/cluster-api-operator"
PEER_IMAGE = "registry.k8s.io/capi-operator/cluster-api-operator"

# Each of these module files pins one version of Cluster API, and so one release.
RELEASE_FAMILIES = ("releases", "managers")

# label: (module, kustomize folder, released manager image without its tag, components file).
# What the project's own release target does: set image and pull policy, then `kustomize build`.
PROVIDERS = {
    "cluster-api": (CAPI, "config/default", "registry.k8s.io/cluster-api/cluster-api-controller", "core-components.yaml"),
    "bootstrap-kubeadm": (
        CAPI,
        "bootstrap/kubeadm/config/default",
        "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
        "bootstrap-components.yaml",
    ),
    "control-plane-kubeadm": (
        CAPI,
        "controlplane/kubeadm/config/default",
        "registry.k8s.io/cluster-api/kubeadm-control-plane-controller",
        "control-plane-components.yaml",
    ),
    "infrastructure-docker": (
        CAPI_TEST,
        "infrastructure/docker/config/default",
        "gcr.io/k8s-staging-cluster-api/capd-manager",
        "infrastructure-components.yaml",
    ),
}
# What `clusterctl generate cluster` reads of a release, where it has some: in the same module, beside its configuration.
TEMPLATES = "templates"


def locate():
    """A folder with the releases, laid out as a clusterctl local repository: <label>/<version>/<file>."""
    return cache.made_once("releases", _folder(), _build)


def have():
    """The same folder where it is there already, else None."""
    return cache.existing(_folder())


def _families():
    return [programs.Family(name) for name in RELEASE_FAMILIES]


def _folder():
    kustomize = programs.Family("kustomize")
    pins = [family.version(CAPI) for family in _families()]
    return os.path.join(cache.root(), "releases", cache.key_of(RECIPE, *pins, kustomize.go_mod, kustomize.go_sum))


def _build(target):
    families, kustomize = _families(), programs.locate("kustomize")
    with cache.scratch(target) as folder:
        repository = os.path.join(folder, "repository")
        for family in families:
            modules = download(family, [CAPI, CAPI_TEST], folder)
            version = family.version(CAPI)
            activity = progress.Progress(f"building the Cluster API releases {version}")
            for label, (module, source, image, file) in PROVIDERS.items():
                release = os.path.join(repository, label, version)
                os.makedirs(release)
                text = render(kustomize, modules[module], source, folder, f"{image}:{version}")
                with open(os.path.join(release, file), "wb") as components:
                    components.write(text)
                shutil.copyfile(os.path.join(modules[CAPI], "metadata.yaml"), os.path.join(release, "metadata.yaml"))
                for template in glob.glob(os.path.join(modules[module], source, "..", "..", TEMPLATES, "*.yaml")):
                    shutil.copyfile(template, os.path.join(release, os.path.basename(template)))
                activity.update(label)
            activity.done()
        cache.publish(repository, target)


def render(kustomize, module, source, folder, image=None):
    """What kustomize makes of a folder of the module, with the manager's image as a release names it where one is given. Works
    on a copy (the module cache is read-only), and from inside it: kustomize takes a path with an @, as the module cache has,
    for a git reference."""
    top = os.path.dirname(source)
    work = os.path.join(folder, "work")
    shutil.copytree(os.path.join(module, top), work)
    try:
        cache.make_writable(work)
        place = os.path.join(work, os.path.basename(source))
        if image:
            set_field(os.path.join(place, "manager_image_patch.yaml"), "image", image)
            set_field(os.path.join(place, "manager_pull_policy.yaml"), "imagePullPolicy", "IfNotPresent")
        result = subprocess.run([kustomize, "build", "."], cwd=place, capture_output=True, check=False)
    finally:
        cache.make_writable(work)
        shutil.rmtree(work)
    if result.returncode != 0:
        raise AssetError(f"kustomize build of {source} failed:\n{result.stderr.decode('utf-8', 'replace')}")
    return result.stdout


def set_field(path, field, value):
    """Replaces the value of the one line of a patch that sets this field."""
    text = cache.read_bytes(path).decode()
    changed, count = re.subn(rf"(?m)^(\s*(?:- )?{field}: ).*$", lambda match: match.group(1) + value, text)
    if count != 1:
        raise AssetError(f"{path} sets {field} {count} times")
    os.chmod(path, 0o644)
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)


def download(family, modules, folder):
    """Downloads modules that a module file pins, checked against its go.sum; gives each one's source folder."""
    go = family.go()
    log = os.path.join(folder, f"download-{family.name}.log")
    names = ", ".join(f"{module.split('/', 1)[1]} {family.version(module)}" for module in modules)
    command = [go.command, "mod", "download", "-json", *modules]
    progress.run(f"fetching the sources of {names}", command, log, cwd=family.folder, env=go.env)
    return {entry["Path"]: entry["Dir"] for entry in json_stream(cache.read_bytes(log).decode())}


def json_stream(text):
    """The objects of a text that holds one JSON object after another."""
    decoder = json.JSONDecoder()
    entries, position = [], 0
    while (start := text.find("{", position)) >= 0:
        entry, position = decoder.raw_decode(text, start)
        entries.append(entry)
    return entries


def have_crds():
    """The file of locate_crds where it is there already, else None."""
    return cache.existing(_crds_file())


def _crds_file():
    family = programs.Family("cert-manager")
    key = f"cert-manager-{family.version(CERT_MANAGER)}-{cache.key_of(RECIPE, family.go_mod, family.go_sum)}.crds.yaml"
    return os.path.join(cache.root(), "crds", key)


def locate_crds():
    """One file with cert-manager's CRDs."""
    return cache.made_once("crds", _crds_file(), _make_crds)


def _make_crds(target):
    with cache.scratch(target) as folder:
        modules = download(programs.Family("cert-manager"), [CERT_MANAGER], folder)
        source = os.path.join(modules[CERT_MANAGER], "deploy", "crds")
        _publish(join_documents(source), target, folder)


def _publish(text, target, folder):
    made = os.path.join(folder, "made.yaml")
    with open(made, "wb") as file:
        file.write(text)
    cache.publish(made, target)


def have_peer():
    """The file of locate_peer where it is there already, else None."""
    return cache.existing(_peer_file())


def _peer_file():
    peer, kustomize = programs.Family("peer"), programs.Family("kustomize")
    key = cache.key_of(RECIPE, peer.go_mod, peer.go_sum, kustomize.go_mod, kustomize.go_sum)
    return os.path.join(cache.root(), "releases", f"cluster-api-operator-{peer.version(PEER)}-{key}.yaml")


def locate_peer():
    """One file with all that a release of cluster-api-operator installs, its CRDs too."""
    return cache.made_once("peer-manifests", _peer_file(), _make_peer)


def _make_peer(target):
    command, family = programs.locate("kustomize"), programs.Family("peer")
    with cache.scratch(target) as folder:
        modules = download(family, [PEER], folder)
        image = f"{PEER_IMAGE}:{family.version(PEER)}"
        _publish(render(command, modules[PEER], "config/default", folder, image), target, folder)


def join_documents(folder):
    """The folder's YAML files as one; they have to be plain, since nothing renders them."""
    parts = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".yaml"):
            continue
        text = cache.read_bytes(os.path.join(folder, name))
        if b"{{" in text:
            raise AssetError(f"{folder}/{name} is a template")
        parts.append(text if text.startswith(b"---") else b"---\n" + text)
        if not text.endswith(b"\n"):
            parts.append(b"\n")
    if not parts:
        raise AssetError(f"{folder} has no CRDs")
    return b"".join(parts)
