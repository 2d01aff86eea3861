"""An API server that gives fixed answers: what kinds it has, and objects to read. For programs that only look."""

import http.server
import json
import os
import threading


class Answers:
    """Serves on loopback from its making until it is closed. `kinds`: {"v1": {"namespaces": "Namespace"}}, by groupVersion;
    `objects` as an API server gives them, with apiVersion and kind."""

    def __init__(self, kinds, objects, folder):
        self.kinds, self.objects, self.asked = kinds, objects, []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        # It looks so often whether it shall end, which `close` waits for.
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        cluster = {"name": "x", "cluster": {"server": f"http://127.0.0.1:{self.server.server_address[1]}"}}
        context = {"name": "x", "context": {"cluster": "x", "user": "x"}}
        config = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context], "current-context": "x"}
        with open(self.kubeconfig, "w", encoding="utf-8") as file:
            json.dump(config | {"users": [{"name": "x", "user": {}}]}, file)

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def _handler(self):
        answers = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802 - http.server's name
                path = self.path.split("?")[0].rstrip("/")
                answers.asked.append(path)
                found = answers.answer(path)
                if found is None:
                    found = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
                text = json.dumps(found).encode()
                self.send_response(found["code"] if found.get("kind") == "Status" else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        return Handler

    def answer(self, path):
        if path == "/version":
            return {"major": "1", "minor": "34", "gitVersion": "v1.34.4"}
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [self._group(name) for name in self.kinds if "/" in name]}
        for version, resources in self.kinds.items():
            root = f"/apis/{version}" if "/" in version else f"/api/{version}"
            if path == root:
                return self._resources(version, resources)
            if path.startswith(root + "/"):
                return self._objects(version, resources, path[len(root) + 1 :].split("/"))
        return None

    @staticmethod
    def _group(version):
        entry = {"groupVersion": version, "version": version.split("/")[1]}
        return {"name": version.split("/")[0], "versions": [entry], "preferredVersion": entry}

    @staticmethod
    def _resources(version, resources):
        whole = ("Namespace", "CustomResourceDefinition")
        entries = [
            {"name": plural, "singularName": kind.lower(), "kind": kind, "namespaced": kind not in whole, "verbs": ["get", "list"]}
            for plural, kind in resources.items()
        ]
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": entries}

    def _objects(self, version, resources, steps):
        """[namespaces, NAMESPACE,] PLURAL [, NAME]"""
        namespace = steps[1] if steps[0] == "namespaces" and len(steps) > 2 else None
        plural, *name = steps[2:] if namespace else steps
        kind = resources.get(plural)
        if kind is None:
            return None
        found = [
            item
            for item in self.objects
            if item["kind"] == kind and namespace in (None, item["metadata"].get("namespace")) and name in ([], [item["metadata"]["name"]])
        ]
        if name:
            return found[0] if found else None
        return {"kind": f"{kind}List", "apiVersion": version, "metadata": {}, "items": found}
