"""The variants of what kubectl installs, and their YAML texts. Whoever imports this has assets.d in his path too."""

import os
import re
import shutil
import subprocess

import plan
from progress import AssetError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
MANIFESTS = os.path.join(ROOT, "manifests")
VARIANTS = {
    "default": "base",
    "no-webhooks": "overlays/no-webhooks",
    "single-namespace": "overlays/single-namespace",
    "ha": "overlays/ha",
    "cluster-admin": "overlays/cluster-admin",
    "cert-manager": "overlays/cert-manager",
}
# The line of the Deployment that names what the image is built for, with the line break.
ARCHITECTURE = re.compile(r"^( *kubernetes\.io/arch: )amd64\n", re.MULTILINE)
OWN_IMAGE = re.compile(r"^( *(?:- )?image: )capi-operator:\S+$", re.MULTILINE)


def kubectl():
    return shutil.which("kubectl") or plan.have(["kubectl"])[0]


def is_folder(name):
    """Whether this is a kustomization of somebody's own. A misspelt variant isn't, whatever lies in the current folder."""
    return "/" in name and os.path.isdir(name)


def folder(variant):
    """Where a variant's kustomization is."""
    if variant not in VARIANTS:
        return variant
    return os.path.join(MANIFESTS, *VARIANTS[variant].split("/"))


def render(variant, image=None, architectures=("amd64",)):
    """The YAML text of a variant, or of a folder, for an image of these architectures."""
    command = [kubectl(), "kustomize", folder(variant)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssetError(done.stderr.strip())
    if image is None:
        return done.stdout
    text, count = OWN_IMAGE.subn(lambda found: found.group(1) + image, done.stdout)
    if count != 1:
        raise AssetError(f"the manifests name the operator's image {count} times, not once")
    return for_architectures(text, architectures)


def for_architectures(text, architectures):
    """The manifests ask for nodes of the one architecture that the image is for. Of several they name none: such an image is for
    whichever nodes Kubernetes commonly has."""
    if list(architectures) == ["amd64"]:
        return text
    text, count = ARCHITECTURE.subn(lambda found: found.group(1) + architectures[0] + "\n" if len(architectures) == 1 else "", text)
    if count != 1:
        raise AssetError(f"the manifests ask {count} times for nodes of an architecture, not once")
    return text
