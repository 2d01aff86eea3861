"""cluster-api-operator's Helm chart, made from its pinned module as its own release target makes it: what is in the sources,
and beside that one template of all that kustomize makes of config/chart."""

import os
import shutil
import subprocess

import cache
import programs
import releases
from progress import AssetError

# Part of the cache key: raise it when the same sources are to be built another way.
RECIPE = "1"

PEER = "sigs.k8s.io/cluster-api-operator"


def have():
    """The folder of locate() where it is there already, else None."""
    return _folder() if os.path.isdir(_folder()) else None


def locate():
    """A folder with the chart, which `helm install` takes."""
    target = _folder()
    if not os.path.isdir(target):
        command = programs.locate("kustomize")
        with cache.locked("peer-chart"), cache.scratch(target) as folder:
            if not os.path.isdir(target):
                source = releases.download(programs.Family("peer"), [PEER], folder)[PEER]
                cache.publish(_make(command, source, folder), target)
    return target


def _folder():
    peer, kustomize = programs.Family("peer"), programs.Family("kustomize")
    key = cache.key_of(RECIPE, peer.version(PEER), peer.go_sum, kustomize.go_mod, kustomize.go_sum)
    return os.path.join(cache.root(), "charts", f"cluster-api-operator-{key}")


def _make(kustomize, source, folder):
    chart, config = os.path.join(folder, "chart"), os.path.join(folder, "config")
    # Copies: kustomize takes a path with an @, as the module cache has, for a git reference.
    shutil.copytree(os.path.join(source, "hack", "charts", "cluster-api-operator"), chart)
    shutil.copytree(os.path.join(source, "config"), config)
    cache.make_writable(folder)
    done = subprocess.run([kustomize, "build", "."], cwd=os.path.join(config, "chart"), capture_output=True, check=False)
    if done.returncode != 0:
        raise AssetError(f"kustomize build of config/chart failed:\n{done.stderr.decode('utf-8', 'replace')}")
    with open(os.path.join(chart, "templates", "operator-components.yaml"), "wb") as file:
        file.write(done.stdout)
    return chart
