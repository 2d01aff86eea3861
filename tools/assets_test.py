#!/usr/bin/env python3
"""Tests of the parts of tools/assets that need neither network nor Go."""

import base64
import contextlib
import functools
import hashlib
import http.server
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import unittest
import zipfile
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, "assets.d"), os.path.join(TOOLS, "testing.d")]

import cache  # noqa: E402
import envtest  # noqa: E402
import net  # noqa: E402
import peer_chart  # noqa: E402
import plan  # noqa: E402
import progress  # noqa: E402
import programs  # noqa: E402
import releases  # noqa: E402
import toolchain  # noqa: E402
from progress import AssetError  # noqa: E402
from tree import WithFolder  # noqa: E402


class WithCache(WithFolder):
    """A cache folder of its own, and an environment without what may be set on this machine."""

    def setUp(self):
        super().setUp()
        variables = {"CAPI_OPERATOR_CACHE": os.path.join(self.folder, "cache"), "PATH": "", "KUBEBUILDER_ASSETS": ""}
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)
        stream = mock.patch.object(sys, "stderr", io.StringIO())
        stream.start()
        self.addCleanup(stream.stop)

    def put_in_cache(self, program):
        folder = programs.Family(programs.PROGRAMS[program][0]).bin()
        return self.write(os.path.relpath(os.path.join(folder, program), self.folder), mode=0o755)

    def a_go(self, rest=""):
        """The folder of a go command that is new enough, and else does what rest says."""
        text = f"#!/bin/sh\n[ $1 = env ] && echo go9.9.9 && exit\n{rest}\n"
        return os.path.dirname(self.write("path/go", text))


class Clock(unittest.TestCase):
    def test_reads_like_people_say_it(self):
        self.assertEqual(progress.clock(4.24), "4.2s")
        self.assertEqual(progress.clock(65), "1m05s")


class CacheFolder(WithCache):
    def test_explicit_folder_comes_first_then_xdg_then_home(self):
        self.assertEqual(cache.root(), os.path.join(self.folder, "cache"))
        with mock.patch.dict(os.environ, {"CAPI_OPERATOR_CACHE": "", "XDG_CACHE_HOME": "/x"}):
            self.assertEqual(cache.root(), "/x/capi-operator")
        with mock.patch.dict(os.environ, {"CAPI_OPERATOR_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/h"}):
            self.assertEqual(cache.root(), "/h/.cache/capi-operator")

    def test_key_tells_the_borders_of_its_parts(self):
        self.assertNotEqual(cache.key_of("ab", "c"), cache.key_of("a", "bc"))
        self.assertEqual(cache.key_of("a", b"b"), cache.key_of(b"a", "b"))

    def test_lock_lets_one_in_at_a_time(self):
        order = []

        def second():
            with cache.locked("thing"):
                order.append("second")

        with cache.locked("thing"):
            thread = threading.Thread(target=second)
            thread.start()
            thread.join(0.3)
            order.append("first")
        thread.join(5)
        self.assertEqual(order, ["first", "second"])

    def test_published_folder_stays_when_another_run_was_first(self):
        target = os.path.join(self.folder, "target")
        self.write("target/old")
        self.write("new/new")
        cache.publish(os.path.join(self.folder, "new"), target)
        self.assertEqual(os.listdir(target), ["old"])

    def test_scratch_is_gone_afterwards_even_when_read_only(self):
        with cache.scratch(os.path.join(self.folder, "x")) as folder:
            os.mkdir(os.path.join(folder, "ro"), 0o500)
        self.assertFalse(os.path.exists(folder))


