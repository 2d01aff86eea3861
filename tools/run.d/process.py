"""Child processes that never outlive this one, and the folder that a run keeps its state in."""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import children
import progress
from progress import AssetError

GRACE = 3.0


class Processes:
    """The servers of one run, started in order and stopped in the opposite one."""

    def __init__(self, log_folder):
        self.log_folder = log_folder
        self.started = []

    def log_path(self, name):
        return os.path.join(self.log_folder, f"{name}.log")

    def start(self, name, command, env=None):
        """Starts a server in a session of its own, so that Ctrl-C reaches us alone and we choose the order."""
        with open(self.log_path(name), "wb") as log:
            process = subprocess.Popen(
                command,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.log_folder,
                start_new_session=True,
                preexec_fn=children.bound(signal.SIGKILL),
            )
        self.started.append((name, process))
        return process

    def check(self):
        """Raises AssetError when a server is gone that should be running."""
        for name, process in self.started:
            code = process.poll()
            if code is not None:
                raise AssetError(f"{name} ended by itself ({_ending(code)}):\n{progress.tail(self.log_path(name))}")

    def stop(self):
        """Stops the last one started with grace, the others at once: what they keep is thrown away anyway."""
        for name, process in reversed(self.started):
            if (name, process) == self.started[-1] and process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(GRACE)
            process.kill()
            process.wait()
        self.started.clear()


def _ending(code):
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def free_ports(count):
    """Loopback ports that are free now; all are held until the last is found, so that they differ."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [item.getsockname()[1] for item in sockets]


class StateFolder:
    """A private folder for one run. It is locked while the run lives, so that a later one knows what is left over."""

    def __init__(self, parent=None):
        runtime = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
        self.parent = parent or os.path.join(runtime, f"capi-operator-run-{os.getuid()}")
        os.makedirs(self.parent, mode=0o700, exist_ok=True)
        if os.stat(self.parent).st_uid != os.getuid():
            raise AssetError(f"{self.parent} belongs to somebody else")
        self.path = tempfile.mkdtemp(prefix="run-", dir=self.parent)
        self.lock = open(os.path.join(self.path, "lock"), "w")  # noqa: SIM115 - held for the life of the run
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def remove_leftovers(self):
        """Removes the folders of runs that were killed; gives their number."""
        removed = 0
        for name in os.listdir(self.parent):
            folder = os.path.join(self.parent, name)
            if folder != self.path and _is_dead(folder):
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
        return removed

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.close()
        with contextlib.suppress(OSError):
            os.rmdir(self.parent)


def _is_dead(folder):
    try:
        with open(os.path.join(folder, "lock"), "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except (BlockingIOError, NotADirectoryError):
        return False
    except FileNotFoundError:
        # A run that is just starting has no lock yet; one that died at that very moment is found a minute later.
        return os.path.isdir(folder) and time.time() - os.stat(folder).st_mtime > 60
