#!/usr/bin/env python3
"""Writes seeds for the fuzz targets: tools/fuzz_seeds.py FOLDER.

Those that each target names in its CAPI_FUZZ, and more of the behaviour vectors and the releases of testdata/, and the vendors'
releases in RELEASES_DIR where that is set, in the form that it reads.
"""

import base64
import dataclasses
import glob
import gzip
import hashlib
import io
import json
import os
import re
import struct
import sys
import tarfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
TESTDATA = os.path.join(ROOT, "testdata")
LONGEST = 8192


@dataclasses.dataclass(frozen=True)
class Target:
    name: str
    folder: str  # that it says its file is in
    file: str  # from the top of the tree
    seeds: tuple  # that it names


TEXT = r'"(?:\\.|[^"\\\n])*"'
TARGET = re.compile(rf'CAPI_FUZZ\(\s*(\w+),\s*"([^"]*)",\s*\{{((?:[\s(),]|{TEXT})*)\}}\)')
ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\", '"': b'"', "'": b"'"}


def bytes_of(text):
    """What a C++ string literal says."""

    def escaped(match):
        if match.group(1).startswith("x"):
            return chr(int(match.group(1)[1:], 16))
        if match.group(1) not in ESCAPES:
            sys.exit(f"fuzz_seeds.py: \\{match.group(1)} in {text}: no such escape is known here")
        return ESCAPES[match.group(1)].decode()

    # A byte is a character here: what isn't ASCII is UTF-8 in the file.
    plain = text[1:-1].encode().decode("latin-1")
    return re.sub(r"\\(x[0-9a-fA-F]+|.)", escaped, plain).encode("latin-1")


def targets():
    """Of all *_fuzz.cc files."""
    out = []
    for path in sorted(glob.glob(os.path.join(ROOT, "**", "*_fuzz.cc"), recursive=True)):
        file = os.path.relpath(path, ROOT)
        if file.startswith("build" + os.sep):
            continue
        with open(path, encoding="utf-8") as source:
            text = source.read()
        found = TARGET.findall(text)
        if len(found) != text.count("CAPI_FUZZ("):
            sys.exit(f"fuzz_seeds.py: {file}: a CAPI_FUZZ isn't of the form (name, \"folder\", {{\"seed\", ...}})")
        for name, folder, seeds in found:
            # Literals without a comma between them are one text.
            groups = re.findall(rf"(?:{TEXT}\s*)+", seeds)
            texts = tuple(b"".join(bytes_of(text) for text in re.findall(TEXT, group)) for group in groups)
            out.append(Target(name, folder, file, texts))
    return out


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


def objects():
    """Objects of the vectors, as JSON."""
    for name in ("customisation.json", "patches.json", "preflight.json"):
        for case in cases(name):
            yield from (json.dumps(value).encode() for value in [case.get("provider"), *case.get("providers", [])] if value)


def watches():
    for kind in ("ADDED", "MODIFIED", "DELETED"):
        yield from (b'{"type":"' + kind.encode() + b'","object":' + value + b"}\n" for value in objects())
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old", "details": {"retryAfterSeconds": 1}}
    yield json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"


def responses():
    for status in ("200 OK", "404 Not Found", "429 Too Many Requests"):
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n".encode()
        for body in list(objects())[:40]:
            chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n"
            yield head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
            yield b"HTTP/1.1 100 Continue\r\n\r\n" + head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + b"0\r\nX: y\r\n\r\n"
            packed = gzip.compress(body, mtime=0)
            yield head + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + packed


def kubeconfigs():
    users = (
        "{token: t}",
        "{tokenFile: t, as: me, as-groups: [a]}",
        "{username: u, password: p}",
        "{client-certificate: c, client-key: k}",
        "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./x, interactiveMode: Never, env: [{name: A, value: b}]}}",
    )
    clusters = ("{server: 'https://h', certificate-authority: ca}", "{server: 'http://h', proxy-url: 'socks5://p'}", "{}")
    for user in users:
        for cluster in clusters:
            text = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: u}\n"
            yield f"{text}clusters:\n- name: k\n  cluster: {cluster}\nusers:\n- name: u\n  user: {user}\n".encode()


def discoveries():
    """Made of the plurals: as one answer, and as a server without aggregated discovery gives them."""
    kinds = [(case["id"], case["crd_plural"]) for case in cases("plural.json") if "crd_plural" in case][:20]
    resources = [{"resource": plural, "responseKind": {"kind": kind}, "scope": "Namespaced", "verbs": ["get"]} for kind, plural in kinds]
    group = {"metadata": {"name": "x.io"}, "versions": [{"version": "v1", "freshness": "Current", "resources": resources}]}
    yield json.dumps({"kind": "APIGroupDiscoveryList", "items": [group]}).encode()
    listed = [{"name": plural, "kind": kind, "namespaced": True} for kind, plural in kinds] + [{"name": f"{kinds[0][1]}/status"}]
    groups = {"groups": [{"name": "x.io", "versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"}}]}
    answers = ({"versions": ["v1"]}, {"resources": listed}, groups, {"resources": listed})
    yield b"\xff".join(json.dumps(answer).encode() for answer in answers)


