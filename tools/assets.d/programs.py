"""The programs: which there are, where they are looked for, and how they are built from the pinned Go modules."""

import os
import re
import shutil

import cache
import envtest
import progress
import toolchain
from progress import AssetError

MODULES = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e", "tools"))

CAPI = "sigs.k8s.io/cluster-api"

# name: (family, package). A family is a module file below e2e/tools.
PROGRAMS = {
    "etcd": ("control-plane", "go.etcd.io/etcd/server/v3"),
    "kube-apiserver": ("control-plane", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager": ("control-plane", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    "kube-scheduler": ("control-plane", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "kubectl": ("control-plane", "k8s.io/kubernetes/cmd/kubectl"),
    "kwok": ("kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    "kustomize": ("kustomize", "sigs.k8s.io/kustomize/kustomize/v5"),
    "helm": ("helm", "helm.sh/helm/v4/cmd/helm"),
    "helm-v3": ("helm", "helm.sh/helm/v3/cmd/helm"),
    "promtool": ("promtool", "github.com/prometheus/prometheus/cmd/promtool"),
    "registry": ("registry", "github.com/distribution/distribution/v3/cmd/registry"),
    "cosign": ("cosign", "github.com/sigstore/cosign/v3/cmd/cosign"),
    "go-yaml": ("yaml", "."),
    "gitops-health": ("gitops", "."),
    "cert-manager": ("cert-manager", "."),
    "clusterctl": ("clusterctl", f"{CAPI}/cmd/clusterctl"),
    "peer": ("peer", "sigs.k8s.io/cluster-api-operator/cmd"),
}

MANAGERS = {
    "core-manager": CAPI,
    "bootstrap-manager": f"{CAPI}/bootstrap/kubeadm",
    "control-plane-manager": f"{CAPI}/controlplane/kubeadm",
    "docker-manager": f"{CAPI}/test/infrastructure/docker",
}

# The managers of one release, and those of the minor versions before it, to upgrade from.
MANAGER_SERIES = ("", "-v1.11", "-v1.10")
PROGRAMS |= {n + s: ("managers" + s, package) for s in MANAGER_SERIES for n, package in MANAGERS.items()}

# What differs by the minor version of Kubernetes: of the oldest that docs/install.md promises, and of the newest that there was.
SERVERS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
KUBERNETES_SERIES = ("-v1.29", "-v1.37")
PROGRAMS |= {n + s: ("control-plane" + s, PROGRAMS[n][1]) for s in KUBERNETES_SERIES for n in SERVERS}

GROUPS = {
    "control-plane": ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok"],
} | {"managers" + series: [name + series for name in MANAGERS] for series in MANAGER_SERIES}
GROUPS |= {"control-plane" + series: [name + series for name in SERVERS] for series in KUBERNETES_SERIES}

# Programs that any machine may have under the same name and meaning. The others are oracles: their exact version
# matters (and `clusterctl` in PATH may well be ours), so only the pinned ones will do.
FOUND_ANYWHERE = set(GROUPS["control-plane"])

# family: (module whose version the programs report, package that holds the version's variables)
REPORTED_VERSIONS = {
    "clusterctl": (CAPI, f"{CAPI}/version"),
    "peer": ("sigs.k8s.io/cluster-api-operator", "sigs.k8s.io/cluster-api-operator/version"),
} | {"managers" + series: (CAPI, f"{CAPI}/version") for series in MANAGER_SERIES}
REPORTED_VERSIONS |= {"control-plane" + s: ("k8s.io/kubernetes", "k8s.io/component-base/version") for s in ("", *KUBERNETES_SERIES)}

# program: (module, packages): Kubernetes 1.N, which it says a cluster has where it asks none, is v0.N of the module. Its own build
# sets this; else it says 1.20, for which a chart may not be.
KUBERNETES_VERSIONS = {"helm-v3": ("k8s.io/client-go", ("helm.sh/helm/v3/pkg/chartutil", "helm.sh/helm/v3/pkg/lint/rules"))}

# family: build tags. Of promtool they leave out how to find what is to be scraped in a dozen clouds, whose clients are as much
# to build as all the rest. Its go.mod was made with the same tag in GOFLAGS: `go mod tidy` would ask for these clients. Of an old
# Kubernetes they leave out the clouds that it had within, in the same way.
TAGS = {"promtool": "remove_all_sd", "control-plane-v1.29": "providerless"}


def expand(names):
    """Names with groups replaced by what is in them, each once."""
    result = []
    for name in names:
        members = GROUPS.get(name, [name])
        result += [member for member in members if member not in result]
    return result


class Family:
    """One pinned module file and the programs that come from it."""

    def __init__(self, name):
        self.name = name
        self.folder = os.path.join(MODULES, name)
        self.go_mod = cache.read_bytes(os.path.join(self.folder, "go.mod")).decode()
        self.go_sum = cache.read_bytes(os.path.join(self.folder, "go.sum")).decode()
        own = sorted(name for name in os.listdir(self.folder) if name.endswith(".go"))
        self.sources = [cache.read_bytes(os.path.join(self.folder, name)).decode() for name in own]

    def version(self, module):
        """The pinned version of a module."""
        pattern = rf"^(?:require )?\s*{re.escape(module)} (v\S+)"
        match = re.search(pattern, self.go_mod, re.MULTILINE)
        if not match:
            raise AssetError(f"{self.folder}/go.mod doesn't require {module}")
        return match.group(1)

    def go(self):
        return toolchain.find(toolchain.required_version(self.go_mod))

    def bin(self):
        """The cache folder of this family's programs; another Go or other build tags, another folder."""
        go = toolchain.name_for(toolchain.required_version(self.go_mod))
        said = [self._kubernetes(name) for name in KUBERNETES_VERSIONS if PROGRAMS[name][0] == self.name]
        tags = [TAGS[self.name]] if self.name in TAGS else []
        return os.path.join(cache.root(), "bin", cache.key_of(self.go_mod, self.go_sum, *self.sources, go, *said, *tags))

    def build(self, program):
        """Builds one program into the cache, once."""
        target = os.path.join(self.bin(), program)
        if os.path.exists(target):
            return target
        with cache.locked(self.name):
            if not os.path.exists(target):
                with cache.scratch(target) as folder:
                    cache.publish(self._compile(program, folder), target)
        return target

    def _compile(self, program, folder):
        _, package = PROGRAMS[program]
        go = self.go()
        output = os.path.join(folder, program)
        flags = ["-v", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", self._link_flags(program), "-o", output]
        flags += ["-tags", TAGS[self.name]] if self.name in TAGS else []
        progress.run(
            f"building {program} from its Go module",
            [go.command, "build", *flags, package],
            os.path.join(folder, "log"),
            cwd=self.folder,
            env=go.env,
            detail=_packages_compiled,
        )
        return output

    def _link_flags(self, program):
        flags = "-s -w" + self._kubernetes(program)
        if self.name in REPORTED_VERSIONS:
            module, package = REPORTED_VERSIONS[self.name]
            version = self.version(module)
            major, minor, _ = version.lstrip("v").split(".", 2)
            values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
            flags += "".join(f" -X {package}.{name}={value}" for name, value in values.items())
        return flags

    def _kubernetes(self, program):
        if program not in KUBERNETES_VERSIONS:
            return ""
        module, packages = KUBERNETES_VERSIONS[program]
        values = {"k8sVersionMajor": "1", "k8sVersionMinor": self.version(module).split(".")[1]}
        return "".join(f" -X {package}.{name}={value}" for package in packages for name, value in values.items())


def _packages_compiled(log_path):
    with open(log_path, "rb") as log:
        lines = [line for line in log.read().splitlines() if not line.startswith(b"go: ")]
    return f"{len(lines)} packages"


def have(program):
    """The path of a program that is there already, else None: nothing is downloaded or built."""
    if program not in PROGRAMS:
        raise AssetError(f"no such program: {program}")
    found = _on_machine(program)
    if found:
        return found
    built = os.path.join(Family(PROGRAMS[program][0]).bin(), program)
    return built if os.path.exists(built) else envtest.have(program)


def locate(program):
    """The path of a program, made available if it isn't yet."""
    return have(program) or envtest.locate(program) or Family(PROGRAMS[program][0]).build(program)


def _on_machine(program):
    if program not in FOUND_ANYWHERE:
        return None
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets:
        path = os.path.join(os.path.abspath(assets), program)
        if os.access(path, os.X_OK):
            return path
    return shutil.which(program)


def link_folder(names, find=locate):
    """A folder that holds links to exactly these programs under their names; find gives the path of each."""
    paths = {name: _direct(find(name)) for name in expand(names)}
    target = os.path.join(cache.root(), "links", cache.key_of(*(f"{n}={p}" for n, p in sorted(paths.items()))))
    if not os.path.isdir(target):
        with cache.locked("links"), cache.scratch(target) as folder:
            links = os.path.join(folder, "links")
            os.mkdir(links)
            for name, path in paths.items():
                os.symlink(path, os.path.join(links, name))
            cache.publish(links, target)
    return target


def _direct(path):
    """A path that doesn't lead through a link folder of our own (as KUBEBUILDER_ASSETS may)."""
    ours = os.path.join(cache.root(), "links") + os.sep
    return os.path.realpath(path) if path.startswith(ours) else path
