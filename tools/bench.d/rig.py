"""A fresh control plane with one operator on it, and what that operator asks and takes: for the parts of tools/bench
that need a cluster."""

import contextlib
import http.client
import json
import os
import subprocess
import tempfile
import time

import built
import cluster
import preload
import process
import programs
import releases
from progress import AssetError

TIMEOUT = 120.0
OURS, PEER = "capi-operator", "peer"
API = "/apis/operator.cluster.x-k8s.io/v1alpha2"
WRITES = ("create", "update", "patch", "delete", "deletecollection")
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": ["operator"]}],
}
WITH_BODIES = {"level": "Request", "users": ["operator"], "verbs": ["patch"]}


class AuditedControlPlane(cluster.ControlPlane):
    """A control plane that logs what user "operator" asks of it; with `bodies`, what it patches in full."""

    def __init__(self, folder, state, processes, bodies=False):
        super().__init__(folder, state, processes)
        self.bodies = bodies
        self.audit_log = os.path.join(state, "audit.log")
        self.operator_kubeconfig = os.path.join(state, "operator.kubeconfig")

    def _write_files(self):
        super()._write_files()
        with open(os.path.join(self.state, "policy.yaml"), "w", encoding="utf-8") as file:
            json.dump({**AUDIT_POLICY, "rules": [WITH_BODIES] * self.bodies + AUDIT_POLICY["rules"]}, file)
        with open(os.path.join(self.state, "tokens.csv"), "a", encoding="utf-8") as file:
            file.write(f'{self.token}-operator,operator,operator,"system:masters"\n')
        config = self.access()
        config["users"][0]["user"]["token"] = f"{self.token}-operator"
        with open(self.operator_kubeconfig, "w", encoding="utf-8") as file:
            json.dump(config, file)

    def _api_server_flags(self):
        policy = f"--audit-policy-file={os.path.join(self.state, 'policy.yaml')}"
        # In one file, whatever its size: of itself the server begins another one after 100 MB.
        return [*super()._api_server_flags(), policy, f"--audit-log-path={self.audit_log}", "--audit-log-maxsize=100000"]

    def requests(self):
        """Every request so far; the log is written behind."""
        time.sleep(0.3)
        with open(self.audit_log, encoding="utf-8") as file:
            return parse_audit(file)


def parse_audit(lines):
    """One (verb, resource) for each request, in their order; a watch counts once, when it begins."""
    seen = {}
    for line in lines:
        entry = json.loads(line)
        resource = (entry.get("objectRef") or {}).get("resource", "")
        seen.setdefault(entry["auditID"], (entry["verb"], resource))
    return list(seen.values())


def beyond_watches(requests):
    """Without watches and the lease."""
    return [(verb, resource) for verb, resource in requests if verb != "watch" and resource != "leases"]


def path_of(provider):
    return f"{API}/namespaces/{provider.namespace}/{provider.plural}/{provider.name}"


def is_ready(status, version=None):
    """Whether a provider's status says Ready and, where one is given, has that version."""
    ready = any(entry["type"] == "Ready" and entry["status"] == "True" for entry in status.get("conditions") or [])
    return ready and version in (None, status.get("installedVersion"))


def certificate(folder):
    """The peer wants a serving certificate, webhooks or not."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-keyout", os.path.join(folder, "tls.key"), "-out", os.path.join(folder, "tls.crt")]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def memory_kib(pid, field, file_name="status"):
    """VmRSS or VmHWM, its peak; of smaps_rollup, Pss."""
    with open(f"/proc/{pid}/{file_name}", encoding="utf-8") as file:
        for line in file:
            if line.startswith(f"{field}:"):
                return int(line.split()[1])
    return 0


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def connections(pid, port):
    """How many open connections a process has to a port."""
    sockets = set()
    for descriptor in os.scandir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            sockets.add(os.readlink(descriptor.path))
    lines = []
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/net/{name}", encoding="utf-8") as file:
            lines += file.read().splitlines()[1:]
    return sum(f"socket:[{inode}]" in sockets for inode in established_to(lines, port))


def established_to(lines, port):
    """Of lines of /proc/net/tcp the inodes of established connections to a port."""
    fields = (line.split() for line in lines)
    return [field[9] for field in fields if field[3] == "01" and int(field[2].rpartition(":")[2], 16) == port]


class Bench:
    """What all rounds of a part share: the programs, the releases, cert-manager's CRDs. Use it in a `with`."""

    def __init__(self):
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.source = os.environ.get("RELEASES_DIR") or releases.locate()
        self.programs = programs.link_folder(["control-plane"])
        self.crds = releases.locate_crds()
        self.certificates = certificate(self.stack.enter_context(tempfile.TemporaryDirectory()))
        peer = os.path.join(programs.link_folder(["peer"]), "peer")
        common = ["--kubeconfig={kubeconfig}", "--diagnostics-address=127.0.0.1:{metrics}", "--health-addr=127.0.0.1:{port}"]
        self.commands = {
            OURS: [built.find("capi-operator"), *common],
            PEER: [peer, *common, "--insecure-diagnostics", f"--webhook-cert-dir={self.certificates}", "--profiler-address="],
        }
        return self

    def __exit__(self, *_):
        self.stack.close()

    def lacks(self, providers):
        """The first of these releases that there isn't."""
        for provider in providers:
            if not os.path.isdir(os.path.join(self.source, provider.label, provider.version)):
                return f"{provider.label} {provider.version}"
        return None


