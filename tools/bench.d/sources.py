"""Installs four providers from ConfigMaps and from a web server of this machine, in turn in one run.

Each round has a fresh control plane and an operator that is up already; all four objects are created at once, and time
runs from there until all are Ready. The server says how often it was asked, and how often once more after the operator
was started again.
"""

import contextlib
import json
import os
import sys
import tempfile
import time

import install
import rig
from figures import ROOT, cell, median, print_table, ratios

sys.path.append(os.path.join(ROOT, "tools", "testing.d"))

import folder_server  # noqa: E402

MAPS, SERVER = "from ConfigMaps", "from a server"


def url_of(server, provider):
    release = os.path.join(server.folder, provider.label, provider.version)
    file = next(name for name in sorted(os.listdir(release)) if name.endswith("components.yaml"))
    return f"https://{server.address}/{provider.label}/{provider.version}/{file}"


def one_round(bench, server, where, providers):
    """Seconds, and the requests of the source before and after a restart."""
    asked = len(server.asked)
    with rig.Rig(bench, rig.OURS) as run:
        if where == MAPS:
            run.preload(providers)
        else:
            for name in sorted({provider.namespace for provider in providers}):
                item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
                run.api.create("/api/v1/namespaces", json.dumps(item))
        flags = [f"--allowed-sources={server.address}", "--check-updates=0"]  # no look is counted as a request
        run.start(flags)
        begin = time.monotonic()
        for provider in providers:
            run.create(provider, {"fetchConfig": {"url": url_of(server, provider)}} if where == SERVER else None)
        run.await_ready(providers)
        seconds, before = time.monotonic() - begin, len(server.asked) - asked
        run.end_operator()
        run.start(flags)
        # Their objects say so since the former one: this one's metrics have those that it has looked at.
        run.await_that("all are Ready", lambda: run.ready_now() == len(providers))
        return seconds, before, len(server.asked) - asked - before


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
    with tempfile.TemporaryDirectory() as folder, rig.Bench() as bench, folder_server.FolderServer(bench.source, folder) as server:
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
