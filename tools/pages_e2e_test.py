#!/usr/bin/env python3
"""Runs the commands of README.md and of pages in docs/, as they stand there, on a real control plane."""

import os
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import pages  # noqa: E402
from pages import blocks  # noqa: E402
from tiers import only_full  # noqa: E402


class Readme(pages.Page):
    def setUp(self):
        super().setUp()
        self.need("cluster-api/v1.12.0")

    def test_a_first_provider_becomes_ready_and_says_what_it_did(self):
        create, watch, conditions = blocks("A first provider")
        self.run_block(create)
        self.run_block(watch)
        self.assertRegex(self.run_block(conditions), r"(?m)^Ready=True ")

    @only_full
    def test_a_release_without_a_network(self):
        for name in ("metadata.yaml", "core-components.yaml"):
            shutil.copy(os.path.join(self.world.releases, "cluster-api", "v1.12.0", name), self.folder)
        (block,) = blocks("Without a network")
        self.run_block(block)
        self.run_block(blocks("A first provider")[1])


class Contracts(pages.Page):
    def test_a_pause_and_a_change_of_contract(self):
        self.need("cluster-api/v0.4.2", "bootstrap-kubeadm/v0.4.2", "cluster-api/v1.1.5", "bootstrap-kubeadm/v1.1.5")
        for heading in (
            "Two providers to try it with",
            "Pause a provider",
            "A change of contract",
        ):
            for block in blocks(heading, "docs/contracts.md"):
                self.run_block(block)
        versions = self.run_block("kubectl get capi-providers -A -o jsonpath='{.items[*].status.installedVersion}'")
        self.assertEqual(versions, "v1.1.5 v1.1.5")


PROVIDER = """
kubectl create namespace {ns}
kubectl apply -f - <<'EOF'
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: {kind}
metadata: {{name: {name}, namespace: {ns}}}
spec: {{version: {version}}}
EOF
kubectl wait {kind}/{name} -n {ns} --for=condition=Ready --timeout=5m
"""
CORE = "kubectl get coreprovider cluster-api -n capi-system -o jsonpath="
CONDITIONS = f"{CORE}'{{.status.conditions[*].reason}}'"


class Upgrades(pages.Page):
    PAGE = "docs/upgrades.md"

    def provider(self, jsonpath):
        return self.run_block(f"{CORE}'{jsonpath}'")

    def test_an_upgrade_a_rollback_a_downgrade_and_a_fresh_fetch(self):
        self.need("cluster-api/v1.11.0", "cluster-api/v1.12.0")
        self.run_block(PROVIDER.format(kind="CoreProvider", name="cluster-api", ns="capi-system", version="v1.11.0"))
        (upgrade,) = blocks("Upgrades", self.PAGE)
        self.run_block(upgrade)
        where = self.run_block(blocks("What happens, in order", self.PAGE)[0])
        self.assertRegex(where, r"(?m)^Ready=True ")
        self.assertRegex(where, r"v1.12.0 Succeeded\n.* v1.11.0 Succeeded")
        for block in blocks("When the new pods don't come up", self.PAGE):
            self.run_block(block)
        self.assertEqual(self.provider("{.spec.rollout.onFailure} {.spec.rollout.timeout}"), "Rollback 5m")
        self.run_block(upgrade.replace("v1.12.0", "v1.11.0").replace("kubectl wait", ": "))
        self.await_output(CONDITIONS, "UnsupportedProviderDowngradeReason")
        for block in blocks("When the release is refused", self.PAGE):
            self.run_block(block)
        self.assertEqual(self.provider("{.status.installedVersion}"), "v1.11.0")
        self.assertNotIn("allow-downgrade", self.provider("{.metadata.annotations}"))
        _, policy, end, versions = blocks("Newer versions", self.PAGE)
        self.run_block(policy)
        self.assertEqual(self.provider("{.spec.upgradePolicy.type} {.spec.upgradePolicy.window.days[1]}"), "Patch Sun")
        self.run_block(end)
        self.assertEqual(self.provider("{.spec.upgradePolicy.type}"), "None")
        self.assertRegex(self.run_block(versions), r"CoreProvider +capi-system +cluster-api +v1.11.0 +v1.11.0")
        for block in blocks("Fetch and apply everything again", self.PAGE):
            self.run_block(block)
        wanted = self.provider("{.metadata.annotations.operator\\.cluster\\.x-k8s\\.io/reconcile-at}")
        self.await_output(f"{CORE}'{{.status.handledReconcileAt}}'", wanted)


