"""cluster-api-operator's Helm chart, made from its pinned module as its own release target makes it: what is in the sources,
and beside that one template of all that kustomize makes of config/chart."""

import os
import shutil

import cache
import programs
import releases
from releases import PEER

# Part of the cache key: raise it when the same sources are to be built another way.
RECIPE = "1"


def have():
    """The folder of locate() where it is there already, else None."""
    return cache.existing(_folder())


def locate():
    """A folder with the chart, which `helm install` takes."""
    return cache.made_once("peer-chart", _folder(), _make)


def _folder():
    peer, kustomize = programs.Family("peer"), programs.Family("kustomize")
    key = cache.key_of(RECIPE, peer.version(PEER), peer.go_sum, kustomize.go_mod, kustomize.go_sum)
    return os.path.join(cache.root(), "charts", f"cluster-api-operator-{key}")


def _make(target):
    kustomize = programs.locate("kustomize")
    with cache.scratch(target) as folder:
        source = releases.download(programs.Family("peer"), [PEER], folder)[PEER]
        chart = os.path.join(folder, "chart")
        shutil.copytree(os.path.join(source, "hack", "charts", "cluster-api-operator"), chart)
        cache.make_writable(chart)
        with open(os.path.join(chart, "templates", "operator-components.yaml"), "wb") as file:
            file.write(releases.render(kustomize, source, "config/chart", folder))
        cache.publish(chart, target)
