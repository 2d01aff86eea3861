#!/usr/bin/env python3
"""Tests of what tools/clusterctl_kills_e2e_test.py and its like stand on, without a control plane: what a server that doesn't
answer means, and what is compared."""

import http.client
import http.server
import os
import sys
import threading
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import clusterctl_kills_e2e_test as kills  # noqa: E402
import contents  # noqa: E402
import cutting_proxy  # noqa: E402
import in_cluster  # noqa: E402
import worlds  # noqa: E402


class Clock:
    """Nobody waits."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class Api:
    """Answers what is said of a path, one after the other, the last one for good."""

    def __init__(self, answers):
        self.answers = {path: list(each) for path, each in answers.items()}

    def request(self, method, path, *_):
        answers = self.answers.get(path, [(404, "no such object")])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def get(self, path):
        status, text = self.request("GET", path)
        return kills.json.loads(text) if status == 200 else None

    def close(self):
        pass


def world(answers):
    """One that has nothing but these answers."""
    made = kills.World.__new__(kills.World)
    made.plane, made.operator, made.name = mock.Mock(api=Api(answers)), None, None
    return made


def ok(content):
    return 200, kills.json.dumps(content)


UNANSWERED = (0, "timed out")
ACCOUNT = f"/api/v1/namespaces/{in_cluster.NAMESPACE}/serviceaccounts/{kills.rights.ACCOUNT}"
ASKED_FOR = {
    kills.DEPLOYMENT: ok({"spec": {"replicas": 1}}),
    in_cluster.SERVICE: ok({"spec": {"clusterIP": "127.96.0.9"}}),
    ACCOUNT: ok({}),
}


class WithClock(unittest.TestCase):
    def setUp(self):
        self.clock = self.enterContext(mock.patch.object(worlds, "time", Clock()))


class Settled(WithClock):
    def test_what_changes_within_seconds_is_not_settled(self):
        """Two looks that gave the same were enough, a tenth of a second apart: what the operator did after that was missed."""
        changes = {0.0: "as clusterctl left it", 4.0: None, 4.5: "while something goes", 9.0: "as the operator left it"}
        look = lambda: [state for begin, state in changes.items() if begin <= self.clock.now][-1]  # noqa: E731
        self.assertEqual(worlds.settled(look), "as the operator left it")
        self.assertAlmostEqual(self.clock.now, 14, delta=0.2)

    def test_what_changes_for_ever_or_is_never_there_fails(self):
        for look in (lambda: self.clock.now, lambda: None):
            with self.assertRaisesRegex(AssertionError, "nothing changes any more\\nlast words"):
                worlds.settled(look, lambda: "last words")


class Unanswered(WithClock):
    def test_the_operator_runs_on_where_the_server_does_not_answer(self):
        """It was killed, as if its Deployment had gone: a cut that nobody had asked for."""
        for silent in ASKED_FOR:
            with self.subTest(silent):
                pod = kills.Pod(world({path: [UNANSWERED if path == silent else answer] for path, answer in ASKED_FOR.items()}))
                pod.address = "127.96.0.9"
                with mock.patch.object(pod, "end") as end, self.assertRaisesRegex(AssertionError, "timed out"):
                    pod.look()
                end.assert_not_called()

    def test_the_operator_ends_where_its_deployment_is_gone(self):
        pod = kills.Pod(world({}))
        pod.address = "127.96.0.9"
        with mock.patch.object(pod, "end") as end:
            pod.look()
        end.assert_called_once()

    def test_a_look_that_fails_is_told_and_the_next_one_tries_again(self):
        """The thread ended with it, and no operator ran any more."""
        pod = kills.Pod(world({}))
        pod.world.pod = pod
        pod.over = mock.Mock(wait=mock.Mock(side_effect=[False, False, True]))
        with mock.patch.object(pod, "end"), mock.patch.object(pod, "look", side_effect=[None, OSError("address in use")]) as look:
            pod.run()
        self.assertEqual(look.call_count, 2)
        self.assertEqual(pod.world.last_words(), "the pod had trouble: address in use\n")

    def test_a_list_without_an_answer_is_no_empty_one(self):
        there = world({"/a": [UNANSWERED, (429, "storage is (re)initializing"), ok({"items": ["it"]})]})
        self.assertEqual(there.items("/a"), ["it"])
        self.assertEqual(there.items("/gone"), [])

    def test_everything_is_asked_anew_while_the_server_changes_its_kinds(self):
        """It was `TypeError: 'NoneType' object is not subscriptable`."""
        groups = [{"groups": [{"preferredVersion": {"groupVersion": f"a/{version}"}}]} for version in ("v1", "v2")]
        kind = {"name": "toys", "kind": "Toy", "verbs": ["list"]}
        toys = {"apiVersion": "a/v2", "items": [{"metadata": {"name": "mine"}}]}
        api = Api(
            {
                "/apis": [UNANSWERED, ok(groups[0]), ok(groups[1])],
                "/api/v1": [ok({"resources": []})],
                "/apis/a/v2": [ok({"resources": [kind]})],
                "/apis/a/v2/toys": [(429, "storage is (re)initializing"), ok(toys)],
            }
        )
        self.assertEqual(list(contents.everything(api)), [("a", "Toy", "", "mine")])
        api.answers["/apis/a/v2/toys"] = [UNANSWERED]
        with self.assertRaisesRegex(AssertionError, r"doesn't answer at \['/apis/a/v2/toys'\]"):
            contents.everything(api)


class Server(http.server.BaseHTTPRequestHandler):
    """Answers with the next status that it is told to."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        self.server.asked.append(self.command)
        self.send_response(self.server.statuses.pop(0))
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