class OnACore(pages.Page):
    """Pages whose reader has a core provider already. These tests come one after another, by their names, and the one that
    stops the operator last."""

    CORE = True

    def setUp(self):
        super().setUp()
        self.need("cluster-api/v1.12.0")
        if not self.begin():
            self.run_block(PROVIDER.format(kind="CoreProvider", name="cluster-api", ns="capi-system", version="v1.12.0"))
            self.world.has_core = True


class Drift(OnACore):
    PAGE = "docs/drift.md"

    def test_what_was_changed_comes_back_and_hands_off_means_that(self):
        image = "kubectl get deployment capi-controller-manager -n capi-system -o jsonpath='{..image}'"
        before = self.run_block(image)
        change, events = blocks("Drift", self.PAGE)
        self.run_block(change)
        self.await_output(image, before)
        self.await_output(events, "Deployment", "Service")
        (fights,) = blocks("When somebody insists", self.PAGE)
        self.assertIn("Drifted", fights)
        # Of another condition it prints the message: a field that is misspelt would print nothing for any.
        self.assertNotEqual(self.run_block(fights.replace("Drifted", "Ready")).strip(), "")
        self.assertEqual(self.run_block(fights).strip(), "")
        off, on = blocks("To try something by hand", self.PAGE)
        self.run_block(off)
        self.run_block(change.splitlines()[0])
        self.run_block("kubectl rollout status deployment/capi-controller-manager -n capi-system --timeout=3m")
        # P4: the operator has been through a pass since, for it has answered an edit that came after.
        self.answers_an_edit('{"timeout":"9m"}')
        self.assertIn("example.com/another:v1", self.run_block(image))
        self.answers_an_edit("null")
        self.run_block(on)
        self.await_output(image, before)

    def answers_an_edit(self, rollout):
        """Edits the core provider, and waits until the operator has said of that generation that its hands are off."""
        edit = f"""kubectl patch coreprovider cluster-api -n capi-system --type=merge -p '{{"spec":{{"rollout":{rollout}}}}}'"""
        self.assertNotIn("no change", self.run_block(edit))
        generation = self.run_block(f"{CORE}'{{.metadata.generation}}'")
        paused = '{.status.conditions[?(@.type=="Paused")]'
        said = f"{CORE}'{paused}.observedGeneration}} {paused}.reason}}'"
        self.await_output(said, f"{generation} HandsOff")


class EndOfAProvider(OnACore):
    PAGE = "docs/deleting.md"
    BOOTSTRAP = PROVIDER.format(
        kind="BootstrapProvider", name="kubeadm", ns="capi-kubeadm-bootstrap-system", version="v1.12.0"
    )
    CRDS = "kubectl get crds -o name -l cluster.x-k8s.io/provider=bootstrap-kubeadm"

    def setUp(self):
        super().setUp()
        self.need("bootstrap-kubeadm/v1.12.0")
        self.run_block(self.BOOTSTRAP)
        (self.delete,) = blocks("Deleting a provider", self.PAGE)

    def again(self):
        self.run_block(self.BOOTSTRAP.replace("kubectl create namespace", ": "))

    def test_the_ways_to_delete(self):
        self.assertIn("available", self.run_block(blocks("What stands in its way", self.PAGE)[0]))
        self.run_block(self.delete)
        self.assertNotEqual(self.run_block(self.CRDS), "", "CRDs stay")
        self.again()
        self.run_block(blocks("What stands in its way", self.PAGE)[1] + self.delete)
        self.again()
        self.run_block(blocks("The CRDs too", self.PAGE)[0] + self.delete)
        self.assertEqual(self.run_block(self.CRDS), "")

    def test_when_the_operator_went_first(self):
        self.world.stop_operator()
        self.run_block("kubectl delete namespace capi-kubeadm-bootstrap-system --wait=false")
        (by_hand,) = blocks("A Namespace with a provider in it", self.PAGE)
        self.await_output(by_hand, "clusterrole", "mutatingwebhookconfiguration")
        self.run_block("kubectl wait namespace/capi-kubeadm-bootstrap-system --for=delete --timeout=1m")


if __name__ == "__main__":
    unittest.main()