def selectors():
    operators = ("a", "!a", "a=b", "a==b", "a!=b", "a in (b,c)", "a notin (b, c)", "example.com/a=", "a in ()")
    yield from (f"{a},{b}".encode() for a in operators for b in operators)


def release_urls():
    yield from (text_of(case, "url").replace(b"BASE", b"/base") for case in cases("repository-url.json"))


def urls():
    yield from (url + b"\n" + other for url in release_urls() for other in (b"../x?y", b"//h/x", b"https://h:8443/x#y"))


def packs():
    """Of git, without the sum behind them: objects of each kind, and differences to one by its place and by its name."""

    def entry(kind, text, behind=b""):
        size, head = len(text), []
        head.append(kind << 4 | size & 15)
        size >>= 4
        while size:
            head[-1] |= 128
            head.append(size & 127)
            size >>= 7
        return bytes(head) + behind + zlib.compress(text)

    def name(kind, text):
        return hashlib.sha1(f"{kind} {len(text)}".encode() + b"\0" + text).digest()

    def pack(*entries):
        return b"PACK" + struct.pack(">II", 2, len(entries)) + b"".join(entries)

    blob = b"kind: Namespace\n" * 4
    inner = b"100644 file\0" + name("blob", blob)
    middle = b"40000 b\0" + name("tree", inner)
    tree = b"40000 a\0" + name("tree", middle)
    commit = b"tree " + name("tree", tree).hex().encode() + b"\nauthor a <a@b> 1 +0000\n\nm\n"
    tag = b"object " + name("commit", commit).hex().encode() + b"\ntype commit\ntag v1.0.0\n\nm\n"
    difference = bytes((len(blob), len(blob) + 3, 0x90, len(blob), 3)) + b"abc"
    whole = [entry(3, blob), entry(2, inner), entry(2, middle), entry(2, tree), entry(1, commit), entry(4, tag)]
    yield pack(*whole)
    yield pack(whole[0], entry(6, difference, bytes((len(whole[0]),))))
    yield pack(entry(7, difference, name("blob", blob)), whole[0])
    yield pack()


def layers():
    """Pairs of layers of an image: as tar programs write them, with links and whiteouts."""

    def layer(form, *entries):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as archive:
            for name, kind, link in entries:
                info = tarfile.TarInfo(name)
                info.type, info.linkname = kind, link
                text = b"x" * 600 if kind == tarfile.REGTYPE else b""
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text))
        return out.getvalue()[:4096].ljust(4096, b"\0")  # half of the longest seed

    long = "n" * 90 + "/" + "n" * 60
    lower = [("usr/lib", tarfile.DIRTYPE, ""), ("lib", tarfile.SYMTYPE, "usr/lib"), ("lib/a", tarfile.REGTYPE, ""), ("h", tarfile.LNKTYPE, "lib/a")]
    upper = [("lib/.wh.a", tarfile.REGTYPE, ""), (".wh.h", tarfile.REGTYPE, ""), ("usr/.wh..wh..opq", tarfile.REGTYPE, "")]
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        yield layer(form, *lower) + layer(form, *upper)
        yield layer(form, (long, tarfile.REGTYPE, "")) + layer(form, ("l", tarfile.SYMTYPE, "/../" + "l" * 90))


def its_own():
    """Those that the target names are enough."""
    return ()


def signatures():
    """What the real cosign has written."""
    for path in sorted(glob.glob(os.path.join(TESTDATA, "cosign", "*.*"))):
        with open(path, "rb") as file:
            yield file.read()


SEEDS = {
    "config": its_own,
    "discovery": discoveries,
    "envsubst": templates,
    "git": packs,
    "image": images,
    "kubeconfig": kubeconfigs,
    "layer": layers,
    "list": its_own,
    "metadata": metadata,
    "oci": its_own,
    "patch": patches,
    "release_url": release_urls,
    "request": its_own,
    "response": responses,
    "selector": selectors,
    "signature": signatures,
    "substitute": yaml_texts,
    "url": urls,
    "version": versions,
    "warnings": its_own,
    "watch": watches,
    "yaml": yaml_texts,
}


def main():
    found = targets()
    wrong = sorted({target.name for target in found} ^ set(SEEDS))
    if wrong:
        sys.exit(f"fuzz_seeds.py: these are either no targets or have no entry in SEEDS: {', '.join(wrong)}")
    for target in found:
        folder = os.path.join(sys.argv[1], target.name)
        os.makedirs(folder, exist_ok=True)
        for seed in {seed[:LONGEST] for seed in (*target.seeds, *SEEDS[target.name]())}:
            with open(os.path.join(folder, hashlib.sha256(seed).hexdigest()[:16]), "wb") as file:
                file.write(seed)


if __name__ == "__main__":
    main()
