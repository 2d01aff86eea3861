#!/usr/bin/env python3
"""Releases in a folder that a web server has (behaviour.md I18): for clusterctl, and for an operator on a real control plane."""

import functools
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import pages  # noqa: E402
import provider_rights  # noqa: E402
import rights  # noqa: E402
from provider_rights import CORE  # noqa: E402
from tree import WithFolder  # noqa: E402

VERSIONS = ("v1.11.0", "v1.12.0")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Of Python's own web server, which lists folders in a way of its own."""

    def log_message(self, *arguments):
        self.server.asked.append((self.path, self.headers.get("Authorization")))


class FolderServer:
    """Releases of Cluster API, over TLS with a certificate of a CA of one's own."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "served")
        place = os.path.join(self.folder, "capi")
        for version in VERSIONS:
            shutil.copytree(os.path.join(rights.RELEASES, "cluster-api", version), os.path.join(place, version))
        with open(os.path.join(place, "versions.txt"), "w", encoding="utf-8") as file:
            file.write("# releases\n" + "".join(f"{version}\n" for version in VERSIONS))
        self.ca = os.path.join(folder, "server.pem")
        make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=files"]
        names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{self.ca}.key", "-out", self.ca]
        subprocess.run([*make, *names], check=True, capture_output=True)
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(self.ca, f"{self.ca}.key")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=self.folder))
        self.server.asked = []
        self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = f"https://{self.address}/capi/latest/core-components.yaml"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class World(provider_rights.World):
    ca = ""

    def run_operator(self, command, env=None):
        """Without a folder of its own, and with the CA of the server."""
        command = [word for word in command if not word.startswith("--releases-dir=")]
        super().run_operator(command, env=dict(os.environ, SSL_CERT_FILE=self.ca, NO_PROXY="127.0.0.0/8"))


class HttpFolder(WithFolder):
    def setUp(self):
        super().setUp()
        self.server = FolderServer(self.folder)
        self.addCleanup(self.server.close)
        # Nobody was sent what authenticates.
        self.addCleanup(lambda: self.assertEqual([one for one in self.server.server.asked if one[1]], []))

    def clusterctl(self, *arguments, code=0):
        config = self.write("clusterctl.yaml", f"providers: [{{name: cluster-api, type: CoreProvider, url: '{self.server.url}'}}]\n")
        variables = {"HOME": self.folder, "PATH": "/usr/bin:/bin", "SSL_CERT_FILE": self.server.ca}
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
        world.ca = self.server.ca
        world.install()
        world.start_operator()
        world.declare(CORE, fetchConfig={"url": self.server.url})
        world.await_words(CORE, "--allowed-sources")
        self.assertEqual(self.server.server.asked, [])
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
        (block,) = pages.blocks("Newer versions", "docs/upgrades.md")
        told = pages.run(block, self.folder, pages.environment(world.plane, self.folder))
        self.assertEqual((told.returncode, told.stdout), (0, "v1.12.9 v1beta2 \n"), told.stderr)


if __name__ == "__main__":
    unittest.main()
