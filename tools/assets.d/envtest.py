"""Control-plane programs from the envtest archive, where GitHub can be reached."""

import os
import tarfile

import cache
import net
import toolchain
from progress import AssetError

VERSION = "v1.34.1"
PROGRAMS = ("etcd", "kube-apiserver", "kubectl")

RELEASES = "https://github.com/kubernetes-sigs/controller-tools/releases/download"

_reached = {}


def locate(program):
    """The program's path in the cache, downloaded if need be; None where it can't be had this way."""
    if program not in PROGRAMS:
        return None
    target = os.path.join(cache.root(), "envtest", f"{VERSION}-linux-{toolchain.arch()}")
    path = os.path.join(target, program)
    if os.path.exists(path):
        return path
    url = f"{RELEASES}/envtest-{VERSION}/envtest-{VERSION}-linux-{toolchain.arch()}.tar.gz"
    if not _reachable(url + ".sha512"):
        return None
    with cache.locked("envtest"):
        if not os.path.exists(path):
            with cache.scratch(target) as folder:
                cache.publish(_fetch(url, folder), target)
    return path


def _reachable(url):
    if url not in _reached:
        _reached[url] = net.reachable(url)
    return _reached[url]


def _fetch(url, folder):
    expected = published_sum(net.fetch_text(url + ".sha512"), url)
    archive = os.path.join(folder, "envtest.tar.gz")
    net.download(f"downloading envtest {VERSION}", url, archive, "sha512", expected)
    unpacked = os.path.join(folder, "unpacked")
    os.mkdir(unpacked)
    unpack(archive, unpacked)
    return unpacked


def published_sum(text, url):
    """The sum in a checksum file: '<128 hexadecimal digits>  <file name>'."""
    words = text.split()
    if not words or len(words[0]) != 128 or not all(c in "0123456789abcdef" for c in words[0]):
        raise AssetError(f"{url}.sha512 holds no SHA-512 sum")
    return words[0]


def unpack(archive, folder):
    """Takes the wanted programs, and nothing else, out of the archive."""
    with tarfile.open(archive) as content:
        for member in content:
            name = os.path.basename(member.name)
            if not member.isfile() or name not in PROGRAMS:
                continue
            path = os.path.join(folder, name)
            with content.extractfile(member) as source, open(path, "wb") as file:
                while chunk := source.read(1 << 20):
                    file.write(chunk)
            os.chmod(path, 0o755)
    missing = [name for name in PROGRAMS if not os.path.exists(os.path.join(folder, name))]
    if missing:
        raise AssetError(f"the envtest archive lacks {', '.join(missing)}")
