"""The distribution project's registry on loopback, and what fills it by the distribution protocol."""

import base64
import hashlib
import itertools
import json
import os
import urllib.error
import urllib.parse
import urllib.request

import plan
import worlds

USER, PASSWORD = "robot", "s3cret-of-the-registry"
PORTS = itertools.count(5000)  # one for each registry of this process
HASH = "$2b$04$6fqsEDxG9tNrLhP.4qK9j.2ofn1WaQdBPLc.vLKZ5tLfexynYYyoG"  # bcrypt of PASSWORD
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = """\
version: 0.1
log: {{level: info}}
storage: {{filesystem: {{rootdirectory: {folder}/data}}}}
http: {{addr: "{address}", secret: any}}
auth: {{htpasswd: {{realm: tests, path: {folder}/users}}}}
"""


def own_address():
    """A loopback address that no other process uses as its own (kube/testing/ports.h): a port there stays free while nobody listens."""
    pid = os.getpid()  # 22 bits at most
    return f"127.{1 + (pid >> 16)}.{(pid >> 8) & 255}.{pid & 255}"


def digest_of(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Registry:
    """Asks for USER and PASSWORD. Its process ends with the others of the world."""

    def __init__(self, state, processes):
        self.processes, self.folder = processes, os.path.join(state, "registry")
        os.mkdir(self.folder)
        self.address = f"{own_address()}:{next(PORTS)}"
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxy the shell that calls has
        with open(os.path.join(self.folder, "users"), "w", encoding="utf-8") as file:
            file.write(f"{USER}:{HASH}\n")
        with open(os.path.join(self.folder, "config.yml"), "w", encoding="utf-8") as file:
            file.write(CONFIG.format(folder=self.folder, address=self.address))
        self.process = None
        self.start()

    def start(self):
        self.process = self.processes.start("registry", [plan.have(["registry"])[0], "serve", os.path.join(self.folder, "config.yml")])
        worlds.until("the registry answers", self.answers)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.processes.started.remove(("registry", self.process))

    def answers(self):
        self.processes.check()
        try:
            return self.request("GET", "/v2/")[0] == 200
        except OSError:
            return False

    def request(self, method, path, body=None, content_type="application/octet-stream", accept="*/*"):
        """(status, headers, body)"""
        url = path if path.startswith("http://") else f"http://{self.address}{path}"
        user = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {user}", "Content-Type": content_type, "Accept": accept}
        request = urllib.request.Request(url, data=body, method=method, headers=headers)
        try:
            with self.opener.open(request, timeout=worlds.LIMIT) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def must(self, wanted, *arguments):
        status, headers, body = self.request(*arguments)
        if status != wanted:
            raise AssertionError(f"{arguments[:2]}: {status} {body}")
        return headers

    def blob(self, repository, content):
        """Its descriptor."""
        where = self.must(202, "POST", f"/v2/{repository}/blobs/uploads/", b"")["Location"]
        join = "&" if urllib.parse.urlparse(where).query else "?"
        self.must(201, "PUT", f"{where}{join}digest={urllib.parse.quote(digest_of(content))}", content)
        return {"mediaType": "application/vnd.test.file", "digest": digest_of(content), "size": len(content)}

    def push(self, repository, tag, files):
        """An artifact as cluster-api-operator's `publish` makes it of these files, by their titles. Its digest."""
        config = self.blob(repository, b"{}") | {"mediaType": "application/vnd.oci.empty.v1+json"}
        title = "org.opencontainers.image.title"
        layers = [self.blob(repository, content) | {"annotations": {title: name}} for name, content in files.items()]
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/vnd.acme.config"}
        text = json.dumps(manifest | {"config": config, "layers": layers}).encode()
        self.must(201, "PUT", f"/v2/{repository}/manifests/{tag}", text, MANIFEST)
        return digest_of(text)

    def push_image(self, repository, tag, platforms, layers):
        """An image as builders push it: an index, and for each platform a manifest with these layers and one more. The index's digest."""
        as_layer = lambda content: self.blob(repository, content) | {"mediaType": "application/vnd.oci.image.layer.v1.tar"}  # noqa: E731
        named, shared = [], [as_layer(layer) for layer in layers]
        for platform in platforms:
            config = self.blob(repository, json.dumps({"os": "linux", "architecture": platform, "rootfs": {"type": "layers", "diff_ids": []}}).encode())
            manifest = {
                "schemaVersion": 2, "mediaType": MANIFEST, "config": config | {"mediaType": "application/vnd.oci.image.config.v1+json"},
                "layers": [*shared, as_layer(f"{repository} {platform}".encode())],
            }  # fmt: skip
            text = json.dumps(manifest, indent=1).encode()
            self.must(201, "PUT", f"/v2/{repository}/manifests/{digest_of(text)}", text, MANIFEST)
            named.append({"mediaType": MANIFEST, "digest": digest_of(text), "size": len(text), "platform": {"os": "linux", "architecture": platform}})
        text = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": named}, indent=1).encode()
        self.must(201, "PUT", f"/v2/{repository}/manifests/{tag}", text, INDEX)
        return digest_of(text)
