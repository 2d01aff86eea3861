#!/usr/bin/env python3
"""Tests of the parts of tools/run that need no control plane."""

import base64
import contextlib
import glob
import gzip
import hashlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(TOOLS)
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import cluster  # noqa: E402
import libraries  # noqa: E402
import main  # noqa: E402
import pages  # noqa: E402
import plane  # noqa: E402
import preload  # noqa: E402
import process  # noqa: E402
import workload_ports  # noqa: E402
from progress import AssetError  # noqa: E402
from tree import WithFolder  # noqa: E402

CORE = preload.Provider("CoreProvider", "capi-system", "cluster-api", "v1.12.0")
DOCKER = preload.Provider("InfrastructureProvider", "capd-system", "docker", "v1.12.0")


class Sample(unittest.TestCase):
    def test_quickstart_has_its_four_providers(self):
        with open(os.path.join(TOOLS, "..", "manifests", "samples", "quickstart.yaml"), encoding="utf-8") as file:
            found = [(p.label, p.namespace, p.version) for p in preload.read_providers(file.read())]
        self.assertEqual(
            found,
            [
                ("cluster-api", "capi-system", "v1.12.0"),
                ("bootstrap-kubeadm", "capi-kubeadm-bootstrap-system", "v1.12.0"),
                ("control-plane-kubeadm", "capi-kubeadm-control-plane-system", "v1.12.0"),
                ("infrastructure-docker", "capd-system", "v1.12.0"),
            ],
        )

    def test_provider_without_a_version_is_an_error(self):
        with self.assertRaisesRegex(AssetError, "CoreProvider of the sample lacks"):
            preload.read_providers("kind: CoreProvider\nmetadata:\n  name: a\n  namespace: b\n")

    def test_empty_documents_are_skipped(self):
        self.assertEqual(cluster.split_documents("---\n\n---\na: 1\n---\n"), ["\na: 1\n"])

    def test_own_kinds_are_those_of_yaml_files(self):
        """manifests/crds has a Kustomization, which no API server takes."""
        texts = cluster.documents(cluster.own_crds())
        self.assertEqual(len(texts), 7)
        for text in texts:
            self.assertIn("kind: CustomResourceDefinition", text)
        with mock.patch.object(cluster, "OWN_CRDS", TOOLS), self.assertRaisesRegex(AssetError, "tools has no CRDs"):
            cluster.own_crds()


class ConfigMaps(unittest.TestCase):
    def test_small_release_is_plain_under_the_known_names(self):
        item = preload.config_map(DOCKER, b"m", b"c")
        self.assertEqual(item["metadata"]["name"], "infrastructure-docker-v1.12.0")
        self.assertEqual(
            item["metadata"]["labels"],
            {
                "provider.cluster.x-k8s.io/version": "v1.12.0",
                "provider.cluster.x-k8s.io/type": "infrastructure",
                "provider.cluster.x-k8s.io/name": "docker",
                "managed-by.operator.cluster.x-k8s.io": "true",
            },
        )
        self.assertEqual(item["data"], {"metadata": "m", "components": "c"})
        self.assertNotIn("annotations", item["metadata"])

    def test_limit_counts_both_files_and_is_plain_at_exactly_one_mebibyte(self):
        self.assertIn("components", preload.config_map(CORE, b"mm", b"c" * ((1 << 20) - 2))["data"])
        item = preload.config_map(CORE, b"mm", b"c" * ((1 << 20) - 1))
        self.assertEqual(item["metadata"]["annotations"], {"provider.cluster.x-k8s.io/compressed": "true"})
        self.assertEqual(item["data"], {"metadata": "mm"})
        packed = base64.b64decode(item["binaryData"]["components"])
        self.assertEqual(gzip.decompress(packed), b"c" * ((1 << 20) - 1))

    def test_they_are_those_that_the_operator_writes(self):
        with open(os.path.join(ROOT, "testdata", "kept", "releases.json"), encoding="utf-8") as file:
            cases = json.load(file)
        self.assertEqual({case["kind"] for case in cases}, set(preload.KINDS))
        for case in cases:
            with self.subTest(case["kind"], bytes=case["components"]):
                provider = preload.Provider(case["kind"], case["namespace"], case["name"], case["version"])
                item = preload.config_map(provider, case["metadata"].encode(), b"c" * case["components"])
                for where, unpack in (("data", str.encode), ("binaryData", lambda text: gzip.decompress(base64.b64decode(text)))):
                    if "components" in item.get(where, {}):
                        digest = hashlib.sha256(unpack(item[where]["components"])).hexdigest()
                        item[where]["components"] = f"sha256:{digest}"
                self.assertEqual(item, case["config_map"])

    def test_release_is_read_from_a_local_repository(self):
        with tempfile.TemporaryDirectory() as folder:
            release = os.path.join(folder, "infrastructure-docker", "v1.12.0")
            os.makedirs(release)
            with self.assertRaisesRegex(AssetError, "holds 0 components files"):
                preload.read_release(folder, DOCKER)
            for name, text in (("metadata.yaml", "m"), ("infrastructure-components-development.yaml", "c")):
                with open(os.path.join(release, name), "w", encoding="utf-8") as file:
                    file.write(text)
            self.assertEqual(preload.read_release(folder, DOCKER), (b"m", b"c"))
            with self.assertRaisesRegex(AssetError, "has no cluster-api/v1.12.0"):
                preload.read_release(folder, CORE)


