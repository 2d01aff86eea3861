"""The local control plane: etcd, kube-apiserver, the controllers and kwok, all on loopback."""

import concurrent.futures
import glob
import http.client
import json
import os
import re
import secrets
import ssl
import subprocess
import threading
import time

from built import ROOT
from process import free_ports
from progress import AssetError

START_TIMEOUT = 120.0
# More than the programs that are tested wait (30 s): they are the first to say that a server is slow.
REQUEST_TIMEOUT = 60.0

# Requests that leave the same behind when they are made twice (RFC 9110, 9.2.2); a merge patch is one that PATCH isn't.
IDEMPOTENT = ("GET", "PUT", "DELETE")
MERGE_PATCH = "application/merge-patch+json"
# What an open connection gives that the server has closed; http.client.RemoteDisconnected is a ConnectionResetError.
BROKEN = (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError)

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
API_GROUP = "operator.cluster.x-k8s.io"  # of the operator's own kinds
OWN_CRDS = os.path.join(ROOT, "manifests", "crds")

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "node-0",
        "labels": {
            "kubernetes.io/hostname": "node-0",
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "node-role.kubernetes.io/control-plane": "",
        },
    },
    "status": {
        "allocatable": {"cpu": "64", "memory": "256Gi", "pods": "1000"},
        "capacity": {"cpu": "64", "memory": "256Gi", "pods": "1000"},
    },
}


class Api:
    """The requests that this script makes itself, where kubectl would take many times as long."""

    def __init__(self, port, token):
        self.port = port
        self.token = token
        # The server makes its certificate when it starts. What the connection reaches is known: our own child.
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE
        self.connections = threading.local()

    def request(self, method, path, body=None, content_type="application/json"):
        """The status and the text of the answer; (0, reason) where there is none.

        The server closes a connection on which nothing came for a while, and one may have been about to. So what does no harm
        twice is sent again on a new connection where an open one breaks before the answer begins."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        was_open = getattr(self.connections, "open", None) is not None
        try:
            try:
                answer = self._send(method, path, body, headers)
            except BROKEN:
                if not was_open or not (method in IDEMPOTENT or content_type == MERGE_PATCH):
                    raise
                self.close()
                answer = self._send(method, path, body, headers)
            return answer.status, answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            self.close()
            return 0, str(error)

    def _send(self, method, path, body, headers):
        """The answer, of which the status has been read."""
        if getattr(self.connections, "open", None) is None:
            self.connections.open = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=REQUEST_TIMEOUT, context=self.tls)
        self.connections.open.request(method, path, body, headers)
        return self.connections.open.getresponse()

    def close(self):
        """Closes this thread's connection; the next request opens another."""
        if getattr(self.connections, "open", None) is not None:
            self.connections.open.close()
            self.connections.open = None

    def get(self, path):
        """A decoded object, or None where there is none."""
        status, text = self.request("GET", path)
        return json.loads(text) if status == 200 else None

    def create(self, path, body, content_type="application/json"):
        status, text = self.request("POST", path, body, content_type)
        if status != 201:
            raise AssetError(f"the API server doesn't take what was sent to {path}: {text.strip()}")

    def write(self, method, path, body, content_type="application/json"):
        """The object as it is then."""
        status, text = self.request(method, path, json.dumps(body), content_type)
        if status not in (200, 201):
            raise AssetError(f"{method} {path}: {text.strip()}")
        return json.loads(text)

    def create_with_status(self, path, item, status=None):
        """The object as it was created."""
        made = self.write("POST", path, item)
        if status is not None:
            self.write("PATCH", f"{path}/{item['metadata']['name']}/status", {"status": status}, MERGE_PATCH)
        return made

    def without_conversion(self):
        """Of all CRDs that are there, where no webhook answers."""
        alone = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
        for crd in self.get(CRDS)["items"]:
            if crd["spec"]["conversion"]["strategy"] == "Webhook":
                self.write("PATCH", f"{CRDS}/{crd['metadata']['name']}", alone, MERGE_PATCH)

    def create_crds(self, documents):
        """Creates CRDs, several at once since the server takes a while for each; returns when all can be used."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(self._create_crds_one_by_one, [documents[start::4] for start in range(4)]))
        deadline = time.monotonic() + START_TIMEOUT
        pending = documents
        while time.monotonic() < deadline:
            items = (self.get(CRDS) or {}).get("items", [])
            pending = [item["metadata"]["name"] for item in items if not self._serves(item)]
            if len(items) >= len(documents) and not pending:
                return
            time.sleep(0.05)
        raise AssetError(f"{len(pending)} CRDs can't be used after {START_TIMEOUT:.0f}s")

    def _create_crds_one_by_one(self, documents):
        for document in documents:
            self.create(CRDS, document.encode(), "application/yaml")
        self.close()

    def _serves(self, crd):
        """Whether objects of a kind can be listed: an Established one answers 429 until its storage is there."""
        if not is_established(crd):
            return False
        spec = crd["spec"]
        versions = [version["name"] for version in spec["versions"] if version["served"]]
        return self.get(f"/apis/{spec['group']}/{versions[0]}/{spec['names']['plural']}?limit=1") is not None


def is_established(crd):
    conditions = crd.get("status", {}).get("conditions") or []
    return any(entry["type"] == "Established" and entry["status"] == "True" for entry in conditions)


def split_documents(text):
    """The documents of a YAML text, without the empty ones."""
    return [document for document in re.split(r"(?m)^---\s*$", text) if document.strip()]


def documents(paths):
    """The YAML documents of all these files."""
    found = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            found += split_documents(file.read())
    return found


def crds_of(paths):
    """Of the documents of all these files those that are CRDs."""
    return [text for text in documents(paths) if "\nkind: CustomResourceDefinition\n" in f"\n{text}"]


def own_crds():
    """The files with the operator's own CRDs. Beside them is a Kustomization, which no API server takes."""
    found = sorted(glob.glob(os.path.join(OWN_CRDS, "*.yaml")))
    if not found:
        raise AssetError(f"{OWN_CRDS} has no CRDs")
    return found


