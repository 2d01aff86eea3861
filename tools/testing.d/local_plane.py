"""A plane of `clusterctl local` for tests: its command line, its processes, and small releases whose managers are stand-ins."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time

import built
import plan

HERE = os.path.dirname(os.path.realpath(__file__))
PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"]
LIMIT = 240
IMAGE = "registry.example.com/stand-in/manager"
METADATA = """\
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 1, minor: 0, contract: v1beta2}
"""
COMPONENTS = """\
apiVersion: v1
kind: Namespace
metadata: {{name: {ns}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: manager, namespace: {ns}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}-controller-manager, namespace: {ns}}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      serviceAccountName: manager
      terminationGracePeriodSeconds: 10
      containers:
      - name: manager
        image: {image}:{version}
        command: [/manager]
        args: ["--leader-elect", "--health-addr=:9440", "--diagnostics-address=:8443"]
        ports:
        - {{name: healthz, containerPort: 9440}}
        - {{name: metrics, containerPort: 8443}}
        env:
        - {{name: POD_NAME, valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}}}
        livenessProbe: {{httpGet: {{path: /healthz, port: healthz}}}}
        readinessProbe: {{httpGet: {{path: /readyz, port: healthz}}, periodSeconds: 1}}
"""
# The others wait for the core's kinds.
KIND = """\
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.x-k8s.io, labels: {cluster.x-k8s.io/v1beta2: v1beta2}}
spec:
  group: cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Cluster, plural: clusters}
  versions:
  - name: v1beta2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
# Kind, file, and namespace of each release.
RELEASES = {
    "cluster-api": ("CoreProvider", "core-components.yaml", "capi-system"),
    "bootstrap-kubeadm": ("BootstrapProvider", "bootstrap-components.yaml", "cabpk-system"),
    "control-plane-kubeadm": ("ControlPlaneProvider", "control-plane-components.yaml", "cacpk-system"),
    "infrastructure-toy": ("InfrastructureProvider", "infrastructure-components.yaml", "toy-system"),
}


def write_releases(folder, version="v1.0.0"):
    """Releases of stand-ins, and the text of a configuration that names them."""
    text = "providers:\n"
    for label, (kind, file, namespace) in RELEASES.items():
        place = os.path.join(folder, "releases", label, version)
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, file), "w", encoding="utf-8") as out:
            out.write(COMPONENTS.format(ns=namespace, name=label, image=IMAGE, version=version) + (KIND if kind == "CoreProvider" else ""))
        with open(os.path.join(place, "metadata.yaml"), "w", encoding="utf-8") as out:
            out.write(METADATA)
        name = label if kind == "CoreProvider" else label.split("-")[-1]
        text += f"- {{name: {name}, type: {kind}, url: {folder}/releases/{label}/latest/{file}}}\n"
    return text


def environment_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return dict(entry.split("=", 1) for entry in file.read().decode(errors="replace").split("\0") if "=" in entry)
    return {}


def command_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode(errors="replace").split("\0")
    return []


def is_alive(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return False


def parent_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[1])
    return None


class LocalPlane:
    """In a folder of the test. close() ends it, whatever is left of it."""

    def __init__(self, folder, configuration, place=None):
        self.folder = folder
        self.place = place or os.path.join(folder, "plane")
        self.config = os.path.join(folder, "clusterctl.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(configuration)
        self.programs = plan.link_folder(PROGRAMS)
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": folder,
            "KUBEBUILDER_ASSETS": self.programs,
            "CLUSTERCTL_DISABLE_VERSIONCHECK": "true",
        }
        self.binaries = [f"{IMAGE}={os.path.join(HERE, 'stand_in_manager.py')}", f"capi-operator={built.find('capi-operator')}"]
        self.id = None

    def begin(self, *arguments, **more):
        command = [built.find("clusterctl"), "local", *arguments, "--dir", self.place, "--config", self.config]
        environment = {**self.environment, **more.pop("environment", {})}
        return subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, **more
        )

    def begin_up(self, *arguments, **more):
        binaries = [word for entry in self.binaries for word in ("--binary", entry)]
        return self.begin("up", *binaries, *arguments, **more)

    def run(self, *arguments, **more):
        """Exit code, output and errors."""
        return self.end(self.begin(*arguments, **more))

    def end(self, running):
        out, errors = running.communicate(timeout=LIMIT)
        with contextlib.suppress(OSError, ValueError), open(os.path.join(self.place, "capi-local.json"), encoding="utf-8") as marker:
            self.id = json.load(marker)["plane"]
        return running.returncode, out, errors

    def must(self, *arguments, **more):
        return self.checked(self.run(*arguments, **more), arguments)

    def up(self, *arguments, **more):
        return self.checked(self.end(self.begin_up(*arguments, **more)), arguments)

    def checked(self, ended, arguments):
        code, out, errors = ended
        if code != 0:
            raise AssertionError(f"local {' '.join(arguments)} ended with {code}:\n{out}{errors}{self.words()}")
        return out + errors

    def words(self):
        """What helps to see why something failed."""
        _, table, errors = self.run("status")
        _, logs, _ = self.run("logs", "--tail", "15")
        return f"\n{table}{errors}{logs}"

    def status(self):
        code, out, errors = self.run("status", "-o", "json")
        if code == 1:
            raise AssertionError(errors)
        return code, json.loads(out)

    def process(self, beginning):
        """The one whose name begins so."""
        found = [one for one in self.status()[1]["processes"] if one["name"].startswith(beginning)]
        if not found:
            raise AssertionError(f"no process {beginning}...{self.words()}")
        return found[0]

    def until(self, what, done, seconds=60):
        end = time.monotonic() + seconds
        while True:
            seen = done()
            if seen:
                return seen
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}{self.words()}")
            time.sleep(0.05)

    def until_ready(self, seconds=120):
        return self.until("all is ready", lambda: self.status()[0] == 0, seconds)

    def kubectl(self, *arguments):
        command = [os.path.join(self.programs, "kubectl"), f"--kubeconfig={self.place}/kubeconfig", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    def pids(self):
        """All processes of this plane: those that have its id, and supervisors of its folder."""
        out = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            ours = self.id and environment_of(name).get("CAPI_LOCAL_PLANE") == self.id
            words = command_of(name)
            supervises = "supervise" in words and self.place in words
            if (ours or supervises) and is_alive(name):
                out.append(int(name))
        return out

    def until_gone(self, seconds=10):
        self.until("no process is left", lambda: not self.pids(), seconds)

    def close(self):
        self.run("down")  # a plane that runs isn't deleted while it has Clusters
        self.run("down", "--delete")
        for pid in self.pids():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def is_free(port):
    with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
        return True
    return False
