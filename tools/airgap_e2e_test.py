#!/usr/bin/env python3
"""Releases that are carried to a cluster without a network: docs/air-gap.md, on a real control plane and with a real registry
(L25 to L28). All of it, the control plane, the operator and the commands, is in a network namespace with loopback alone; who asks a
proxy for a host is noticed as well."""

import fcntl
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tarfile
import threading
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import in_cluster  # noqa: E402
import oci_registry  # noqa: E402
import pages  # noqa: E402
import rights  # noqa: E402
import worlds  # noqa: E402
from tree import WithFolder  # noqa: E402

PAGE = "docs/air-gap.md"
LABELS = ("cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-aws", "infrastructure-docker")
DOCKER = """
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: InfrastructureProvider
metadata: {name: docker, namespace: capd-system}
spec: {version: v1.12.0}
"""
EXAMPLE = {
    "metadata.yaml": "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 1, minor: 2, contract: v1beta2}\n",
    "infrastructure-components.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: example-system}\n---\n"
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: example, namespace: example-system}\n",
}
DIRECT = {"NO_PROXY": "127.0.0.0/8"}  # to a registry here
USER = {"OCI_USERNAME": oci_registry.USER, "OCI_PASSWORD": oci_registry.PASSWORD, **DIRECT}
UNSHARE = ["unshare", "--map-root-user", "--net"]
ALONE = "CAPI_AIRGAP_ALONE"  # set in the namespace


def go_alone():
    """Runs this program again in a network namespace of its own. Where none may be made it goes on, and what needs one is skipped."""
    if ALONE in os.environ or subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0:
        return
    os.execvpe(UNSHARE[0], [*UNSHARE, sys.executable, *sys.argv], dict(os.environ, **{ALONE: "1"}))


def setUpModule():
    if ALONE not in os.environ:
        return
    # Loopback is down in a new one (netdevice(7): SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP).
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name, flags = struct.unpack("16sh", fcntl.ioctl(any_socket, 0x8913, struct.pack("16sh", b"lo", 0)))
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", name, flags | 1))
    # The kernel may add tunnels, which are down.
    others = {name for _, name in socket.if_nameindex() if is_up(name)} - {"lo"}
    if others:
        raise AssertionError(f"there is more than loopback: {others}")


