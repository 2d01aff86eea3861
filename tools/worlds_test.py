#!/usr/bin/env python3
"""Tests of what the tests on a control plane share: that nothing is left running, and that a failed start is told once and for
all. No control plane is needed for it."""

import os
import signal
import socket
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import forward  # noqa: E402
import metrics_e2e_test  # noqa: E402
import pages  # noqa: E402
import process  # noqa: E402
import rights  # noqa: E402
import worlds  # noqa: E402
from tree import WithFolder  # noqa: E402


class Started(worlds.World):
    """An operator that does nothing, and no control plane."""

    def __init__(self):
        super().__init__()
        self.started = self.processes.started
        self.run_operator(["sleep", "60"])

    def reset(self, _):
        if self.started:
            raise AssertionError("an operator is at work")


class Unlucky(Started):
    def __init__(self):
        super().__init__()
        raise OSError("no kinds")


class Blocks(WithFolder):
    HANGS = "echo said\necho why >&2\nsleep 60 >&- 2>&- &\necho $! > child.new\nmv child.new child\nwait"

    def test_one_that_does_not_end_fails_with_what_it_said(self):
        """It was a bare TimeoutExpired, without that and without the operator's last words; and bash alone was ended, not the
        program that hung."""
        with pages.start(self.HANGS, self.folder, dict(os.environ)) as process, mock.patch.object(pages, "LIMIT", 0.1):
            child = self.child()
            done = pages.finish(process)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (pages.LATE, "said\n", "why\nit didn't end within 0.1 s\n"))
        self.await_end(child)

    def test_what_a_block_leaves_behind_ends_too(self):
        """Where bash had ended, what it had started was left alone: it held the pipes, and the test waited for it for ever."""
        for ends, leaves in (("by itself", "sleep 60 >&- 2>&- &\n"), ("late", "sleep 60 &\n")):
            with self.subTest(ends), mock.patch.object(pages, "LIMIT", 1):
                with pages.start(f"echo said\n{leaves}echo $! > child.new\nmv child.new child\n", self.folder, dict(os.environ)) as process:
                    child = self.child()
                    done = pages.finish(process)
                self.assertEqual((done.returncode, done.stdout), (0 if ends == "by itself" else pages.LATE, "said\n"))
                self.await_end(child)

    def test_who_has_a_session_of_its_own_is_not_waited_for(self):
        block = "echo said\nsetsid sleep 60 &\necho $! > child.new\nmv child.new child\nwait"
        with mock.patch.object(pages, "LIMIT", 0.5), mock.patch.object(pages, "LEFT", 0.5):
            with pages.start(block, self.folder, dict(os.environ)) as process:
                child = self.child()
                done = pages.finish(process)
        self.addCleanup(os.kill, int(child), signal.SIGKILL)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (pages.LATE, "said\n", "it didn't end within 0.5 s\n"))

    def test_one_that_nobody_finishes_ends(self):
        with self.assertRaisesRegex(OSError, "no server"):
            with pages.start(self.HANGS, self.folder, dict(os.environ)):
                child = self.child()
                raise OSError("no server")
        self.await_end(child)

    def child(self):
        path = os.path.join(self.folder, "child")
        worlds.until("it hangs", lambda: os.path.exists(path))
        return pages.read(path).strip()

    def await_end(self, child):
        """Whoever takes over the children of the dead may leave it as a zombie."""

        def ended():
            try:
                return pages.read(f"/proc/{child}/stat").rpartition(")")[2].split()[0] == "Z"
            except (FileNotFoundError, ProcessLookupError):
                return True

        worlds.until("what hung is ended", ended, 20)