class Toolchain(unittest.TestCase):
    def test_versions_compare_by_number(self):
        self.assertLess(toolchain.parse_version("go1.9"), toolchain.parse_version("1.26.8"))
        self.assertEqual(toolchain.parse_version("go1.25rc1"), (1, 25, 0))
        self.assertEqual(toolchain.parse_version("devel"), (0, 0, 0))

    def test_required_version_is_the_go_line(self):
        self.assertEqual(toolchain.required_version("module m\n\ngo 1.24.0\n"), (1, 24, 0))
        with self.assertRaises(AssetError):
            toolchain.required_version("module m\n")

    def test_proxies_leave_out_direct(self):
        with mock.patch.dict(os.environ, {"GOPROXY": "https://a,https://b|direct"}):
            self.assertEqual(toolchain.proxies(), ["https://a", "https://b"])
        with mock.patch.dict(os.environ, {"GOPROXY": "off"}), self.assertRaises(AssetError):
            toolchain.proxies()

    def test_module_hash_is_gos_h1(self):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("m@v1/b", "b")
            archive.writestr("m@v1/a", "a")
        with zipfile.ZipFile(data) as archive:
            lines = "".join(f"{hashlib.sha256(n.encode()).hexdigest()}  m@v1/{n}\n" for n in "ab")
            expected = hashlib.sha256(lines.encode()).digest()
            self.assertEqual(toolchain.module_hash(archive), "h1:" + base64.b64encode(expected).decode())


class Lookup(WithCache):
    def test_kubebuilder_assets_before_path_before_cache(self):
        in_path = self.write("path/etcd", mode=0o755)
        in_assets = self.write("assets/etcd", mode=0o755)
        with mock.patch.dict(os.environ, {"PATH": os.path.dirname(in_path)}):
            self.assertEqual(programs.locate("etcd"), in_path)
            with mock.patch.dict(os.environ, {"KUBEBUILDER_ASSETS": os.path.dirname(in_assets)}):
                self.assertEqual(programs.locate("etcd"), in_assets)

    def test_oracles_are_never_taken_from_path(self):
        ours = self.write("path/clusterctl", mode=0o755)
        with mock.patch.dict(os.environ, {"PATH": os.path.dirname(ours)}):
            self.assertIsNone(programs._on_machine("clusterctl"))

    def test_built_program_is_found_without_network(self):
        built = self.put_in_cache("etcd")
        self.assertEqual(programs.locate("etcd"), built)

    def test_link_folder_resolves_links_of_its_own(self):
        etcd = self.write("assets/etcd", mode=0o755)
        with mock.patch.dict(os.environ, {"KUBEBUILDER_ASSETS": os.path.dirname(etcd)}):
            first = programs.link_folder(["etcd"])
        with mock.patch.dict(os.environ, {"KUBEBUILDER_ASSETS": first}):
            self.assertEqual(programs.link_folder(["etcd"]), first)
        self.assertEqual(os.readlink(os.path.join(first, "etcd")), etcd)

    def test_links_to_programs_of_a_series_have_their_plain_names(self):
        etcd, server = self.put_in_cache("etcd"), self.put_in_cache("kube-apiserver-v1.29")
        folder = plan.link_folder(["etcd", "kube-apiserver"], "-v1.29")
        links = {name: os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)}
        self.assertEqual(links, {"etcd": etcd, "kube-apiserver": server})
        with self.assertRaisesRegex(plan.Missing, "`tools/assets kube-apiserver-v1.37` makes it, in about 5 minutes"):
            plan.link_folder(["etcd", "kube-apiserver"], "-v1.37")

    def test_the_page_names_the_minors_that_are_tried(self):
        with open(os.path.join(os.path.dirname(TOOLS), "docs", "install.md"), encoding="utf-8") as file:
            (row,) = (line for line in file if line.startswith("| Kubernetes |"))
        reported = [programs.Family("control-plane" + s).version("k8s.io/kubernetes") for s in ("", *programs.KUBERNETES_SERIES)]
        minors = {version.removeprefix("v").rpartition(".")[0] for version in reported}
        self.assertEqual(set(re.findall(r"\b1\.\d+", row)), minors)
        self.assertIn(f"| 1{programs.KUBERNETES_SERIES[0].removeprefix('-v1')} and later", row)

    def test_groups_expand_once(self):
        self.assertEqual(programs.expand(["etcd", "control-plane"]).count("etcd"), 1)

    def test_every_program_has_a_pinned_package(self):
        for name, (family, package) in programs.PROGRAMS.items():
            if package == ".":  # a program of ours: the module file pins what it is made of
                self.assertTrue(os.path.exists(os.path.join(programs.Family(family).folder, "go.sum")), name)
            else:
                self.assertIn(f"{package}\n", programs.Family(family).go_mod, name)

    def test_helm_says_which_kubernetes_it_is_built_against(self):
        family = programs.Family("helm")
        minor = family.version("k8s.io/client-go").split(".")[1]
        flags = family._link_flags("helm-v3").split()
        for package in ("chartutil", "lint/rules"):
            self.assertIn(f"helm.sh/helm/v3/pkg/{package}.k8sVersionMinor={minor}", flags)
        self.assertEqual(family._link_flags("helm"), "-s -w", "the fourth reads it from its build")

    def test_other_build_tags_mean_another_folder(self):
        """A program that was built with others stayed."""
        for name in programs.TAGS:
            family = programs.Family(name)
            pinned = family.bin()
            with self.subTest(name), mock.patch.dict(programs.TAGS, {name: "other"}):
                self.assertNotEqual(family.bin(), pinned)

    def test_another_go_means_another_folder(self):
        family = programs.Family("kwok")
        pinned = family.bin()
        with mock.patch.dict(os.environ, {"PATH": self.a_go()}):
            self.assertNotEqual(family.bin(), pinned)


