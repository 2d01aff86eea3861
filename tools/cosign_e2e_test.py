#!/usr/bin/env python3
"""What the real cosign signs now is what the operator verifies (behaviour.md T14): verify_test on it, and a provider whose releases lie, signed, in a
registry."""

import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import unittest  # noqa: E402

import built  # noqa: E402
import cosign  # noqa: E402
import oci_e2e_test as oci  # noqa: E402
import oci_registry  # noqa: E402
import pages  # noqa: E402
import process  # noqa: E402
from provider_rights import CORE  # noqa: E402

REPOSITORY = "providers/signed"


def run(block, folder):
    """As it stands on the page, but for a registry that is asked in the clear."""
    environment = {name: "http://127.0.0.1:1" for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")}
    environment |= {"PATH": f"{os.path.dirname(cosign.program())}:/usr/bin:/bin", "HOME": folder, "COSIGN_PASSWORD": "", "NO_PROXY": "127.0.0.0/8"}
    block = block.replace("cosign sign ", "cosign sign --allow-http-registry ")
    done = pages.run(block, folder, environment)
    if done.returncode != 0:
        raise AssertionError(f"{block}\n{done.stdout}{done.stderr}")


class Cosign(unittest.TestCase):
    # T14: keys, files, bundles, certificates and artifacts, made now.
    def test_what_it_signs_is_verified(self):
        with tempfile.TemporaryDirectory(prefix="cosign-") as logs, tempfile.TemporaryDirectory(prefix="cosign-") as made:
            processes = process.Processes(logs)
            try:
                cosign.make(made, processes)
            finally:
                processes.stop()
            environment = dict(os.environ, CAPI_COSIGN_FIXTURES=made)
            command = [os.path.join(os.path.dirname(built.find("capi-operator")), "verify_test"), "--gtest_filter=RealCosign.*"]
            done = subprocess.run(command, cwd=cosign.ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
            self.assertRegex(done.stdout, r"\[  PASSED  \] [1-9]\d* tests?")
            self.assertNotIn("SKIPPED", done.stdout)

    # T14: the page's commands ask nobody: a proxy in the place of the network takes no request.
    def test_the_pages_commands_need_no_network(self):
        with tempfile.TemporaryDirectory(prefix="cosign-") as folder:
            signer = cosign.Signer(folder, name="cosign")
            files = ("metadata.yaml", "infrastructure-components.yaml")
            for name in files:
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(cosign.FILE)
            (blobs,) = [block for block in pages.blocks("Signed releases", "docs/sources.md", "bash") if "sign-blob" in block]
            run(blobs, folder)
            for name in files:
                key = os.path.join(folder, "cosign.pub")
                signer.cosign("verify-blob", "--key", key, "--insecure-ignore-tlog", "--bundle", f"{folder}/{name}.sigstore.json", f"{folder}/{name}")

    # T14: an artifact with and without a signature, both with an attestation, one that others have put in the place of what was kept, and a key that goes.
    def test_a_provider_whose_releases_are_signed(self):
        with tempfile.TemporaryDirectory(prefix="cosign-") as folder:
            world = oci.World()
            self.addCleanup(world.close)
            signer, other = cosign.Signer(folder, "p256", "cosign"), cosign.Signer(folder, "p384", "next")
            signed = world.registry.push(REPOSITORY, "v1.10.4", oci.files_of("core", "v1.10.4"))
            signer.sign_artifact(world.registry, f"{REPOSITORY}@{signed}", as_it_was=True)
            signed = world.registry.push(REPOSITORY, "v1.11.0", oci.files_of("core", "v1.11.0"))
            self.sign_as_the_pages_say(world, signer, signed)
            attested = world.registry.push(REPOSITORY, "v1.12.0", oci.files_of("core", "v1.12.0"))
            for digest in (signed, attested):
                signer.attest(world.registry, f"{REPOSITORY}@{digest}")
            world.start_operator(f"--allowed-sources={world.registry.address}", "--require-verified")
            world.write_credentials(CORE, oci_registry.PASSWORD)
            source = world.source(REPOSITORY)
            world.declare(CORE, version="v1.12.0", fetchConfig=source)
            world.await_words(CORE, "VerificationRequired", "spec.fetchConfig.verify: Required value")

            source["verify"] = {"provider": "cosign", "secretRef": {"name": "keys"}}
            world.declare(CORE, version="v1.12.0", fetchConfig=source)
            world.await_words(CORE, "SecretNotFound", "spec.fetchConfig.verify.secretRef")
            self.write_keys(world, {"cosign.key": "x"})
            world.await_words(CORE, "VerificationFailed", "it has no key *.pub")
            self.write_keys(world, {"cosign.pub": signer.public.decode()})
            world.await_words(CORE, "VerificationFailed", "the artifact isn't signed: there is no tag sha256-")
            self.assertEqual(self.kept(world), [])
            for version in ("v1.10.4", "v1.11.0"):
                world.declare(CORE, version=version, fetchConfig=source)
                world.await_ready(CORE, version)
            self.assertTrue(all("artifact.json" in one["data"] for one in self.kept(world)))

            self.change_what_is_kept(world)

            # A key that is taken away counts no more.
            self.write_keys(world, {"next.pub": other.public.decode()})
            world.await_words(CORE, "VerificationFailed", "none of the keys (next.pub) has made it")
            other.sign_artifact(world.registry, f"{REPOSITORY}@{signed}", as_it_was=True)
            world.kill_operator()
            world.start_operator(f"--allowed-sources={world.registry.address}", "--require-verified")
            world.await_ready(CORE, "v1.11.0")

    def change_what_is_kept(self, world):
        """What somebody changes of a kept release is never applied: it is fetched again."""
        before = self.what_runs(world)
        (kept,) = [one for one in self.kept(world) if one["metadata"]["name"].endswith("v1.11.0")]
        components = kept["data"]["components"]
        changed = components.replace("image: registry.k8s.io/", "image: changed.example.com/")
        self.assertNotEqual(changed, components)
        world.must("patch", "configmap", kept["metadata"]["name"], "-n", CORE["ns"], "--type=merge", "-p", json.dumps({"data": {"components": changed}}))
        world.until("the signed release is back", lambda: "changed.example.com" not in json.dumps(self.kept(world)))
        world.await_ready(CORE, "v1.11.0")
        self.assertEqual(self.what_runs(world), before)

    @staticmethod
    def what_runs(world):
        """The Deployments with the number of the changes that each has seen, so that one that is turned back is seen, too."""
        items = world.get("deployments", "-n", CORE["ns"])["items"]
        return [(item["metadata"]["name"], item["metadata"]["uid"], item["metadata"]["generation"], item["spec"]) for item in items]

    @staticmethod
    def sign_as_the_pages_say(world, signer, digest):
        """An artifact under v1.11.0, with the blocks of both pages."""
        signer.log_in(world.registry)
        (one,) = [block for block in pages.blocks("Signed releases", "docs/sources.md", "bash") if "sign-blob" not in block]
        reference = f"{world.registry.address}/{REPOSITORY}"
        run(one.replace("registry.example.com/providers/aws@sha256:...", f"{reference}@{digest}"), signer.folder)
        (loop,) = [block for block in pages.blocks("A registry of one's own", "docs/air-gap.md", "bash") if "cosign" in block]
        run(f"clusterctl() {{ echo http://{reference}:v1.11.0@{digest}; }}\n{loop}", signer.folder)

    @staticmethod
    def write_keys(world, keys):
        item = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", "namespace": CORE["ns"]}, "stringData": keys}
        world.kubectl("delete", "secret", "keys", "-n", CORE["ns"])
        world.must("create", "-f", "-", given=json.dumps(item))

    @staticmethod
    def kept(world):
        return world.get("configmaps", "-n", CORE["ns"], "-l", "provider.cluster.x-k8s.io/type=core")["items"]


if __name__ == "__main__":
    unittest.main()
