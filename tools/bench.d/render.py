"""Runs templating_benchmark: a render within the process, and its cost over the size of the input, drawn as a plot."""

import os
import subprocess

import releases
import repetitions
from figures import ROOT, cell, fit, median, print_table
from plot import Plot

PROGRAM = repetitions.program("templating_benchmark")
PICTURE = os.path.join(ROOT, "docs", "render-cost.svg")


def measure(rounds):
    """Name of a benchmark to its repetitions: dicts with real_time, cpu_time, bytes, peak. Each in a process of its own."""
    source = os.environ.get("RELEASES_DIR") or releases.locate()
    command = [PROGRAM, os.path.join(source, "cluster-api", "v1.12.0", "core-components.yaml")]
    names = subprocess.run([*command, "--benchmark_list_tests"], capture_output=True, check=True, text=True).stdout.split()
    runs = {}
    for name in names:
        runs[name.removesuffix("/real_time")] = repetitions.measure([*command, f"--benchmark_filter=^{name}$"], rounds)
    return runs


def run(rounds):
    runs = measure(rounds)
    sizes = [name for name in runs if name.startswith("size/")]
    rows = [row(runs[name], "made of its documents") for name in sizes]
    head = ["render within the process", "input", "time", "CPU time", "peak memory", "times the input"]
    print_table(head, [row(runs["release"], "core v1.12.0"), *rows])
    times = [(runs[name][0]["bytes"] / 1e6, median([entry["cpu_time"] for entry in runs[name]])) for name in sizes]
    base, slope, worst = fit(times)
    line = f"linear fit: {base:.2f} ms + {slope:.1f} ms per MB; no point is farther from it than {worst:.0%}"
    print(f"\n{line}")
    plot = Plot("Render: CPU time over the size of the input", "MB", "ms", line)
    plot.add("measured, median", times)
    plot.add_line("linear fit", lambda size: base + slope * size)
    plot.write(PICTURE)
    print(f"drawn: {os.path.relpath(PICTURE, ROOT)}")


def row(entries, title):
    """One line of the table: the repetitions of one benchmark. Peak memory has the text itself in it."""
    size, peak = entries[0]["bytes"], max(entry["peak"] for entry in entries)
    times = [cell([entry[key] for entry in entries], "ms") for key in ("real_time", "cpu_time")]
    return [title, f"{size / 1e6:.2f} MB", *times, f"{peak / 1e6:.1f} MB", f"{peak / size:.1f}"]
