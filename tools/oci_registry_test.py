#!/usr/bin/env python3
"""Tests of the registry that tests of OCI sources start (testing.d/oci_registry.py), with a stand-in for its program."""

import os
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import oci_registry  # noqa: E402
import process  # noqa: E402
import progress  # noqa: E402
from tree import WithFolder  # noqa: E402

# Listens where its configuration says, and answers all with 200.
ANSWERS = f"""#!{sys.executable}
import http.server, re, sys
host, port = re.search('addr: "(.*):(.*)"', open(sys.argv[2]).read()).groups()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
http.server.HTTPServer((host, int(port)), Handler).serve_forever()
"""


class Registry(WithFolder):
    def start(self, program):
        folder = tempfile.mkdtemp(dir=self.folder)
        processes = process.Processes(folder)
        self.addCleanup(processes.stop)
        with mock.patch.object(oci_registry.plan, "have", return_value=[self.write("program", program)]):
            return oci_registry.Registry(folder, processes)

    def test_it_is_asked_itself_whatever_proxy_there_is(self):
        """Through a proxy of the shell that called it never answered."""
        with mock.patch.dict(os.environ, http_proxy="http://127.0.0.1:1", no_proxy=""):
            registry = self.start(ANSWERS)
        self.assertEqual(registry.request("GET", "/v2/")[0], 200)

    def test_its_address_is_its_own(self):
        """Another program could take the port, which was chosen among the free ones, while the registry was stopped."""
        registry = self.start(ANSWERS)
        pid = os.getpid()
        self.assertRegex(registry.address, rf"^127\.{1 + (pid >> 16)}\.{pid >> 8 & 255}\.{pid & 255}:5\d\d\d$")

    def test_two_of_one_program_never_meet(self):
        """The second one couldn't listen, and the first one answered in its place."""
        first, second = (self.start(ANSWERS) for _ in range(2))
        self.assertNotEqual(first.address, second.address)

    def test_one_that_ends_is_told_with_its_words(self):
        """It was waited for, for two minutes; and whoever else answered there was taken for it."""
        with self.assertRaisesRegex(progress.AssetError, r"registry ended by itself \(exit code 1\):\n  no such folder"):
            self.start("#!/bin/sh\necho no such folder\nexit 1\n")


if __name__ == "__main__":
    unittest.main()