class Lifetime(WithFolder):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.dict(os.environ, XDG_RUNTIME_DIR=self.folder))
        self.enterContext(mock.patch.multiple(worlds.OnAWorld, world=None, failure=None))
        self.enterContext(mock.patch.multiple(process, GRACE=0.1))

    def results(self, case):
        """The first line of what each of its tests failed with, in order; "" where it passed."""
        found = []
        for name in unittest.defaultTestLoader.getTestCaseNames(case):
            result = unittest.TestResult()
            case(name).run(result)
            found += [words.strip().splitlines()[-1] for _, words in result.errors + result.failures] or [""]
        return found

    def test_a_world_that_does_not_get_up_leaves_nothing(self):
        """What a subclass did after its control plane had started could fail, and then nobody ended the servers."""
        with mock.patch.object(process.Processes, "start", autospec=True, side_effect=process.Processes.start) as start:
            with self.assertRaisesRegex(OSError, "no kinds"):
                Unlucky()
        (processes, *_), _ = start.call_args
        ((_, child),) = processes.started
        self.assertIsNone(child.poll())
        unittest.doModuleCleanups()
        self.assertIsNotNone(child.poll())
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_failed_start_fails_the_other_tests_at_once_with_its_words(self):
        """Each started another one, and waited for it as long as the first."""
        made = []

        class Tests(worlds.OnAWorld):
            WORLD = mock.Mock(side_effect=lambda: made.append(1) or Unlucky())

            def setUp(self):
                self.start_world()

            def test_1(self):
                pass

            def test_2(self):
                pass

        again = "AssertionError: there is no world since an earlier test: OSError: no kinds"
        self.assertEqual(self.results(Tests), ["OSError: no kinds", again])
        self.assertEqual(made, [1])
        unittest.doModuleCleanups()

    def test_the_operator_of_a_failed_test_is_not_the_next_ones(self):
        """It led on, and wrote into the next test."""

        class Tests(rights.OnAServer):
            WORLD = Started

            def test_1_fails(self):
                self.fail("while it runs")

            def test_2_begins_without_one(self):
                pass

        self.assertEqual(self.results(Tests), ["AssertionError: while it runs", ""])
        unittest.doModuleCleanups()

    def test_there_is_one_operator_at_a_time(self):
        """Where a test couldn't stop its operator, that led on, and the next one of the same test never did."""
        world = Started()
        before = world.operator
        world.run_operator(["sleep", "60"])
        self.assertIsNotNone(before.poll())
        self.assertEqual(world.started, [(world.name, world.operator)])
        self.assertIsNone(world.operator.poll())
        unittest.doModuleCleanups()

    def test_what_each_operator_said_is_kept(self):
        """A secret that the first one printed was looked for in what the last one had said."""
        world = Started()
        for word in ("first", "last"):
            world.run_operator(["echo", word])
            world.operator.wait()
        self.assertEqual((world.operator_log(), world.operator_logs()), ("last\n", "first\nlast\n"))
        unittest.doModuleCleanups()

    def test_a_wait_that_fails_tells_what_was_seen_and_the_operators_last_words(self):
        world = Started()
        self.assertEqual(world.until("a true answer", iter([0, None, "yes"]).__next__), "yes")
        world.run_operator(["echo", "I give up"])
        world.operator.wait()
        words = "not within 0 s: never\nseen\n---- the operator's log ends with\nI give up\n"
        with self.assertRaises(AssertionError) as failed:
            world.until("never", lambda: False, 0, lambda: "seen\n")
        self.assertEqual(str(failed.exception), words)
        world.close()
        unittest.doModuleCleanups()  # closes it again


class Waits(unittest.TestCase):
    def test_a_check_that_takes_long_comes_less_often(self):
        """What it waited for ran on the cores that kubectl took, ten times in two seconds."""
        times = iter([0, 0.3, 0.6, 0.61, 0.71, 10, 10.5])
        clock = mock.Mock(monotonic=times.__next__)
        with mock.patch.object(worlds, "time", clock):
            self.assertEqual(worlds.until("a true answer", iter([0, 0, 0, "yes"]).__next__), "yes")
        self.assertEqual([round(call.args[0], 2) for call in clock.sleep.call_args_list], [0.3, 0.1, 0.5])


class Sockets(unittest.TestCase):
    def test_a_port_that_takes_root_is_told_in_a_sentence(self):
        """It was `PermissionError: [Errno 13] Permission denied`."""
        with mock.patch.object(socket, "create_server", side_effect=PermissionError(13, "Permission denied")):
            with self.assertRaisesRegex(AssertionError, r"^127\.96\.0\.9:443, .* run this test as root, or .*port_start=443`$"):
                forward.Forwarder("127.96.0.9", 1)

    def test_a_metric_is_not_there_while_nothing_is_served(self):
        """The words of a refusal were taken for metrics, and that they are none ended the test."""
        world, metric = mock.Mock(), 'up{name="kubeadm"} 1'
        value = metrics_e2e_test.World.value
        for status, text, wanted in ((200, f"# TYPE up gauge\n{metric}\n", 1), (500, "no answer", None), (401, "who?", None)):
            with self.subTest(status):
                world.scrape.return_value = (status, text)
                self.assertEqual(value(world, "token", "up", "kubeadm"), wanted)


if __name__ == "__main__":
    unittest.main()