class Plan(WithCache):
    """What is there is found without making anything; what isn't is named with the command that makes it."""

    def test_have_gives_the_paths_in_order(self):
        kwok, etcd = self.put_in_cache("kwok"), self.put_in_cache("etcd")
        self.assertEqual(plan.have(["kwok", "etcd"]), [kwok, etcd])

    def test_have_names_what_is_missing_and_what_makes_it(self):
        self.put_in_cache("etcd")
        cases = [
            (["peer"], "peer is not on this machine; `tools/assets peer` makes it, in about 4 minutes on two cores"),
            (["etcd", "go-yaml"], "go-yaml is not on this machine; `tools/assets go-yaml` makes it, in less than a minute"),
            (["crds", "kwok", "etcd"], "crds and kwok are not on this machine; `tools/assets crds kwok` makes them, in "),
            (["control-plane"], "kube-apiserver, kube-controller-manager, kube-scheduler, kubectl and kwok are not on this "),
            (["control-plane"], "`tools/assets control-plane` makes them, in about 9 minutes on two cores"),
        ]
        for names, expected in cases:
            with self.subTest(names=names), self.assertRaises(plan.Missing) as raised:
                plan.have(names)
            self.assertIn(expected, str(raised.exception))

    def test_tests_get_links_to_what_is_there_only(self):
        with mock.patch.object(programs.Family, "build") as build:
            with self.assertRaises(plan.Missing):
                plan.link_folder(["go-yaml"])
            path = self.put_in_cache("go-yaml")
            self.assertEqual(os.readlink(os.path.join(plan.link_folder(["go-yaml"]), "go-yaml")), path)
        build.assert_not_called()

    def announced(self, names, offered=()):
        with mock.patch.object(envtest, "offers", offered.__contains__):
            plan.announce(names)
        return sys.stderr.getvalue()

    def test_what_is_to_be_built_is_said_at_the_start(self):
        self.put_in_cache("etcd")
        said = self.announced(["etcd", "peer", "releases"])
        self.assertEqual(said, "to build from Go modules, once: kustomize, peer and releases (about 5 minutes on two cores)\n")

    def test_downloads_are_told_from_builds(self):
        said = self.announced(["etcd", "kubectl", "kwok"], offered=("etcd", "kubectl"))
        self.assertIn("to download: etcd and kubectl (less than a minute)\n", said)
        self.assertIn("to build from Go modules, once: kwok (about 2 minutes on two cores)\n", said)

    def test_nothing_is_said_where_all_is_there(self):
        self.put_in_cache("etcd")
        self.assertEqual(self.announced(["etcd"]), "")

    def test_everything_has_a_time(self):
        every = set(programs.PROGRAMS) | set(plan.FILES)
        managers = {name for name in programs.PROGRAMS if name.partition("-v")[0] in programs.MANAGERS}
        of_series = {name + series for series in programs.KUBERNETES_SERIES for name in programs.SERVERS}
        self.assertEqual(every - managers - of_series, set(plan.SECONDS))