class Breaks(unittest.TestCase):
    def setUp(self):
        """A server, and a proxy before it."""
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        self.server.daemon_threads = True
        thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        thread.start()
        for last in (self.server.server_close, thread.join, self.server.shutdown):
            self.addCleanup(last)
        plain = lambda *where, context, timeout: http.client.HTTPConnection(*where, timeout=timeout)  # noqa: E731
        self.enterContext(mock.patch.object(http.client, "HTTPSConnection", plain))
        self.proxy = cutting_proxy.CuttingProxy(mock.Mock(port=self.server.server_address[1]))
        self.addCleanup(self.proxy.close)

    def send(self, requests, cut):
        """Through the proxy: what the server was asked until the cut."""
        cut.begin(mock.Mock)
        self.proxy.cut, self.server.asked, self.server.statuses = cut, [], [status for _, _, status in requests]
        client = http.client.HTTPConnection("127.0.0.1", self.proxy.port, timeout=60)
        try:
            for method, path, status in requests:
                client.request(method, path)
                answer = client.getresponse()
                answer.read()
                self.assertEqual(answer.status, status)
        except http.client.RemoteDisconnected:
            self.assertTrue(cut.happened)
        finally:
            client.close()
        return self.server.asked

    # L10: the writes that a command makes are the same ones in every run, however long the operator's webhooks take.
    def test_what_the_server_refused_until_it_was_ready_does_not_count(self):
        never = kills.Break()
        requests = [
            ("POST", "/a", 201),
            ("GET", "/a", 200),
            ("PATCH", "/a", 500),
            ("PATCH", "/a", 503),
            ("PATCH", "/a", 404),
            ("PATCH", "/a", 429),
            ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 404),
            ("PATCH", "/a?dryRun=All", 500),
            ("PATCH", "/a", 200),
            ("DELETE", "/b", 404),
            ("POST", "/a", 409),
        ]
        self.assertEqual(len(self.send(requests, never)), len(requests))
        self.assertEqual((never.count, never.happened), (4, False))

    def test_a_cut_after_a_write_comes_once_that_is_carried_out(self):
        requests = [("POST", "/a", 201), ("PATCH", "/a", 500), ("PATCH", "/a", 404), ("PATCH", "/a", 200), ("PATCH", "/b", 200)]
        for after, asked in ((True, 4), (False, 1)):
            with self.subTest(after=after):
                cut = kills.Break(2, after)
                for _ in range(2):  # the cycles come back to it
                    self.assertEqual(len(self.send(requests, cut)), asked)
                    self.assertTrue(cut.happened)
                    cut.process.wait.assert_called_once()

    def test_a_write_that_was_refused_while_others_were_under_way_is_not_the_one(self):
        """clusterctl sends four at a time: the count had passed the one by then, and no cut came."""
        cut = kills.Break(2)
        self.assertEqual([cut.is_now("PATCH", "/a") for _ in range(3)], [False, True, False])
        self.assertTrue(cut.takes_back("PATCH", "/a", 500, True))
        self.assertEqual([cut.is_now("PATCH", "/a") for _ in range(2)], [True, False])
        self.assertTrue(cut.takes_back("PATCH", "/a", 500, False))
        self.assertFalse(cut.is_now("PATCH", "/a"))

    def test_a_seed_and_a_write_say_what_happens_there(self):
        """The same write of the same seed was killed at in one run, and interrupted at in another with a write more."""
        words = lambda step, writes: [str(cut) for run in kills.breaks(step, writes) for cut in run]  # noqa: E731
        with mock.patch.object(kills.tiers, "FULL", "1"):
            for step in kills.STEPS:
                few = words(step, 20)
                self.assertEqual(words(step, 60)[: len(few)], few)


class Cycles(WithClock):
    def run_cycles(self, fails=None):
        """The steps that were gone through, and the failures, where one of them fails the second time."""
        gone, closed = [], mock.Mock()

        class Tests(kills.Kills):
            WORLD = mock.Mock(return_value=closed)

            def go(self, step, cuts):
                gone.append(step)
                self.assertFalse(step == fails and gone.count(step) == 2, "it fails")

            before = assert_left = mock.Mock()

            def runTest(self):
                self.writes = dict.fromkeys(kills.STEPS, 9)
                self.cycles({step: [[kills.Break(at)] for at in (1, 2, 3)] for step in kills.STEPS})

        result = unittest.TestResult()
        with mock.patch.multiple(worlds.OnAWorld, world=None, failure=None):
            Tests().run(result)
            self.assertIsNone(worlds.OnAWorld.world, "the next test has a world of its own")
        closed.close.assert_called_once()
        return gone, [str(test) for test, _ in result.failures + result.errors]

    def test_a_step_that_fails_ends_them(self):
        """Each of the next ones failed too, since they began with what that one had left."""
        gone, failures = self.run_cycles("upgrade")
        self.assertEqual(gone, ["init", "upgrade", "delete", "init", "upgrade"])
        self.assertEqual(len(failures), 1)
        self.assertIn("(step='upgrade', cuts='SIGKILL before write 2', of=9, seed=", failures[0])

    def test_they_go_on_where_none_fails(self):
        self.assertEqual(self.run_cycles(), ([*kills.STEPS] * 3, []))

    def test_the_object_of_a_user_is_made_on_a_new_connection(self):
        """The server closes one that is quiet for a while; a POST isn't sent again (run.d/cluster.py)."""
        tests, api = kills.Kills("test_1_with_the_operator"), mock.Mock()
        with mock.patch.object(worlds.OnAWorld, "world", mock.Mock()):
            tests.world.plane.api = api
            tests.before("upgrade")
        self.assertEqual(api.mock_calls, [mock.call.close(), mock.call.write("POST", kills.TOYS, kills.USERS_TOY)])


if __name__ == "__main__":
    unittest.main()
