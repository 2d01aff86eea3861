"""Who runs the docker provider on this machine: it has the API servers of its Clusters at ports from 20000 on, on all addresses."""

import contextlib
import fcntl
import time

from progress import AssetError

PATH = "/tmp/capi-test-workload-ports"  # e2e/real_managers waits for the same file


@contextlib.contextmanager
def one_at_a_time(within=None, waits=None):
    """For as long as one runs. With `within`, AssetError after that many seconds; `waits` is called once where another one has them."""
    with open(PATH, "a", encoding="utf-8") as ports:
        begun = time.monotonic()
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(ports, fcntl.LOCK_EX | (0 if within is None else fcntl.LOCK_NB))
                break
            if waits:
                waits()
                waits = None
            if time.monotonic() - begun > within:
                raise AssetError(f"another docker provider runs on this machine, with the ports from 20000 on: it was waited for {within:.0f} s")
            time.sleep(0.2)
        yield
