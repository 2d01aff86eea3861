"""Runs http_benchmark: probes beside a thousand slow clients, and reviews over TLS."""

import os
import subprocess
import sys

from figures import ROOT

PROGRAM = os.path.join(ROOT, "build", "release", "bin", "http_benchmark")


def run(rounds):
    for _ in range(rounds):
        sys.stdout.flush()  # the program prints its table itself
        if subprocess.run([PROGRAM], check=False).returncode != 0:
            raise RuntimeError("http_benchmark failed")
