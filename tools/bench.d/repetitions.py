"""Runs programs that measure within their own process, with Google's benchmark library."""

import json
import os
import subprocess

from figures import ROOT
from progress import AssetError


def program(name):
    return os.path.join(ROOT, "build", "release", "bin", name)


def measure(command, rounds):
    """The repetitions: dicts with name, real_time and what else the program tells. One that failed is no measurement."""
    options = ["--benchmark_format=json", f"--benchmark_repetitions={rounds}", "--benchmark_min_time=0.05"]
    done = subprocess.run([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    entries = json.loads(done.stdout)["benchmarks"]
    for entry in entries:
        if entry.get("error_occurred"):
            raise AssetError(f"{entry['name']}: {entry['error_message']}")
    return [entry for entry in entries if entry["run_type"] == "iteration"]
