"""clusterctl as an archive: the program, which needs nothing but the C library, and that library for machines that lack it."""

import json
import os
import tempfile

import archive
import checkout
import rootfs
from program import read

HERE = os.path.dirname(os.path.realpath(__file__))
LAUNCHER = "clusterctl.sh"
# Whose code is within the program: archives that it is linked with (cmake/dependencies.cmake), and headers.
INSIDE = (
    "libcli11-dev",
    "libfmt-dev",
    "libre2-dev",
    "libspdlog-dev",
    "libssh-dev",
    "libssl-dev",
    "libstdc++6",
    "libyaml-dev",
    "nlohmann-json3-dev",
    "zlib1g-dev",
)


def folder(version, architecture):
    return f"clusterctl-{version}-linux-{architecture}"


def version_of(program):
    return program.says("version", "--output=short").strip()


def built_of(program):
    """The commit that it says it was built of, as checkout.revision() calls it; "" for none."""
    told = json.loads(program.says("version", "--output=json"))["clusterctl"]
    return checkout.named(told["gitCommit"], told["gitTreeState"])


def manual(program):
    """Name of a manual page -> its text."""
    with tempfile.TemporaryDirectory(prefix="clusterctl-man-") as pages:
        program.says("man", f"--write-to={pages}")
        return {name: read(os.path.join(pages, name)) for name in sorted(os.listdir(pages))}


def package(program, version, epoch):
    """The archive, compressed, with everything in one folder."""
    files = {"clusterctl": (program.stripped(), 0o755), LAUNCHER: (read(os.path.join(HERE, LAUNCHER)), 0o755)}
    packages = set(INSIDE)
    for name, path in program.libraries():
        files[f"lib/{os.path.basename(name)}"] = (read(path), 0o755)
        packages.add(rootfs.package_of(path).split(":")[0])
    for name, page in manual(program).items():
        files[f"man/man1/{name}"] = (page, 0o644)
    files["LICENSE"] = (read(os.path.join(checkout.ROOT, "LICENSE")), 0o644)
    for name in packages:
        files[f"licenses/{name}"] = (read(f"/usr/share/doc/{name}/copyright"), 0o644)
    inside = {f"{folder(version, program.architecture)}/{name}": file for name, file in files.items()}
    return archive.packed(archive.tar(archive.with_folders(inside), epoch))
