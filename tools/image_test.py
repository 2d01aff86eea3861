#!/usr/bin/env python3
"""Tests of tools/image: what it makes of the operator runs by itself, is the same twice, and says what is in it."""

import gzip
import hashlib
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
ROOT = os.path.dirname(TOOLS)
sys.path[:0] = [os.path.join(TOOLS, "run.d"), os.path.join(TOOLS, "image.d")]

import built  # noqa: E402
import checkout  # noqa: E402
import rootfs  # noqa: E402

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
            found = {"sbom": read(self.folder, f"{name}.spdx.json")}
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
        self.assertEqual(self.entry["platform"], {"architecture": "amd64", "os": "linux"})
        tar = gzip.decompress(self.blob(self.layer))
        self.assertEqual(self.config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(tar).hexdigest()])
        self.assertEqual((self.config["os"], self.config["architecture"]), ("linux", "amd64"))
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
        allowed = r"capi-operator|etc/(passwd|group|nsswitch.conf)|etc/ssl/certs/ca-certificates.crt|lib64/ld-linux-x86-64.so.2"
        allowed += r"|lib/x86_64-linux-gnu/lib[^/]*\.so[^/]*|var/lib/dpkg/status\.d/[^/]+|usr/share/doc/[^/]+/copyright"
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
        sbom = json.loads(read(f"{self.layout}.spdx.json"))
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
        self.assertEqual(rootfs.stripped(other), rootfs.stripped(self.program))

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
            (["--program=/nowhere", os.path.join(self.folder, "x")], "/nowhere is no program"),
            ([f"--program={script}", os.path.join(self.folder, "x")], "not a dynamic executable"),
        ]
        for arguments, words in cases:
            with self.subTest(arguments):
                made = image(*arguments)
                self.assertNotEqual(made.returncode, 0)
                self.assertIn(words, made.stderr)
                self.assertFalse(os.path.lexists(os.path.join(self.folder, "x")))


if __name__ == "__main__":
    unittest.main()
