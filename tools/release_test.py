#!/usr/bin/env python3
"""Tests of tools/release: every file is what its name says, its bytes repeat, and there is no half of a release."""

import glob
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
FOLDERS = ("release.d", "image.d", "manifests.d", "run.d", "assets.d", "testing.d")
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in FOLDERS]

import built  # noqa: E402
import chart  # noqa: E402
import clusterctl  # noqa: E402
import helm_chart  # noqa: E402
import libraries  # noqa: E402
import pages  # noqa: E402
import rights  # noqa: E402
import rootfs  # noqa: E402
import variants  # noqa: E402
from image import Image  # noqa: E402
from program import Program  # noqa: E402
from releasing import EPOCH, REVISION, begin, contents, environment, programs, read  # noqa: E402
from tree import WithFolder  # noqa: E402

REPOSITORY, TAG = "registry.example.com:5000/team/capi-operator", "v9"
IMAGE = f"{REPOSITORY}:{TAG}"
OF_ANOTHER, UNUSED = "the image is another", "the tag is unused"  # what Helm's notes tell


class Release(WithFolder):
    @classmethod
    def setUpClass(cls):
        """Two of the same, each in surroundings of its own. The second is made by the commands of the page."""
        cls.base = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="release-test-"))
        flags = [*programs(), f"--revision={REVISION}"]
        cls.out = os.path.join(cls.base, "out")
        with begin(cls.out, *flags, f"--epoch={EPOCH}", f"--image={IMAGE}") as run:
            folder = os.path.join(cls.base, "checkout")
            os.mkdir(folder)
            (block,) = pages.blocks("A release", "docs/install.md")
            block = "umask 077\n" + block.replace("tools/release ", f"tools/release {' '.join(flags)} ")
            variables = environment(TZ="Asia/Tokyo", SOURCE_DATE_EPOCH=str(EPOCH), IMAGE=IMAGE)
            page = pages.run(block, pages.checkout(folder), variables)
            said = run.communicate(timeout=250)
        if run.returncode or page.returncode:
            raise AssertionError((said, page.stdout, page.stderr))
        cls.again = os.path.join(folder, "build", "dist")
        cls.said = [said, (page.stdout, page.stderr)]
        operator = Program(built.find("capi-operator"))
        cls.version, cls.architecture = operator.version(), operator.architecture

    def members(self, name):
        """The members of an archive, by their names, all of root and of one time."""
        with tarfile.open(os.path.join(self.out, name)) as tar:
            found = tar.getmembers()
        for member in found:
            self.assertEqual((member.uid, member.gid, member.mtime), (0, 0, EPOCH), member.name)
            self.assertEqual(member.mode & ~0o755, 0, member.name)
        return {member.name: member for member in found}

    def test_two_of_the_same_are_the_same_bytes(self):
        first, second = contents(self.out), contents(self.again)
        self.assertEqual({name for name in first if first[name] != second.get(name)}, set())
        self.assertEqual(set(first), set(second))
        names = [f"capi-operator-{variant}.yaml" for variant in (*variants.VARIANTS, "crds", "monitoring")]
        names += [f"capi-operator-{self.version[1:]}.tgz", f"clusterctl-{self.version}-linux-{self.architecture}.tar.gz", "SHA256SUMS"]
        names += [f"capi-operator-{self.version}-linux-{self.architecture}.{kind}" for kind in ("tar", "spdx.json")]
        self.assertEqual(sorted(first), sorted(names))

    def test_it_says_what_it_made(self):
        for said, errors in self.said:
            self.assertEqual(errors, "")
            self.assertIn(f": {self.version} of {REVISION}\n", said)
            self.assertNotIn("which no registry has", said)

    def test_everybody_may_read_it_and_nothing_else_is_left(self):
        self.assertEqual(sorted(os.listdir(self.base)), ["checkout", "out"])
        self.assertEqual(os.listdir(os.path.dirname(self.again)), ["dist"])
        self.assertEqual(os.stat(self.again).st_mode & 0o777, 0o755)
        self.assertEqual({os.stat(path).st_mode & 0o777 for path in glob.glob(f"{self.again}/*")}, {0o644})

    def test_the_sums_are_of_all_files(self):
        done = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.out, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(done.stdout, self.said[1][0], "what the page's command printed")
        named = [line.removesuffix(": OK") for line in done.stdout.splitlines()]
        self.assertEqual(named, sorted(set(os.listdir(self.out)) - {"SHA256SUMS"}))

    def test_the_manifests_are_what_the_script_prints(self):
        for variant in variants.VARIANTS:
            with self.subTest(variant):
                text = read(self.out, f"capi-operator-{variant}.yaml").decode()
                self.assertEqual(text, rights.kustomize(variant, f"--image={IMAGE}"))
                self.assertEqual(text.count(f"image: {IMAGE}\n"), 1)
        counts = {"crds": {"CustomResourceDefinition": 7}, "monitoring": {"ServiceMonitor": 1, "PrometheusRule": 1}}
        for name, kinds in counts.items():
            with self.subTest(name):
                text = read(self.out, f"capi-operator-{name}.yaml").decode()
                for kind, number in kinds.items():
                    self.assertEqual(text.count(f"\nkind: {kind}\n"), number)

    def test_the_chart_is_the_checkouts_with_the_image(self):
        package = os.path.join(self.out, helm_chart.package_name(self.version))
        image = {"image": {"manager": {"repository": REPOSITORY, "tag": TAG}}}
        for program in chart.HELMS:
            with self.subTest(program):
                made = chart.template(chart=package, program=program)
                self.assertEqual((made.returncode, made.stdout), (0, chart.template(image, program=program).stdout), made.stderr)
                self.assertEqual(made.stdout.count(f'image: "{IMAGE}"\n'), 1)

    def test_the_chart_has_the_files_that_helm_would_take(self):
        done = chart.run("package", chart.CHART, "--destination", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        (path,) = glob.glob(f"{self.folder}/*.tgz")
        self.assertEqual(os.path.basename(path), helm_chart.package_name(self.version))
        with tarfile.open(path) as tar:
            wanted = {name for name in tar.getnames()}
        found = self.members(helm_chart.package_name(self.version))
        self.assertEqual({name for name, member in found.items() if member.isfile()}, wanted)

    def test_the_image_says_which_release_it_is(self):
        name = f"capi-operator-{self.version}-linux-{self.architecture}"
        self.members(f"{name}.tar")
        with tarfile.open(os.path.join(self.out, f"{name}.tar")) as tar:

            def blob(descriptor):
                return json.load(tar.extractfile("blobs/" + descriptor["digest"].replace(":", "/")))

            self.assertEqual(json.load(tar.extractfile("oci-layout")), {"imageLayoutVersion": "1.0.0"})
            (entry,) = json.load(tar.extractfile("index.json"))["manifests"]
            manifest = blob(entry)
            labels = blob(manifest["config"])["config"]["Labels"]
            (layer,) = manifest["layers"]
            packed = tar.extractfile("blobs/" + layer["digest"].replace(":", "/")).read()
        self.assertEqual(len(packed), layer["size"])
        said = [labels[f"org.opencontainers.image.{name}"] for name in ("version", "revision")]
        self.assertEqual(said, [self.version, REVISION])
        with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
            self.assertIn("capi-operator", tar.getnames())
        self.assertEqual(json.loads(read(self.out, f"{name}.spdx.json"))["name"], f"capi-operator-{self.version}")

    def test_clusterctl_runs_in_a_root_that_has_nothing_else(self):
        root = self.unpacked()
        os.chmod(self.folder, 0o755)
        command = ["chroot", root] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "chroot", root]
        (loader,) = glob.glob("ld-linux-*", root_dir=os.path.join(root, "lib"))
        command += [f"/lib/{loader}", "--library-path", "/lib", "/clusterctl", "version"]
        path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, subprocess.check_output([built.find("clusterctl"), "version"], text=True))

    def test_clusterctl_runs_with_the_library_beside_it_wherever_its_link_is(self):
        root, link = self.unpacked(), os.path.join(self.folder, "clusterctl")
        os.symlink(os.path.join(root, clusterctl.LAUNCHER), link)
        for command in ([os.path.join(root, "clusterctl")], [link], ["sh", link]):
            with self.subTest(command):
                done = subprocess.run([*command, "version", "--output=short"], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, self.version + "\n", ""))
        wrong = subprocess.run([link, "version", "a word"], capture_output=True, text=True, check=False)
        self.assertNotEqual(wrong.returncode, 0)
        loud = environment(LD_DEBUG="libs")
        told = subprocess.run([link, "version"], capture_output=True, text=True, check=True, env=loud)
        for name in os.listdir(os.path.join(root, "lib")):
            self.assertIn(f"calling init: {root}/lib/{name}\n", told.stderr)

    def test_clusterctls_manual_is_there_and_reads_well(self):
        """L24. troff says what it doesn't understand."""
        pages = os.path.join(self.unpacked(), "man", "man1")
        self.assertIn("clusterctl-generate-provider.1", os.listdir(pages))
        for name in sorted(os.listdir(pages)):
            command = ["groff", "-man", "-Tutf8", "-wall", os.path.join(pages, name)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def unpacked(self):
        """The folder that the archive of clusterctl brings."""
        name = clusterctl.folder(self.version, self.architecture)
        found = self.members(f"{name}.tar.gz")
        self.assertEqual({path.split("/")[0] for path in found}, {name})
        licenses = {os.path.basename(path) for path in found if f"{name}/licenses/" in path}
        self.assertLessEqual({*clusterctl.INSIDE, "libc6"}, licenses)
        with tarfile.open(os.path.join(self.out, f"{name}.tar.gz")) as tar:
            tar.extractall(self.folder)
        return os.path.join(self.folder, name)


class Licenses(unittest.TestCase):
    # What CMake looks for, and clusterctl has nothing of: for threads there is the C library, and for the rest no code of ours
    # that is within clusterctl.
    NOT_INSIDE = {"Threads", "PkgConfig", "prometheus-cpp"}

    def test_of_all_libraries_that_are_within_clusterctl(self):
        """The list could lack a library that came since, with whose licence its code has to be passed on."""
        inside = {package for name in libraries.asked() - self.NOT_INSIDE for package in libraries.PACKAGES[name]}
        self.assertEqual(set(clusterctl.INSIDE), inside | {"libstdc++6"})
        self.assertLessEqual(self.NOT_INSIDE, libraries.asked())
        self.assertNotIn(b"prometheus", read(built.find("clusterctl")))

    def test_of_all_archives_that_it_is_linked_with(self):
        for name in libraries.archives():
            with self.subTest(name):
                path = subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
                self.assertIn(rootfs.package_of(path).split(":")[0], clusterctl.INSIDE)


class Architectures(unittest.TestCase):
    def test_the_nodes_that_are_asked_for(self):
        """Manifests and chart asked for amd64 whatever the image was for."""
        line = "        kubernetes.io/arch: "
        text = variants.render("default", IMAGE)
        self.assertEqual(text.count(f"{line}amd64\n"), 1)
        self.assertEqual(variants.render("default", IMAGE, ["arm64"]), text.replace("arch: amd64", "arch: arm64"))
        self.assertEqual(variants.render("default", IMAGE, ["amd64", "arm64"]), text.replace(f"{line}amd64\n", ""))
        for architectures, wanted in ((["amd64"], "amd64"), (["arm64"], "arm64"), (["amd64", "arm64"], None)):
            with self.subTest(architectures), tempfile.TemporaryDirectory(prefix="release-test-") as folder:
                path = os.path.join(folder, "chart.tgz")
                with open(path, "wb") as file:
                    file.write(helm_chart.package("v1.2.3", None, EPOCH, architectures))
                made = chart.template(chart=path).stdout
                self.assertEqual(re.findall("kubernetes.io/arch: (.*)", made), [wanted] * bool(wanted))
                self.assertEqual(made.count("kubernetes.io/os: linux"), 1)


class Chart(WithFolder):
    def test_version_and_image(self):
        digest = "sha256:" + "0" * 64
        for reference, wanted in (
            (None, "capi-operator:v9.8.7"),
            (f"{REPOSITORY}:v1", f"{REPOSITORY}:v1"),
            (f"{REPOSITORY}@{digest}", f"{REPOSITORY}@{digest}"),
            (f"localhost:5000/x:v1@{digest}", f"localhost:5000/x@{digest}"),
        ):
            with self.subTest(reference):
                path = self.package(reference)
                shown = chart.run("show", "chart", path).stdout
                self.assertRegex(shown, r"(?m)^version: 9\.8\.7$")
                self.assertRegex(shown, r"(?m)^appVersion: v9\.8\.7$")
                self.assertEqual(self.image(path, {}), wanted)

    def package(self, reference):
        """The path of a chart for that image."""
        path = os.path.join(self.folder, "chart.tgz")
        with open(path, "wb") as file:
            file.write(helm_chart.package("v9.8.7", reference and Image(reference), 0))
        return path

    def image(self, path, given, program="helm"):
        """The Deployment's, with these values of image.manager."""
        items = chart.objects(chart.small({"image": {"manager": given}}), chart=path, program=program)
        (deployment,) = (item for item in items if item["kind"] == "Deployment")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        return container["image"]

    def test_the_values_image_in_the_chart_of_a_release(self):
        """A tag was ignored without a word where the chart had a digest, and a repository of before was put before that digest,
        which it doesn't have: no such image could be pulled."""
        own, other = ("sha256:" + digit * 64 for digit in "01")
        before = {"repository": "r.example/before", "tag": "v1"}
        for reference, given, wanted, told in (
            (f"{REPOSITORY}@{own}", {}, f"{REPOSITORY}@{own}", ""),
            (f"{REPOSITORY}@{own}", {"tag": "v2"}, f"{REPOSITORY}:v2", OF_ANOTHER),
            (f"{REPOSITORY}@{own}", before, "r.example/before:v1", OF_ANOTHER),
            (f"{REPOSITORY}:v9@{own}", {"digest": other}, f"{REPOSITORY}@{other}", OF_ANOTHER),
            (f"{REPOSITORY}:v9", before, "r.example/before:v1", OF_ANOTHER),
            (f"{REPOSITORY}:v9", {"repository": REPOSITORY, "tag": "v9"}, IMAGE, ""),
            (f"{REPOSITORY}:v9", {"tag": "v2", "digest": other}, f"{REPOSITORY}@{other}", f"{OF_ANOTHER} {UNUSED}"),
            # Somebody's mirror has the release's image.
            (f"{REPOSITORY}@{own}", {"repository": "mirror.example/x"}, f"mirror.example/x@{own}", OF_ANOTHER),
            # A registry takes the place of the chart's own: two of them name no image.
            (f"{REPOSITORY}:v9", {"registry": "mirror.example"}, "mirror.example" + IMAGE[IMAGE.index("/") :], OF_ANOTHER),
            ("team/operator:v9", {"registry": "mirror.example"}, "mirror.example/team/operator:v9", OF_ANOTHER),
            (f"{REPOSITORY}:v9", {"registry": "mirror.example", "repository": "a.b/c"}, "mirror.example/a.b/c:v9", OF_ANOTHER),
            # As the page clears them.
            (f"{REPOSITORY}@{own}", dict.fromkeys(("repository", "tag", "digest"), ""), f"{REPOSITORY}@{own}", ""),
            (None, before, "r.example/before:v1", ""),
        ):
            with self.subTest(reference, given=given):
                path = self.package(reference)
                for program in chart.HELMS:
                    self.assertEqual(self.image(path, given, program), wanted)
                notes = chart.run("install", "x", path, "--dry-run=client", values=chart.small({"image": {"manager": given}})).stdout
                notes = notes[notes.index("\nNOTES:\n") :]
                self.assertEqual(f"Its image is {wanted}, as image.manager.* say,\nand not that of this chart, " in notes, OF_ANOTHER in told)
                self.assertEqual("image.manager.tag (v2) is not used" in notes, UNUSED in told)
                self.assertNotIn("NO REGISTRY HAS THE IMAGE", notes)

    def test_a_line_that_is_not_there_once_is_told(self):
        files = {"capi-operator/x": (b"a: 1\nb: 2\nb: 3\n", 0o644)}
        for key, number in (("b", 2), ("c", 0)):
            with self.subTest(key), self.assertRaisesRegex(ValueError, f"x has {number} lines of {key}, not one"):
                helm_chart.change(files, "x", {key: "4"})


# Prints a file beside itself: its own name with .json behind it when asked for that, or else .said.


if __name__ == "__main__":
    unittest.main()
