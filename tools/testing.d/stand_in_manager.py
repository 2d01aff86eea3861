#!/usr/bin/env python3
"""A provider's manager for tests of the local plane: it has the flags of one, answers probes, and ends when it is told to.

With CHILD set it starts a child that knows nothing of it, as a shell script does."""

import argparse
import http.server
import os
import signal
import subprocess
import sys


class Probes(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path in ("/healthz", "/readyz") else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for flag in ("--health-addr", "--diagnostics-address", "--webhook-cert-dir", "--kubeconfig", "--feature-gates", "--insecure-diagnostics"):
        parser.add_argument(flag, default="")
    parser.add_argument("--webhook-port", default="")
    parser.add_argument("--leader-elect", nargs="?", const="true", default="")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if os.environ.get("CHILD"):
        subprocess.Popen(["/bin/sleep", "1000"])
    host, port = options.health_addr.rsplit(":", 1)
    print(f"stand-in manager {os.environ.get('POD_NAME', '')} greets with {os.environ.get('GREETING', 'nothing')}", flush=True)
    http.server.HTTPServer((host or "127.0.0.1", int(port)), Probes).serve_forever()


if __name__ == "__main__":
    main()
