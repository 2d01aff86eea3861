"""The plane of one run: `clusterctl local`, and what ends it whatever becomes of this script."""

import fcntl
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
# Whoever holds the other end of the pipe has ended, in whichever way.
CLEANER = 'cat >/dev/null; "$1" local down --delete --dir "$2" >/dev/null 2>&1; rm -rf "$3"'


def configuration(repository):
    """clusterctl's, with the releases of a local repository; empty where there is none."""
    if repository is None:
        return "{}\n"
    text = "providers:\n"
    for kind, (name, label, file, _) in PROVIDERS.items():
        text += f"- {{name: {name}, type: {kind}, url: '{os.path.join(repository, label, VERSION, file)}'}}\n"
    return text


class Folder:
    """Where a person finds a run: the same path every time. One run at a time has it; the kernel frees the lock of a killed one."""

    def __init__(self, path):
        self.path = path
        try:
            os.makedirs(path, exist_ok=True)
            self.lock = open(os.path.join(path, "lock"), "a+", encoding="ascii")  # noqa: SIM115 - held while the run lives
        except OSError as error:
            raise AssetError(f"cannot write to {path}: {error.strerror}") from error
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.lock.seek(0)
            other = self.lock.read() or "of unknown number"
            self.lock.close()
            raise AssetError(f"another run (process {other}) has {path}: RUN_FOLDER=... names another folder") from None
        self.lock.truncate(0)
        self.lock.write(str(os.getpid()))
        self.lock.flush()

    def write(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def close(self):
        self.lock.close()


class Plane:
    def __init__(self, clusterctl, folder, config):
        self.clusterctl = clusterctl
        self.config = config
        self.path = os.path.join(folder, "plane")
        self.manifest_folder = os.path.join(folder, "manifests")
        self.kubeconfig = os.path.join(self.path, "kubeconfig")
        self.running = None
        # What an earlier run left that was killed together with its cleaner.
        subprocess.run([clusterctl, "local", "down", "--delete", "--dir", self.path], stdout=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.manifest_folder, ignore_errors=True)
        command = ["sh", "-c", CLEANER, "sh", clusterctl, self.path, self.manifest_folder]
        self.cleaner = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)

    def up(self, servers, binaries, timeout):
        words = ["up", "--programs", servers, "--timeout", str(timeout)]
        for _, _, _, provider in PROVIDERS.values():
            words += ["--provider", f"{provider}:{VERSION}"]
        for image, path in binaries.items():
            words += ["--binary", f"{image}={path}"]
        return self._run("--config", self.config, "local", *words, "--dir", self.path)

    def manifests(self, name, template, kubernetes):
        words = ["--from", template, "--kubernetes-version", kubernetes, "--worker-machine-count", "2"]
        return self._run("local", "manifests", name, *words, "-o", self.manifest_folder, quiet=True)

    def apply(self, timeout):
        return self._run("local", "apply", self.manifest_folder, "--dir", self.path, within=timeout)

    def wait(self, name, timeout):
        return self._run("local", "wait", name, "--dir", self.path, within=timeout)

    def describe(self, name):
        return self._run("describe", "cluster", name, "--kubeconfig", self.kubeconfig)

    def tell(self):
        """What runs, and the last words of all."""
        self._run("local", "status", "--dir", self.path)
        self._run("local", "logs", "--tail", "10", "--dir", self.path)

    def watch(self):
        """Returns when the plane isn't there any more; somebody may end it with `clusterctl local down`."""
        while os.path.exists(self.kubeconfig):
            time.sleep(0.5)

    def close(self):
        """Ends what runs, and the plane; removes what they have made."""
        if self.running:
            self.running.terminate()
            self.running.wait()
        self.cleaner.stdin.close()
        self.cleaner.wait()

    def _run(self, *words, quiet=False, within=None):
        """The exit code; 1 where it took longer."""
        out = subprocess.DEVNULL if quiet else None
        self.running = subprocess.Popen(
            [self.clusterctl, *words], stdin=subprocess.DEVNULL, stdout=out, preexec_fn=children.bound(signal.SIGTERM)
        )
        try:
            code = self.running.wait(within)
        except subprocess.TimeoutExpired:
            self.running.terminate()
            self.running.wait()
            code = 1
        self.running = None
        return code
