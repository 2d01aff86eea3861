"""A control plane that tests share, and the operator on it."""

import time
import unittest

import cluster
import plan
import process

LIMIT = 120
STILL = 5


def until(what, check, seconds=LIMIT, words=str):
    """Waits for a true answer, and gives it. `words` gives what a failure says beside what was waited for. What is waited for
    runs on the same cores as the checks: those that take long, as kubectl does, come less often."""
    begun = began = time.monotonic()
    while not (found := check()):
        now = time.monotonic()
        if now > begun + seconds:
            raise AssertionError(f"not within {seconds} s: {what}\n{words()}")
        time.sleep(min(max(0.1, now - began), 0.5))
        began = time.monotonic()
    return found


def settled(look, words=str):
    """What `look` gives, once that is something and has been the same for STILL seconds: who works on it is done."""
    seen, since = None, 0.0

    def still():
        nonlocal seen, since
        found = look()
        if found is None or found != seen:
            seen, since = found, time.monotonic()
        return seen is not None and time.monotonic() - since >= STILL

    until("nothing changes any more", still, words=words)
    return seen


class World:
    """A control plane, with one operator at a time. It ends with the program's tests, or with close(); twice does no harm."""

    series = ""  # of Kubernetes (assets.d/programs.py)

    def __init__(self):
        self.state = self.processes = self.plane = self.operator = self.name = None
        self.operators = 0
        unittest.addModuleCleanup(self.close)  # of one that doesn't get up, too
        self.state = process.StateFolder()
        self.processes = process.Processes(self.state.path)

    def start_plane(self, kind=cluster.ControlPlane):
        self.plane = kind(plan.link_folder(["control-plane"], self.series), self.state.path, self.processes)
        self.plane.start()

    def close(self):
        if self.plane:
            self.plane.api.close()
        if self.processes:
            self.processes.stop()
        if self.state:
            self.state.remove()

    def run_operator(self, command, env=None):
        """Ends the one before. Each has a log of its own: what an earlier one said doesn't count."""
        self.end_operator()
        self.operators += 1
        self.name = f"capi-operator-{self.operators}"
        self.operator = self.processes.start(self.name, command, env=env)

    def stop_operator(self):
        self.operator.terminate()
        self.await_end()

    def end_operator(self):
        """Ends it at once, where one runs."""
        if self.operator is not None:
            self.operator.kill()
            self.await_end()

    def await_end(self):
        self.operator.wait(timeout=60)
        self.processes.started.remove((self.name, self.operator))
        self.operator = None

    def operator_log(self):
        """What the operator that was started last has said."""
        return "" if self.name is None else self.log_of(self.name)

    def operator_logs(self):
        """What all of them have said."""
        return "".join(self.log_of(f"capi-operator-{number + 1}") for number in range(self.operators))

    def log_of(self, name):
        with open(self.processes.log_path(name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def last_words(self):
        """The end of that, for the message of a failure."""
        lines = self.operator_log().splitlines(True)[-40:]
        return "---- the operator's log ends with\n" + "".join(lines) if lines else ""

    def until(self, what, check, seconds=LIMIT, words=str):
        """Waits for a true answer, and gives it; the operator's last words are the failure's."""
        return until(what, check, seconds, lambda: words() + self.last_words())

    def lists(self, kinds):
        """Whether kubectl can list these kinds."""
        raise NotImplementedError

    def await_told(self, kinds="capi-providers", lists=None):
        """A reader is slower than the API server, which needs a moment to tell of kinds that it was given."""
        self.until(f"kubectl is told of {kinds}", lambda: (lists or self.lists)(kinds))


class OnAWorld(unittest.TestCase):
    """Tests that share a world, which the first one starts. Where it doesn't get up, the others fail at once, with its words."""

    WORLD = World
    world = failure = None

    def start_world(self):
        """Whether this test is the first one."""
        if OnAWorld.failure:
            raise AssertionError(f"there is no world since an earlier test: {OnAWorld.failure}")
        if self.world is not None:
            return False
        try:
            OnAWorld.world = self.WORLD()
        except Exception as error:
            OnAWorld.failure = f"{type(error).__name__}: {error}"
            raise
        return True