class Ports(unittest.TestCase):
    def test_free_ports_differ_and_can_be_bound(self):
        ports = process.free_ports(8)
        self.assertEqual(len(set(ports)), 8)
        for port in ports:
            socket.create_server(("127.0.0.1", port)).close()


class State(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.parent = os.path.join(folder.name, "runs")

    def test_leftovers_of_dead_runs_go_and_those_of_live_ones_stay(self):
        live = process.StateFolder(self.parent)
        dead = process.StateFolder(self.parent)
        dead.lock.close()
        mine = process.StateFolder(self.parent)
        self.assertEqual(mine.remove_leftovers(), 1)
        self.assertEqual(sorted(os.listdir(self.parent)), sorted(os.path.basename(s.path) for s in (live, mine)))
        for state in (live, mine):
            state.remove()
        self.assertFalse(os.path.exists(self.parent))

    def test_folder_without_a_lock_is_left_alone_while_it_is_young(self):
        young = os.path.join(self.parent, "run-young")
        old = os.path.join(self.parent, "run-old")
        for path in (young, old):
            os.makedirs(path)
        os.utime(old, (0, 0))
        state = process.StateFolder(self.parent)
        state.remove_leftovers()
        self.assertEqual((os.path.exists(young), os.path.exists(old)), (True, False))
        state.remove()

    def test_folder_is_private(self):
        state = process.StateFolder(self.parent)
        self.assertEqual(os.stat(self.parent).st_mode & 0o777, 0o700)
        state.remove()


class Folder(WithFolder):
    def test_one_run_at_a_time_has_it(self):
        first = plane.Folder(self.folder)
        with self.assertRaisesRegex(AssetError, rf"another run \(process {os.getpid()}\) has .*: RUN_FOLDER="):
            plane.Folder(self.folder, until_clean=0)
        first.close()  # as the kernel does for one that was killed
        plane.Folder(self.folder).close()

    def test_somebody_elses_files_stay(self):
        """Manifests of a person's own were removed, and a configuration was written over."""
        for name in ("manifests/mine.yaml", "clusterctl.yaml"):
            self.write(name, "mine")
        with self.assertRaisesRegex(AssetError, "has files in it that are no run's: RUN_FOLDER="):
            plane.Folder(self.folder)
        self.assertEqual(sorted(os.listdir(self.folder)), ["clusterctl.yaml", "manifests"])

    def test_what_former_runs_left_is_no_hindrance(self):
        self.write("lock")
        os.symlink("/nowhere", os.path.join(self.folder, "kubeconfig"))
        plane.Folder(self.folder).close()
        self.write("run-manifests/01.yaml")
        plane.Folder(self.folder).close()

    def test_one_that_cannot_be_is_an_error_and_nothing_is_left(self):
        environment = {"RUN_FOLDER": os.path.join(self.write("file"), "run")}
        with self.assertRaisesRegex(AssetError, "cannot write to .*: Not a directory"):
            main.Run(environment)
        self.assertEqual(os.listdir(self.folder), ["file"])


class Arguments(WithFolder):
    def test_what_is_asked_for_is_read_before_anything_is_made(self):
        run = os.path.join(self.folder, "run")
        cases = [({"TIMEOUT": text}, f"TIMEOUT={text} is no number of seconds") for text in ("0", "-1", "1.5", "soon", "5 s")]
        cases += [({name: self.folder}, f"{name}={self.folder} is no program") for name in ("CLUSTERCTL", "OPERATOR")]
        cases += [({"RELEASES_DIR": "/none"}, "RELEASES_DIR=/none is no folder")]
        for variables, words in cases:
            with self.subTest(variables), self.assertRaisesRegex(AssetError, words):
                main.Run({"RUN_FOLDER": run, **variables})
        self.assertFalse(os.path.exists(run))
        self.assertEqual([main.seconds(text) for text in ("1", "300s")], [1, 300])

    def test_the_configuration_names_the_releases_of_a_repository(self):
        self.assertEqual(plane.configuration(None), "{}\n")
        lines = plane.configuration("/it's \"a\"").splitlines()
        url = '"/it\'s \\"a\\"/infrastructure-docker/v1.12.0/infrastructure-components.yaml"'
        self.assertIn(f"- {{name: docker, type: InfrastructureProvider, url: {url}}}", lines)
        self.assertEqual(len(lines), 1 + len(plane.PROVIDERS))

    def test_providers_and_versions_are_those_of_the_sample(self):
        with open(os.path.join(ROOT, "manifests", "samples", "quickstart.yaml"), encoding="utf-8") as file:
            found = {(p.kind, p.name, p.label, p.version) for p in preload.read_providers(file.read())}
        ours = {(kind, name, label, plane.VERSION) for kind, (name, label, _, _) in plane.PROVIDERS.items()}
        self.assertEqual(ours, found)


class Cleaner(WithFolder):
    """A run that is killed leaves nothing: who waits for its end ends the plane then."""

    def made(self, script="exit 0"):
        self.own = plane.Folder(os.path.join(self.folder, "run"))
        self.addCleanup(self.own.close)
        program = self.write("clusterctl", f"#!/bin/sh\necho \"$@\" >>{self.folder}/asked\n{script}\n", mode=0o755)
        return plane.Plane(program, self.own, "config.yaml")

    def asked(self):
        with open(os.path.join(self.folder, "asked"), encoding="utf-8") as file:
            return file.read().splitlines()

    def test_ends_the_plane_and_removes_the_manifests(self):
        """`down` comes first: `down --delete` alone keeps a plane that has Clusters."""
        made = self.made()
        down = [f"local down --dir {made.path}", f"local down --delete --dir {made.path}"]
        self.assertEqual(self.asked(), down, "what was left of one that was killed with its cleaner")
        self.write("run/run-manifests/01_cluster.yaml")
        self.assertTrue(made.close())
        self.assertEqual(self.asked(), down * 3, "by itself, and by the one that waits for its end")
        self.assertFalse(os.path.exists(made.manifest_folder))

    def test_holds_the_folder_until_it_is_clean(self):
        made = self.made()
        self.own.close()
        with self.assertRaisesRegex(AssetError, "another run"):
            plane.Folder(self.own.path, until_clean=0)
        made.cleaner.stdin.close()  # as the kernel does for a run that is killed
        plane.Folder(self.own.path, until_clean=30).close()
        made.cleaner.wait()

    def test_what_stays_is_told(self):
        made = self.made("exit 1")
        self.assertFalse(made.close())

    def test_what_takes_longer_is_ended(self):
        made = self.made('[ "$4" = wait ] && exec sleep 60\nexit 0')
        self.addCleanup(made.close)
        with mock.patch.object(plane, "GRACE", 0.05):
            self.assertEqual((made.apply(60), made.wait("a", 0)), (0, 1))
        self.assertIsNone(made.running)


class WorkloadPorts(WithFolder):
    def test_another_one_is_waited_for_and_told(self):
        said = []
        with mock.patch.object(workload_ports, "PATH", os.path.join(self.folder, "ports")):
            with workload_ports.one_at_a_time():
                with self.assertRaisesRegex(AssetError, "another docker provider runs on this machine"):
                    with workload_ports.one_at_a_time(0, lambda: said.append("waits")):
                        pass
            with workload_ports.one_at_a_time(0, lambda: said.append("waits")):
                pass
        self.assertEqual(said, ["waits"])


class PageReleases(WithFolder):
    """Pages run with all releases there are; one that names another is skipped, and says which."""

    def test_first_folder_counts_and_the_others_fill_in(self):
        for name in ("made/cluster-api/v2/a", "tree/cluster-api/v1/a", "tree/cluster-api/v2/a", "tree/aws/v1/a"):
            self.write(name)
        self.write("tree/README.md")
        made, tree, target = (os.path.join(self.folder, name) for name in ("made", "tree", "target"))
        pages.merge([made, tree], target)
        links = {"cluster-api/v2": made, "cluster-api/v1": tree, "aws/v1": tree}
        self.assertEqual(sorted(glob.glob("*/*", root_dir=target)), sorted(links))
        for name, source in links.items():
            self.assertEqual(os.readlink(os.path.join(target, name)), os.path.join(source, name))

    def test_missing_releases_are_named(self):
        os.makedirs(os.path.join(self.folder, "cluster-api", "v1"))
        cases = [
            (["cluster-api/v1"], ""),
            (["cluster-api/v2"], "there is no release cluster-api/v2"),
            (["cluster-api/v1", "aws/v1", "cluster-api/v3"], "there is no release aws/v1 and cluster-api/v3"),
        ]
        for names, expected in cases:
            with self.subTest(names=names):
                self.assertEqual(pages.missing(self.folder, names), expected)

    def test_vendors_releases_stand_alone_where_they_are_asked_for(self):
        both = {"CAPI_ASSETS_RELEASES": "/made", "RELEASES_DIR": "/vendors"}
        cases = [
            (both, ["/made", os.path.join(ROOT, "testdata", "releases")]),
            ({**both, "CAPI_RELEASES": "vendors"}, ["/vendors"]),
        ]
        for variables, expected in cases:
            with self.subTest(variables=variables), mock.patch.dict(os.environ, variables, clear=True):
                self.assertEqual(pages.sources(), expected)

    def test_without_vendors_releases_their_pages_are_skipped_and_nothing_is_started(self):
        class One(pages.Page):
            def test_page(self):
                raise AssertionError("there is nothing to run it on")

        result = unittest.TestResult()
        with mock.patch.dict(os.environ, {"CAPI_RELEASES": "vendors"}, clear=True):
            with mock.patch.object(pages.Page, "WORLD", side_effect=AssertionError):
                unittest.TestSuite([One("test_page")]).run(result)
        self.assertTrue(result.wasSuccessful(), result.errors + result.failures)
        self.assertEqual([why for _, why in result.skipped], ["RELEASES_DIR is not set"])

    def test_a_core_provider_is_left_to_the_next_test_unless_one_has_failed(self):
        """The next one's core provider was annotated hands-off, with another image, and that failed too."""

        class OnACore(pages.Page):
            def setUp(self):
                began.append(self.world.has_core)
                self.world.has_core = True

            def test_1_passes(self):
                pass

            def test_2_fails(self):
                self.fail("before the end")

            def test_3_comes_next(self):
                pass

        began = []
        with mock.patch.object(pages.Page, "world", mock.Mock(has_core=False)):
            unittest.defaultTestLoader.loadTestsFromTestCase(OnACore).run(unittest.TestResult())
        self.assertEqual(began, [False, True, False])

    def test_a_world_that_does_not_get_up_leaves_nothing(self):
        with mock.patch.object(pages, "sources", side_effect=AssetError("no releases")):
            with mock.patch.object(tempfile, "tempdir", self.folder), self.assertRaisesRegex(AssetError, "no releases"):
                pages.World()
        self.assertNotEqual(os.listdir(self.folder), [])
        unittest.doModuleCleanups()
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_the_pages_ask_for_is_in_the_tree_or_made_of_modules(self):
        made = {f"{label}/v1.12.0" for label in ("cluster-api", "bootstrap-kubeadm")}
        with open(os.path.join(TOOLS, "pages_e2e_test.py"), encoding="utf-8") as file:
            named = set(re.findall(r'"([a-z-]+/v\d+\.\d+\.\d+)"', file.read()))
        self.assertGreaterEqual(named, made)
        self.assertEqual(pages.missing(os.path.join(ROOT, "testdata", "releases"), sorted(named - made)), "")


class ProgramUnderTest(WithFolder):
    def find(self, **variables):
        with mock.patch.dict(os.environ, variables, clear=True), contextlib.redirect_stderr(io.StringIO()) as said:
            return built.find("capi-operator", self.folder), said.getvalue()

    def test_named_program_comes_first(self):
        ours, named = self.write("build/release/bin/capi-operator", mode=0o755), self.write("named", mode=0o755)
        self.assertEqual(self.find(), (ours, ""))
        self.assertEqual(self.find(CAPI_OPERATOR=named), (named, ""))

    def test_no_program_is_an_error_that_says_what_to_do(self):
        for variables in ({}, {"CAPI_OPERATOR": os.path.join(self.folder, "none")}, {"CAPI_OPERATOR": self.folder}):
            with self.subTest(variables=variables), self.assertRaisesRegex(FileNotFoundError, "make build.*CAPI_OPERATOR"):
                self.find(**variables)

    def test_program_older_than_its_sources_is_told(self):
        ours = self.write("build/release/bin/capi-operator", mode=0o755)
        os.utime(ours, (1, 1))
        for name in ("operator/x_test.cc", "kube/testing/y.cc", "docs/z.h"):
            self.write(name)
        self.assertEqual(self.find(), (ours, ""), "a test or a page makes no program old")
        self.write("operator/x.cc")
        self.assertEqual(self.find(), (ours, f"{ours} is older than operator/x.cc: `make build` brings it up to date\n"))


COMPILERS = {"g++", "cmake", "ninja-build", "ccache", "git", "lld"}
SSH = {"openssh-client", "openssh-server"}
LINTERS = {"clang-14", "clang-tidy-14", "libclang-rt-14-dev"}


class Packages(WithFolder):
    """tools/deps with a dpkg that has nothing and an apt-get that notes what it is asked for."""

    def installed(self, group, go=False, status=0, **variables):
        self.write("bin/dpkg-query", "#!/bin/sh\nexit 1\n")
        self.write("bin/dpkg", f'#!/bin/sh\ncase $1 in --add-*) echo "$@" >>{self.folder}/asked ;; --print-arch*) echo amd64 ;; esac\n')
        self.write("bin/apt-get", f'#!/bin/sh\necho "$@" >>{self.folder}/asked\nexit {status}\n')
        self.write("bin/sudo", '#!/bin/sh\n[ "$1" = --validate ] || exec "$@"\n')
        for name in ("bash", "env", "awk", "grep", "mktemp", "sleep", "rm", "tail", "xargs"):
            if not os.path.exists(os.path.join(self.folder, "bin", name)):
                os.symlink(f"/usr/bin/{name}", os.path.join(self.folder, "bin", name))
        if go:
            self.write("bin/go", mode=0o755)
        elif os.path.exists(os.path.join(self.folder, "bin", "go")):
            os.remove(os.path.join(self.folder, "bin", "go"))
        self.write("asked")
        command = ["/usr/bin/bash", os.path.join(TOOLS, "deps"), *group]
        environment = {"PATH": os.path.join(self.folder, "bin"), **variables}
        self.done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        with open(os.path.join(self.folder, "asked"), encoding="utf-8") as file:
            self.asked = lines = file.read().splitlines()
        return {word for word in lines[-1].split() if not re.match("-|install$|DPkg", word)} if lines else set()

    def test_build_installs_what_cmake_asks_for_and_nothing_else(self):
        self.assertEqual(libraries.asked(), set(libraries.PACKAGES))
        wanted = {name for packages in libraries.PACKAGES.values() for name in packages}
        self.assertEqual(self.installed(["build"]), COMPILERS | wanted)
        self.assertEqual(libraries.asked_for_tests(), set(libraries.OF_TESTS))

    def test_groups_add_what_they_need(self):
        build = self.installed(["build"])
        tests = {name for packages in libraries.OF_TESTS.values() for name in packages}
        run = self.installed(["run"], go=True)
        self.assertEqual(run - build, {"python3", "openssl", "ca-certificates"})
        self.assertEqual(self.installed(["run"]) - run, {"golang-go"})
        self.assertEqual(self.installed(["run"], GOPROXY="https://modules.example.com"), run)
        self.assertEqual(self.installed(["test"], go=True) - run, tests | {"clang-format-14", "groff-base", "iproute2", "pyflakes3", "skopeo"} | SSH)
        self.assertEqual(self.installed(["bench"], go=True) - run, tests | {"time"})
        self.assertEqual(self.installed(["lint"]) - build, tests | {"python3", "clang-14", "clang-tidy-14", "clang-format-14", "pyflakes3"})
        wanted = [tests | {"python3", "clang-14", "libclang-rt-14-dev"}, {"python3", "python3-venv"}, {"python3", "chromium", "fonts-dejavu-core"}]
        self.assertEqual([self.installed([group]) - build for group in ("fuzz", "site", "browser")], wanted)
        self.assertEqual(self.installed([], go=True), run | tests | LINTERS | {"clang-format-14", "groff-base", "iproute2", "pyflakes3", "skopeo", "time"} | SSH)

    def test_arm64_is_what_a_build_needs_of_another_architecture(self):
        """Libraries of that architecture, and the compiler, the emulator and headers of this one; not part of all."""
        build = self.installed(["build"])
        alone = {"nlohmann-json3-dev", "libcli11-dev", "prometheus-cpp-dev"}  # there for one architecture, or for all
        wanted = {f"{name}:arm64" for name in build - alone if name.endswith("-dev")} | {"libprometheus-cpp-core1.0:arm64"}
        wanted |= {"python3", "binutils", "g++-aarch64-linux-gnu", "qemu-user-static"}
        self.assertEqual(self.installed(["arm64"]) - build, wanted)
        self.assertEqual([line.split()[0] for line in self.asked], ["--add-architecture", "update", "install"])
        self.installed([])
        self.assertEqual([line.split()[0] for line in self.asked], ["update", "install"])

    def test_unknown_group_and_failure_are_errors(self):
        self.assertEqual(self.installed(["tests"]), set())
        self.assertEqual(self.done.returncode, 1)
        self.assertEqual(self.done.stderr, "tools/deps: build, run, test, bench, lint, fuzz, site, browser, arm64 or all, not tests\n")
        self.installed(["build"], status=3)
        self.assertEqual(self.done.returncode, 1)
        self.assertIn("updating the package lists ...\ntools/deps: that failed after ", self.done.stderr)


class Children(WithFolder):
    def test_server_that_ends_is_an_error_with_its_last_words(self):
        processes = process.Processes(self.folder)
        processes.start("thing", ["sh", "-c", "echo why; exit 3"])
        processes.started[0][1].wait()
        with self.assertRaisesRegex(AssetError, r"(?s)thing ended by itself \(exit code 3\):.*why"):
            processes.check()

    def test_stop_kills_what_does_not_listen(self):
        processes = process.Processes(self.folder)
        stubborn = processes.start("stubborn", ["sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"])
        while not os.path.getsize(processes.log_path("stubborn")):
            time.sleep(0.01)
        grace, process.GRACE = process.GRACE, 0.2
        self.addCleanup(setattr, process, "GRACE", grace)
        processes.stop()
        self.assertEqual(stubborn.returncode, -signal.SIGKILL)

    def test_children_die_with_a_killed_parent(self):
        script = (
            "import sys, time; sys.path[:0] = sys.argv[2:]; import process\n"
            "child = process.Processes(sys.argv[1]).start('sleeper', ['sleep', '60'])\n"
            "print(child.pid, flush=True); time.sleep(60)"
        )
        command = [sys.executable, "-c", script, self.folder, *sys.path[:2]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
            child = int(parent.stdout.readline())
            parent.kill()
        deadline = time.monotonic() + 5
        while is_running(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(is_running(child))


def is_running(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    return False


if __name__ == "__main__":
    unittest.main()
