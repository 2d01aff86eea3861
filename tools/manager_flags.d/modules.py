"""The pinned modules, and the few of their files that are read: kept in the cache, checked against the pinned hash."""

import json
import os
import zipfile

import cache
import goflags
import net
import toolchain
from progress import AssetError

PATHS = {"core": "sigs.k8s.io/cluster-api", "test": "sigs.k8s.io/cluster-api/test"}
PINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules.txt")

# Part of the cache key: raise it when other files of the same modules are read.
RECIPE = "1"


def pins():
    """(module, version, hash) in the order of the file."""
    with open(PINS, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return [tuple(line) for line in lines]


def files(module, version, expected, fetch):
    """Path -> text of what is read of a module."""
    target = os.path.join(cache.root(), "manager-flags", cache.key_of(RECIPE, module, version, expected) + ".json")
    if not os.path.exists(target):
        if not fetch:
            raise AssetError(f"{PATHS[module]}@{version} isn't on this machine; `tools/manager_flags --fetch` downloads what is missing")
        with cache.scratch(target) as folder:
            made = os.path.join(folder, "files.json")
            with open(made, "w", encoding="utf-8") as file:
                json.dump(_read(module, version, expected, folder), file)
            cache.publish(made, target)
    return json.loads(cache.read_bytes(target))


def _read(module, version, expected, folder):
    archive = os.path.join(folder, "module.zip")
    _download(module, version, archive)
    with zipfile.ZipFile(archive) as content:
        found = toolchain.module_hash(content)
        if found != expected:
            raise AssetError(f"{PATHS[module]}@{version}: checksum is {found}, expected {expected}")
        top = f"{PATHS[module]}@{version}/"
        names = [name.removeprefix(top) for name in content.namelist()]
        return {name: content.read(top + name).decode() for name in names if goflags.WANTED.match(name)}


def _download(module, version, archive):
    failure = None
    for proxy in toolchain.proxies():
        try:
            url = f"{proxy.rstrip('/')}/{PATHS[module]}/@v/{version}.zip"
            return net.download(f"downloading {PATHS[module]} {version}", url, archive)
        except AssetError as error:
            failure = error
    raise failure
