"""Runs versions_benchmark: the list of the versions of a repository with 10,000 tags, in pages of 1,000."""

import http.server
import json
import threading
import urllib.parse

import repetitions
from figures import cell, print_table

PROGRAM = repetitions.program("versions_benchmark")
TAGS = 10_000
PAGE = 1_000


def pages():
    """What a registry answers, by the last tag of the page before."""
    tags = sorted(f"v{number // 100}.{number % 100}.{number % 7}" for number in range(TAGS))
    return {([""] + tags)[start]: tags[start : start + PAGE] for start in range(0, TAGS, PAGE)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages = {}

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        tags = self.pages[query.get("last", [""])[0]]
        body = json.dumps({"name": "org/provider", "tags": tags}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if tags[-1] in self.pages:
            self.send_header("Link", f'</v2/org/provider/tags/list?last={tags[-1]}&n={PAGE}>; rel="next"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def run(rounds):
    Handler.pages = pages()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        entries = repetitions.measure([PROGRAM, f"http://127.0.0.1:{server.server_address[1]}/org/provider"], rounds)
    finally:
        server.shutdown()
        server.server_close()
    found, peak = int(entries[0]["versions"]), max(entry["peak"] for entry in entries)
    times = [cell([entry[key] for entry in entries], "ms") for key in ("real_time", "cpu_time")]
    print_table(["list of versions", "time", "CPU time", "peak memory"], [[f"{found} tags of a registry", *times, f"{peak / 1e6:.1f} MB"]])
