#!/usr/bin/env python3
"""Tests of tools/image: what it makes of the operator runs by itself, is the same twice, and says what is in it."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(TOOLS)
sys.path[:0] = [os.path.join(TOOLS, "run.d"), os.path.join(TOOLS, "image.d")]

import built  # noqa: E402
import checkout  # noqa: E402
import layout  # noqa: E402
import program  # noqa: E402
import rootfs  # noqa: E402
from program import ImageError, Program  # noqa: E402

FACTS = ["--revision=0123456789abcdef", "--epoch=1700000000", "--source=https://example.com/capi-operator"]


def image(*arguments):
    command = [os.path.join(TOOLS, "image"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="image-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.program = built.find("capi-operator")
        for name in ("one", "two"):
            made = image(f"--program={cls.program}", *FACTS, os.path.join(cls.folder, name))
            if made.returncode != 0:
                raise AssertionError(made.stderr)
        cls.architecture = Program(cls.program).architecture
        cls.triplet = Program(cls.program).triplet
        cls.layout = os.path.join(cls.folder, "one")
        (entry,) = json.loads(read(cls.layout, "index.json"))["manifests"]
        cls.entry = entry
        cls.manifest = json.loads(cls.blob(entry))
        cls.config = json.loads(cls.blob(cls.manifest["config"]))
        (cls.layer,) = cls.manifest["layers"]

    @classmethod
    def blob(cls, descriptor):
        """What a descriptor names. Its bytes have to be those that it tells of."""
        algorithm, digest = descriptor["digest"].split(":")
        content = read(cls.layout, "blobs", algorithm, digest)
        if hashlib.sha256(content).hexdigest() != digest or len(content) != descriptor["size"]:
            raise AssertionError(f"{descriptor} isn't what its blob holds")
        return content

    def unpacked(self):
        root = tempfile.mkdtemp(dir=self.folder)
        os.chmod(root, 0o755)
        with self.tar() as tar:
            tar.extractall(root)
        return root

    def tar(self):
        path = os.path.join(self.folder, "layer.tar")
        with open(path, "wb") as file:
            file.write(gzip.decompress(self.blob(self.layer)))
        return tarfile.open(path)

    def test_the_program_runs_in_a_root_that_has_nothing_else(self):
        root = self.unpacked()
        command = ["chroot", f"--userspec={rootfs.USER}:{rootfs.USER}", root, *self.config["config"]["Entrypoint"]]
        if os.getuid() != 0:
            command = ["unshare", "--user", "--map-root-user", "chroot", root, *self.config["config"]["Entrypoint"]]
        path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False, env=path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, subprocess.check_output([self.program, "--version"], text=True))

    def test_two_images_of_one_program_are_the_same_bytes(self):
        def contents(name):
            found = {"sbom": read(self.folder, f"{name}-{self.architecture}.spdx.json")}
            for folder, _, files in os.walk(os.path.join(self.folder, name)):
                for file in files:
                    path = os.path.join(folder, file)
                    found[os.path.relpath(path, os.path.join(self.folder, name))] = read(path)
            return found

        self.assertEqual(len(contents("one")), 6)
        self.assertEqual(contents("one"), contents("two"))

    def test_it_is_what_the_image_specification_asks_for(self):
        self.assertEqual(json.loads(read(self.layout, "oci-layout")), {"imageLayoutVersion": "1.0.0"})
        self.assertEqual(self.entry["mediaType"], "application/vnd.oci.image.manifest.v1+json")
        self.assertEqual(self.entry["platform"], {"architecture": self.architecture, "os": "linux"})
        tar = gzip.decompress(self.blob(self.layer))
        self.assertEqual(self.config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(tar).hexdigest()])
        self.assertEqual((self.config["os"], self.config["architecture"]), ("linux", self.architecture))
        self.assertEqual(self.config["created"], "2023-11-14T22:13:20Z")

    def test_it_says_what_it_is(self):
        labels = self.config["config"]["Labels"]
        self.assertEqual(labels["org.opencontainers.image.revision"], "0123456789abcdef")
        self.assertEqual(labels["org.opencontainers.image.source"], "https://example.com/capi-operator")
        version = labels["org.opencontainers.image.version"]
        said = subprocess.check_output([self.program, "--version"], text=True)
        self.assertEqual(said.splitlines()[0], f"capi-operator {version}")
        self.assertEqual(self.entry["annotations"]["org.opencontainers.image.ref.name"], version)

    def test_what_is_in_it(self):
        with self.tar() as tar:
            members = tar.getmembers()
        files = [member.name for member in members if member.isfile()]
        allowed = r"capi-operator|etc/(passwd|group|nsswitch.conf)|etc/ssl/certs/ca-certificates.crt|lib(64)?/ld-linux-[^/]*\.so\.\d"
        allowed += rf"|lib/{self.triplet}/lib[^/]*\.so[^/]*|var/lib/dpkg/status\.d/[^/]+|usr/share/doc/[^/]+/copyright"
        self.assertEqual([name for name in files if not re.fullmatch(allowed, name)], [])
        self.assertLess(self.layer["size"], 25_000_000)
        for member in members:
            with self.subTest(member.name):
                self.assertEqual((member.uid, member.gid, member.mtime), (0, 0, 1700000000))
                writable = 0o1777 if member.name == "tmp" else member.mode & 0o755
                self.assertEqual(member.mode, writable, "writable for others, or set-user-ID")
        root = self.unpacked()
        sections = subprocess.check_output(["readelf", "--section-headers", os.path.join(root, "capi-operator")], text=True)
        self.assertNotIn(".symtab", sections, "not stripped")

    def test_the_bill_of_materials_names_every_package_that_files_come_from(self):
        sbom = json.loads(read(f"{self.layout}-{self.architecture}.spdx.json"))
        self.assertEqual(sbom["spdxVersion"], "SPDX-2.3")
        versions = {item["name"]: item["versionInfo"] for item in sbom["packages"]}
        self.assertLessEqual({"capi-operator", "libc6", "libssl3", "libstdc++6", "ca-certificates"}, set(versions))
        root = self.unpacked()
        operator = next(item for item in sbom["packages"] if item["name"] == "capi-operator")
        digest = hashlib.sha256(read(root, "capi-operator")).hexdigest()
        self.assertEqual(operator["checksums"], [{"algorithm": "SHA256", "checksumValue": digest}])
        status = os.path.join(root, "var", "lib", "dpkg", "status.d")
        self.assertEqual(set(os.listdir(status)), set(versions) - {"capi-operator"})
        for name in os.listdir(status):
            self.assertIn(f"Version: {versions[name]}\n", read(status, name).decode())
        ids = [item["SPDXID"] for item in sbom["packages"]]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertEqual([name for name in ids if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name)], [])
        related = {item["relatedSpdxElement"] for item in sbom["relationships"]}
        self.assertEqual(related, set(ids))

    def test_the_folder_that_the_program_was_built_in_changes_nothing(self):
        """The linker's id is of the debug information too, which names that folder: two checkouts of a commit made two images."""
        notes = subprocess.check_output(["readelf", "--notes", self.program], text=True)
        number = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))
        content = read(self.program)
        self.assertEqual(content.count(number), 1)
        other = os.path.join(self.folder, "other")
        with open(other, "wb") as file:
            file.write(content.replace(number, bytes(len(number))))
        os.chmod(other, 0o755)
        self.assertEqual(Program(other).stripped(), Program(self.program).stripped())

    def test_the_dockerfile_runs_it_in_the_same_way(self):
        dockerfile = read(ROOT, "Dockerfile").decode()
        said = dict(re.findall(r"^(USER|WORKDIR|ENTRYPOINT|EXPOSE) (.*)$", dockerfile, re.MULTILINE))
        config = self.config["config"]
        self.assertEqual((said["USER"], said["WORKDIR"]), (config["User"], config["WorkingDir"]))
        self.assertEqual(json.loads(said["ENTRYPOINT"]), config["Entrypoint"])
        self.assertEqual([f"{port}/tcp" for port in said["EXPOSE"].split()], sorted(config["ExposedPorts"]))

    def test_the_files_alone_are_those_of_the_image(self):
        root = os.path.join(self.folder, "root")
        made = image(f"--program={self.program}", "--root", root)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        with self.tar() as tar:
            for member in tar.getmembers():
                with self.subTest(member.name):
                    self.assertEqual(os.stat(os.path.join(root, member.name)).st_mode & 0o7777, member.mode)
                    if member.isfile():
                        self.assertEqual(read(root, member.name), tar.extractfile(member).read())

    def test_a_program_of_another_commit(self):
        """The image was labelled with the checkout's commit, whatever was in it."""
        other, out = "/bin/true", os.path.join(self.folder, "of-another")
        made = image(f"--program={other}", out)
        self.assertEqual(made.returncode, 1)
        self.assertIn(f"{other} was built of no commit, and the checkout is {checkout.revision()}: ", made.stderr)
        self.assertIn("run `make build`, or say what it is with --revision", made.stderr)
        self.assertFalse(os.path.lexists(out))
        made = image(f"--program={other}", "--revision=mine", out)
        self.assertEqual((made.returncode, made.stderr), (0, ""))

    def test_what_it_refuses(self):
        script = os.path.join(self.folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(script, 0o755)
        cases = [
            ([], "name OUT, or --root FOLDER"),
            (["a", "--root=b"], "name OUT, or --root FOLDER"),
            ([self.layout], "is there already"),
            (["--root", self.layout], "is there already"),
            (["--root=b", "--program=one", "--program=two"], "--root takes one --program"),
            ([*[f"--program={self.program}"] * 2, os.path.join(self.folder, "x")], f"are both for {self.architecture}"),
            (["--program=/nowhere", os.path.join(self.folder, "x")], "/nowhere is no program"),
            ([f"--program={script}", os.path.join(self.folder, "x")], f"{script} is no program for amd64 or arm64"),
        ]
        for arguments, words in cases:
            with self.subTest(arguments):
                made = image(*arguments)
                self.assertNotEqual(made.returncode, 0)
                self.assertIn(words, made.stderr)
                self.assertFalse(os.path.lexists(os.path.join(self.folder, "x")))

    def test_one_for_an_architecture_that_this_machine_has_no_packages_of(self):
        """Each of the two programs that are asked is told apart by its header alone."""
        machine = {"amd64": 183, "arm64": 62}[self.architecture]
        other = os.path.join(self.folder, "other-machine")
        content = bytearray(read(self.program))
        content[18:20] = machine.to_bytes(2, "little")
        with open(other, "wb") as file:
            file.write(content)
        os.chmod(other, 0o755)
        found = Program(other)
        self.assertEqual(found.architecture, program.MACHINES[machine][0])
        with self.assertRaisesRegex(ImageError, f"no qemu-.*: run `tools/deps {found.architecture}`"), no_programs():
            found.says("--version")
        found.triplet = "nowhere-linux-gnu"
        with self.assertRaisesRegex(ImageError, rf"needs a library that this machine lacks: lib\S+ for {found.architecture}"):
            found.libraries()


@contextlib.contextmanager
def no_programs():
    """No command is found in PATH."""
    with unittest.mock.patch.dict(os.environ, PATH="/nowhere"):
        yield


class Architectures(unittest.TestCase):
    def test_an_image_of_two(self):
        """What pulls it takes the manifest of its own architecture, out of the index that has the name."""
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="image-test-"))
        images = []
        for architecture in ("amd64", "arm64"):
            files = rootfs.Files(architecture)
            files.add("capi-operator", f"of {architecture}".encode(), 0o755)
            images.append(files)
        sizes = layout.write(images, layout.Facts("v1.2.3", "abc", "", 1700000000), os.path.join(folder, "out"))

        def blob(descriptor):
            content = read(folder, "out", "blobs", *descriptor["digest"].split(":"))
            self.assertEqual((len(content), f"sha256:{hashlib.sha256(content).hexdigest()}"), (descriptor["size"], descriptor["digest"]))
            return content

        (named,) = json.loads(read(folder, "out", "index.json"))["manifests"]
        self.assertEqual(named["mediaType"], "application/vnd.oci.image.index.v1+json")
        self.assertEqual(named["annotations"], {"org.opencontainers.image.ref.name": "v1.2.3"})
        for entry, architecture in zip(json.loads(blob(named))["manifests"], ("amd64", "arm64"), strict=True):
            with self.subTest(architecture):
                self.assertEqual(entry["platform"], {"architecture": architecture, "os": "linux"})
                self.assertNotIn("annotations", entry)
                manifest = json.loads(blob(entry))
                self.assertEqual(json.loads(blob(manifest["config"]))["architecture"], architecture)
                (layer,) = manifest["layers"]
                self.assertEqual(sizes[architecture], layer["size"] + manifest["config"]["size"] + entry["size"])
                with tarfile.open(fileobj=io.BytesIO(blob(layer))) as tar:
                    self.assertEqual(tar.extractfile("capi-operator").read(), f"of {architecture}".encode())


if __name__ == "__main__":
    unittest.main()
