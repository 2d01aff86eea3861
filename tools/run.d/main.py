"""Builds clusterctl and the operator, and shows them at work: a management plane of plain processes with Cluster API's core, kubeadm
and docker providers, and a Cluster on it, until that is Available.

What `make run` starts. Everything is gone when this ends, also when it is killed.

  ONCE=1          leave when the Cluster is Available (exit 0), or say what is not and exit 1
  TIMEOUT=600     seconds until it says so, for the providers and the Cluster together
  RELEASES_DIR    a clusterctl local repository to take the releases from where GitHub can't be reached
  OPERATOR        another operator program than build/release/bin/capi-operator
  CLUSTERCTL      another clusterctl than build/release/bin/clusterctl; then nothing is built
  RUN_FOLDER      where the plane is, with its kubeconfig and logs: build/run unless said otherwise
  OFFLINE=1       releases and managers are built from modules, or taken from RELEASES_DIR, whatever can be reached

The docker provider listens for its Clusters at ports from 20000 on, on all addresses of this machine, so one such run at a time
is what a machine has: another one is waited for.

The exit code is 0 when the Cluster was Available, also when Ctrl-C ended it then. Before that Ctrl-C is an interruption.
"""

import contextlib
import os
import re
import shlex
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

import children  # noqa: E402
import net  # noqa: E402
import plan  # noqa: E402
import plane  # noqa: E402
import programs  # noqa: E402
import progress  # noqa: E402
import releases  # noqa: E402
import terminal  # noqa: E402
import workload_ports  # noqa: E402
from progress import AssetError  # noqa: E402

TEMPLATE = os.path.join(ROOT, "manifests", "samples", "in-memory-cluster.yaml")
CLUSTER = "demo"
KUBERNETES = "v1.34.0"
GITHUB_PROBE = "https://github.com/kubernetes-sigs/cluster-api/releases/download/v1.12.0/metadata.yaml"
IMAGES_PROBES = ("https://registry.k8s.io/v2/", "https://gcr.io/v2/")

CLOSING = """
Everything is up. In another terminal:

  export KUBECONFIG={kubeconfig}
  export PATH={path}:$PATH
{page}
The API server, the operator, the providers' managers and their webhooks are real, and run as processes of this machine. The machines
of the Cluster are the docker provider's, in its memory: no container runs. Its API server listens at port 20000 of all addresses.

Four things to try:

  # 1. what there is: every provider with its version and state, and the Cluster as a tree
  kubectl get capi-providers --all-namespaces
  clusterctl describe cluster {cluster}

  # 2. break it: the Deployment is back at once
  kubectl --namespace capi-system delete deployment capi-controller-manager
  sleep 1; kubectl --namespace capi-system get deployments

  # 3. change a provider: its manager says more, by its own spec
  kubectl --namespace capi-kubeadm-bootstrap-system patch bootstrapprovider kubeadm --type merge \\
    --patch '{{"spec":{{"manager":{{"verbosity":5}}}}}}'
  kubectl --namespace capi-kubeadm-bootstrap-system rollout status deployment capi-kubeadm-bootstrap-controller-manager

  # 4. change the Cluster: another machine
  kubectl scale machinedeployment {cluster}-workers --replicas 3
  kubectl get machines

`clusterctl local status --dir {folder}` shows the processes, logs are in {folder}. Ctrl-C stops everything.
"""


class Probe:
    """Finds out beside other work whether a site can be reached."""

    def __init__(self, url):
        self.url = url
        self.answer = False
        self.thread = threading.Thread(target=self._ask, daemon=True)
        self.thread.start()

    def _ask(self):
        self.answer = net.reachable(self.url)

    def reached(self):
        """Whether it can be, by now."""
        self.thread.join()
        return self.answer


