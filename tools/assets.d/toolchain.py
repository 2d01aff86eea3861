"""The Go toolchain: the machine's own where it is new enough, else a pinned one from the Go module proxy."""

import base64
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import zipfile

import cache
import net
from progress import AssetError, Progress

VERSION = "1.26.8"

# The checksum database's entries (h1) for module golang.org/toolchain v0.0.1-go<VERSION>.linux-<arch>.
CHECKSUMS = {
    "amd64": "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
    "arm64": "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
}

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def arch():
    machine = platform.machine()
    if machine not in MACHINES:
        raise AssetError(f"programs for {machine} aren't provided: put them into PATH or KUBEBUILDER_ASSETS")
    return MACHINES[machine]


def parse_version(text):
    """'go1.26.8', '1.24' or '1.25rc1' as a tuple of numbers that compares."""
    match = re.match(r"(?:go)?(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part or 0) for part in match.groups()) if match else (0, 0, 0)


def required_version(go_mod):
    """The version that the go line of a go.mod file asks for."""
    match = re.search(r"^go (\S+)$", go_mod, re.MULTILINE)
    if not match:
        raise AssetError("go.mod has no go line")
    return parse_version(match.group(1))


def proxies():
    """The module proxies to ask: GOPROXY (environment, then Go's own settings) without `direct` and `off`.

    `direct` is left out because a miss in the proxy would then show as a failure to reach a version-control host.
    """
    setting = os.environ.get("GOPROXY") or _go_setting("GOPROXY")
    if not setting:
        raise AssetError("there is no Go to tell where modules come from: run tools/deps, or set GOPROXY to a module proxy")
    found = [item for item in re.split(r"[,|]", setting) if item not in ("", "direct", "off")]
    if not found:
        raise AssetError(f"GOPROXY={setting} names no module proxy")
    return found


def _go_setting(name):
    go = shutil.which("go")
    if not go:
        return ""
    result = subprocess.run([go, "env", name], capture_output=True, text=True, check=False)
    return result.stdout.strip()


@functools.lru_cache(maxsize=None)
def _version_of(go):
    """The version of a go command, () where it doesn't run."""
    environment = dict(os.environ, GOTOOLCHAIN="local", GOFLAGS="")
    try:
        result = subprocess.run(
            [go, "env", "GOVERSION"], capture_output=True, text=True, check=False, cwd="/", env=environment
        )
    except OSError:
        return ()
    return parse_version(result.stdout) if result.returncode == 0 else ()


class Go:
    """A go command and the environment that it is run in."""

    def __init__(self, command):
        self.command = command
        self.env = dict(
            os.environ,
            GOTOOLCHAIN="local",
            GOFLAGS="",
            GOWORK="off",
            GO111MODULE="on",
            GOPROXY=",".join(proxies()),
            CGO_ENABLED="0",
        )


def name_for(needed):
    """The name of the Go that find gives, like go1.26.8; it is known before that Go is downloaded."""
    return "go" + ".".join(str(part) for part in _choose(needed)[0])


def find(needed):
    """A Go that is at least the needed version, downloaded if need be."""
    return Go(_choose(needed)[1] or _pinned())


def _choose(needed):
    """The version to use, and the command where it is the machine's own; None stands for the pinned one."""
    local = shutil.which("go")
    if local and _version_of(local) >= needed:
        return _version_of(local), local
    if needed > parse_version(VERSION):
        raise AssetError(f"Go {'.'.join(map(str, needed))} is needed, but only {VERSION} is pinned")
    return parse_version(VERSION), None


def _pinned():
    target = os.path.join(cache.root(), "go", f"go{VERSION}.linux-{arch()}")
    command = os.path.join(target, "bin", "go")
    if os.path.exists(command):
        return command
    with cache.locked("go"):
        if not os.path.exists(command):
            with cache.scratch(target) as folder:
                cache.publish(_fetch(folder), target)
    return command


def _fetch(folder):
    module = f"v0.0.1-go{VERSION}.linux-{arch()}"
    archive = os.path.join(folder, "toolchain.zip")
    failure = None
    for proxy in proxies():
        url = f"{proxy.rstrip('/')}/golang.org/toolchain/@v/{module}.zip"
        try:
            net.download(f"downloading Go {VERSION}", url, archive)
            break
        except AssetError as error:
            failure = error
    else:
        raise failure
    unpacking = Progress(f"unpacking Go {VERSION}")
    with zipfile.ZipFile(archive) as content:
        found = module_hash(content)
        if found != CHECKSUMS[arch()]:
            unpacking.failed()
            raise AssetError(f"Go {VERSION}: checksum is {found}, expected {CHECKSUMS[arch()]}")
        for name in content.namelist():
            content.extract(name, folder)
            unpacking.update()
    unpacked = os.path.join(folder, f"golang.org/toolchain@{module}")
    _make_executable(unpacked)
    unpacking.done()
    return unpacked


def module_hash(content):
    """The h1 hash of a module archive: SHA-256 of the sorted list of its files' SHA-256 sums and names."""
    listing = hashlib.sha256()
    for name in sorted(content.namelist()):
        listing.update(f"{hashlib.sha256(content.read(name)).hexdigest()}  {name}\n".encode())
    return "h1:" + base64.b64encode(listing.digest()).decode()


def _make_executable(unpacked):
    """A module archive has no file modes; Go's programs are in these two folders."""
    for folder in ("bin", "pkg/tool"):
        for path, _, names in os.walk(os.path.join(unpacked, folder)):
            for name in names:
                os.chmod(os.path.join(path, name), 0o755)
