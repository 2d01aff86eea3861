"""Builds the operator and shows it at work: a local control plane, the operator, and four providers until all are Ready.

What `make run` starts. Everything listens on loopback only and is gone when this ends, also when it is killed.

  ONCE=1          leave when all are Ready (exit 0), or say what is not and exit 1
  TIMEOUT=300     seconds until it says so
  RELEASES_DIR    a clusterctl local repository to take the releases from where GitHub can't be reached
  OPERATOR        another operator program than build/release/bin/capi-operator; then nothing is built
  RUN_FOLDER      where the kubeconfig is put, build/run unless said otherwise

The exit code is 0 when all were Ready, also when Ctrl-C ended it then. Before that Ctrl-C is an interruption.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOT = os.path.dirname(TOOLS)
sys.path[:0] = [os.path.join(TOOLS, "run.d"), os.path.join(TOOLS, "assets.d")]

import access  # noqa: E402
import children  # noqa: E402
import cluster  # noqa: E402
import net  # noqa: E402
import plan  # noqa: E402
import preload  # noqa: E402
import process  # noqa: E402
import programs  # noqa: E402
import progress  # noqa: E402
import releases  # noqa: E402
import table  # noqa: E402
import terminal  # noqa: E402
from progress import AssetError  # noqa: E402

SAMPLE = "manifests/samples/quickstart.yaml"
GITHUB_PROBE = "https://github.com/kubernetes-sigs/cluster-api/releases/download/v1.12.0/metadata.yaml"

CLOSING = """
Everything is up. In another terminal:

  export KUBECONFIG={kubeconfig}{path}

The operator and the Kubernetes API are real; pods are simulated (kwok), no container runs. So what a provider's container
would answer is missing: creating a Cluster fails with "failed calling webhook ... connection refused", objects aren't
converted between versions, and `kubectl logs` and `kubectl exec` have nothing to show.

Three things to try:

  # 1. what there is: every provider with its version and state
  kubectl get capi-providers --all-namespaces

  # 2. break it: the Deployment is back at once
  kubectl --namespace capi-system delete deployment capi-controller-manager
  sleep 1; kubectl --namespace capi-system get deployments

  # 3. change it: two replicas of the docker provider's manager, by the provider's own spec
  kubectl --namespace capd-system patch infrastructureprovider docker --type merge \\
    --patch '{{"spec":{{"deployment":{{"replicas":2}}}}}}'
  kubectl --namespace capd-system rollout status deployment capd-controller-manager

