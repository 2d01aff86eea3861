"""`clusterctl init` of four providers, ours and the real one, each round on a fresh control plane; then `upgrade plan` of both over
ten providers.

Ours waits until all four are Ready (--wait-providers); the real one doesn't unless it is told to, and so is measured both ways. All
find their releases in a folder, and cert-manager installed. Pods come up at once (kwok); our operator begins as a process as soon as
its Deployment is there, with its webhooks where the API server looks for them, which takes root or a setting.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import cluster
import commands
import process
import releases
import rig
from figures import ROOT, cell, median, print_table, ratios, side_by_side
from progress import AssetError

sys.path.append(os.path.join(ROOT, "tools", "testing.d"))

import forward  # noqa: E402
import in_cluster  # noqa: E402

FOUR = ("cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-docker")
MORE = (*(f"infrastructure-{name}" for name in ("aws", "gcp", "kubevirt", "metal3", "openstack")), "ipam-in-cluster")
OPERATOR = f"/apis/apps/v1/namespaces/{in_cluster.NAMESPACE}/deployments/capi-operator-controller-manager"
SERVICE = f"/api/v1/namespaces/{in_cluster.NAMESPACE}/services/capi-operator-webhook-service"
ISSUER = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": "first"}, "spec": {"selfSigned": {}}}
IMAGE = "registry.example.com/capi-operator:v0.1.0"


OURS, REAL = "clusterctl", "the real one"
# The program, and its flags.
WAYS = {
    "clusterctl, until all are Ready": (OURS, "--wait-providers", "--operator-image", IMAGE),
    "the real one, until they are available": (REAL, "--wait-providers"),
    "the real one, which doesn't wait": (REAL,),
}


class Rig(rig.Rig):
    """A control plane with cert-manager and nothing else."""

    forwarder = None

    def prepare(self):
        self.api.create_crds(cluster.documents([self.bench.crds]))
        with open(self.path("cert-manager-alone.yaml"), "w", encoding="utf-8") as file:
            file.write(in_cluster.cert_manager(in_cluster.VERSION))
        self.plane.kubectl("apply", "-f", self.path("cert-manager-alone.yaml"))
        # The first object of a kind takes a fresh server two seconds, whoever sends it.
        self.api.create("/apis/cert-manager.io/v1/namespaces/default/issuers?dryRun=All", json.dumps(ISSUER))
        self.place_operator()
        self.configure()

    def __exit__(self, *reason):
        if self.forwarder:
            self.forwarder.close()
        super().__exit__(*reason)

    def place_operator(self):
        """The Namespace that its webhooks' certificate is for."""
        with open(self.plane.operator_kubeconfig, "r+", encoding="utf-8") as file:
            config = json.load(file)
            config["contexts"][0]["context"]["namespace"] = in_cluster.NAMESPACE
            file.seek(0)
            json.dump(config, file)

    def path(self, name):
        return os.path.join(self.state.path, name)

    def configure(self):
        own = os.path.join(ROOT, "testdata", "releases")
        text = in_cluster.configuration(self.state.path, {releases.locate(): FOUR, own: MORE})
        with open(self.path("clusterctl.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        self.environment = commands.environment(self.state.path) | {"KUBECONFIG": self.plane.kubeconfig, "GOPROXY": "off"}

    def command(self, program, *arguments):
        return [program, *arguments, "--config", self.path("clusterctl.yaml")]

    def serve(self, init):
        """Our operator, as soon as `init`, a process, has asked for it, or ended with an error."""
        (port,) = process.free_ports(1)
        self.await_that("the operator is asked for", lambda: init.poll() or (self.api.get(SERVICE) and self.api.get(OPERATOR)))
        if init.poll():
            return
        self.forwarder = forward.Forwarder(self.api.get(SERVICE)["spec"]["clusterIP"], port)
        self.start([f"--webhook-port={port}"])

    def init(self, *flags, serve=False):
        """Seconds, and the peak of memory in MB, of the command."""
        with tempfile.NamedTemporaryFile("r") as report:
            command = self.command(commands.both()[self.program], "init", *flags)
            command = ["/usr/bin/time", "-q", "-f", "%M", "-o", report.name, *command]
            begin = time.monotonic()
            self.run(command, serve)
            took = time.monotonic() - begin
            return took, int(report.read()) * 1024 / 1e6

    def run(self, command, serve):
        """Runs it to its end. It is time(1), with clusterctl as its child: both end with this."""
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=self.environment, start_new_session=True, **streams) as running:
            try:
                if serve:
                    self.serve(running)
                _, errors = running.communicate(timeout=rig.TIMEOUT)
            except subprocess.TimeoutExpired as error:
                raise AssetError(f"{' '.join(command)}: not within {rig.TIMEOUT:.0f} s") from error
            finally:
                if running.poll() is None:
                    os.killpg(running.pid, signal.SIGKILL)
        if running.returncode != 0:
            raise AssetError(f"{' '.join(command)}: {errors}")


def one_round(bench, name, then=None):
    """One initialization's figures; `then` is done in what it made."""
    with Rig(bench, rig.OURS) as run:
        run.program, *flags = WAYS[name]
        ours = run.program == OURS
        figures = run.init("--infrastructure", "docker", *flags, serve=ours)
        if then:
            then(run)
        return figures


def plan_of_ten(run):
    names = ",".join(name for name, kind in map(in_cluster.name_of, MORE) if kind == "infrastructure")
    run.environment |= {f"{name}_B64ENCODED_CREDENTIALS": "bm90aGluZw==" for name in ("AWS", "GCP")}
    run.init("--infrastructure", names, "--ipam", "in-cluster", "--wait-providers")
    side_by_side("`upgrade plan` of ten providers", commands.both(), run.command("", "upgrade", "plan")[1:], run.environment, 5)


def run(rounds):
    try:
        socket.create_server(("127.0.0.2", 443)).close()
    except PermissionError:
        takes = "takes root or net.ipv4.ip_unprivileged_port_start=443"
        print(f"left out: init; it listens at port 443 of loopback addresses, which {takes}", file=sys.stderr)
        return
    measured = {name: [] for name in WAYS}
    with rig.Bench() as bench:
        for number in range(rounds):
            for name, results in measured.items():
                last = number == rounds - 1 and WAYS[name][0] == OURS
                results.append(one_round(bench, name, plan_of_ten if last else None))
    middles = [[median(column) for column in zip(*values)] for values in measured.values()]
    rows = [[name, *(cell(column, unit) for column, unit in zip(zip(*values), ("s", "MB")))] for name, values in measured.items()]
    rows += [[f"ratio to {name}", *ratios(middles[0], theirs)] for name, theirs in list(zip(WAYS, middles))[1:]]
    print_table(["`init` of four providers", "until it ends", "peak memory"], rows)