def is_up(interface):
    """Asked of this namespace: /sys may show another one's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        _, flags = struct.unpack("16sh", fcntl.ioctl(any_socket, 0x8913, struct.pack("16sh", interface.encode(), 0)))
    return flags & 1


class Trap:
    """A proxy that counts who asks it, and answers nobody."""

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.asked = []
        threading.Thread(target=self._accept, daemon=True).start()
        url = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        self.variables = {name: url for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")}

    def _accept(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                try:
                    self.asked.append(connection.recv(200))
                except OSError:
                    self.asked.append(b"?")


class World(in_cluster.World):
    trap = None

    def run_operator(self, command, env=None):
        """Without a folder of releases, and with the trap in the place of the network."""
        command = [word for word in command if not word.startswith("--releases-dir=")]
        super().run_operator(command, env=dict(os.environ, **self.trap.variables))


class Commands(WithFolder):
    def setUp(self):
        super().setUp()
        self.trap = Trap()
        self.addCleanup(self.trap.server.close)
        self.addCleanup(lambda: self.assertEqual(self.trap.asked, [], "somebody asked for a host"))
        self.program = built.find("clusterctl")
        os.mkdir(os.path.join(self.folder, "bin"))
        os.symlink(self.program, os.path.join(self.folder, "bin", "clusterctl"))
        # Where there is a network: its sources are folders here.
        self.online = self.write("online.yaml", in_cluster.configuration(os.path.join(self.folder, "online"), {rights.RELEASES: LABELS}))

    def environment(self, **more):
        path = os.path.join(self.folder, "bin") + ":/usr/bin:/bin"
        return {"PATH": path, "HOME": self.folder, **self.trap.variables, **more}

    def bash(self, block, **more):
        """What a block of the page prints."""
        return self.printed(block, pages.run(block, self.folder, self.environment(**more)))

    def printed(self, block, done):
        self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}{done.stderr}{self.last_words()}")
        return done.stdout

    def last_words(self):
        return ""

    def bash_online(self, block, **more):
        """The same, with the folders in the place of GitHub."""
        place = os.path.join(self.folder, ".config", "cluster-api")
        os.makedirs(place, exist_ok=True)
        shutil.copy(self.online, os.path.join(place, "clusterctl.yaml"))
        printed = self.bash(block, **more)
        os.remove(os.path.join(place, "clusterctl.yaml"))
        return printed

    def write_example(self, *place):
        for name, text in EXAMPLE.items():
            self.write(os.path.join(*place, name), text)

    def registry(self):
        world = worlds.World()
        self.addCleanup(world.close)
        return oci_registry.Registry(world.state.path, world.processes)

    def create(self):
        (block,) = pages.blocks("Where there is a network", PAGE)
        self.bash_online(block)
        with open(os.path.join(self.folder, "images.txt"), encoding="utf-8") as file:
            return file.read().splitlines()


@unittest.skipUnless(ALONE in os.environ, "no network namespace can be made here (unshare --net)")
class AirGap(Commands, worlds.OnAWorld):
    WORLD = World

    def setUp(self):
        super().setUp()
        self.start_world()
        self.world.trap = self.trap

    def last_words(self):
        return self.world.last_words()

    # L27, L25, L10, L13, I2.
    def test_from_a_bundle_to_providers_that_are_ready(self):
        images = self.create()
        self.assertTrue(any("cert-manager-controller" in image for image in images), images)
        (block,) = pages.blocks("A management cluster with `init`", PAGE)
        here = self.bash(block).splitlines()
        # The operator's image is none of the bundle's: whoever has built it pushes it.
        (own,) = re.findall(r"^    skopeo copy --all oci:build/image docker://(\S+)$", pages.read(os.path.join(built.ROOT, PAGE)), re.MULTILINE)
        names = lambda some: sorted(image.rsplit("/", 1)[1] for image in some)  # noqa: E731
        self.assertEqual(names(here), names([*images, own]))
        self.assertIn(own, here)

        kubeconfig = {"KUBECONFIG": self.world.plane.kubeconfig}
        block, upgrade = pages.blocks("A management cluster with `init`", PAGE, "bash")
        self.assertIn(f"--operator-image {own}\n", block)
        with pages.start(block, self.folder, self.environment(**kubeconfig)) as init:
            self.world.serve(init)
            self.printed(block, pages.finish(init))

        self.upgrade_as_the_page_says(upgrade, kubeconfig)

        # A further provider: its release comes first, and the object that names no source after it.
        more = [self.program, "bundle", "create", "--config", self.online, "-f", "-", "-o", "bundle.tar", "--install-cert-manager=false"]
        subprocess.run(more, input=DOCKER, check=True, text=True, cwd=self.folder, env=self.environment(), capture_output=True)
        (block,) = pages.blocks("Provider objects, from a repository of manifests", PAGE)
        made = self.bash(block, **kubeconfig)
        self.assertEqual(made, "configmap/infrastructure-docker-v1.12.0 in namespace capd-system created\n")
        self.assertEqual(self.bash(block, **kubeconfig), made.replace("created", "unchanged"))
        self.preload_as_the_page_says(kubeconfig)
        self.world.must("apply", "-f", "-", given=DOCKER)
        self.await_ready("docker", "capd-system")
        # What preload prints is what it has made, and kubectl takes it.
        printed = self.bash(f"clusterctl preload --config {self.online} -f - -o yaml <<'EOF'\n{DOCKER}EOF\n")
        done = self.world.must("apply", "--server-side", "--force-conflicts", "-f", "-", given=printed)
        self.assertIn("infrastructure-docker-v1.12.0", done)
        self.one_that_is_not_built_in(kubeconfig)

    def upgrade_as_the_page_says(self, block, kubeconfig):
        """To a release that the first bundle doesn't have, whose images are pulled from the registry, too."""
        place = os.path.join("newer", "cluster-api", "v1.12.1")
        for name in ("metadata.yaml", "core-components.yaml"):
            text = pages.read(os.path.join(rights.RELEASES, "cluster-api", "v1.12.0", name))
            self.write(os.path.join(place, name), text.replace("v1.12.0", "v1.12.1"))
        newer = os.path.join(self.folder, "newer")
        sources = {newer: ["cluster-api"], rights.RELEASES: ["infrastructure-docker"]}
        config = self.write("sources.yaml", in_cluster.configuration(newer, sources))
        create = f"clusterctl bundle create --config {config} --core cluster-api:v1.12.1 -b - -c - -i docker:v1.12.0 --install-cert-manager=false"
        self.bash(f"{create} -o newer.tar")
        self.assertRegex(self.bash(block, **kubeconfig), r"cluster-api .*v1\.12\.0 +v1\.12\.1")
        core = self.world.get("coreproviders", "cluster-api", "-n", "capi-system")
        self.assertEqual(core["status"]["installedVersion"], "v1.12.1")
        images = {container["image"] for item in self.world.get("deployments", "-n", "capi-system")["items"] for container in item["spec"]["template"]["spec"]["containers"]}
        self.assertEqual(images, {"registry.example.com/capi/cluster-api-controller:v1.12.1"})
        # The other provider of that bundle is found with the entry that was printed for it. (Else GitHub is asked.)
        entry = re.search(r"^- name: docker\n(  .*\n)+", pages.read(os.path.join(self.folder, "newer.yaml")), re.MULTILINE).group()
        self.write("clusterctl.yaml", pages.read(os.path.join(self.folder, "clusterctl.yaml")).replace("providers:\n", f"providers:\n{entry}", 1))
        self.assertIn("capd-system", self.bash("clusterctl generate provider --config clusterctl.yaml -i docker:v1.12.0 --raw"))

    def one_that_is_not_built_in(self, kubeconfig):
        """Its object as the page has it. (I2 refuses one that names no source.)"""
        self.write_example("releases", "infrastructure-example", "v1.2.3")
        place = os.path.join(self.folder, "releases", "infrastructure-example", "latest", "infrastructure-components.yaml")
        config = self.write("example.yaml", f"providers: [{{name: example, type: InfrastructureProvider, url: {place}}}]\n")
        (declared,) = pages.blocks("Provider objects, from a repository of manifests", PAGE, "yaml")
        create = f"clusterctl bundle create --config {config} -f {self.write('example-object.yaml', declared)} --install-cert-manager=false"
        self.bash(f"{create} -o example.tar\nclusterctl bundle load example.tar", **kubeconfig)
        self.world.must("apply", "-f", "-", given=declared)
        self.await_ready("example", "example-system")

    def await_ready(self, name, namespace):
        def ready():
            item = self.world.get("infrastructureproviders", name, "-n", namespace)
            return rights.conditions(item).get("Ready", {}).get("status") == "True"

        self.world.until(f"{name} is Ready", ready)

    def preload_as_the_page_says(self, kubeconfig):
        self.write(os.path.join("clusters", "management", "docker.yaml"), DOCKER)
        os.symlink(os.path.join(self.world.plane.programs, "kubectl"), os.path.join(self.folder, "bin", "kubectl"))
        printed, loaded = pages.blocks("Provider objects, from a repository of manifests", PAGE, "bash")
        self.world.must("delete", "configmap", "infrastructure-docker-v1.12.0", "-n", "capd-system")
        self.assertIn("infrastructure-docker-v1.12.0 serverside-applied", self.bash_online(printed, **kubeconfig))
        unchanged = "configmap/infrastructure-docker-v1.12.0 in namespace capd-system unchanged\n"
        self.assertEqual(self.bash(loaded, **kubeconfig), unchanged)


