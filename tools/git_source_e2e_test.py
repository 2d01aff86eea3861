#!/usr/bin/env python3
"""Providers whose releases are tags of git repositories, which git itself serves (behaviour.md T15)."""

import base64
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import unittest  # noqa: E402

import built  # noqa: E402
import git_server  # noqa: E402
import pages  # noqa: E402
import provider_rights  # noqa: E402
import rights  # noqa: E402
from provider_rights import AWS, BOOTSTRAP, CORE  # noqa: E402

PAGE, SECTION = "docs/sources.md", "A git repository"


class World(provider_rights.World):
    def __init__(self):
        super().__init__()
        self.git = git_server.Server(self.state.path)
        self.git.create("core.git")
        for tag in ("v1.10.4", "v1.11.0", "v1.12.0"):
            self.git.release("core.git", tag, os.path.join(rights.RELEASES, "cluster-api", tag), "releases/core")
        self.install()

    def write_secret(self, provider, name="git", **values):
        self.prepare(provider["ns"])
        item = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": provider["ns"]}, "stringData": values}
        self.must("delete", "secret", name, "-n", provider["ns"], "--ignore-not-found")
        self.must("create", "-f", "-", given=json.dumps(item))

    def write_credentials(self, provider, name="git", password=git_server.PASSWORD):
        self.write_secret(provider, name, **{"username": git_server.USER, "password": password, "ca.crt": self.git.ca()})

    def clusterctl(self, *arguments):
        environment = dict(os.environ, HOME=self.state.path, CLUSTERCTL_DISABLE_VERSIONCHECK="true")
        command = [built.find("clusterctl"), *arguments, "--kubeconfig", self.plane.kubeconfig]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)


