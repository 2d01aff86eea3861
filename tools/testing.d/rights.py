"""A real control plane with an audit log, and the operator on it as a ServiceAccount with no more than that one's rights.

What the operator was allowed is read from the audit log: each line names user, verb and resource of one request.
"""

import json
import os
import re
import subprocess
import time

import built
import cluster
import plan
import process

ROOT = built.ROOT
NAMESPACE = "capi-operator-system"
ACCOUNT = "capi-operator-manager"
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
RELEASES = os.path.join(ROOT, "testdata", "releases")
LIMIT = 120

POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
"""


class Audited(cluster.ControlPlane):
    """A control plane that writes down every request."""

    @property
    def audit_log(self):
        return os.path.join(self.state, "audit.log")

    def _api_server_flags(self):
        policy = os.path.join(self.state, "audit-policy.yaml")
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        # A client that may stream its lists does. What takes a list is asked of older servers.
        streaming = "--feature-gates=WatchList=false"
        return [*super()._api_server_flags(), streaming, f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}"]


def run_manifests(*arguments):
    """tools/manifests, run to its end."""
    command = [os.path.join(ROOT, "tools", "manifests"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def kustomize(*arguments):
    """What tools/manifests prints."""
    done = run_manifests(*arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class World:
    def __init__(self):
        self.state = process.StateFolder()
        self.processes = process.Processes(self.state.path)
        self.plane = None
        self.operators = 0
        self.name = None
        try:
            self.plane = Audited(plan.link_folder(["control-plane"]), self.state.path, self.processes)
            self.plane.start()
        except BaseException:
            self.close()
            raise

    def close(self):
        if self.plane:
            self.plane.api.close()
        self.processes.stop()
        self.state.remove()

    def kubectl(self, *arguments, given=None):
        """The finished process: its exit code, what it printed, and its errors."""
        command = [os.path.join(self.plane.programs, "kubectl"), f"--kubeconfig={self.plane.kubeconfig}"]
        command += [f"--cache-dir={os.path.join(self.state.path, 'kubectl')}", *arguments]
        return subprocess.run(command, input=given or "", capture_output=True, text=True, check=False, timeout=LIMIT)

    def must(self, *arguments, given=None):
        done = self.kubectl(*arguments, given=given)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def get(self, *arguments):
        return json.loads(self.must("get", *arguments, "-o", "json"))

    def start_operator(self, *flags, diagnostics="0"):
        """The operator with the ServiceAccount's own token. It ends with its world, or with stop_operator."""
        token = self.must("create", "token", ACCOUNT, "-n", NAMESPACE, "--duration=2h").strip()
        config = self.plane.access()
        config["users"] = [{"name": "admin", "user": {"token": token}}]
        config["contexts"][0]["context"]["namespace"] = NAMESPACE
        path = os.path.join(self.state.path, "operator-kubeconfig")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        # Each has a log of its own: what an earlier one said doesn't count.
        self.operators += 1
        self.name = f"capi-operator-{self.operators}"
        fixed = [f"--diagnostics-address={diagnostics}", "--health-addr=127.0.0.1:0", f"--releases-dir={RELEASES}"]
        command = [built.find("capi-operator"), f"--kubeconfig={path}", *fixed, *flags]
        self.operator = self.processes.start(self.name, command)

    def stop_operator(self):
        self.operator.terminate()
        self.operator.wait(timeout=60)
        self.processes.started.remove((self.name, self.operator))

    def operator_log(self):
        """What the operator that was started last has said."""
        if self.name is None:
            return ""
        with open(self.processes.log_path(self.name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def until(self, what, check, seconds=LIMIT):
        """Waits for a true answer, and gives it; the operator's last words are the failure's."""
        end = time.monotonic() + seconds
        while not (found := check()):
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}\n{self.operator_log()[-4000:]}")
            time.sleep(0.2)
        return found

    def requests(self):
        """What the operator's ServiceAccount asked for, each once: (verb, group, resource with its subresource, namespace,
        name, status)."""
        found = set()
        with open(self.plane.audit_log, encoding="utf-8") as file:
            for line in file:
                if not line.endswith("\n"):
                    continue
                event = json.loads(line)
                if event["user"].get("username") != USER or "objectRef" not in event:
                    continue
                ref = event["objectRef"]
                resource = ref.get("resource", "")
                if ref.get("subresource"):
                    resource += "/" + ref["subresource"]
                code = event.get("responseStatus", {}).get("code", 0)
                found.add((event["verb"], ref.get("apiGroup", ""), resource, ref.get("namespace", ""), ref.get("name", ""), code))
        return found


def conditions(item):
    return {entry["type"]: entry for entry in item.get("status", {}).get("conditions") or []}


def documents(text, kind=None):
    """The documents of what was rendered, of one kind where one is named."""
    found = cluster.split_documents(text)
    return [item for item in found if kind is None or re.search(rf"^kind: {kind}$", item, re.MULTILINE)]
