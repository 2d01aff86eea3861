"""The files of the image: the operator, the libraries that it is linked with, and what these read. Nothing else is in it:
no shell, no package manager."""

import glob
import os
import subprocess

from program import ImageError, read, run

USER = 65532

CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
# Those of the package, not what a machine's own administrator added to its bundle.
TRUSTED = "/usr/share/ca-certificates/mozilla/*.crt"
# What glibc looks up: the user's name, and that names come from /etc/hosts and DNS.
TEXTS = {
    "etc/passwd": f"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/:/sbin/nologin\n",
    "etc/group": f"root:x:0:\nnonroot:x:{USER}:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}


class Package:
    """A Debian package that files come from."""

    def __init__(self, name, version, architecture, source):
        self.name = name
        self.version = version
        self.architecture = architecture
        self.source = source


class Files:
    """name in the image, without the leading slash: (content, permissions). And the packages that they come from."""

    def __init__(self, architecture):
        self.architecture = architecture
        self.files = {}
        self.packages = {}

    def add(self, name, content, mode=0o644):
        self.files[name] = (content, mode)

    def folders(self):
        """Every folder that a file lies in, the outer ones first."""
        found = {"tmp"}
        for name in self.files:
            while name := os.path.dirname(name):
                found.add(name)
        return sorted(found)


def package_of(path):
    """The Debian package of a file. With the merged /usr a package may list it under either path."""
    real = os.path.realpath(path)
    for name in dict.fromkeys((path, real, real.removeprefix("/usr"))):
        done = subprocess.run(["dpkg", "--search", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(": ")[0].split(",")[0]
    raise ImageError(f"{path} belongs to no Debian package: the image is made of Debian's alone")


def certificates():
    """The bundle of the certificate authorities that Debian trusts."""
    found = sorted(glob.glob(TRUSTED))
    if not found:
        raise ImageError("there are no certificate authorities: install Debian's ca-certificates")
    return b"".join(read(path).strip() + b"\n" for path in found)


def note_package(files, name):
    """Keeps what dpkg knows of a package, where scanners look for it, and its licence."""
    if name in files.packages:
        return
    shown = "${Package}\t${Version}\t${Architecture}\t${source:Package}"
    package = Package(*run("dpkg-query", "--show", f"--showformat={shown}", name).split("\t"))
    files.packages[name] = package
    status = [f"Package: {package.name}", "Status: install ok installed", f"Architecture: {package.architecture}"]
    status += [f"Version: {package.version}", f"Source: {package.source}"]
    files.add(f"var/lib/dpkg/status.d/{package.name}", ("\n".join(status) + "\n").encode())
    licence = f"usr/share/doc/{package.name}/copyright"
    if os.path.exists("/" + licence):
        files.add(licence, read("/" + licence))


def collect(program):
    """Everything that is in the image of a Program."""
    files = Files(program.architecture)
    for name, path in program.libraries():
        files.add(name, read(path), 0o755)
        note_package(files, package_of(path))
    files.add(CERTIFICATES, certificates())
    note_package(files, "ca-certificates")
    for name, text in TEXTS.items():
        files.add(name, text.encode())
    files.add("capi-operator", program.stripped(), 0o755)
    return files


def write(files, folder):
    os.makedirs(folder)
    for name in files.folders():
        os.mkdir(os.path.join(folder, name))
        os.chmod(os.path.join(folder, name), folder_mode(name))
    for name, (content, mode) in files.files.items():
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)


def folder_mode(name):
    return 0o1777 if name == "tmp" else 0o755