class Rig:
    """One control plane with our CRDs and cert-manager's, and operators of one program. Use it in a `with`."""

    def __init__(self, bench, name, bodies=False):
        self.bench = bench
        self.name = name
        self.bodies = bodies  # whether the audit log has those of patches
        self.operators = 0  # started so far; each has a log of its own

    def __enter__(self):
        self.state = process.StateFolder()
        self.processes = process.Processes(self.state.path)
        try:
            self.plane = AuditedControlPlane(self.bench.programs, self.state.path, self.processes, self.bodies)
            self.plane.start()
            self.api = self.plane.api
            self.prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.processes.stop()
        self.state.remove()

    def prepare(self):
        """What is there before anything is measured."""
        self.api.create_crds(cluster.documents([*cluster.own_crds(), self.bench.crds]))

    def preload(self, providers):
        """Namespaces and releases."""
        for path, item in preload.objects(self.bench.source, providers):
            self.api.create(path, json.dumps(item))

    def start(self, more=()):
        """Starts the operator, with these flags too; returns its process when it says it is ready."""
        port, self.metrics = process.free_ports(2)
        places = {"kubeconfig": self.plane.operator_kubeconfig, "port": port, "metrics": self.metrics}
        argv = [*(argument.format(**places) for argument in self.bench.commands[self.name]), *more]
        environment = dict(os.environ, KUBECONFIG=self.plane.operator_kubeconfig)
        self.operators += 1
        log = "operator" if self.operators == 1 else f"operator-{self.operators}"
        started = self.processes.start(log, argv, environment)
        self.pid = started.pid
        self.await_that("the operator is ready", lambda: ask(port, "/readyz")[0] == 200)
        return started

    def end_operator(self):
        """The one that was started last, also where it has ended."""
        _, child = self.processes.started[-1]
        child.terminate()
        child.wait(30)
        self.processes.started.pop()

    def create(self, provider, spec=None):
        item = {
            "apiVersion": "operator.cluster.x-k8s.io/v1alpha2",
            "kind": provider.kind,
            "metadata": {"name": provider.name, "namespace": provider.namespace},
            "spec": {"version": provider.version, **(spec or {})},
        }
        self.api.create(os.path.dirname(path_of(provider)), json.dumps(item))

    def ready(self, provider):
        return is_ready((self.api.get(path_of(provider)) or {}).get("status") or {}, provider.version)

    def await_ready(self, providers, timeout=TIMEOUT):
        """Seconds until all are installed and Ready."""
        begin = time.monotonic()
        for provider in providers:
            self.await_that(f"{provider.label} is Ready", lambda: self.ready(provider), timeout)  # noqa: B023 - at once
        return time.monotonic() - begin

    def await_that(self, what, holds, timeout=TIMEOUT, pause=0.02):
        deadline = time.monotonic() + timeout
        while not holds():
            self.processes.check()
            if time.monotonic() > deadline:
                raise AssetError(f"not after {timeout:.0f}s: {what}")
            time.sleep(pause)

    def ready_now(self):
        """How many providers the operator's metrics have as Ready."""
        return ready_in(ask(self.metrics, "/metrics")[1])


def ready_in(metrics):
    return sum(line.startswith("capi_operator_provider_ready{") and line.endswith(" 1") for line in metrics.splitlines())


def ask(port, path):
    """Status and text of a plain request to a port of the operator; (0, "") while nobody listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()