Logs are in {logs}. Ctrl-C stops everything.
"""


class Probe:
    """Finds out beside other work whether GitHub can be reached."""

    def __init__(self):
        self.answer = False
        self.thread = threading.Thread(target=self._ask, daemon=True)
        self.thread.start()

    def _ask(self):
        self.answer = net.reachable(GITHUB_PROBE)

    def reached(self):
        self.thread.join()
        return self.answer


class Run:
    def __init__(self, environment):
        self.once = environment.get("ONCE", "") not in ("", "0")
        self.timeout = seconds(environment.get("TIMEOUT") or "300")
        self.releases_dir = environment.get("RELEASES_DIR")
        self.operator = environment.get("OPERATOR")
        self.start = time.monotonic()
        with open(os.path.join(ROOT, SAMPLE), encoding="utf-8") as file:
            self.providers = preload.read_providers(file.read())
        self.ready = False
        # What can be refused comes first: nobody removes what a run that didn't begin has made.
        self.access = access.Access(os.path.abspath(environment.get("RUN_FOLDER") or os.path.join(ROOT, "build", "run")))
        self.state = process.StateFolder()
        self.processes = process.Processes(self.state.path)

    def go(self):
        """The whole run; its exit code."""
        if removed := self.state.remove_leftovers():
            say(f"removed what {removed} killed runs had left")
        if not self.access.mine:
            say(f"another run (process {self.access.other()}) has {self.access.path}; this one gets a kubeconfig of its own")
        probe = Probe()
        self._build()
        plan.announce(["control-plane", "crds"])
        folder = programs.link_folder(["control-plane"])
        crds = releases.locate_crds()
        plane = cluster.ControlPlane(folder, self.state.path, self.processes)
        with activity("starting the control plane"):
            plane.start()
        self.kubeconfig = self.access.publish(plane.kubeconfig)
        with activity("applying the CRDs"):
            plane.api.create_crds(cluster.documents([*cluster.own_crds(), crds]))
        self._start_operator(plane)
        self._preload(plane, probe)
        with activity(f"applying {SAMPLE}"):
            plane.kubectl("apply", "--server-side", "-f", os.path.join(ROOT, SAMPLE))
        self.ready = self._watch(plane)
        if self.once:
            return 0 if self.ready else 1
        self._stay(plane, folder)
        return 0

    def close(self):
        self.access.remove()
        self.processes.stop()
        self.state.remove()

    def _build(self):
        if self.operator:
            return
        inherited = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
        environment = {name: value for name, value in os.environ.items() if name not in inherited}
        # It has progress lines of its own, so it gets the terminal.
        command = ["make", "--no-print-directory", "build"]
        build = subprocess.Popen(command, cwd=ROOT, env=environment, preexec_fn=children.bound(signal.SIGTERM))
        try:
            code = build.wait()
        except BaseException:
            build.terminate()
            build.wait()
            raise
        if code != 0:
            raise AssetError("the build failed")
        self.operator = os.path.join(ROOT, "build", "release", "bin", "capi-operator")

    def _start_operator(self, plane):
        flags = [f"--kubeconfig={plane.kubeconfig}", "--diagnostics-address=127.0.0.1:0", "--health-addr=127.0.0.1:0"]
        try:
            self.processes.start("capi-operator", [os.path.abspath(self.operator), *flags])
        except OSError as error:
            raise AssetError(f"cannot run {self.operator}: {error.strerror}") from error

    def _preload(self, plane, probe):
        """Puts the releases where the operator keeps what it has downloaded, when it can't download them."""
        if probe.reached():
            say("provider releases: from GitHub")
            return
        folder = self.releases_dir
        if folder:
            say(f"provider releases: from {folder} (GitHub is out of reach)")
        else:
            plan.announce(["releases"])
            folder = releases.locate()
            say("provider releases: built from the pinned modules (GitHub is out of reach)")
        with activity("putting the releases into the cluster"):
            for path, item in preload.objects(folder, self.providers):
                plane.api.create(path, json.dumps(item))

    def _watch(self, plane):
        """Shows the table until all are Ready (True) or the time is over (False)."""
        start = time.monotonic()
        shown = table.Table(sys.stdout)
        while True:
            self.processes.check()
            rows = table.read(plane.api, self.providers)
            shown.show(rows, time.monotonic() - start)
            if all(row.ready for row in rows):
                say(f"all {len(rows)} providers are Ready after {progress.clock(time.monotonic() - self.start)}")
                return True
            if time.monotonic() - start > self.timeout:
                say(f"not all are Ready after {progress.clock(self.timeout)}:")
                say("\n".join(table.blockers(rows)))
                return False
            time.sleep(0.1)

    def _stay(self, plane, folder):
        """Runs on until it is told to stop; says what becomes of the providers meanwhile."""
        if self.ready:
            path = "" if shutil.which("kubectl") else f"\n  export PATH={folder}:$PATH"
            say(CLOSING.format(kubeconfig=self.kubeconfig, path=path, logs=self.state.path))
        else:
            say(f"\nTo look around: export KUBECONFIG={self.kubeconfig}\nLogs are in {self.state.path}.")
        shown = table.Table(sys.stdout, live=False)
        for row in table.read(plane.api, self.providers):
            shown.seen[row.name] = row.key()
        while True:
            self.processes.check()
            shown.show(table.read(plane.api, self.providers), time.monotonic() - self.start)
            time.sleep(0.5)


class activity:  # noqa: N801 - reads as a statement
    """A step that takes a while, with its time."""

    def __init__(self, title):
        self.title = title

    def __enter__(self):
        self.progress = progress.Progress(self.title, sys.stdout)

    def __exit__(self, kind, value, traceback):
        if kind is None:
            self.progress.done()
        else:
            self.progress.failed()


def say(text):
    print(text, flush=True)


def seconds(text):
    """A number of seconds, with or without the s."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)s?", text)
    if not match:
        raise AssetError(f"TIMEOUT={text} is no number of seconds")
    return float(match.group(1))


class Stopped(KeyboardInterrupt):
    """Somebody told us to stop, with this signal."""

    def __init__(self, number):
        super().__init__()
        self.number = number


def heed(handler):
    # SIGINT too: a shell starts what it puts into the background with it ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handler)


def stop(number, _):
    heed(signal.SIG_IGN)  # make passes on what reached its process group, so we may get it twice
    raise Stopped(number)


def main():
    # make doesn't take us along when it is killed, and would end with 130 after every Ctrl-C, whatever we make of it.
    if "MAKELEVEL" in os.environ:
        children.die_with_parent(signal.SIGTERM)
        with terminal.alone():
            return controlled()
    return controlled()


def controlled():
    heed(stop)
    run = None
    try:
        run = Run(os.environ)
        return run.go()
    except AssetError as error:
        print(f"tools/run: {error}", file=sys.stderr)
        return 1
    except Stopped as stopped:
        print("\nstopping", file=sys.stderr)
        return 0 if run and run.ready else 128 + stopped.number
    except BrokenPipeError:
        return 1
    finally:
        heed(signal.SIG_IGN)
        if run:
            run.close()


if __name__ == "__main__":
    sys.exit(main())