class Run:
    def __init__(self, environment):
        self.once = environment.get("ONCE", "") not in ("", "0")
        self.timeout = seconds(environment.get("TIMEOUT") or "600")
        self.offline = environment.get("OFFLINE", "") not in ("", "0")
        self.releases_dir = environment.get("RELEASES_DIR")
        if self.releases_dir and not os.path.isdir(self.releases_dir):
            raise AssetError(f"RELEASES_DIR={self.releases_dir} is no folder")
        self.operator, self.clusterctl = (program(environment, name) for name in ("OPERATOR", "CLUSTERCTL"))
        self.start = time.monotonic()
        self.ready = False
        # What can be refused comes first: nobody removes what a run that didn't begin has made.
        self.folder = plane.Folder(os.path.abspath(environment.get("RUN_FOLDER") or os.path.join(ROOT, "build", "run")))
        self.plane = None

    def go(self):
        """The whole run; its exit code."""
        github, images = [Probe(GITHUB_PROBE)], [Probe(url) for url in IMAGES_PROBES]
        self._build()
        servers = ["etcd", "kube-apiserver"]
        # Without it what an object owns isn't collected, and nothing here needs that: it isn't built for this.
        if programs.have("kube-controller-manager"):
            servers.append("kube-controller-manager")
        if not shutil.which("kubectl"):
            servers.append("kubectl")
        plan.announce(servers)
        servers = programs.link_folder(servers)
        config = self.folder.write(plane.configuration(self._releases(self._reached(github))))
        binaries = self._binaries(self._reached(images))
        with workload_ports.one_at_a_time(self.timeout, lambda: say("waiting for another docker provider on this machine to end")):
            self.plane = plane.Plane(self.clusterctl, self.folder, config)
            self.ready = self._bring_up(servers, binaries)
            if self.once:
                return 0 if self.ready else 1
            self._stay(servers)
        say("the plane has ended")
        return 1

    def _reached(self, probes):
        return not self.offline and all(probe.reached() for probe in probes)

    def close(self):
        if self.plane and not self.plane.close():
            print(f"tools/run: not all of {self.plane.path} has ended", file=sys.stderr)
        self.folder.close()

    def _build(self):
        if not self.clusterctl:
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
            self.clusterctl = os.path.join(ROOT, "build", "release", "bin", "clusterctl")

    def _releases(self, reached):
        """The folder that the releases are taken from, None where they can be downloaded."""
        if reached:
            say("provider releases: from GitHub")
            return None
        if self.releases_dir:
            say(f"provider releases: from {self.releases_dir} (GitHub isn't asked, or is out of reach)")
            return os.path.abspath(self.releases_dir)
        plan.announce(["releases"])
        folder = releases.locate()
        say("provider releases: built from the pinned modules (GitHub isn't asked, or is out of reach)")
        return folder

    def _binaries(self, reached):
        """What runs in the place of images: nothing where they can be pulled."""
        found = {} if not self.operator else {"capi-operator": self.operator}
        if reached:
            say("managers: from their images")
            return found
        plan.announce(["managers"])
        for name, image in plane.IMAGES.items():
            found[image] = programs.locate(name)
        say("managers: built from the pinned modules (their registries aren't asked, or are out of reach)")
        return found

    def _bring_up(self, servers, binaries):
        """Whether all of it is there in time."""
        deadline = time.monotonic() + self.timeout
        steps = (
            ("the plane", lambda left: self.plane.up(servers, binaries, left)),
            ("the manifests", lambda _: self.plane.manifests(CLUSTER, TEMPLATE, KUBERNETES)),
            ("the Cluster", self.plane.apply),
            ("the Cluster", lambda left: self.plane.wait(CLUSTER, left)),
        )
        for what, step in steps:
            if step(max(1, round(deadline - time.monotonic()))) != 0:
                say(f"{what} isn't there after {progress.clock(time.monotonic() - self.start)}")
                self.plane.tell()
                return False
        self.plane.describe(CLUSTER)
        say(f"Cluster {CLUSTER} is Available after {progress.clock(time.monotonic() - self.start)}")
        return True

    def _stay(self, servers):
        """Until it is told to stop."""
        path = os.path.dirname(self.clusterctl)
        if not shutil.which("kubectl"):
            path += os.pathsep + servers
        if self.ready:
            words = {name: shlex.quote(text) for name, text in (("kubeconfig", self.plane.kubeconfig), ("path", path), ("folder", self.plane.path))}
            page = self.plane.page()
            say(CLOSING.format(cluster=CLUSTER, page=f"\nSee it in a browser: {page}\n" if page else "", **words))
        else:
            say(f"\nTo look around: export KUBECONFIG={shlex.quote(self.plane.kubeconfig)}\nLogs are in {self.plane.path}. Ctrl-C stops everything.")
        self.plane.watch()


def program(environment, name):
    """The path of one that is to be used; None where none is named."""
    if not environment.get(name):
        return None
    path = os.path.abspath(environment[name])
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        raise AssetError(f"{name}={environment[name]} is no program")
    return path


def say(text):
    print(text, flush=True)


def seconds(text):
    """A number of whole seconds, with or without the s."""
    match = re.fullmatch(r"([1-9]\d{0,6})s?", text)
    if not match:
        raise AssetError(f"TIMEOUT={text} is no number of seconds from 1 on")
    return int(match.group(1))


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
        with contextlib.suppress(OSError):  # a terminal that was closed
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
