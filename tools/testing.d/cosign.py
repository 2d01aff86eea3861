"""The real cosign, and what testdata/cosign has of it: `python3 tools/testing.d/cosign.py testdata/cosign` makes that anew.

All is signed with keys, and offline: nothing is sent to a transparency log, and nobody is asked for a certificate."""

import base64
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
if __name__ == "__main__":
    sys.path[:0] = [os.path.join(ROOT, "tools", folder) for folder in ("run.d", "assets.d")]

import oci_registry  # noqa: E402
import plan  # noqa: E402

# kind: the arguments with which OpenSSL makes such a key
KINDS = {
    "p256": ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "p384": ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    "p521": ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"],
    "rsa2048": ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    "rsa4096": ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:4096"],
    "ed25519": ["genpkey", "-algorithm", "Ed25519"],
}
OFFLINE = ["--tlog-upload=false", "--use-signing-config=false", "--yes"]
AS_IT_WAS = "--new-bundle-format=false"
FILE = b"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: signed-system\n"
METADATA = b"apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 1, minor: 2, contract: v1beta1}\n"
SPDX = "https://spdx.dev/Document"
TYPES = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, */*"


def program():
    return plan.have(["cosign"])[0]


class Signer:
    """A key of cosign's in a folder: its *.pub is `self.public`."""

    def __init__(self, folder, kind="p256", name=None):
        self.folder, self.name = folder, name or kind
        private = os.path.join(folder, f"{self.name}.pem")
        self._must(["openssl", *KINDS[kind], "-out", private])
        self.cosign("import-key-pair", "--key", private, "--output-key-prefix", os.path.join(folder, self.name))
        self.private, self.key = private, os.path.join(folder, f"{self.name}.key")
        with open(os.path.join(folder, f"{self.name}.pub"), "rb") as file:
            self.public = file.read()

    def _must(self, command):
        environment = dict(os.environ, COSIGN_PASSWORD="", HOME=self.folder)
        environment.pop("DOCKER_CONFIG", None)
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.stderr[-2000:]}")

    def cosign(self, *arguments):
        self._must([program(), *arguments])

    def sign_blob(self, content, more=()):
        """{suffix: text} of each kind of signature beside a file with this content."""
        path = os.path.join(self.folder, "content")
        with open(path, "wb") as file:
            file.write(content)
        names = {suffix: f"{path}{suffix}" for suffix in (".sigstore.json", ".bundle", ".sig")}
        sign = ["sign-blob", "--key", self.key, *OFFLINE, *more]
        self.cosign(*sign, "--bundle", names[".sigstore.json"], path)
        sign = [argument for argument in sign if not argument.startswith("--certificate-chain")]
        self.cosign(*sign, AS_IT_WAS, "--bundle", names[".bundle"], "--output-signature", names[".sig"], path)
        return {suffix: _read(name) for suffix, name in names.items()}

    def log_in(self, registry):
        """As `cosign login` does, to an oci_registry.Registry."""
        user = base64.b64encode(f"{oci_registry.USER}:{oci_registry.PASSWORD}".encode()).decode()
        os.makedirs(os.path.join(self.folder, ".docker"), exist_ok=True)
        with open(os.path.join(self.folder, ".docker", "config.json"), "w", encoding="utf-8") as file:
            json.dump({"auths": {registry.address: {"auth": user}}}, file)

    def sign_artifact(self, registry, reference, as_it_was, more=()):
        """Of what lies there: "repository@sha256:..."."""
        self.log_in(registry)
        more = [AS_IT_WAS, *more] if as_it_was else more
        self.cosign("sign", "--key", self.key, *OFFLINE, "--allow-http-registry", *more, f"{registry.address}/{reference}")

    def attest(self, registry, reference):
        """Says something else of what lies there: what it is made of."""
        self.log_in(registry)
        path = os.path.join(self.folder, "predicate.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"spdxVersion": "SPDX-2.3"}, file)
        attest = ["attest", "--key", self.key, *OFFLINE, "--allow-http-registry", "--type", "spdxjson", "--predicate", path]
        self.cosign(*attest, f"{registry.address}/{reference}")

    def certificate(self):
        """What cosign is told to sign with a certificate of the key, valid for a day. (Those of keyless signing are for ten minutes.)"""
        request, certificate = (os.path.join(self.folder, name) for name in ("request.pem", "certificate.pem"))
        self._must(["openssl", "req", "-new", "-key", self.private, "-subj", "/CN=signer.example.com", "-out", request])
        sign = ["openssl", "x509", "-req", "-in", request, "-signkey", self.private, "-days", "1", "-out", certificate]
        self._must(sign)
        return [f"--certificate={certificate}", f"--certificate-chain={certificate}"]


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def artifact_with_signatures(signer, registry, more=()):
    """{name: text} of an artifact of which something was attested, and that was signed in both ways, as they lie in the registry.
    `more`: what cosign is told when it signs."""
    repository = f"org/{signer.name}"
    digest = registry.push(repository, "v1.2.3", {"metadata.yaml": METADATA, "components.yaml": FILE})
    signer.attest(registry, f"{repository}@{digest}")
    for as_it_was in (True, False):
        signer.sign_artifact(registry, f"{repository}@{digest}", as_it_was, more)
    get = lambda what: registry.request("GET", f"/v2/{repository}/{what}", None, accept=TYPES)[2]  # noqa: E731
    tag = digest.replace(":", "-")
    found = {"manifest.json": get(f"manifests/{digest}"), "tagged.json": get(f"manifests/{tag}.sig"), "index.json": get(f"manifests/{tag}")}
    found["payload.json"] = get(f"blobs/{json.loads(found['tagged.json'])['layers'][0]['digest']}")
    for entry in json.loads(found["index.json"])["manifests"]:
        referrer = get(f"manifests/{entry['digest']}")
        bundle = get(f"blobs/{json.loads(referrer)['layers'][0]['digest']}")
        payload = base64.b64decode(json.loads(bundle)["dsseEnvelope"]["payload"])
        kind = "attestation" if json.loads(payload)["predicateType"] == SPDX else "sigstore"
        found |= {f"{kind}.referrer.json": referrer, f"{kind}.json": bundle}
    return {f"{signer.name}.{name}": text for name, text in found.items()}


def make(folder, processes):
    """Writes all that testdata/cosign has; `processes` are to have a registry."""
    texts = {"file.yaml": FILE}
    with tempfile.TemporaryDirectory(prefix="cosign-") as scratch:
        for kind in KINDS:
            signer = Signer(scratch, kind)
            texts[f"{kind}.pub"] = signer.public
            texts |= {f"{kind}{suffix}": text for suffix, text in signer.sign_blob(FILE).items()}
        signer = Signer(scratch, name="certificate")
        texts["certificate.pub"] = signer.public
        texts |= {f"certificate{suffix}": text for suffix, text in signer.sign_blob(FILE, signer.certificate()).items()}
        registry = oci_registry.Registry(scratch, processes)
        for signer in (Signer(scratch, name="artifact"), Signer(scratch, "ed25519", "artifact-ed25519")):
            texts[f"{signer.name}.pub"] = signer.public
            texts |= artifact_with_signatures(signer, registry)
        signer = Signer(scratch, name="artifact-certificate")
        texts[f"{signer.name}.pub"] = signer.public
        texts |= artifact_with_signatures(signer, registry, signer.certificate())
    for name, text in texts.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text)


if __name__ == "__main__":
    import process

    with tempfile.TemporaryDirectory(prefix="cosign-") as LOGS:
        RUNNING = process.Processes(LOGS)
        try:
            make(sys.argv[1], RUNNING)
        finally:
            RUNNING.stop()
