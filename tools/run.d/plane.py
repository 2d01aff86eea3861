"""The plane of one run: `clusterctl local`, and what ends it whatever becomes of this script."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time

import children
from progress import AssetError

VERSION = "v1.12.0"
# kind: (name, label in a clusterctl local repository, its components, as --provider has it)
PROVIDERS = {
    "CoreProvider": ("cluster-api", "cluster-api", "core-components.yaml", "core/cluster-api"),
    "BootstrapProvider": ("kubeadm", "bootstrap-kubeadm", "bootstrap-components.yaml", "bootstrap/kubeadm"),
    "ControlPlaneProvider": ("kubeadm", "control-plane-kubeadm", "control-plane-components.yaml", "control-plane/kubeadm"),
    "InfrastructureProvider": ("docker", "infrastructure-docker", "infrastructure-components.yaml", "infrastructure/docker"),
}
# The images of these releases, by the programs that `tools/assets managers` makes.
IMAGES = {
    "core-manager": "registry.k8s.io/cluster-api/cluster-api-controller",
    "bootstrap-manager": "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
    "control-plane-manager": "registry.k8s.io/cluster-api/kubeadm-control-plane-controller",
    "docker-manager": "gcr.io/k8s-staging-cluster-api/capd-manager",
}
# In the folder of a run. The lock says that it is one's.
LOCK, CONFIG, PLANE, MANIFESTS = "run.lock", "run-clusterctl.yaml", "plane", "run-manifests"
FORMER = {"lock", "kubeconfig"}  # of runs before there was a plane
# `down` first: `down --delete` alone keeps a plane that has Clusters.
END = '"$1" local down --dir "$2" && "$1" local down --delete --dir "$2"'
# Whoever holds the other end of the pipe has ended, in whichever way. It holds the folder's lock until it is done.
CLEANER = f'cat >/dev/null; ({END}) >/dev/null 2>&1; rm -rf "$3"'
GRACE = 15.0  # seconds in which a command's own words come first
UNTIL_CLEAN = 10.0  # seconds that a killed run's cleaner may take


def configuration(repository):
    """clusterctl's, with the releases of a local repository; empty where there is none."""
    if repository is None:
        return "{}\n"
    text = "providers:\n"
    for kind, (name, label, file, _) in PROVIDERS.items():
        text += f"- {{name: {name}, type: {kind}, url: {json.dumps(os.path.join(repository, label, VERSION, file))}}}\n"
    return text


class Folder:
    """Where a person finds a run: the same path every time. One run at a time has it; the kernel frees the lock of a killed one."""

    def __init__(self, path, until_clean=UNTIL_CLEAN):
        self.path = path
        try:
            os.makedirs(path, exist_ok=True)
            there = set(os.listdir(path))
            if LOCK not in there and there - FORMER:
                raise AssetError(f"{path} has files in it that are no run's: RUN_FOLDER=... names another folder")
            self.lock = open(os.path.join(path, LOCK), "a+", encoding="ascii")  # noqa: SIM115 - held while the run lives
        except OSError as error:
            raise AssetError(f"cannot write to {path}: {error.strerror}") from error
        self._take(until_clean)
        self.lock.truncate(0)
        self.lock.write(str(os.getpid()))
        self.lock.flush()

    def _take(self, until_clean):
        deadline = time.monotonic() + until_clean
        while True:
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() < deadline:
                    time.sleep(0.1)
                    continue
            self.lock.seek(0)
            other = self.lock.read() or "of unknown number"
            self.lock.close()
            raise AssetError(f"another run (process {other}) has {self.path}: RUN_FOLDER=... names another folder")

    def write(self, text):
        """The path of the configuration."""
        path = os.path.join(self.path, CONFIG)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def close(self):
        self.lock.close()


class Plane:
    def __init__(self, clusterctl, folder, config):
        self.clusterctl = clusterctl
        self.config = config
        self.folder = folder.path
        self.path = os.path.join(folder.path, PLANE)
        self.manifest_folder = os.path.join(folder.path, MANIFESTS)
        self.kubeconfig = os.path.join(self.path, "kubeconfig")
        self.running = None
        self._end()  # what an earlier run left that was killed together with its cleaner
        shutil.rmtree(self.manifest_folder, ignore_errors=True)
        command = ["sh", "-c", CLEANER, "sh", clusterctl, self.path, self.manifest_folder]
        self.cleaner = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, pass_fds=(folder.lock.fileno(),))

    def up(self, servers, binaries, timeout):
        words = ["up", "--programs", servers, "--timeout", str(timeout)]
        for _, _, _, provider in PROVIDERS.values():
            words += ["--provider", f"{provider}:{VERSION}"]
        for image, path in binaries.items():
            words += ["--binary", f"{image}={path}"]
        return self._run("local", *words, "--dir", self.path, within=timeout)

    def manifests(self, name, template, kubernetes):
        words = ["--from", template, "--kubernetes-version", kubernetes, "--control-plane-machine-count", "1", "--worker-machine-count", "2"]
        return self._run("local", "manifests", name, *words, "-o", self.manifest_folder, quiet=True)

    def apply(self, timeout):
        stages = [word for stage in ("infrastructure", "machines") for word in ("--timeout", f"{stage}={timeout}s")]
        return self._run("local", "apply", self.manifest_folder, *stages, "--no-collect", "--dir", self.path, within=timeout)

    def wait(self, name, timeout):
        return self._run("local", "wait", name, "--timeout", f"{timeout}s", "--dir", self.path, within=timeout)

    def describe(self, name):
        return self._run("describe", "cluster", name, "--kubeconfig", self.kubeconfig, "--kubeconfig-context", "capi-local")

    def page(self):
        """The address of the operator's status page; None where it can't be told."""
        command = [self.clusterctl, "local", "status", "--dir", self.path, "-o", "json"]
        found = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        with contextlib.suppress(ValueError):
            return json.loads(found.stdout).get("page")
        return None

    def tell(self):
        """What runs, the last words of all, and where the rest is."""
        self._run("local", "status", "--dir", self.path)
        self._run("local", "logs", "--tail", "10", "--dir", self.path)
        archive = os.path.join(self.folder, "run-collected.tar.gz")
        if os.path.exists(archive):
            os.remove(archive)
        self._run("local", "collect", "--dir", self.path, "-o", archive)

    def watch(self):
        """Returns when the plane doesn't run any more; somebody may end it with `clusterctl local down`."""
        while self._run("local", "status", "--dir", self.path, quiet=True) != 3:
            time.sleep(1)

    def close(self):
        """Ends what runs, and the plane; removes what they have made. Whether nothing is left."""
        if self.running:
            self.running.terminate()
            self.running.wait()
        ended = self._end()
        self.cleaner.stdin.close()
        self.cleaner.wait()
        return ended

    def _end(self):
        done = subprocess.run(
            ["sh", "-c", END, "sh", self.clusterctl, self.path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True, check=False
        )
        return done.returncode == 0

    def _run(self, *words, quiet=False, within=None):
        """The exit code; 1 where it took longer, and hadn't said itself that it did."""
        out = subprocess.DEVNULL if quiet else None
        command = [self.clusterctl, "--config", self.config, *words]
        self.running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=children.bound(signal.SIGTERM))
        try:
            code = self.running.wait(None if within is None else within + GRACE)
        except subprocess.TimeoutExpired:
            self.running.terminate()
            self.running.wait()
            code = 1
        self.running = None
        return code
