"""What a person sees while something slow goes on: one line with the time it takes."""

import os
import signal
import subprocess
import sys
import time

import children

# A pipe or a log file gets a line this often; a terminal's line is redrawn every second.
LOG_INTERVAL = 15.0


class AssetError(Exception):
    """Something asked for can't be made available; the message says what to do about it."""


def clock(seconds):
    """A duration as people read it: 4.2s, 1m05s."""
    if seconds < 60:
        return f"{seconds:.1f}s"
    return f"{int(seconds) // 60}m{int(seconds) % 60:02d}s"


class Progress:
    """One activity: announced at its start, redrawn while it runs, closed with its time."""

    def __init__(self, title, stream=None):
        self.title = title
        self.stream = stream or sys.stderr
        self.start = time.monotonic()
        self.last = self.start
        self.live = self.stream.isatty()
        self._write(f"{title} ...", end="" if self.live else "\n")

    def _write(self, text, end="\n"):
        head = "\r\033[K" if self.live else ""
        self.stream.write(f"{head}{text}{end}")
        self.stream.flush()

    def elapsed(self):
        return time.monotonic() - self.start

    def update(self, detail=""):
        now = time.monotonic()
        if now - self.last < (1.0 if self.live else LOG_INTERVAL):
            return
        self.last = now
        suffix = f", {detail}" if detail else ""
        self._write(f"{self.title} ... {clock(self.elapsed())}{suffix}", end="" if self.live else "\n")

    def done(self, detail=""):
        suffix = f" ({detail})" if detail else ""
        self._write(f"{self.title}: {clock(self.elapsed())}{suffix}")

    def failed(self):
        self._write(f"{self.title}: failed after {clock(self.elapsed())}")


def run(title, command, log_path, cwd=None, env=None, detail=None):
    """Runs a slow command under a progress line.

    Its output goes to log_path; detail(log_path) may add a word on how far it is. A failure raises AssetError with
    the log's last lines.
    """
    progress = Progress(title)
    with open(log_path, "wb") as log:
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=children.bound(signal.SIGTERM),
            )
        except OSError as error:
            progress.failed()
            raise AssetError(f"cannot run {command[0]}: {error.strerror}") from error
        try:
            while True:
                try:
                    code = process.wait(timeout=0.2)
                    break
                except subprocess.TimeoutExpired:
                    progress.update(detail(log_path) if detail else "")
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    if code != 0:
        progress.failed()
        raise AssetError(f"{' '.join(command[:2])} failed with exit code {code}:\n{tail(log_path)}")
    progress.done()


def tail(path, lines=20):
    with open(path, "rb") as log:
        size = log.seek(0, os.SEEK_END)
        log.seek(max(0, size - 16384))
        text = log.read().decode("utf-8", "replace")
    return "\n".join("  " + line for line in text.splitlines()[-lines:])
