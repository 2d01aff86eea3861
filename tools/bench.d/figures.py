"""What the parts of tools/bench share: medians with their spread, tables, and programs measured as whole processes."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

from progress import AssetError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

median = statistics.median


def whole_number(name, default):
    """What a variable of the environment is set to: at least 1."""
    text = os.environ.get(name, str(default))
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise AssetError(f"{name}={text}: a whole number of at least 1")
    return int(text)


def cell(values, unit):
    """ "median unit (least to most)" """
    form = "{:.2f}" if unit in ("s", "x") else "{:.1f}" if unit in ("ms", "MB") else "{:.0f}"
    middle, low, high = (form.format(f(values)) for f in (median, min, max))
    return f"{middle} {unit}".strip() + f" ({low} to {high})"


def ratios(ours, theirs):
    """Nothing where theirs is zero."""
    return [f"{a / b:.2f}" if b else "" for a, b in zip(ours, theirs)]


def fit(points):
    """y = base + slope * x by least squares of the relative errors; and the largest of those."""
    weights = [1 / y**2 for _, y in points]
    total = sum(weights)
    x = sum(w * p for w, (p, _) in zip(weights, points)) / total
    y = sum(w * p for w, (_, p) in zip(weights, points)) / total
    slope = sum(w * (p - x) * (q - y) for w, (p, q) in zip(weights, points))
    slope /= sum(w * (p - x) ** 2 for w, (p, _) in zip(weights, points))
    base = y - slope * x
    return base, slope, max(abs(base + slope * p - q) / q for p, q in points)


def print_table(head, rows):
    print("\n| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.stdout.flush()


def times_ms(command, environment):
    """Milliseconds from the start of a program to its end, and of CPU time; its output goes nowhere."""
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, environment, file_actions=_QUIET)
    _, status, usage = os.wait4(pid, 0)
    took = (time.perf_counter() - begin) * 1000
    _check(command, os.waitstatus_to_exitcode(status))
    return took, (usage.ru_utime + usage.ru_stime) * 1000


def peak_mb(command, environment):
    """Peak of the resident set, in MB. By time(1): what Python starts itself begins with Python's own peak."""
    with tempfile.NamedTemporaryFile("r") as report:
        argv = ["/usr/bin/time", "-q", "-f", "%M", "-o", report.name, *command]
        done = subprocess.run(argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        _check(command, done.returncode)
        return int(report.read()) * 1024 / 1e6


_QUIET = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]


def _check(command, code):
    if code != 0:
        raise RuntimeError(f"{' '.join(command)}: ended with {code}")


def side_by_side(title, programs, arguments, environment, rounds):
    """Runs each of `programs` (name to path) in turn, and prints time, memory and their ratios: the first to the second."""
    measured = {name: [] for name in programs}
    for path in programs.values():  # into the page cache
        times_ms([path, *arguments], environment)
    for _ in range(rounds):
        for name, path in programs.items():
            command = [path, *arguments]
            measured[name].append((*times_ms(command, environment), peak_mb(command, environment)))
    columns = {name: list(zip(*values)) for name, values in measured.items()}
    rows = [[name, *(cell(values, unit) for values, unit in zip(columns[name], ("ms", "ms", "MB")))] for name in columns]
    ours, theirs = ([median(values) for values in columns[name]] for name in columns)
    print_table([title, "whole process", "CPU time", "peak memory"], [*rows, ["ratio", *ratios(ours, theirs)]])
