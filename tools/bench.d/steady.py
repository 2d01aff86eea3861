"""Ten providers that are Ready, and nothing to do: what the operator asks of the API server, and what it takes.

After the last of them is Ready there is a pause of ten seconds; then, over a minute, requests are counted in the audit log
and CPU time is read from /proc. CPU seconds an hour are extrapolated from that minute. The peer has four providers.
"""

import collections
import os
import sys
import time

import fleet
import install
import rig
from figures import print_table

SECONDS = float(os.environ.get("WINDOW", "60"))
QUIET = 10.0


def one_round(bench, name, wanted):
    """Requests, watches and leases of a minute, CPU seconds of an hour, MB."""
    with rig.Rig(bench, name) as run:
        fleet.install_all(run, wanted)
        time.sleep(QUIET)
        return (*window(run), rig.memory_kib(run.pid, "VmRSS") * 1024 / 1e6)


def window(run):
    """Requests, watches and leases of a minute, CPU seconds of an hour; an operator that is gone, which would ask and take
    nothing, is an error."""
    before, cpu, begin = run.plane.requests(), rig.cpu_seconds(run.pid), time.monotonic()
    time.sleep(SECONDS)
    run.processes.check()
    spent, took = rig.cpu_seconds(run.pid) - cpu, time.monotonic() - begin
    requests = run.plane.requests()[len(before):]
    return (*per_minute(requests, took), spent * 3600 / took)


def say(requests):
    """Which they are, beside their number."""
    if requests:
        print(f"requests: {dict(collections.Counter(requests))}", file=sys.stderr)


def per_minute(requests, seconds):
    """Beyond watches and the lease; watches; the lease."""
    others = rig.beyond_watches(requests)
    say(others)
    watches = sum(verb == "watch" for verb, _ in requests)
    counts = (len(others), watches, len(requests) - len(others) - watches)
    return tuple(count * 60 / seconds for count in counts)


def run(rounds):
    """Prints the table; `rounds` of each program."""
    with rig.Bench() as bench:
        wanted = {rig.OURS: fleet.providers(bench), rig.PEER: install.quickstart()}
        measured = {name: [one_round(bench, name, providers) for _ in range(rounds)] for name, providers in wanted.items()}
        titled = {f"{name}, {len(wanted[name])} providers": values for name, values in measured.items()}
        head = ["nothing to do", "requests a minute", "watches a minute", "of the lease", "CPU s an hour", "memory"]
        print_table(head, install.compared(titled, ("", "", "", "s", "MB")))
