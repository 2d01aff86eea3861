#!/usr/bin/env python3
"""Tests of tools/release: every file is what its name says, its bytes repeat, and there is no half of a release."""

import contextlib
import glob
import io
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
FOLDERS = ("release.d", "image.d", "manifests.d", "run.d", "assets.d", "testing.d")
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in FOLDERS]

import built  # noqa: E402
import chart  # noqa: E402
import checkout  # noqa: E402
import clusterctl  # noqa: E402
import helm_chart  # noqa: E402
import libraries  # noqa: E402
import pages  # noqa: E402
import rights  # noqa: E402
import rootfs  # noqa: E402
import variants  # noqa: E402
from image import Image  # noqa: E402
from tree import WithFolder, WithTree  # noqa: E402

REPOSITORY, TAG, EPOCH = "registry.example.com:5000/team/capi-operator", "v9", 1700000000
IMAGE = f"{REPOSITORY}:{TAG}"
REVISION = "0123456789abcdef"
OF_ANOTHER, UNUSED = "the image is another", "the tag is unused"  # what Helm's notes tell
KUBECTL = variants.kubectl()


def programs():
    return [f"--operator={built.find('capi-operator')}", f"--clusterctl={built.find('clusterctl')}"]


def environment(**more):
    """With kubectl in the PATH."""
    path = os.pathsep.join([os.path.dirname(KUBECTL), os.environ["PATH"]])
    return {**os.environ, "PATH": path, **more}


