"""Runs verify_benchmark: what the verification of a components file of 3 MB takes, with each kind of key."""

import json
import os
import subprocess

from figures import ROOT, cell, print_table

PROGRAM = os.path.join(ROOT, "build", "release", "bin", "verify_benchmark")


def run(rounds):
    options = ["--benchmark_format=json", f"--benchmark_repetitions={rounds}", "--benchmark_min_time=0.05"]
    done = subprocess.run([PROGRAM, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    kinds = {}
    for entry in json.loads(done.stdout)["benchmarks"]:
        if entry["run_type"] == "iteration":
            kinds.setdefault(entry["name"].removeprefix("Verify/"), []).append(entry)
    rows = [[kind, *(cell([entry[key] for entry in entries], "ms") for key in ("real_time", "cpu_time"))] for kind, entries in kinds.items()]
    print_table(["3 MB verified, with a key of", "time", "CPU time"], rows)
