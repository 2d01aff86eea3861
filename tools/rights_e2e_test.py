#!/usr/bin/env python3
"""The operator with the rights of manifests/ and no others, on a real API server: they are enough for a provider's whole
life and for the webhooks, every one is used there or right_units.ELSEWHERE says what it is for, and where a rule is taken
away that is used the operator says which. Without CAPI_TEST_FULL a few are taken."""

import json
import os
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import pages  # noqa: E402
import process  # noqa: E402
import right_units  # noqa: E402
import rights  # noqa: E402
from cluster import API_GROUP  # noqa: E402
from provider_rights import AWS, BOOTSTRAP, CORE, INFRASTRUCTURE, PROVIDER, ROLES, OnAServer, WithWebhooks  # noqa: E402
from tiers import FULL, longer_in_full  # noqa: E402

RBAC = "rbac.authorization.k8s.io"
INVENTORY = "clusterctl.cluster.x-k8s.io"
# A provider's life goes on without them, and nothing is said of it.
SILENT = ("events",)
# What the operator writes for itself.
ITS_OWN = {"leases", "events", "selfsubjectrulesreviews", "selfsubjectaccessreviews"}
# The rule that `make test` takes away; with CAPI_TEST_FULL it is every one that this test's providers need.
FEW = [("capi-operator-namespace", "services")]


class Rights(OnAServer):
    """T3: the role names verbs and kinds."""

    def setUp(self):
        super().setUp()
        self.world.install()

    def live(self):
        """A provider's whole life, of three."""
        world = self.world
        for version, aws in (("v1.10.4", "v2.0.2"), ("v1.10.4", "v2.11.1"), ("v1.12.0", None)):
            wanted = [(CORE, version), (BOOTSTRAP, version)] + ([(AWS, aws)] if aws else [])
            if not aws:
                world.delete(AWS)
            for provider, at in wanted:
                world.apply(provider, at)
            for provider, at in wanted:
                world.await_ready(provider, at)
        service = ("service", "capi-webhook-service", "-n", "capi-system")
        world.must("delete", *service)
        world.until("the Service is back", lambda: world.kubectl("get", *service).returncode == 0)
        for provider in (BOOTSTRAP, CORE):
            world.delete(provider)

    def test_they_are_enough_and_all_are_used(self):
        self.world.start_operator()
        self.live()
        self.world.stop_operator()
        requests = self.world.requests()
        self.assertEqual([request for request in requests if request[-1] == 403], [])
        given = right_units.units(rule for rules in self.world.roles().values() for rule in rules)
        self.assertEqual([right for right in given if "*" in "".join(right)], [])
        took = right_units.used(requests)
        self.assertEqual(right_units.without_a_use(given, took), ([], []), "without a use, and reasons for what is seen")
        # A slow machine fails nothing: its operator has looked at pods, and told an event twice.
        slow = took | {("", "pods", "list"), ("", "events", "patch")}
        self.assertEqual(right_units.without_a_use(given, slow), ([], []))


