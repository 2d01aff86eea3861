"""What is on this machine already, and what it takes to make the rest: said before it begins."""

import math
import sys

import envtest
import peer_chart
import programs
import releases
from progress import AssetError

# name: (makes it, finds what is there already)
FILES = {
    "releases": (releases.locate, releases.have),
    "crds": (releases.locate_crds, releases.have_crds),
    "peer-manifests": (releases.locate_peer, releases.have_peer),
    "peer-chart": (peer_chart.locate, peer_chart.have),
}

# Seconds on two cores that have compiled nothing yet.
SECONDS = {
    "etcd": 60,
    "kube-apiserver": 260,
    "kube-controller-manager": 110,
    "kube-scheduler": 10,
    "kubectl": 40,
    "kwok": 120,
    "kustomize": 20,
    "helm": 120,
    "helm-v3": 15,
    "promtool": 130,
    "registry": 60,
    "cosign": 930,
    "go-yaml": 5,
    "gitops-health": 120,
    "cert-manager": 160,
    "clusterctl": 125,
    "peer": 240,
    "releases": 10,
    "crds": 5,
    "peer-manifests": 5,
    "peer-chart": 10,
}
MANAGER_SECONDS = 75
DOWNLOAD_SECONDS = 5


class Missing(AssetError):
    """Something isn't on this machine, and was only to be looked for; the message names the command that makes it."""


def locate(name):
    """The path of a program or file, made if need be."""
    return FILES[name][0]() if name in FILES else programs.locate(name)


def find(name):
    """The path of a program or file that is there already, else None."""
    return FILES[name][1]() if name in FILES else programs.have(name)


def have(names):
    """The paths of what is there already, in order; Missing where something isn't."""
    paths = {name: find(name) for name in programs.expand(names)}
    missing = [name for name, path in paths.items() if path is None]
    if missing:
        # Groups are named as they were asked for.
        ask = " ".join(name for name in names if set(programs.expand([name])) & set(missing))
        verb, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        command = f"`tools/assets {ask}` makes {them}, in {estimate(missing)}"
        raise Missing(f"{listing(missing)} {verb} not on this machine; {command}")
    return list(paths.values())


def link_folder(names, series=""):
    """A folder with links to these programs, under their own names to those of a series where it has them; Missing where one
    isn't there already. For tests, which make nothing."""
    in_series = {name: name + series if name + series in programs.PROGRAMS else name for name in programs.expand(names)}
    have(in_series.values() if series else names)  # groups by their names
    return programs.link_folder(names, lambda name: programs.have(in_series[name]))


def announce(names):
    """Says what will be made, if anything."""
    missing = [name for name in programs.expand(names) if find(name) is None]
    made_with_it = {"releases", "peer-manifests", "peer-chart"}
    if made_with_it & set(missing) and "kustomize" not in missing and programs.have("kustomize") is None:
        missing.insert(0, "kustomize")
    downloads = [name for name in missing if envtest.offers(name)]
    builds = [name for name in missing if name not in downloads]
    for what, group in (("to download", downloads), ("to build from Go modules, once", builds)):
        if group:
            print(f"{what}: {listing(group)} ({estimate(group, bool(downloads))})", file=sys.stderr, flush=True)


def listing(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def estimate(names, downloaded=False):
    """About how long it takes to make these, in words."""
    seconds = sum(_seconds(name, downloaded) for name in names)
    if seconds < 60:
        return "less than a minute"
    minutes = math.ceil(seconds / 60)
    return "about a minute" if minutes == 1 else f"about {minutes} minutes on two cores"


def _seconds(name, downloaded):
    if downloaded and name in envtest.PROGRAMS:
        return DOWNLOAD_SECONDS
    return SECONDS.get(name) or SECONDS.get(name.partition("-v")[0], MANAGER_SECONDS)
