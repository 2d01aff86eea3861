"""Installs four providers from ConfigMaps and from a web server of this machine, in turn in one run.

Each round has a fresh control plane and an operator that is up already; all four objects are created at once, and time
runs from there until all are Ready. The server says how often it was asked, and how often once more after the operator
was started again.
"""

import contextlib
import functools
import http.server
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import install
import rig
from figures import cell, median, print_table, ratios

MAPS, SERVER = "from ConfigMaps", "from a server"


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    # Once for each request, also for one that is answered with an error.
    def log_request(self, *arguments):
        with self.server.lock:
            self.server.asked += 1


def certificate(folder):
    """A file with one for this machine's address, beside its key."""
    file = os.path.join(folder, "server.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=files"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{file}.key", "-out", file]
    subprocess.run(command, check=True, capture_output=True)
    return file


class FolderServer:
    """A folder of releases over TLS. Use it in a `with`."""

    def __init__(self, folder, place):
        self.certificate = certificate(place)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        self.server.asked = 0
        self.server.lock = threading.Lock()
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(self.certificate, f"{self.certificate}.key")
        # A handshake is that connection's thread's, so that one waits for no other.
        self.server.socket = tls.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.folder = folder

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def host(self):
        return f"127.0.0.1:{self.server.server_address[1]}"

    def url_of(self, provider):
        release = os.path.join(self.folder, provider.label, provider.version)
        file = next(name for name in sorted(os.listdir(release)) if name.endswith("components.yaml"))
        return f"https://{self.host}/{provider.label}/{provider.version}/{file}"


def one_round(bench, server, where, providers):
    """Seconds, and the requests of the source before and after a restart."""
    asked = server.server.asked
    with rig.Rig(bench, rig.OURS) as run:
        if where == MAPS:
            run.preload(providers)
        else:
            for name in sorted({provider.namespace for provider in providers}):
                item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
                run.api.create("/api/v1/namespaces", json.dumps(item))
        flags = [f"--allowed-sources={server.host}"]
        run.start(flags)
        begin = time.monotonic()
        for provider in providers:
            run.create(provider, {"fetchConfig": {"url": server.url_of(provider)}} if where == SERVER else None)
        run.await_ready(providers)
        seconds, before = time.monotonic() - begin, server.server.asked - asked
        run.end_operator()
        run.start(flags)
        run.await_ready(providers)
        time.sleep(3)
        return seconds, before, server.server.asked - asked - before


@contextlib.contextmanager
def trusted(server):
    """What is started within trusts its certificate, and reaches it through no proxy."""
    before = dict(os.environ)
    os.environ |= {"SSL_CERT_FILE": server.certificate, "NO_PROXY": "127.0.0.0/8"}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before


def run(rounds):
    """Prints the table; `rounds` from each place."""
    providers = install.quickstart()
    measured = {where: [] for where in (MAPS, SERVER)}
    with tempfile.TemporaryDirectory() as folder, rig.Bench() as bench, FolderServer(bench.source, folder) as server:
        with trusted(server):
            for number in range(rounds):
                for where, results in measured.items():
                    results.append(one_round(bench, server, where, providers))
                    print("round {}, {}: {:.2f} s, {} requests, {} after a restart".format(number + 1, where, *results[-1]),
                          file=sys.stderr)
    rows = [[where, *(cell(column, unit) for column, unit in zip(zip(*values), ("s", "", "")))] for where, values in measured.items()]
    times = [[median([entry[0] for entry in values])] for values in measured.values()]
    rows.append(["ratio", *ratios(*reversed(times)), "", ""])
    print_table(["four providers", "until all are Ready", "requests of the source", "after a restart"], rows)