class Webhooks(WithWebhooks):
    """T1, T3, T5, T7, U3: the rights are enough for the webhooks and the metrics, too: certificate, CAs, conversion, what is
    stored at an older version, a question for who may name another namespace's Secret, and one for who may scrape."""

    def store(self, version):
        """Has the API server store InfrastructureProviders at that version."""
        versions = self.world.get("crd", INFRASTRUCTURE)["spec"]["versions"]
        patch = [
            {"op": "replace", "path": f"/spec/versions/{number}/storage", "value": entry["name"] == version}
            for number, entry in enumerate(versions)
        ]
        self.world.must("patch", "crd", INFRASTRUCTURE, "--type=json", f"--patch={json.dumps(patch)}")

    def stored(self):
        return self.world.get("crd", INFRASTRUCTURE)["status"]["storedVersions"]

    def is_renewed(self):
        (lease,) = self.world.get("leases", "-n", rights.NAMESPACE)["items"]
        return lease["spec"]["renewTime"] != lease["spec"]["acquireTime"]

    def await_standby(self):
        """A second operator beside the one that leads, until it has its eye on the lease."""
        world = self.world
        leader = world.operator, world.name
        world.operator = None
        try:
            world.start_operator()
            world.until("another waits for the lease", lambda: any(verb == "watch" and kind == "leases" for verb, _, kind, *_ in world.requests()))
            world.end_operator()
        finally:
            # What isn't known here any more would lead on, and write in other tests.
            world.operator, world.name = leader

    def test_they_are_served(self):
        world = self.world
        world.install("default")
        port, metrics = process.free_ports(2)
        flags = world.call_at(port)
        world.prepare("capa-system")
        world.start_operator(*flags, diagnostics=f":{metrics}")  # loopback alone is open
        source = {"selector": {"matchLabels": {"release": "none"}}}
        there = {"version": "v1.0.0", "fetchConfig": source}
        world.until("admission lets a provider in", lambda: self.call("there", there).returncode == 0)
        old = {"version": "v1.0.0", "secretName": "variables", "secretNamespace": "default", "fetchConfig": source}
        world.until("a v1alpha1 is taken", lambda: self.call("old", old, "v1alpha1").returncode == 0)
        item = world.get(f"infrastructureprovider.v1alpha2.{API_GROUP}", "old", "-n", "capa-system")
        self.assertEqual(item["spec"]["configSecret"], {"name": "variables", "namespace": "default"})
        self.assertIn(f"{API_GROUP}/allowed-references", item["metadata"]["annotations"])
        done = self.call("wrong", {"version": "one"})
        self.assertIn("spec.version", done.stderr)
        token = self.scraper()
        world.until("the metrics are served", lambda: self.scrapes(metrics, token))
        self.store("v1alpha1")
        world.until("another v1alpha1 is taken", lambda: self.call("older", old, "v1alpha1").returncode == 0)
        world.kill_operator()
        self.store("v1alpha2")
        self.assertIn("v1alpha1", self.stored())
        world.start_operator(*flags)
        world.until("nothing is stored at v1alpha1", lambda: self.stored() == ["v1alpha2"])
        world.until("the lease is renewed", self.is_renewed)
        self.await_standby()
        world.kill_operator()
        requests = world.requests()
        self.assertEqual([request for request in requests if request[-1] == 403], [])
        own = right_units.units(rule for role in rights.OWN_ROLES for rule in world.get("role", role, "-n", rights.NAMESPACE)["rules"])
        idle = right_units.names(own - right_units.used(request for request in requests if request[3] == rights.NAMESPACE))
        self.assertLessEqual(idle, {"/secrets update", "/events patch"}, "for a renewal, and an event that comes again")
        took = right_units.names(right_units.used(requests))
        for right in (
            "authentication.k8s.io/tokenreviews create",
            "authorization.k8s.io/subjectaccessreviews create",
            "/secrets create",
            "apiextensions.k8s.io/customresourcedefinitions patch",
            "apiextensions.k8s.io/customresourcedefinitions/status patch",
        ):
            self.assertIn(right, took)


