"""The Helm chart as a package, for the version and the image of a release."""

import fnmatch
import json
import os
import re

import archive
import checkout
import variants
from program import read

CHART = os.path.join("charts", "capi-operator")
NAME = os.path.basename(CHART)


def package_name(version):
    """As `helm package` names it. The chart's version has no v, and the image's tag has one."""
    return f"{NAME}-{number(version)}.tgz"


def number(version):
    return version.removeprefix("v")


def package(version, image, epoch, architectures=("amd64",)):
    """What `helm install` takes. Without an image it is the chart's own, at the tag of this version."""
    files = {}
    for name in names():
        files[f"{NAME}/{name}"] = (read(os.path.join(checkout.ROOT, CHART, name)), 0o644)
    change(files, "Chart.yaml", {"version": number(version), "appVersion": version})
    if image:
        change(files, "image.yaml", {key: json.dumps(value) for key, value in image.values().items()})
    content, mode = files[f"{NAME}/values.yaml"]
    files[f"{NAME}/values.yaml"] = (variants.for_architectures(content.decode(), architectures).encode(), mode)
    return archive.packed(archive.tar(archive.with_folders(files), epoch))


def names():
    """The chart's files, without those that its .helmignore names: patterns of a file's name."""
    with open(os.path.join(checkout.ROOT, CHART, ".helmignore"), encoding="utf-8") as file:
        ignored = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    found = checkout.files(CHART)
    return [name for name in found if not any(fnmatch.fnmatchcase(os.path.basename(name), pattern) for pattern in ignored)]


def change(files, name, values):
    """Gives keys that stand once in a file, at its left edge, these values."""
    content, mode = files[f"{NAME}/{name}"]
    text = content.decode()
    for key, value in values.items():
        text, count = re.subn(rf"(?m)^{key}: .*$", lambda _, line=f"{key}: {value}": line, text)
        if count != 1:
            raise ValueError(f"{CHART}/{name} has {count} lines of {key.strip()}, not one")
    files[f"{NAME}/{name}"] = (text.encode(), mode)
