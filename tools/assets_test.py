#!/usr/bin/env python3
"""Tests of the parts of tools/assets that need neither network nor Go."""

import base64
import functools
import hashlib
import http.server
import io
import os
import shutil
import socket
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import zipfile
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "assets.d"))

import cache  # noqa: E402
import envtest  # noqa: E402
import net  # noqa: E402
import progress  # noqa: E402
import programs  # noqa: E402
import releases  # noqa: E402
import toolchain  # noqa: E402
from progress import AssetError  # noqa: E402


class WithCache(unittest.TestCase):
    """A cache folder of its own, and an environment without what may be set on this machine."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        variables = {"CAPI_OPERATOR_CACHE": os.path.join(self.folder, "cache"), "PATH": "", "KUBEBUILDER_ASSETS": ""}
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)
        stream = mock.patch.object(sys, "stderr", io.StringIO())
        stream.start()
        self.addCleanup(stream.stop)

    def write(self, name, text="", mode=0o644):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path


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
        family = programs.Family("control-plane")
        with mock.patch.object(programs.Family, "go", return_value=mock.Mock(**{"name.return_value": "go1.99.0"})):
            built = self.write(os.path.relpath(os.path.join(family.bin(), "etcd"), self.folder), mode=0o755)
            self.assertEqual(programs.locate("etcd"), built)

    def test_link_folder_resolves_links_of_its_own(self):
        etcd = self.write("assets/etcd", mode=0o755)
        with mock.patch.dict(os.environ, {"KUBEBUILDER_ASSETS": os.path.dirname(etcd)}):
            first = programs.link_folder(["etcd"])
        with mock.patch.dict(os.environ, {"KUBEBUILDER_ASSETS": first}):
            self.assertEqual(programs.link_folder(["etcd"]), first)
        self.assertEqual(os.readlink(os.path.join(first, "etcd")), etcd)

    def test_groups_expand_once(self):
        self.assertEqual(programs.expand(["etcd", "control-plane"]).count("etcd"), 1)

    def test_every_program_has_a_pinned_package(self):
        for name, (family, package) in programs.PROGRAMS.items():
            if package == ".":  # a program of ours: the module file pins what it is made of
                self.assertTrue(os.path.exists(os.path.join(programs.Family(family).folder, "go.sum")), name)
            else:
                self.assertIn(f"{package}\n", programs.Family(family).go_mod, name)


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
