"""Runs one command per file, as many at a time as there are cores or JOBS says, and remembers what passed."""

import concurrent.futures
import os
import subprocess
import sys

import cache
import sources


def tool_version(program):
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout


def run(title, jobs, directory=None):
    """`jobs`: (file, key, command). Prints what failed; returns the number of failures."""
    todo = [job for job in jobs if not cache.passed(job[1])]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 2)) as pool:
        for (name, key, _), done in zip(todo, pool.map(lambda job: _execute(job[2], directory), todo)):
            if done.returncode == 0:
                cache.remember(key)
                continue
            failures += 1
            print(f"{title}: {name}\n{done.stdout}{done.stderr}".rstrip(), file=sys.stderr)
    print(f"{title}: {len(jobs)} files, {len(todo)} of them new or changed, {failures} failed")
    return failures


def _execute(command, directory):
    return subprocess.run(command, capture_output=True, text=True, cwd=directory or sources.ROOT, stdin=subprocess.DEVNULL)
