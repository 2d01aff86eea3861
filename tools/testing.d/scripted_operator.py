"""A server that gives the status page's files, and of the operator's answers what a test has it say."""

import http.server
import json
import os
import queue
import re
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TYPES = {"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


def policy():
    """What the operator lets the page do (B1)."""
    with open(os.path.join(ROOT, "operator", "ui", "page_server.cc"), encoding="utf-8") as file:
        words = re.search(r'kPolicy =((?:\s*"[^"]*")+);', file.read()).group(1)
    return "".join(re.findall(r'"([^"]*)"', words))


POLICY = policy()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, operator, port):
        self.operator = operator
        super().__init__(("127.0.0.1", port), Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, text, kind):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path, _, query = self.path[1:].partition("?")
        operator = self.server.operator
        if (file := path or "index.html") in ("index.html", "page.js", "page.css"):
            with open(os.path.join(ROOT, "ui", "bundle", file), encoding="utf-8") as opened:
                return self.answer(200, opened.read(), TYPES[file.rpartition(".")[2]])
        if path in operator.refused:
            return self.answer(*operator.refused[path], "text/plain")
        if path == "events":
            return self.follow(operator)
        given = operator.data(path, query.removeprefix("id="))
        return self.answer(200, given, "application/json") if given else self.answer(404, "there is no such page", "text/plain")

    def follow(self, operator):
        news = queue.Queue()
        news.put(("hello", {"revision": operator.revision}))
        operator.streams.append(news)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        while (one := news.get()) is not None:
            self.wfile.write(f"event: {one[0]}\ndata: {json.dumps(one[1])}\n\n".encode())


class Operator:
    """What stands in for it. Thread-compatible, beside its own server's threads, which read."""

    def __init__(self):
        self.revision = 1
        self.fleet = {"version": "v1", "leads": True, "restoredInTheLastHour": 0}
        self.providers = {}
        self.source = "https://one.example/"  # which details alone tell
        self.state = "missing"  # of the one object, which is shown as long as it isn't applied
        self.details = {}  # by id: what else they say
        self.refused = {}  # by path: status and words
        self.streams = []
        self.server = None
        self.port = 0

    def start(self):
        self.server = Server(self, self.port)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.end_streams()

    def end_streams(self):
        streams, self.streams = self.streams, []
        for one in streams:
            one.put(None)

    def tell(self, name, event):
        for one in self.streams:
            one.put((name, event))

    def have(self, name, state="ready", kind="InfrastructureProvider", namespace="default", **more):
        ready = state == "ready"
        why = {"ready": ready, "reason": "WorkloadsReady" if ready else "Reason", "since": "2026-01-01T00:00:00Z", "message": f"{name} is {state}."}
        self.revision += 1
        one = {
            "id": f"{kind}/{namespace}/{name}", "kind": kind, "namespace": namespace, "name": name, "state": state, "installedVersion": "v1.0.0",
            "version": "v1.0.0", "declaredVersion": "v1.0.0", "contract": "v1beta2", "desiredContract": "", "outcome": "Succeeded",
            "why": {**why, "meaning": "", "action": "", "see": "", "also": []}, "waitsFor": [], "needs": [], "root": "", "upgrades": [],
            "seen": True, "workloads": [], "drifted": 0, "certificateEnds": "", **more,
        }  # fmt: skip
        self.providers[one["id"]] = one
        self.tell("provider", {"revision": self.revision, "provider": one})
        return one["id"]

    def data(self, path, of):
        if path == "data.json":
            return json.dumps({"revision": self.revision, "fleet": self.fleet, "providers": list(self.providers.values())})
        if of not in self.providers:
            return None
        if path == "provider.yaml":
            return f"kind: {of}\nsource: {self.source}\n"
        lists = ("conditions", "transitions", "history", "references", "certificates", "fights", "releases", "users")
        objects = [{"group": "", "version": "v1", "kind": "Service", "namespace": "default", "name": "one", "state": self.state}]
        more = {"created": "", "source": self.source, "inventory": {"objects": objects}, **{name: [] for name in lists}, **self.details.get(of, {})}
        return json.dumps({**self.providers[of], **more})