def begin(*arguments, **more):
    """tools/release, begun."""
    return subprocess.Popen(
        [os.path.join(TOOLS, "release"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**more),
    )


def release(*arguments, **more):
    """(exit code, standard output, errors) of tools/release, run to its end."""
    with begin(*arguments, **more) as run:
        out, err = run.communicate(timeout=250)
    return run.returncode, out, err


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def contents(folder):
    return {name: read(folder, name) for name in os.listdir(folder)}


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
        cls.version = rootfs.version_of(built.find("capi-operator"))

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
        names += [f"capi-operator-{self.version[1:]}.tgz", f"clusterctl-{self.version}-linux-amd64.tar.gz", "SHA256SUMS"]
        names += [f"capi-operator-{self.version}-linux-amd64.{kind}" for kind in ("tar", "spdx.json")]
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
        name = f"capi-operator-{self.version}-linux-amd64"
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
        command += ["/lib/ld-linux-x86-64.so.2", "--library-path", "/lib", "/clusterctl", "version"]
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

    def unpacked(self):
        """The folder that the archive of clusterctl brings."""
        name = clusterctl.folder(self.version)
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
    NOT_INSIDE = {"Threads", "PkgConfig", "GTest", "prometheus-cpp", "benchmark"}

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


class Refused(WithFolder):
    # Of other sources than the checkout's, it may be.
    OURS = f"--revision={REVISION}"

    def test_what_it_refuses(self):
        other = self.write("other", "#!/bin/sh\necho v9.9.9\n")
        folder, out = self.write("there/x"), os.path.join(self.folder, "out")
        for arguments, words in (
            ([], "OUT"),
            ([os.path.dirname(folder)], "there is there already: remove it, or name another"),
            ([out, "--image=a b"], "'a b' is no reference to an image"),
            ([out, "--image="], "'' is no reference to an image"),
            ([out, "--image=localhost:5000/x"], "'localhost:5000/x' has neither a tag nor a digest: name one"),
            ([out, "--operator=/nowhere"], "/nowhere is no program: run `make build`, or name another"),
            ([out, "--clusterctl=/"], "/ is no program"),
            ([out, f"--clusterctl={other}"], "is v9.9.9: build both of the same sources"),
            ([os.path.join(folder, "out")], "File exists"),
        ):
            with self.subTest(arguments):
                code, said, errors = release(*programs(), self.OURS, *arguments, PATH=self.stand_in("exit 1"))
                self.assertNotEqual(code, 0)
                self.assertEqual(said, "")
                self.assertIn(words, errors)
                self.assertNotIn("Traceback", errors)
                self.assertEqual(sorted(os.listdir(self.folder)), ["other", "path", "there"])

    def stand_in(self, text):
        """The PATH that has this as kubectl."""
        return os.path.dirname(self.write("path/kubectl", f"#!/bin/sh\n{text}\n")) + os.pathsep + os.environ["PATH"]

    def test_a_failure_leaves_nothing(self):
        out = os.path.join(self.folder, "out")
        code, _, errors = release(out, *programs(), self.OURS, PATH=self.stand_in("echo no such file >&2; exit 1"))
        self.assertEqual((code, errors), (1, "tools/release: no such file\n"))
        self.assertEqual(os.listdir(self.folder), ["path"])

    def test_programs_of_another_commit(self):
        """The release said that it is the checkout's commit, whatever the programs were built of: of the operator, which is what
        the image has, nobody asked."""
        revision = checkout.revision()
        commit, state = revision.removesuffix("-dirty"), "dirty" if revision.endswith("-dirty") else "clean"
        ours, out = (commit, state), os.path.join(self.folder, "out")
        for told, built_of in (
            (("4" * 40, "clean"), "4" * 40),
            ((commit, "clean" if state == "dirty" else "dirty"), revision.removesuffix("-dirty") if state == "dirty" else f"{commit}-dirty"),
            (("", ""), "no commit"),
            (ours, None),
        ):
            for operator, other in ((told, ours), (ours, told)):
                with self.subTest(operator=operator, clusterctl=other):
                    programs = {"operator": self.operator(*operator), "clusterctl": self.clusterctl(*other)}
                    wrong = programs["operator" if operator == told else "clusterctl"]
                    flags = [out, *(f"--{name}={path}" for name, path in programs.items())]
                    for more in ([], [self.OURS]):
                        code, _, errors = release(*flags, *more, PATH=self.stand_in("echo asked >&2; exit 1"))
                        self.assertEqual(code, 1)
                        if built_of and not more:
                            self.assertIn(f"{wrong} was built of {built_of}, and", errors)
                            self.assertIn(f"the checkout is {revision}: run `make build`, or say what it is with --revision", errors)
                        else:
                            self.assertEqual(errors, "tools/release: asked\n")

    def operator(self, commit, state):
        """One that says that it was built of this."""
        lines = ["capi-operator v1.2.3"] + [f"GitCommit: {commit}", f"GitTreeState: {state}"] * bool(commit)
        return self.write("operator", "#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))

    def clusterctl(self, commit, state):
        said = json.dumps({"clusterctl": {"gitCommit": commit, "gitTreeState": state}})
        return self.write("clusterctl", f"#!/bin/sh\ncase $* in *json) echo '{said}' ;; *) echo v1.2.3 ;; esac\n")

    def test_an_interruption_leaves_nothing(self):
        runs = os.path.join(self.folder, "runs")
        os.mkfifo(runs)
        begun = os.open(runs, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, begun)
        path = self.stand_in(f"echo >'{runs}'; exec sleep 60")
        with begin(os.path.join(self.folder, "out"), *programs(), self.OURS, PATH=path) as run:
            self.assertTrue(select.select([begun], [], [], 60)[0], "kubectl isn't asked")
            run.send_signal(signal.SIGTERM)
            _, errors = run.communicate(timeout=60)
        self.assertEqual((run.returncode, errors), (130, "\ntools/release: interrupted; nothing was written\n"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["path", "runs"])

    def test_an_interruption_once_it_has_its_name(self):
        """It said that nothing was written."""
        out = os.path.join(self.folder, "out")
        script = runpy.run_path(os.path.join(TOOLS, "release"), run_name="release")
        files = {"a": b"1"}

        def release(given):
            script["write"](files, given.out)
            os.kill(os.getpid(), signal.SIGTERM)

        for number in (signal.SIGINT, signal.SIGTERM):
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        errors = io.StringIO()
        with mock.patch.dict(script["main"].__globals__, release=release), contextlib.redirect_stderr(errors):
            with self.assertRaises(SystemExit) as ended:
                script["main"]([out])
        self.assertEqual((ended.exception.code, errors.getvalue()), (130, f"\ntools/release: interrupted; {out} is whole\n"))
        self.assertEqual(contents(out), files)

    def test_half_of_it_never_has_the_name(self):
        script = runpy.run_path(os.path.join(TOOLS, "release"), run_name="release")
        with self.assertRaises(OSError):
            script["write"]({"a": b"1", "no/b": b"2"}, os.path.join(self.folder, "out"))
        self.assertEqual(os.listdir(self.folder), [])


class Checkout(WithTree):
    """What the release says of the commit that it is made of."""

    def setUp(self):
        super().setUp()
        self.copy("image.d/checkout.py")
        for name in ("chart/a", "chart/b/c"):
            self.write(name, "as committed\n")

    def ask(self, call, **environment):
        command = [sys.executable, "-B", "-c", f"import checkout; print(checkout.{call})"]
        kept = {name: text for name, text in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        environment = {**kept, "PYTHONPATH": os.path.join(self.folder, "tools", "image.d"), **environment}
        return subprocess.check_output(command, text=True, env=environment).strip()

    def git(self, *words):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
        environment = {**os.environ, "GIT_COMMITTER_DATE": f"{EPOCH} +0000"}
        return subprocess.check_output(["git", *identity, *words], cwd=self.folder, text=True, env=environment).strip()

    def test_the_commit_its_time_and_its_files(self):
        self.assertEqual(self.ask("revision()"), "")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")
        head = self.git("rev-parse", "HEAD")
        self.write("chart/new", "not committed\n")
        self.assertEqual(self.ask("revision()"), head)
        self.assertEqual(self.ask("epoch()"), str(EPOCH))
        self.assertEqual(self.ask("epoch()", SOURCE_DATE_EPOCH="7"), "7")
        self.assertEqual(self.ask("files('chart')"), "['a', 'b/c']")
        self.write("chart/a", "changed\n")
        self.assertEqual(self.ask("revision()"), f"{head}-dirty")

    def test_a_time_that_is_none(self):
        """tools/image told it by a traceback."""
        words = "SOURCE_DATE_EPOCH is 'x', not a number of seconds since 1970\n"
        for script in ("image", "release"):
            with self.subTest(script):
                flags = ["--program=/bin/true"] if script == "image" else [*programs(), f"--revision={REVISION}"]
                command = [os.path.join(TOOLS, script), os.path.join(self.folder, "out"), *flags]
                done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(SOURCE_DATE_EPOCH="x"))
                self.assertEqual((done.returncode, done.stderr), (1, f"tools/{script}: {words}"))

    def test_without_git_all_files_count(self):
        os.rename(os.path.join(self.folder, ".git"), os.path.join(self.folder, "git"))
        self.assertEqual(self.ask("files('chart')"), "['a', 'b/c']")
        self.assertEqual((self.ask("revision()"), self.ask("epoch()")), ("", "0"))


if __name__ == "__main__":
    unittest.main()
