#!/usr/bin/env python3
"""Tests of the requests to the API server that tools/run and the tests of manifests make themselves (run.d/cluster.py)."""

import http.client
import http.server
import os
import sys
import threading
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d")]

import cluster  # noqa: E402


class HangsUp(http.server.BaseHTTPRequestHandler):
    """Answers one request of each connection, where it answers at all, and closes it without saying so."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        self.server.asked.append(self.command)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.server.answers:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
        self.close_connection = True

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


class Requests(unittest.TestCase):
    """The API server closes a connection that was quiet for a while. The next request failed then, and `get` said that there
    is no such object."""

    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), HangsUp)
        self.server.asked, self.server.answers = [], True
        thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        thread.start()
        for last in (self.server.server_close, thread.join, self.server.shutdown):
            self.addCleanup(last)
        plain = mock.patch.object(http.client, "HTTPSConnection", self.connect)
        plain.start()
        self.addCleanup(plain.stop)
        self.api = cluster.Api(self.server.server_address[1], "token")
        self.addCleanup(self.api.close)

    def connect(self, *where, context, timeout):
        self.timeout = timeout
        return http.client.HTTPConnection(*where, timeout=timeout)

    def test_waits_longer_than_what_is_tested_does(self):
        """clusterctl and the operator wait 30 s for an answer; the tests gave up after 10, on a machine that was slow."""
        self.assertEqual(self.api.get("/readyz"), {})
        self.assertGreater(self.timeout, 30)

    def test_what_does_no_harm_twice_is_sent_again_where_an_open_connection_breaks(self):
        for method, content_type, again in (
            ("GET", "application/json", True),
            ("PUT", "application/json", True),
            ("DELETE", "application/json", True),
            ("PATCH", cluster.MERGE_PATCH, True),
            ("PATCH", "application/json-patch+json", False),
            ("POST", "application/json", False),
        ):
            with self.subTest(method=method, content_type=content_type):
                self.api.close()
                self.assertEqual(self.api.get("/readyz"), {})
                self.server.asked.clear()
                status, _ = self.api.request(method, "/a", "{}", content_type)
                self.assertEqual((status, self.server.asked), (200, [method]) if again else (0, []))
                self.assertEqual(self.api.get("/a"), {}, "the next one has a connection of its own")

    def test_a_server_that_answers_nothing_is_asked_once(self):
        self.server.answers = False
        self.assertEqual(self.api.request("GET", "/a")[0], 0)
        self.assertEqual(self.server.asked, ["GET"])


if __name__ == "__main__":
    unittest.main()
