#!/usr/bin/env python3
"""Writes seeds for the fuzz targets: tools/fuzz_seeds.py FOLDER.

From the behaviour vectors and the releases of testdata/, and the vendors' releases in RELEASES_DIR where that is set, in the form
that each target reads.
"""

import base64
import glob
import hashlib
import json
import os
import sys

TESTDATA = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "testdata")
LONGEST = 8192


def cases(name):
    with open(os.path.join(TESTDATA, "vectors", name), encoding="utf-8") as file:
        return json.load(file)["cases"]


def text_of(case, key):
    if key + "_base64" in case:
        return base64.b64decode(case[key + "_base64"])
    value = case.get(key)
    return value.encode() if isinstance(value, str) else b""


def releases(pattern):
    """Pieces of release files: a document, or the head of one."""
    for folder in filter(None, (os.path.join(TESTDATA, "releases"), os.environ.get("RELEASES_DIR"))):
        for path in sorted(glob.glob(os.path.join(folder, "**", pattern), recursive=True)):
            with open(path, "rb") as file:
                yield from file.read().split(b"\n---\n")[:40]


def templates():
    for name in ("envsubst.json", "template.json"):
        for case in cases(name):
            yield b"\xff".join([text_of(case, "template")] + [v.encode() for v in case["variables"].values()])


def yaml_texts():
    for name in ("yaml-split.json", "namespace.json"):
        yield from (text_of(case, "yaml") for case in cases(name))
    yield from releases("*components*.yaml")


def patches():
    for case in cases("patches.json"):
        spec = case["provider"]["spec"]
        target = b"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1}}"
        texts = spec.get("manifestPatches", []) + [patch["patch"] for patch in spec.get("patches", [])]
        yield from (target + b"\n---\n" + text.encode() for text in texts)


def images():
    for case in cases("image-overrides.json"):
        overrides = case["overrides"]
        text = overrides if isinstance(overrides, str) else json.dumps(overrides)
        yield case["image"].encode() + b"\n" + text.encode()
    yield from (text_of(case, "image") for case in cases("image-reference.json"))


def versions():
    inputs = [text_of(case, "input") for name in ("semver-strict.json", "semver-tolerant.json") for case in cases(name)]
    yield from (a + b"\n" + b for a, b in zip(inputs, inputs[1:]))


def metadata():
    yield from (text_of(case, "metadata") for case in cases("metadata.json"))
    yield from releases("metadata.yaml")


SEEDS = {
    "yaml": yaml_texts,
    "substitute": yaml_texts,
    "envsubst": templates,
    "patch": patches,
    "image": images,
    "version": versions,
    "metadata": metadata,
}


def main():
    for target, make in SEEDS.items():
        folder = os.path.join(sys.argv[1], target)
        os.makedirs(folder, exist_ok=True)
        for seed in {seed[:LONGEST] for seed in make()}:
            with open(os.path.join(folder, hashlib.sha256(seed).hexdigest()[:16]), "wb") as file:
                file.write(seed)


if __name__ == "__main__":
    main()