class Git(unittest.TestCase):
    # T15, I2, I14, T12, U12: from the tags to the release that is kept, an upgrade, and then without the server.
    def test_a_provider_from_its_tags_to_an_operator_without_the_server(self):
        world = World()
        allowed = f"--allowed-sources={world.git.address}"
        world.start_operator(allowed, "--check-updates=10s")
        source = {"git": {"url": world.git.url("core.git"), "path": "releases/core", "secretRef": {"name": "git"}}}
        world.declare(CORE, version="v1.11.0", fetchConfig=source)
        world.await_words(CORE, "SecretNotFound", "spec.fetchConfig.git.secretRef")
        world.write_secret(CORE, token="s3cret-of-the-test")
        world.await_words(CORE, "SourceCredentialsRejected", "key token is none that is known")
        world.write_secret(CORE, username=git_server.USER, password=git_server.PASSWORD)
        world.await_words(CORE, "SourceUnreachable", "certificate")
        world.write_credentials(CORE, password="wr0ng")
        world.await_words(CORE, "SourceCredentialsRejected", "it refused what the Secret of spec.fetchConfig.git.secretRef has")
        world.write_credentials(CORE)
        world.await_ready(CORE, "v1.11.0")
        name = f"{world.git.url('core.git')}//releases/core"
        kept = world.get("configmaps", "-n", CORE["ns"], "-l", "provider.cluster.x-k8s.io/type=core")["items"]
        self.assertEqual([one["metadata"]["annotations"]["provider.cluster.x-k8s.io/source"] for one in kept], [f"{name} v1.11.0"])

        world.await_newer(CORE, "v1.12.0")
        plan = world.clusterctl("upgrade", "plan")
        self.assertEqual(plan.returncode, 0, plan.stderr)
        self.assertRegex(plan.stdout, r"(?m)^cluster-api +capi-system +CoreProvider +v1\.11\.0 +v1\.12\.0$")
        upgraded = world.clusterctl("upgrade", "apply", "--core", "cluster-api:v1.12.0")
        self.assertEqual(upgraded.returncode, 0, upgraded.stderr)
        world.await_ready(CORE, "v1.12.0")
        self.take_the_example(world)
        self.come_over_ssh(world)

        # Without the server what is kept is enough; what isn't is told.
        world.git.stop()
        world.kill_operator()
        world.start_operator(allowed)
        world.declare(CORE, version="v1.12.0", fetchConfig=source, rollout={"timeout": "9m"})
        world.await_ready(CORE, "v1.12.0")
        world.declare(CORE, version="v1.13.0", fetchConfig=source)
        world.await_words(CORE, "SourceUnreachable", world.git.address)
        world.git.start()
        world.await_words(CORE, "VersionNotFound", "there is no tag v1.13.0")
        told = world.told()
        self.assertIn("it refused what the Secret of spec.fetchConfig.git.secretRef has", told)
        with open(os.path.join(world.state.path, "identity"), encoding="utf-8") as file:
            key = file.read().split("\n")[2:-2]  # the first line of all keys is the same
        for secret in (git_server.PASSWORD, "wr0ng", "s3cret-of-the-test", *key):
            self.assertNotIn(secret, told)

    def come_over_ssh(self, world):
        """With the Secret that the page's commands make: from a wrong key of the server's to a release, and the next one."""
        server = git_server.Ssh(world.state.path, world.processes)
        server.create("providers.git")
        for tag in ("v1.10.4", "v1.12.0"):
            server.release("providers.git", tag, os.path.join(rights.RELEASES, "bootstrap-kubeadm", tag), "kubeadm")
        world.kill_operator()
        world.start_operator(f"--allowed-sources={world.git.address},{server.address}")
        (block,) = [block for block in pages.blocks(SECTION, PAGE, "bash") if "ssh-keygen" in block]
        block = block.replace("-p 2222 git.example.com", f"-p {server.port} {server.host}").replace(AWS["ns"], BOOTSTRAP["ns"])
        world.prepare(BOOTSTRAP["ns"])
        done = pages.run(block, world.state.path, pages.environment(world.plane, world.state.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.copy(os.path.join(world.state.path, "identity.pub"), server.authorized)
        right = world.get("secret", "providers-ssh", "-n", BOOTSTRAP["ns"])["data"]
        right = {key: base64.b64decode(value).decode() for key, value in right.items()}
        source = {"git": {"url": server.url("providers.git"), "path": "kubeadm", "secretRef": {"name": "providers-ssh"}}}
        world.write_secret(BOOTSTRAP, "providers-ssh", **right | {"known_hosts": right["known_hosts"].replace(server.host, "192.0.2.1")})
        world.declare(BOOTSTRAP, version="v1.10.4", fetchConfig=source)
        world.await_words(BOOTSTRAP, "SourceCredentialsRejected", f"has no key of {server.address}")
        other = os.path.join(world.state.path, "identity.pub")
        with open(other, encoding="utf-8") as file:
            wrong = f"[{server.host}]:{server.port} {file.read()}"
        world.write_secret(BOOTSTRAP, "providers-ssh", **right | {"known_hosts": wrong})
        world.await_words(BOOTSTRAP, "SourceCredentialsRejected", "somebody may have put another server in its place")
        world.write_secret(BOOTSTRAP, "providers-ssh", **right)
        world.await_ready(BOOTSTRAP, "v1.10.4")
        world.declare(BOOTSTRAP, version="v1.12.0", fetchConfig=source)
        world.await_ready(BOOTSTRAP, "v1.12.0")

    def take_the_example(self, world):
        """What the page says: how a release comes into a repository, and the objects that name it."""
        world.git.create("platform.git")
        folder = world.git.clone("platform.git", os.path.join(world.state.path, "platform"))
        for name in ("metadata.yaml", "infrastructure-components.yaml"):
            shutil.copy(os.path.join(rights.RELEASES, "infrastructure-aws", "v2.11.1", name), folder)
        (block,) = [block for block in pages.blocks(SECTION, PAGE, "bash") if "git push" in block]
        git_server.git(folder, "config", "user.name", "a")
        git_server.git(folder, "config", "user.email", "a@b")
        done = pages.run(block, folder, git_server.environment(world.state.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        (objects,) = pages.blocks(SECTION, PAGE, "yaml")
        objects = objects.replace("https://git.example.com/platform/providers.git", world.git.url("platform.git"))
        secret = f"  password: {git_server.PASSWORD}\n  ca.crt: {json.dumps(world.git.ca())}\n"
        objects = objects.replace("  password: change-me\n", secret)
        objects = objects.replace("  fetchConfig:\n", "  configSecret: {name: variables}\n  fetchConfig:\n")
        world.prepare(AWS["ns"])
        world.must("apply", "-f", "-", given=objects)
        world.await_ready(AWS, "v2.11.1")


if __name__ == "__main__":
    unittest.main()
