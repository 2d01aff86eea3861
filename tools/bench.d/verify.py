"""Runs verify_benchmark: what the verification of a components file of 3 MB takes, with each kind of key."""

import repetitions
from figures import cell, print_table

PROGRAM = repetitions.program("verify_benchmark")


def run(rounds):
    kinds = {}
    for entry in repetitions.measure([PROGRAM], rounds):
        kinds.setdefault(entry["name"].removeprefix("Verify/"), []).append(entry)
    rows = [[kind, *(cell([entry[key] for entry in entries], "ms") for key in ("real_time", "cpu_time"))] for kind, entries in kinds.items()]
    print_table(["3 MB verified, with a key of", "time", "CPU time"], rows)
