"""Where a person finds the kubeconfig of a run: the same path every time, as long as no other run has it."""

import contextlib
import fcntl
import os

from progress import AssetError


class Access:
    """A link to the kubeconfig of the run that holds the lock beside it. The kernel frees the lock of a killed run."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "kubeconfig")
        try:
            os.makedirs(folder, exist_ok=True)
            self.lock = open(os.path.join(folder, "lock"), "a+", encoding="ascii")  # noqa: SIM115 - held while the run lives
        except OSError as error:
            raise AssetError(f"cannot write to {folder}: {error.strerror}") from error
        self.mine = self._take()

    def _take(self):
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self.lock.truncate(0)
        self.lock.write(str(os.getpid()))
        self.lock.flush()
        return True

    def other(self):
        """The process that runs already, as text."""
        self.lock.seek(0)
        return self.lock.read() or "of unknown number"

    def publish(self, kubeconfig):
        """Makes this kubeconfig the one at the path, in one step; gives the path to use."""
        if not self.mine:
            return kubeconfig
        fresh = f"{self.path}.{os.getpid()}"
        os.symlink(kubeconfig, fresh)
        os.replace(fresh, self.path)
        return self.path

    def remove(self):
        if self.mine:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        self.lock.close()