class Images(Commands):
    # L27: each image of the list is copied, and of two of one name none.
    def test_the_loop_copies_them(self):
        (block,) = pages.blocks("Where there is a network", PAGE, "bash")
        self.write(os.path.join("bin", "skopeo"), '#!/bin/sh\necho "$3 $4" >> copied.txt\n')
        digest = "sha256:" + "0" * 64
        self.write("images.txt", f"a.example.com/x/one:v1\nb.example.com:5000/two:v1@{digest}\n")
        self.bash(block)
        there = "docker://registry.example.com/capi"
        with open(os.path.join(self.folder, "copied.txt"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines, [f"docker://a.example.com/x/one:v1 {there}/one:v1", f"docker://b.example.com:5000/two@{digest} {there}/two:v1"])
        os.remove(os.path.join(self.folder, "copied.txt"))
        self.write("images.txt", "a.example.com/one:v1\nb.example.com/one:v1\na.example.com/two:v1\n")
        with self.assertRaisesRegex(AssertionError, "each under a name of its own: one:v1"):
            self.bash(block)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "copied.txt")))

    # L27. In a reader's shell, which goes on after a failure, the loop's code was that of the last copy.
    def test_one_that_is_not_copied_is_told(self):
        (block,) = pages.blocks("Where there is a network", PAGE, "bash")
        self.write(os.path.join("bin", "skopeo"), '#!/bin/sh\necho "$3" >> tried.txt\ncase $3 in *one*) exit 1 ;; esac\n')
        self.write("images.txt", "a.example.com/x/one:v1\na.example.com/two:v1\n")
        for tried in (2, 4):  # and of an earlier run nothing is told
            done = pages.run(block, self.folder, self.environment(), stop_at_failure=False)
            self.assertEqual((done.returncode, done.stderr), (1, "not copied: a.example.com/x/one:v1\n"))
            with open(os.path.join(self.folder, "tried.txt"), encoding="utf-8") as file:
                self.assertEqual(len(file.readlines()), tried)

    # L26, T14: the same of the signatures.
    def test_one_that_is_not_signed_ends_the_loop(self):
        block = pages.blocks("A registry of one's own", PAGE, "bash")[2]
        self.write(os.path.join("bin", "cosign"), '#!/bin/sh\necho "$7" >> tried.txt\ncase $7 in *one*) exit 1 ;; esac\n')
        artifacts = "clusterctl() { echo oci://a.example.com/one@sha256:1; echo oci://a.example.com/two@sha256:2; }\n"
        done = pages.run(artifacts + block, self.folder, self.environment(), stop_at_failure=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        with open(os.path.join(self.folder, "tried.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "a.example.com/one@sha256:1\n")


class Registry(Commands):
    # L26, L27: what is pushed to a real registry is read from there, by this program and by another one.
    def test_a_real_registry_keeps_what_is_published(self):
        registry = self.registry()
        self.create()
        where = f"http://{registry.address}/providers"
        load, publish, _ = (
            block.replace("oci://registry.example.com/providers", where).replace("change-me", oci_registry.PASSWORD)
            for block in pages.blocks("A registry of one's own", PAGE, "bash")
        )  # the last one signs: tools/cosign_e2e_test.py
        loaded = self.bash(load, **DIRECT).splitlines()
        self.write_example("out")
        example, published = self.bash_online(publish, **USER).splitlines()
        self.assertTrue(example.startswith(f"{where}/example:v1.2.3@sha256:"), example)
        self.assertIn(published, loaded, "it is the same artifact")
        self.assertIn(f"{where}/cluster-api:v1.12.0@sha256:", "\n".join(loaded))
        here = f"clusterctl preload -i aws -n x -o yaml -u {where}/infrastructure-aws"
        from_source = f"clusterctl preload --config {self.online} -i aws:v2.11.1 -n x -o yaml"
        self.assertEqual(without_source(self.bash(here, **USER)), without_source(self.bash(from_source)))
        self.another_tag_is_left_alone(where)

    def another_tag_is_left_alone(self, where):
        command = [self.program, "publish", "--config", self.online, "-i", "docker:v1.12.0", "-u", f"{where}/infrastructure-aws:nightly"]
        run = lambda *more, **variables: subprocess.run([*command, *more], capture_output=True, text=True, check=False, env=self.environment(**variables))  # noqa: E731
        self.assertEqual(run(**USER).returncode, 0)
        command[command.index("docker:v1.12.0")] = "aws:v2.11.1"
        refused = run(**USER)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("is there with another content", refused.stderr)
        self.assertEqual(run("--force", **USER).returncode, 0)
        stranger = run("--force", **(USER | {"OCI_PASSWORD": "wr0ng"}))
        self.assertIn("refused the credentials", stranger.stderr)
        self.assertNotIn("wr0ng", stranger.stderr)

    # L26, L27: from the registry, and out of the bundle, which is an image layout.
    def test_skopeo_reads_it(self):
        registry = self.registry()
        self.create()
        where = f"http://{registry.address}/providers"
        loaded = self.bash(f"clusterctl bundle load bundle.tar --to {where}", **USER).splitlines()
        (digest,) = [line.rsplit("@", 1)[1] for line in loaded if "/infrastructure-aws:" in line]
        login = f"--creds={oci_registry.USER}:{oci_registry.PASSWORD}"
        repository = f"docker://{registry.address}/providers/infrastructure-aws:v2.11.1"
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder}
        raw = subprocess.run(["skopeo", "inspect", "--raw", "--tls-verify=false", login, repository], capture_output=True, check=True, env=environment)
        self.assertEqual(oci_registry.digest_of(raw.stdout), digest)
        layout = os.path.join(self.folder, "layout")
        with tarfile.open(os.path.join(self.folder, "bundle.tar")) as archive:
            archive.extractall(layout)
        raw = subprocess.run(["skopeo", "inspect", "--raw", f"oci:{layout}:infrastructure-aws_v2.11.1"], capture_output=True, check=True, env=environment)
        self.assertEqual(oci_registry.digest_of(raw.stdout), digest)


class BundledImages(Commands):
    # L28: between two real registries, byte by byte, and as skopeo reads them.
    def test_they_go_from_one_registry_to_another(self):
        mirror, registry = self.registry(), self.registry()
        images = self.create()
        layers = [b"of all images", os.urandom(40 << 20)]  # more than one piece
        pushed = {image: mirror.push_image("mirror/" + image.rsplit("/", 1)[1].split(":")[0], image.rsplit(":", 1)[1], ("amd64", "arm64"), layers) for image in images}
        (create,) = pages.blocks("The images in the bundle", PAGE)
        (load,) = pages.blocks("The images in the bundle", PAGE, "bash")
        source = f" --images-from http://{mirror.address}/mirror -o"
        load = load.replace("oci://registry.example.com", f"http://{registry.address}").replace("change-me", oci_registry.PASSWORD)

        self.bash_online(create.replace(" --platform linux/amd64", "").replace(" -o", source), **USER)
        self.bash(load, **DIRECT)
        with open(os.path.join(self.folder, "clusterctl.yaml"), encoding="utf-8") as file:
            self.assertIn(f"repository: {registry.address}/capi\n", file.read())
        here = self.bash("clusterctl init list-images --config clusterctl.yaml --infrastructure aws").splitlines()
        self.assertEqual({image.rsplit("/", 1)[0] for image in here}, {f"{registry.address}/capi"})
        last = lambda some: {image.rsplit("/", 1)[1] for image in some}  # noqa: E731
        self.assertEqual(last(images) - last(here), set())
        for image, digest in pushed.items():
            self.assertEqual(oci_registry.digest_of(self.skopeo("inspect", "--raw", self.there(registry, "capi", image))), digest, image)
        self.skopeo("copy", "--all", "--src-tls-verify=false", self.there(registry, "capi", images[0]), f"dir:{self.folder}/copied", inspect=False)
        self.the_layout_has_them(pushed)

        # For one platform, as the page has it.
        self.bash_online(create.replace(" -o", source), **USER)
        self.bash(load.replace("/capi >", "/one >"), **DIRECT)
        for image in images:
            index = json.loads(self.skopeo("inspect", "--raw", self.there(registry, "one", image)))
            self.assertEqual([entry["platform"]["architecture"] for entry in index["manifests"]], ["amd64"])

    def there(self, registry, prefix, image):
        return f"docker://{registry.address}/{prefix}/{image.rsplit('/', 1)[1]}"

    def skopeo(self, *arguments, inspect=True):
        flags = ["--tls-verify=false", f"--creds={oci_registry.USER}:{oci_registry.PASSWORD}"] if inspect else [f"--src-creds={oci_registry.USER}:{oci_registry.PASSWORD}"]
        command, environment = ["skopeo", arguments[0], *flags, *arguments[1:]], {"PATH": "/usr/bin:/bin", "HOME": self.folder}
        done = subprocess.run(command, capture_output=True, check=False, timeout=pages.LIMIT, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def the_layout_has_them(self, pushed):
        layout = os.path.join(self.folder, "layout")
        with tarfile.open(os.path.join(self.folder, "bundle.tar")) as archive:
            archive.extractall(layout)
        for image, digest in pushed.items():
            command, environment = ["skopeo", "inspect", "--raw", f"oci:{layout}:{image}"], {"PATH": "/usr/bin:/bin", "HOME": self.folder}
            raw = subprocess.run(command, capture_output=True, check=True, timeout=pages.LIMIT, env=environment)
            self.assertEqual(oci_registry.digest_of(raw.stdout), digest)


def without_source(text):
    """ConfigMaps as they are but for the place that they say they are from."""
    return [line for line in text.splitlines() if "provider.cluster.x-k8s.io/source" not in line]


if __name__ == "__main__":
    go_alone()
    unittest.main()