class Command(WithCache):
    """tools/assets as a shell starts it, with a Go that we write."""

    def start(self, *arguments, go=None):
        # Without one of ours there is none: that of the machine may be new enough, and what it builds lies elsewhere.
        path = self.a_go(go) + ":/usr/bin:/bin" if go else ""
        environment = dict(os.environ, PATH=path, GOPROXY="http://127.0.0.1:1", HOME=self.folder)
        command = [sys.executable, "-B", os.path.join(TOOLS, "assets"), *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_env_makes_the_control_plane_kinds_and_releases_unless_told_otherwise(self):
        for name in programs.GROUPS["control-plane"]:
            self.write(f"assets/{name}", "#!/bin/sh\n")
        variables = {"KUBEBUILDER_ASSETS": os.path.join(self.folder, "assets"), "RELEASES_DIR": "/vendors"}
        cases = {
            (): "kustomize, crds and releases",
            ("control-plane", "go-yaml"): "go-yaml",
            ("peer-manifests",): "kustomize and peer-manifests",
        }
        for names, expected in cases.items():
            with self.subTest(names), mock.patch.dict(os.environ, variables):
                _, err = self.start("env", *names, go="exit 4").communicate()
                self.assertIn(f"to build from Go modules, once: {expected} (", err)

    def test_have_prints_a_path_or_one_sentence(self):
        out, err = self.start("have", "go-yaml").communicate()
        self.assertEqual(out, "")
        self.assertEqual(
            err, "tools/assets: go-yaml is not on this machine; `tools/assets go-yaml` makes it, in less than a minute\n"
        )
        built = self.put_in_cache("go-yaml")
        self.assertEqual(self.start("have", "go-yaml").communicate(), (built + "\n", ""))

    def test_build_that_fails_says_why_and_what_to_do(self):
        run = self.start("peer", go="echo no space left; exit 4")
        out, err = run.communicate()
        self.assertEqual((run.returncode, out), (1, ""))
        self.assertIn("building peer from its Go module: failed after ", err)
        self.assertIn("no space left", err)
        self.assertIn(f"what is finished stays in {cache.root()}, and `tools/assets peer` goes on from there", err)

    def test_build_that_is_interrupted_says_how_to_go_on_and_leaves_no_half_of_a_program(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                run = self.start("dir", "go-yaml", go="exec sleep 60")
                while "building go-yaml" not in run.stderr.readline():
                    self.assertIsNone(run.poll())
                run.send_signal(number)
                _, err = run.communicate(timeout=30)
                self.assertEqual(run.returncode, 130)
                self.assertIn("tools/assets: interrupted; what is finished stays in ", err)
                self.assertIn("`tools/assets dir go-yaml` goes on from there", err)
                left = [name for _, _, names in os.walk(os.path.join(cache.root(), "bin")) for name in names]
                self.assertEqual(left, [])


class Envtest(WithCache):
    def test_sum_is_the_first_word(self):
        self.assertEqual(envtest.published_sum("ab" * 64 + "  x.tar.gz\n", "u"), "ab" * 64)
        for text in ("", "<html>", "AB" * 64):
            with self.assertRaises(AssetError):
                envtest.published_sum(text, "u")

    def test_unpack_takes_only_the_programs(self):
        archive = os.path.join(self.folder, "a.tar.gz")
        with tarfile.open(archive, "w:gz") as content:
            for name in ("controller-tools/envtest/etcd", "../kube-apiserver", "x/kubectl", "x/README"):
                member = tarfile.TarInfo(name)
                member.size = 1
                content.addfile(member, io.BytesIO(b"x"))
        folder = os.path.join(self.folder, "out")
        os.mkdir(folder)
        envtest.unpack(archive, folder)
        self.assertEqual(sorted(os.listdir(folder)), ["etcd", "kube-apiserver", "kubectl"])

    def test_unpack_names_what_is_missing(self):
        archive = os.path.join(self.folder, "a.tar.gz")
        with tarfile.open(archive, "w:gz"):
            pass
        with self.assertRaisesRegex(AssetError, "lacks etcd, kube-apiserver, kubectl"):
            envtest.unpack(archive, self.folder)


class Download(WithCache):
    """The whole way of an envtest archive, from a local server in GitHub's place."""

    def setUp(self):
        super().setUp()
        self.site = os.path.join(self.folder, "site")
        handler = functools.partial(QuietHandler, directory=self.site)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        for patch in (
            mock.patch.object(envtest, "RELEASES", f"http://127.0.0.1:{server.server_port}"),
            mock.patch.dict(envtest._reached, clear=True),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def publish(self, change_sum=False):
        version = f"envtest-{envtest.VERSION}"
        archive = self.write(f"site/{version}/{version}-linux-{toolchain.arch()}.tar.gz")
        with tarfile.open(archive, "w:gz") as content:
            for name in envtest.PROGRAMS:
                member = tarfile.TarInfo(f"controller-tools/envtest/{name}")
                member.size = 1
                content.addfile(member, io.BytesIO(b"x"))
        digest = "0" * 128 if change_sum else hashlib.sha512(cache.read_bytes(archive)).hexdigest()
        self.write(os.path.relpath(archive, self.folder) + ".sha512", f"{digest}  {os.path.basename(archive)}\n")

    def test_verified_archive_is_unpacked_once(self):
        self.publish()
        path = envtest.locate("etcd")
        self.assertTrue(os.access(path, os.X_OK))
        shutil.rmtree(self.site)
        self.assertEqual(os.path.dirname(envtest.locate("kubectl")), os.path.dirname(path))

    def test_wrong_sum_is_an_error_and_leaves_nothing(self):
        self.publish(change_sum=True)
        with self.assertRaisesRegex(AssetError, "sha512 is [0-9a-f]+, expected 000"):
            envtest.locate("etcd")
        self.assertEqual(os.listdir(os.path.join(cache.root(), "envtest")), [])

    def test_absent_archive_means_another_way(self):
        self.assertIsNone(envtest.locate("etcd"))
        self.assertIsNone(envtest.locate("kwok"))

    def test_silent_site_is_given_up_in_time(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            start = time.monotonic()
            self.assertFalse(net.reachable(f"http://127.0.0.1:{silent.getsockname()[1]}/", within=0.2))
            self.assertLess(time.monotonic() - start, 2)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Releases(WithCache):
    def test_set_field_changes_one_line_only(self):
        path = self.write("p.yaml", "spec:\n  - image: a:main\n    name: image: b\n")
        releases.set_field(path, "image", "r/x:v1")
        self.assertEqual(cache.read_bytes(path), b"spec:\n  - image: r/x:v1\n    name: image: b\n")
        with self.assertRaisesRegex(AssetError, "sets imagePullPolicy 0 times"):
            releases.set_field(path, "imagePullPolicy", "Always")

    def test_json_stream_reads_one_object_after_another(self):
        self.assertEqual(releases.json_stream('{"a": 1}\n{\n"b": {"c": 2}}\n'), [{"a": 1}, {"b": {"c": 2}}])

    def test_what_another_run_has_made_meanwhile_is_not_made_again(self):
        """Of two runs at once the second waited for the first, and then downloaded and rendered the same anew."""
        for locate, have in (
            (releases.locate, releases.have),
            (releases.locate_crds, releases.have_crds),
            (releases.locate_peer, releases.have_peer),
            (peer_chart.locate, peer_chart.have),
        ):

            @contextlib.contextmanager
            def held_by_another(_, have=have):
                with mock.patch("os.path.isdir", return_value=True), mock.patch("os.path.exists", return_value=True):
                    target = have()
                os.makedirs(target)
                yield

            never = mock.patch.object(releases, "download", side_effect=AssertionError("made again"))
            with self.subTest(locate.__module__, locate=locate.__name__), mock.patch.object(cache, "locked", held_by_another), never:
                self.assertIsNone(have())
                self.assertEqual(locate(), have())

    def test_documents_are_joined_with_separators(self):
        self.write("crds/a.yaml", "a: 1")
        self.write("crds/b.yaml", "---\nb: 1\n")
        self.write("crds/README.md", "no")
        self.assertEqual(releases.join_documents(os.path.join(self.folder, "crds")), b"---\na: 1\n---\nb: 1\n")
        self.write("crds/c.yaml", "{{ if }}")
        with self.assertRaisesRegex(AssetError, "is a template"):
            releases.join_documents(os.path.join(self.folder, "crds"))


if __name__ == "__main__":
    unittest.main()
