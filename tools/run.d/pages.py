"""Runs the shell blocks of a page of the book, as they stand there, on a real control plane.

Two things differ from a reader's machine: the operator is the program under test (built.py), and it gets `--releases-dir`,
since a test may have no network.

All tests of a program share one control plane, for a start takes as long as many a page. Each finds it with the operator, and
without providers; or with a core provider, for the pages that begin with one, which takes longer still to install and remove.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import built
import children
import cluster
import plan
import worlds
from cluster import API_GROUP

ROOT = built.ROOT
LIMIT = 300
LEFT = 5  # for what an ended one has said
LATE = 124  # as timeout(1) has it


def blocks(heading, page="README.md", language="sh"):
    """The blocks of a section in one language, in order; those before the first section are under the page's title."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        sections = re.split(r"^## |\A# ", file.read(), flags=re.MULTILINE)
    section = next(section for section in sections if section.startswith(heading + "\n"))
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def headings(page="README.md", language="sh"):
    """The sections that have a block in that language, in order."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        sections = re.split(r"^## |\A# ", file.read(), flags=re.MULTILINE)
    return [section.partition("\n")[0] for section in sections if re.search(rf"^```{language}$", section, re.MULTILINE)]


def environment(plane, home, **more):
    """Of a reader whose kubectl reaches that control plane."""
    path = plane.programs + os.pathsep + os.environ["PATH"]
    return dict(os.environ, HOME=home, KUBECONFIG=plane.kubeconfig, PATH=path, **more)


@contextlib.contextmanager
def start(block, folder, variables, stop_at_failure=True):
    """The process of a block, for a `with`, whose end is its end, and that of what it has started. It ends at the first failure,
    unless it is to go on as a reader's shell does, into which the block was pasted."""
    options = ["-euo", "pipefail"] if stop_at_failure else ["-u"]
    with subprocess.Popen(
        ["bash", *options, "-c", block], text=True, cwd=folder, env=variables,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, preexec_fn=children.bound(signal.SIGKILL),
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            end(process)


def end(process):
    """Ends one with all that it has started: what hangs is a program that bash waits for, or one that bash left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def finish(process):
    """The finished process. One that doesn't end has failed, and says so."""
    try:
        output, errors = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        end(process)
        output, errors = rest(process)
        return subprocess.CompletedProcess(process.args, LATE, output, f"{errors}it didn't end within {LIMIT} s\n")
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def rest(process):
    """What one has said that was ended. A program with a session of its own is still there, and may keep the pipes open."""
    try:
        return process.communicate(timeout=LEFT)
    except subprocess.TimeoutExpired as late:
        return [(said or b"").decode(errors="replace") for said in (late.output, late.stderr)]


def run(block, folder, variables, stop_at_failure=True):
    with start(block, folder, variables, stop_at_failure) as process:
        return finish(process)


def checkout(folder):
    """Makes the folder a checkout as far as the commands of pages need one."""
    for name in ("charts", "manifests", "tools"):
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    return folder


def merge(sources, target):
    """Links all releases of the folders into one; of two with the same version the first folder's counts."""
    for source in sources:
        for label in sorted(os.listdir(source)):
            if not os.path.isdir(os.path.join(source, label)):
                continue
            os.makedirs(os.path.join(target, label), exist_ok=True)
            for version in os.listdir(os.path.join(source, label)):
                link = os.path.join(target, label, version)
                if not os.path.lexists(link):
                    os.symlink(os.path.join(os.path.abspath(source), label, version), link)
    return target


def on_vendors():
    """Whether the pages are to be tried on the vendors' releases, which RELEASES_DIR names where there are any."""
    return os.environ.get("CAPI_RELEASES") == "vendors"


def sources():
    """The folders with releases, the one that counts first: vendors' alone where they are asked for."""
    if on_vendors():
        return [os.environ["RELEASES_DIR"]]
    made = os.environ.get("CAPI_ASSETS_RELEASES") or plan.have(["releases"])[0]
    return [made, os.path.join(ROOT, "testdata", "releases")]


def missing(folder, releases):
    """Which of these releases ("cluster-api/v1.12.0") the folder lacks, as a sentence; "" when all are there."""
    lacking = [name for name in releases if not os.path.isdir(os.path.join(folder, name))]
    return f"there is no release {plan.listing(lacking)}" if lacking else ""


class World(worlds.World):
    """A control plane with cert-manager's kinds, and the operator as README.md has it started."""

    def __init__(self):
        self.used = self.has_core = False  # by an earlier test
        self.folder = tempfile.mkdtemp(prefix="pages-test-")
        super().__init__()
        self.releases = merge(sources(), os.path.join(self.folder, "releases"))
        self.program = built.find("capi-operator")
        self.start_plane()
        self.environment = environment(self.plane, self.folder)
        kinds, self.command = blocks("Use it in a cluster")
        checkout(self.folder)
        self.plane.api.create_crds(cluster.documents(plan.have(["crds"])))
        self.must_run(kinds)
        self.await_told()
        self.start_operator()

    def lists(self, kinds):
        return self.run(f"kubectl get {kinds} -A", self.folder).returncode == 0

    def close(self):
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_operator(self):
        command = self.command.strip().replace("build/release/bin/capi-operator", self.program)
        if not command.startswith(self.program):
            raise AssertionError(f"README.md starts no operator: {self.command}")
        self.run_operator(["bash", "-c", f"exec {command} --releases-dir='{self.releases}'"], self.environment)

    def run(self, block, folder):
        return run(block, folder, self.environment)

    def must_run(self, block):
        """What a block prints."""
        done = self.run(block, self.folder)
        if done.returncode != 0:
            raise AssertionError(f"{block}\n{done.stdout}{done.stderr}{self.last_words()}")
        return done.stdout

    def begin(self, core):
        """Removes what an earlier test has left, before the next one; leaves the core provider where that one begins with it,
        and gives whether it is there, of this same operator: another one applies all of it at the first change, and tells no
        drift."""
        there = core and self.has_core and self.operator is not None
        if self.used:
            self.clean(("capi-system",) if there else ())
        self.used, self.has_core = True, there
        return there

    def clean(self, but=()):
        """Removes all providers with their kinds, and every Namespace that a page has made, but these."""
        if self.operator is None:
            self.start_operator()
        marks = f"{API_GROUP}/delete-crds=true {API_GROUP}/force-delete=true cluster.x-k8s.io/paused-"
        items = json.loads(self.must_run("kubectl get capi-providers -A -o json"))["items"]
        items = [item for item in items if item["metadata"]["namespace"] not in but]
        for item in items:
            name = f"{item['kind']} {item['metadata']['name']} -n {item['metadata']['namespace']}"
            self.must_run(f"kubectl annotate {name} --overwrite {marks}")
        for namespace in {item["metadata"]["namespace"] for item in items}:
            self.must_run(f"kubectl delete capi-providers --all -n {namespace} --timeout=2m")
        found = self.must_run("kubectl get namespaces -o jsonpath='{.items[*].metadata.name}'").split()
        if made := " ".join(name for name in found if name not in ("default", *but) and not name.startswith("kube-")):
            self.must_run(f"kubectl delete namespaces {made} --timeout=2m")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Page(worlds.OnAWorld):
    WORLD = World
    CORE = False  # whether a test begins with a core provider, which those that do share

    def setUp(self):
        if on_vendors() and not os.environ.get("RELEASES_DIR"):
            self.skipTest("RELEASES_DIR is not set")
        self.start_world()
        folder = tempfile.TemporaryDirectory(prefix="page-", dir=self.world.folder)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.began = None

    def run(self, result=None):
        """What a failed test leaves is nothing to begin with: a core provider, say, that the operator keeps its hands off."""
        finished = super().run(result)
        if self.world is not None and result is not None and not result.wasSuccessful():
            self.world.has_core = False
        return finished

    def need(self, *releases):
        """Skips the test where the releases that its page names aren't there."""
        if why := missing(self.world.releases, releases):
            self.skipTest(why)

    def begin(self):
        """Whether the core provider is there that this test begins with."""
        if self.began is None:
            self.began = self.world.begin(self.CORE)
        return self.began

    def run_block(self, block):
        self.begin()
        done = self.world.run(block, self.folder)
        self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}{done.stderr}{self.world.last_words()}")
        return done.stdout

    def await_output(self, block, *wanted):
        """Runs a block again and again until it prints all that is wanted."""
        output = ""

        def prints_all():
            nonlocal output
            output = self.run_block(block)
            return all(text in output for text in wanted)

        self.world.until(f"{block}\nprints all of {wanted}", prints_all, 60, lambda: output)
        return output
