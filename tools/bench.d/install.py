"""Installs four providers with this operator and with the peer, side by side in one run.

Each round has a fresh control plane: core, kubeadm bootstrap, kubeadm control plane and docker from ConfigMaps, all
applied at once. Time runs from there until all four are Ready; requests are those of the operator in the API server's
audit log, from its start to that moment; memory is the peak of its resident set.
"""

import os
import shutil
import sys
import time

import preload
import rig
from figures import ROOT, cell, median, print_table, ratios

SAMPLE = os.path.join(ROOT, "manifests", "samples", "quickstart.yaml")


def quickstart():
    with open(SAMPLE, encoding="utf-8") as file:
        return preload.read_providers(file.read())


def one_round(bench, name, providers):
    """Seconds, requests and MiB of one installation."""
    with rig.Rig(bench, name) as run:
        run.preload(providers)
        run.start()
        begin = time.monotonic()
        run.plane.kubectl("apply", "--server-side", "-f", SAMPLE)
        run.await_ready(providers)
        seconds = time.monotonic() - begin
        peak = rig.memory_kib(run.pid, "VmHWM")
        requests = len(run.plane.requests())
        if kept := os.environ.get("AUDIT_LOG"):
            shutil.copy(run.plane.audit_log, f"{kept}.{name}")
        return seconds, requests, peak / 1024


def run(rounds):
    """Prints the table; `rounds` of each program."""
    providers = quickstart()
    measured = {name: [] for name in (rig.OURS, rig.PEER)}
    with rig.Bench() as bench:
        for number in range(rounds):
            for name, results in measured.items():
                results.append(one_round(bench, name, providers))
                print("round {}, {}: {:.2f} s, {} requests, {:.0f} MiB".format(number + 1, name, *results[-1]),
                      file=sys.stderr)
    head = ["four providers from ConfigMaps", "until all are Ready", "API requests", "peak memory"]
    print_table(head, compared(measured, ("s", "", "MiB")))


def compared(measured, units):
    """A row of medians for each program, and the ratio of ours to the peer's."""
    rows = [[name, *(cell(column, unit) for column, unit in zip(zip(*values), units))] for name, values in measured.items()]
    middles = [[median(column) for column in zip(*values)] for values in measured.values()]
    return [*rows, ["ratio", *ratios(*middles)]]
