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


def have(program):
    """The program's path in the cache; None where it isn't there."""
    if program not in PROGRAMS:
        return None
    path = os.path.join(_folder(), program)
    return path if os.path.exists(path) else None


def offers(program):
    """Whether the program can be downloaded."""
    return program in PROGRAMS and _reachable(_url() + ".sha512")


def locate(program):
    """The program's path in the cache, downloaded if need be; None where it can't be had this way."""
    if have(program) or not offers(program):
        return have(program)
    with cache.locked("envtest"):
        if not have(program):
            with cache.scratch(_folder()) as folder:
                cache.publish(_fetch(_url(), folder), _folder())
    return have(program)


def _folder():
    return os.path.join(cache.root(), "envtest", f"{VERSION}-linux-{toolchain.arch()}")


def _url():
    return f"{RELEASES}/envtest-{VERSION}/envtest-{VERSION}-linux-{toolchain.arch()}.tar.gz"


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