class Adoption(OnAServer):
    """A1, T3: what docs/adopting.md says for the manifests gives the operator the flag, and the right that it takes."""

    def clusterctl_installed(self, provider, version):
        """An entry of clusterctl's inventory, in a kind with as much of clusterctl's as it takes."""
        kind = {"kind": "Provider", "listKind": "ProviderList", "plural": "providers", "singular": "provider"}
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        served = {"name": "v1alpha3", "served": True, "storage": True, "schema": schema}
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        crd["metadata"] = {"name": f"providers.{INVENTORY}"}
        crd["spec"] = {"group": INVENTORY, "scope": "Namespaced", "names": kind, "versions": [served]}
        self.world.plane.api.create_crds([json.dumps(crd)])
        self.world.prepare(provider["ns"])
        item = {"apiVersion": f"{INVENTORY}/v1alpha3", "kind": "Provider", "providerName": provider["name"]}
        item |= {"type": provider["kind"], "version": version}
        item["metadata"] = {"name": provider["name"], "namespace": provider["ns"], "labels": {INVENTORY: ""}}
        path = f"/apis/{INVENTORY}/v1alpha3/namespaces/{provider['ns']}/providers"
        self.world.plane.api.create(path, json.dumps(item))

    def install_as_the_page_says(self):
        """Over the variant without webhooks, which a process outside of the cluster can't serve; its arguments."""
        (block,) = (block for block in pages.blocks("From clusterctl", "docs/adopting.md") if "tools/manifests" in block)
        block = block.replace("manifests/base", "manifests/overlays/no-webhooks")
        with tempfile.TemporaryDirectory(prefix="adopting-page-") as folder:
            variables = pages.environment(self.world.plane, folder, IMAGE="registry.example.com/operator:v1")
            done = pages.run(block, pages.checkout(folder), variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = self.world.get("deployment", "capi-operator-controller-manager", "-n", rights.NAMESPACE)
        (container,) = found["spec"]["template"]["spec"]["containers"]
        self.assertEqual(container["image"], "registry.example.com/operator:v1")
        return container["args"]

    def test_as_the_page_says(self):
        world = self.world
        self.clusterctl_installed(CORE, "v1.10.4")
        self.assertEqual(self.install_as_the_page_says()[-2:], ["--webhook-port=0", "--adopt-inventory"])
        world.await_kinds()
        create = (API_GROUP, "coreproviders", "create")
        world.until("the role is aggregated", lambda: create in right_units.units(world.get("clusterrole", "capi-operator-providers")["rules"]))
        world.start_operator("--webhook-port=0", "--adopt-inventory")
        made = ("coreprovider", CORE["name"], "-n", CORE["ns"])
        world.until("a provider is made of the entry", lambda: world.kubectl("get", *made).returncode == 0)
        self.assertEqual(world.get(*made)["spec"]["version"], "v1.10.4")
        world.kill_operator()
        self.assertEqual([request for request in world.requests() if request[-1] == 403], [])


class SingleNamespace(OnAServer):
    """T3, T7: with the overlay for one namespace a provider lives there, the webhooks judge it, and the operator reads no Secret
    elsewhere. What it has to say of the webhooks' certificate it says in its own namespace, where that was refused once."""

    def test_a_provider_lives_in_it(self):
        world = self.world
        world.install("single-namespace")
        (port,) = process.free_ports(1)
        world.start_operator("--namespace=capi-providers", *world.call_at(port))
        core = dict(CORE, ns="capi-providers")
        wanted = PROVIDER.format(version="v1.10.4", **core)
        world.until(
            "admission lets a provider in",
            lambda: world.kubectl("apply", "--dry-run=server", "-f", "-", given=wanted).returncode == 0,
        )
        for version in ("v1.10.4", "v1.12.0"):
            world.apply(core, version)
            world.await_ready(core, version)
        world.delete(core)
        world.kill_operator()
        refused = {(verb, group, resource) for verb, group, resource, *_, code in world.requests() if code == 403}
        self.assertLessEqual(refused, {("list", "", "secrets"), ("watch", "", "secrets")})
        told = world.get("events", "-n", rights.NAMESPACE)["items"]
        self.assertIn(("capi-operator-webhook-cert", "CertificateMade"), [(e["involvedObject"]["name"], e["reason"]) for e in told])
        for namespace, answer in ((core["ns"], "yes"), ("default", "no"), ("kube-system", "no")):
            for verb in ("get", "list", "create"):
                asked = world.kubectl("auth", "can-i", verb, "secrets", f"--as={rights.USER}", "-n", namespace)
                self.assertEqual(asked.stdout.strip(), answer, f"{verb} in {namespace}")


# What an operator writes that isn't of a release.
ITS_OWN = {"leases", "events", "selfsubjectrulesreviews", "selfsubjectaccessreviews"}


class Lacking(OnAServer):
    """T3: a release that takes more than the operator has says so before anything is written, with the role to apply; and
    docs/install.md says how."""

    def written(self):
        return [
            (verb, resource, name)
            for verb, group, resource, _, name, _ in self.world.requests()
            if verb in ("create", "patch", "update", "delete") and group != API_GROUP and resource not in ITS_OWN
        ]

    def test_the_role_of_the_message_is_enough(self):
        world = self.world
        world.install()
        given = right_units.units(world.roles()[ROLES[2]])
        world.must("delete", "clusterrole", ROLES[2])
        self.await_aggregated(set(), given)
        rules = [rule for rule in world.get("clusterrole", ROLES[1])["rules"] if "services" not in rule["resources"]]
        patch = json.dumps([{"op": "replace", "path": "/rules", "value": rules}])
        world.must("patch", "clusterrole", ROLES[1], "--type=json", f"--patch={patch}")
        world.start_operator()
        world.apply(CORE, "v1.10.4")
        world.until("the rights are told", lambda: "PermissionsMissing" in world.status(CORE)[2])
        self.assertEqual(self.written(), [])
        words = world.status(CORE)[2]
        self.assertRegex(words, r"escalate clusterroles\.rbac\.authorization\.k8s\.io \S+")
        self.assertRegex(words, r"create, .*patch services in namespace capi-system")
        _, read, apply, _ = pages.blocks("Rights", "docs/install.md")
        with tempfile.TemporaryDirectory(prefix="rights-page-") as folder:
            variables = pages.environment(world.plane, folder)
            for block in (read, apply):
                done = pages.run(block, folder, variables)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("clusterrole.rbac.authorization.k8s.io/capi-operator-core-cluster-api-", done.stdout)
        world.await_ready(CORE, "v1.10.4")
        world.delete(CORE)
        world.stop_operator()
        self.assertEqual([request for request in world.requests() if request[-1] == 403], [])


class Missing(OnAServer):
    """One rule is taken away at a time: the operator says in a condition, or where there is no provider to say it of in its
    log, what it may not do."""

    def setUp(self):
        super().setUp()
        self.world.install()
        self.given = self.world.roles()

    def set_rules(self, role, rules):
        patch = json.dumps([{"op": "replace", "path": "/rules", "value": rules}])
        self.world.must("patch", "clusterrole", role, "--type=json", f"--patch={patch}")
        if role != "capi-operator-release-roles":
            return
        self.await_aggregated(right_units.units(rules), right_units.units(self.given[role]))

    def told(self, resources):
        """Whether a condition or the log says that a right on one of these is missing."""
        names = "|".join(map(re.escape, resources))
        theirs, ours = rf'cannot \w+ resource \\?"(?:{names})\\?"', rf"lacks rights that this release needs: .*\b(?:{names})\b"
        pattern = re.compile(f"{theirs}|{ours}|attempting to grant RBAC permissions")
        conditions = [line for provider in (CORE, AWS) for line in self.world.status(provider)[2].splitlines() if "=" in line]
        return any(map(pattern.search, [*conditions, *self.world.operator_log().splitlines()]))

    def await_lack_told(self, resources):
        """In the life of two providers, or behind it: what is done of stored objects takes until after its end."""
        words = f"the lack of a right on {', '.join(resources)} is told"
        for provider, version in ((CORE, "v1.10.4"), (AWS, "v2.0.2"), (AWS, "v2.11.1"), (CORE, "v1.12.0")):
            if (provider, version) == (CORE, "v1.12.0"):
                self.world.kubectl("delete", AWS["kind"], AWS["name"], "-n", AWS["ns"], "--wait=false")
                gone = ("get", AWS["kind"], AWS["name"], "-n", AWS["ns"])
                self.world.until(f"{words}, or aws gone", lambda gone=gone: self.told(resources) or self.world.kubectl(*gone).returncode != 0)
            if self.told(resources):
                return
            self.world.apply(provider, version)

            def at_end(provider=provider, version=version):
                settled, installed, _ = self.world.status(provider)
                return self.told(resources) or (settled and installed == version)

            self.world.until(f"{words}, or {provider['kind']} at {version}", at_end)
        self.world.until(words, lambda: self.told(resources))

    def restore(self, role):
        """All rights again, with an operator that begins anew, and no provider."""
        self.world.stop_operator()
        self.set_rules(role, self.given[role])
        self.world.start_operator()
        for provider in (AWS, CORE):
            self.world.must(
                "delete", provider["kind"], provider["name"], "-n", provider["ns"], "--ignore-not-found", "--timeout=100s"
            )
        self.world.stop_operator()

    @longer_in_full
    def test_each_rule_is_necessary_and_its_lack_is_told(self):
        for role in ROLES:
            for number, rule in enumerate(self.given[role]):
                idle = all(right_units.is_elsewhere(right) for right in right_units.names(right_units.units([rule]))) and role != "capi-operator-release-roles"
                if idle or rule["resources"] == [*SILENT]:
                    continue
                few = any(name == role and resource in rule["resources"] for name, resource in FEW)
                if not few and not FULL:
                    continue
                with self.subTest(role=role, resources=rule["resources"], verbs=rule["verbs"]):
                    self.set_rules(role, self.given[role][:number] + self.given[role][number + 1 :])
                    self.world.start_operator()
                    try:
                        self.await_lack_told(rule["resources"])
                    finally:
                        self.restore(role)


class MissingForWebhooks(WithWebhooks):
    """The same of what only an operator with webhooks and metrics asks for. With providers in one namespace alone: else what it has
    in its own it has everywhere."""

    OF_PROVIDERS = "capi-providers"
    # The status of kinds isn't among them: an operator of one namespace can't list what is stored in all, and migrates nothing.
    OF_MANAGER = (
        "customresourcedefinitions",
        "mutatingwebhookconfigurations",
        "tokenreviews",
        "subjectaccessreviews",
    )
    FEW = ("subjectaccessreviews",)

    def setUp(self):
        super().setUp()
        world = self.world
        world.install("single-namespace")
        self.port, self.metrics = process.free_ports(2)
        self.flags = (f"--namespace={self.OF_PROVIDERS}", *world.call_at(self.port))
        world.prepare(self.OF_PROVIDERS)
        self.token = self.scraper()

    def rules(self):
        """(kind of role, its name, its rules, number of the one to take away)."""
        roles = [("role", name, self.world.get("role", name, "-n", rights.NAMESPACE)["rules"]) for name in rights.OWN_ROLES]
        roles.append(("clusterrole", ROLES[0], self.world.get("clusterrole", ROLES[0])["rules"]))
        for kind, name, given in roles:
            for number, rule in enumerate(given):
                if kind == "role" or rule["resources"][0] in self.OF_MANAGER:
                    yield kind, name, given, number

    def set_rules(self, kind, role, given):
        patch = json.dumps([{"op": "replace", "path": "/rules", "value": given}])
        self.world.must("patch", kind, role, *(("-n", rights.NAMESPACE) if kind == "role" else ()), "--type=json", f"--patch={patch}")

    def begin(self):
        """As after an installation: no certificate, and no CA that is trusted."""
        world = self.world
        for kind, group in {"leases": rights.LEASES, "secrets": rights.SECRETS, "events": rights.EVENTS}.items():
            world.remove(f"{group}/namespaces/{rights.NAMESPACE}/{kind}")
        world.audited = os.path.getsize(world.plane.audit_log)
        world.start_operator(*self.flags, diagnostics=f":{self.metrics}")

    def told(self, rule):
        """What says that the right is missing: the log, the answer to who writes a provider, or for an event the API server's."""
        names = "|".join(map(re.escape, rule["resources"]))
        pattern = re.compile(rf'cannot \w+ resource \\*"(?:{names})\\*"')
        foreign = {"version": "v1.0.0", "configSecret": {"name": "variables", "namespace": "default"}}
        said = self.call("foreign", foreign).stderr
        self.scrapes(self.metrics, self.token)
        found = [line for line in (said + "\n" + self.world.operator_log()).splitlines() if pattern.search(line)]
        if rule["resources"] == ["events"]:  # nothing is said of an event that can't be told
            found += [request for request in self.world.requests() if request[2] == "events" and request[-1] == 403]
        return found

    @longer_in_full
    def test_each_rule_is_necessary_and_its_lack_is_told(self):
        for kind, role, given, number in self.rules():
            rule = given[number]
            if not FULL and not set(rule["resources"]) & set(self.FEW):
                continue
            with self.subTest(role=role, resources=rule["resources"], verbs=rule["verbs"], names=rule.get("resourceNames")):
                self.set_rules(kind, role, given[:number] + given[number + 1 :])
                try:
                    self.begin()
                    self.world.until(f"the lack of {rule} is told", lambda rule=rule: self.told(rule), seconds=60)
                finally:
                    self.world.kill_operator()
                    self.set_rules(kind, role, given)


if __name__ == "__main__":
    unittest.main()