class ControlPlane:
    def __init__(self, programs, state, processes):
        self.programs = programs
        self.state = state
        self.processes = processes
        self.token = secrets.token_hex(16)
        self.etcd_port, self.peer_port, self.port = free_ports(3)
        self.kubeconfig = os.path.join(state, "kubeconfig")
        self.certificates = os.path.join(state, "certificates")
        self.authority = os.path.join(self.certificates, "apiserver.crt")  # of the server's own certificate
        self.key = os.path.join(state, "service-account.key")
        self.api = Api(self.port, self.token)

    def start(self):
        """Starts everything; returns when the API server takes requests and a node is there to run pods."""
        self._write_files()
        self._run("etcd", *self._etcd_flags())
        self._run("kube-apiserver", *self._api_server_flags())
        self._await_ready()
        quiet = ["--bind-address=127.0.0.1", "--secure-port=0", "--leader-elect=false", "--profiling=false"]
        access = f"--kubeconfig={self.kubeconfig}"
        self._run("kube-controller-manager", access, *quiet, *self._controller_flags())
        self._run("kube-scheduler", access, *quiet)
        self._run("kwok", access, "--manage-all-nodes=true", "--node-lease-duration-seconds=40")
        self.api.create("/api/v1/nodes", json.dumps(NODE))

    def kubectl(self, *arguments):
        """Runs kubectl to its end; its error becomes ours."""
        command = [os.path.join(self.programs, "kubectl"), f"--kubeconfig={self.kubeconfig}"]
        command += [f"--cache-dir={os.path.join(self.state, 'kubectl')}", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if result.returncode != 0:
            raise AssetError(f"kubectl {' '.join(arguments[:3])} failed:\n{result.stderr.strip()}")
        return result.stdout

    def _run(self, name, *flags):
        # Short-lived servers on a small machine: a fifth less CPU time for somewhat more memory.
        environment = dict(os.environ, GOGC="400")
        self.processes.start(name, [os.path.join(self.programs, name), *flags], environment)

    def _etcd_flags(self):
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{self.peer_port}"
        return [
            f"--data-dir={os.path.join(self.state, 'etcd')}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]

    def _api_server_flags(self):
        return [
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self.port}",
            f"--cert-dir={self.certificates}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.key}",
            f"--service-account-signing-key-file={self.key}",
            # The server calls webhooks at their Service's address: here nobody answers, at once, and nothing leaves the
            # machine.
            "--service-cluster-ip-range=127.96.0.0/16",
            "--authorization-mode=RBAC",
            f"--token-auth-file={os.path.join(self.state, 'tokens.csv')}",
            "--endpoint-reconciler-type=none",
            "--enable-priority-and-fairness=false",
            "--allow-privileged=true",
            "--profiling=false",
        ]

    def _controller_flags(self):
        return [
            f"--service-account-private-key-file={self.key}",
            f"--root-ca-file={self.authority}",
            "--use-service-account-credentials=false",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        ]

    def _write_files(self):
        os.makedirs(self.certificates)
        with open(os.path.join(self.state, "tokens.csv"), "w", encoding="utf-8") as file:
            file.write(f'{self.token},admin,admin,"system:masters"\n')
        with open(self.kubeconfig, "w", encoding="utf-8") as file:
            json.dump(self.access(), file, indent=2)
        command = ["openssl", "genrsa", "-out", self.key, "2048"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise AssetError(f"openssl genrsa failed:\n{result.stderr}")

    def access(self):
        """What the kubeconfig says: the caller's own, to change and write elsewhere."""
        cluster = {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": self.authority}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "local", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": self.token}}],
            "contexts": [{"name": "local", "context": {"cluster": "local", "user": "admin"}}],
            "current-context": "local",
        }

    def _await_ready(self):
        deadline = time.monotonic() + START_TIMEOUT
        while time.monotonic() < deadline:
            self.processes.check()
            if self.api.request("GET", "/readyz")[0] == 200:
                return
            time.sleep(0.05)
        raise AssetError(f"kube-apiserver isn't ready after {START_TIMEOUT:.0f}s; see {self.state}")
