#!/usr/bin/env python3
"""Releases in a folder that a web server has (behaviour.md I18): for clusterctl, and for an operator on a real control plane."""

import json
import os
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import folder_server  # noqa: E402
import pages  # noqa: E402
import provider_rights  # noqa: E402
import rights  # noqa: E402
from provider_rights import CORE  # noqa: E402
from tree import WithFolder  # noqa: E402

VERSIONS = ("v1.11.0", "v1.12.0")


TOKENS = {"GITHUB_TOKEN": "ghp_s3cret-of-the-test", "GITLAB_ACCESS_TOKEN": "glpat-s3cret-of-the-test"}


def fill(folder):
    """Releases of Cluster API."""
    place = os.path.join(folder, "capi")
    for version in VERSIONS:
        shutil.copytree(os.path.join(rights.RELEASES, "cluster-api", version), os.path.join(place, version))
    with open(os.path.join(place, "versions.txt"), "w", encoding="utf-8") as file:
        file.write("# releases\n" + "".join(f"{version}\n" for version in VERSIONS))
    return folder


class World(provider_rights.World):
    ca = ""

    def run_operator(self, command, env=None):
        """Without a folder of its own, and with the CA of the server."""
        command = [word for word in command if not word.startswith("--releases-dir=")]
        super().run_operator(command, env=dict(os.environ, SSL_CERT_FILE=self.ca, NO_PROXY="127.0.0.0/8", **TOKENS))


class HttpFolder(WithFolder):
    def setUp(self):
        super().setUp()
        self.server = folder_server.FolderServer(fill(os.path.join(self.folder, "served")), self.folder)
        self.url = f"https://{self.server.address}/capi/latest/core-components.yaml"
        self.addCleanup(self.server.close)
        self.addCleanup(self.nobody_was_sent_credentials)

    def nobody_was_sent_credentials(self):
        """Whoever asked had some."""
        self.assertIn(f"Host: {self.server.address}", self.server.asked[0][1])
        for path, headers in self.server.asked:
            for word in ("authorization:", "private-token:", "s3cret"):
                self.assertNotIn(word, headers.lower(), path)

    def clusterctl(self, *arguments, code=0):
        config = self.write("clusterctl.yaml", f"providers: [{{name: cluster-api, type: CoreProvider, url: '{self.url}'}}]\n")
        variables = {"HOME": self.folder, "PATH": "/usr/bin:/bin", "SSL_CERT_FILE": self.server.certificate, **TOKENS}
        done = subprocess.run([built.find("clusterctl"), *arguments, "--config", config], capture_output=True, text=True, check=False, env=variables)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    # I18, L3, L25: the newest that versions.txt names, one that is named, and one that isn't there.
    def test_clusterctl_reads_it(self):
        self.assertIn("cluster-api-controller:v1.12.0", self.clusterctl("generate", "provider", "--core", "cluster-api"))
        self.assertIn("cluster-api-controller:v1.11.0", self.clusterctl("preload", "--core", "cluster-api:v1.11.0", "-o", "yaml"))
        self.assertIn("/capi/v9.9.9/metadata.yaml", self.clusterctl("preload", "--core", "cluster-api:v9.9.9", "-o", "yaml", code=1))
        os.remove(os.path.join(self.server.folder, "capi", "versions.txt"))
        self.assertIn("name the version", self.clusterctl("generate", "provider", "--core", "cluster-api", code=1))
        self.assertIn("cluster-api-controller:v1.12.0", self.clusterctl("generate", "provider", "--core", "cluster-api:v1.12.0"))

    # I18, I3, T2, U12: the operator asks it where it may, and takes the newest.
    def test_an_operator_installs_from_it(self):
        world = World()
        self.addCleanup(world.close)
        world.ca = self.server.certificate
        world.install()
        world.start_operator()
        world.prepare(CORE["ns"])
        keys = [f"--from-literal={name.lower().replace('_', '-')}={token}" for name, token in TOKENS.items()]
        world.must("create", "secret", "generic", "tokens", "-n", CORE["ns"], *keys)
        world.declare(CORE, fetchConfig={"url": self.url}, configSecret={"name": "tokens"})
        world.await_words(CORE, "--allowed-sources")
        self.assertEqual(self.server.asked, [])
        world.kill_operator()
        world.start_operator(f"--allowed-sources={self.server.address}", "--check-updates=10s")
        world.await_ready(CORE, "v1.12.0")
        item = world.get(CORE["kind"], CORE["name"], "-n", CORE["ns"])
        self.assertEqual(item["spec"]["version"], "v1.12.0")
        self.assertIn(f"{self.server.address}/capi v1.12.0", json.dumps(item["status"]))
        folder = os.path.join(self.server.folder, "capi")
        shutil.copytree(os.path.join(folder, "v1.12.0"), os.path.join(folder, "v1.12.9"))
        with open(os.path.join(folder, "versions.txt"), "a", encoding="utf-8") as file:
            file.write("v1.12.9\n")
        world.await_newer(CORE, "v1.12.9")
        # As the page has a reader ask for it.
        (block,) = [block for block in pages.blocks("Newer versions", "docs/upgrades.md") if "availableUpgrades" in block]
        told = pages.run(block, self.folder, pages.environment(world.plane, self.folder))
        self.assertEqual((told.returncode, told.stdout), (0, "v1.12.9 v1beta2 \n"), told.stderr)


if __name__ == "__main__":
    unittest.main()
