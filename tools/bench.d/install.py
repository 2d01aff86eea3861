"""Installs four providers with this operator and with the peer, side by side in one run.

Each round has a fresh control plane: core, kubeadm bootstrap, kubeadm control plane and docker from ConfigMaps, all
applied at once. Time runs from there until all four are Ready; requests are those of the operator in the API server's
audit log, from its start to that moment; memory is the peak of its resident set.
"""

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import cluster
import preload
import process
import programs
import releases
from figures import ROOT, cell, median, print_table, ratios
from progress import AssetError

SAMPLE = os.path.join(ROOT, "manifests", "samples", "quickstart.yaml")
TIMEOUT = 120.0
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": ["operator"]}],
}


class AuditedControlPlane(cluster.ControlPlane):
    """A control plane that logs what user "operator" asks of it."""

    def __init__(self, folder, state, processes):
        super().__init__(folder, state, processes)
        self.audit_log = os.path.join(state, "audit.log")
        self.operator_kubeconfig = os.path.join(state, "operator.kubeconfig")

    def _write_files(self):
        super()._write_files()
        with open(os.path.join(self.state, "policy.yaml"), "w", encoding="utf-8") as file:
            json.dump(AUDIT_POLICY, file)
        with open(os.path.join(self.state, "tokens.csv"), "a", encoding="utf-8") as file:
            file.write(f'{self.token}-operator,operator,operator,"system:masters"\n')
        config = self._kubeconfig()
        config["users"][0]["user"]["token"] = f"{self.token}-operator"
        with open(self.operator_kubeconfig, "w", encoding="utf-8") as file:
            json.dump(config, file)

    def _api_server_flags(self):
        policy = f"--audit-policy-file={os.path.join(self.state, 'policy.yaml')}"
        return [*super()._api_server_flags(), policy, f"--audit-log-path={self.audit_log}"]

    def requests(self):
        """Number of requests, watches counted when they begin."""
        seen = set()
        with open(self.audit_log, encoding="utf-8") as file:
            for line in file:
                seen.add(json.loads(line)["auditID"])
        return len(seen)


def documents(folder, crds):
    texts = []
    for path in [*(os.path.join(folder, name) for name in sorted(os.listdir(folder))), crds]:
        with open(path, encoding="utf-8") as file:
            texts += cluster.split_documents(file.read())
    return texts


def is_ready(plane, provider):
    path = f"/apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/{provider.namespace}/{provider.plural}/{provider.name}"
    conditions = ((plane.api.get(path) or {}).get("status") or {}).get("conditions") or []
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)


def peak_kib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


def await_probe(processes, port):
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        processes.check()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.02)
    raise AssetError("the operator isn't ready")


def one_round(command, folder, crds, source, providers):
    """Seconds, requests and KiB of one installation."""
    state = process.StateFolder()
    processes = process.Processes(state.path)
    try:
        plane = AuditedControlPlane(folder, state.path, processes)
        plane.start()
        plane.api.create_crds(documents(os.path.join(ROOT, "manifests", "crds"), crds))
        for path, item in preload.objects(source, providers):
            plane.api.create(path, json.dumps(item))
        (port,) = process.free_ports(1)
        argv = [argument.format(kubeconfig=plane.operator_kubeconfig, port=port, state=state.path) for argument in command]
        child = processes.start("operator", argv, dict(os.environ, KUBECONFIG=plane.operator_kubeconfig))
        await_probe(processes, port)
        begin = time.monotonic()
        plane.kubectl("apply", "--server-side", "-f", SAMPLE)
        while not all(is_ready(plane, provider) for provider in providers):
            processes.check()
            if time.monotonic() - begin > TIMEOUT:
                raise AssetError(f"not all are Ready after {TIMEOUT:.0f}s; see {state.path}")
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        peak = peak_kib(child.pid)
        time.sleep(0.3)  # the audit log is written behind
        if kept := os.environ.get("AUDIT_LOG"):
            shutil.copy(plane.audit_log, f"{kept}.{os.path.basename(command[0])}")
        return seconds, plane.requests(), peak
    finally:
        processes.stop()
        state.remove()


def certificate(folder):
    """The peer wants a serving certificate, webhooks or not."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-keyout", os.path.join(folder, "tls.key"), "-out", os.path.join(folder, "tls.crt")]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def run(rounds):
    """Prints the table; `rounds` of each program."""
    ours = os.environ.get("OPERATOR") or os.path.join(ROOT, "build", "release", "bin", "capi-operator")
    folder = programs.link_folder(["control-plane"])
    peer = os.path.join(programs.link_folder(["peer"]), "peer")
    crds = releases.locate_crds()
    with open(SAMPLE, encoding="utf-8") as file:
        providers = preload.read_providers(file.read())
    source = os.environ.get("RELEASES_DIR") or releases.locate()
    with tempfile.TemporaryDirectory() as folder_of_certificate:
        measure(rounds, ours, peer, certificate(folder_of_certificate), (folder, crds, source, providers))


def measure(rounds, ours, peer, certificates, surroundings):
    commands = {
        "capi-operator": [ours, "--kubeconfig={kubeconfig}", "--diagnostics-address=127.0.0.1:0",
                          "--health-addr=127.0.0.1:{port}"],
        "peer": [peer, "--kubeconfig={kubeconfig}", "--diagnostics-address=127.0.0.1:0", "--insecure-diagnostics",
                 "--health-addr=127.0.0.1:{port}", f"--webhook-cert-dir={certificates}", "--profiler-address="],
    }
    measured = {name: [] for name in commands}
    for number in range(rounds):
        for name, command in commands.items():
            result = one_round(command, *surroundings)
            measured[name].append(result)
            print(f"round {number + 1}, {name}: {result[0]:.2f} s, {result[1]} requests, {result[2] / 1024:.0f} MiB",
                  file=sys.stderr)
    columns = list(zip(("s", "", "MiB"), (1, 1, 1024)))
    rows = [
        [name, *(cell([value / scale for value in column], unit) for column, (unit, scale) in zip(zip(*values), columns))]
        for name, values in measured.items()
    ]
    middles = {name: [median(column) for column in zip(*values)] for name, values in measured.items()}
    rows.append(["ratio", *ratios(middles["capi-operator"], middles["peer"])])
    print_table(["four providers from ConfigMaps", "until all are Ready", "API requests", "peak memory"], rows)
