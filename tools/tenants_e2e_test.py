#!/usr/bin/env python3
"""Providers that are installed in the name of ServiceAccounts, on a real API server (T8): the commands of docs/tenants.md, and
two teams of which each tries to reach what is the other's, or the cluster's, through every field that could lead there."""

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
import rights  # noqa: E402
import tenant_attempts  # noqa: E402
from cluster import API_GROUP  # noqa: E402
from tiers import FULL, longer_in_full  # noqa: E402

PAGE = "docs/tenants.md"
CORE = ("coreprovider", "cluster-api", "capi-system")
AWS = ("infrastructureprovider", "aws", "team-a")
KUBEVIRT = ("infrastructureprovider", "kubevirt", "team-b")
TEAM_A = tenant_attempts.Team(
    AWS, "v2.11.1", {"serviceAccountName": "applier", "configSecret": {"name": "variables"}}, "capa-controller-manager", "capa-manager-role"
)
TEAM_B = tenant_attempts.Team(KUBEVIRT, "v0.11.2", {"serviceAccountName": "applier"}, "capk-controller-manager", "capk-manager-role")
WRITES = ("create", "patch", "update", "delete")

# What a release brings that is of the whole cluster. A team gets this for its own release, and everything in its namespace.
OF_ALL = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: release-of-a-team}
rules:
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [create, get, patch, update]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [clusterroles, clusterrolebindings]
  verbs: [create, delete, get, patch, update]
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations]
  verbs: [create, delete, get, patch, update]
"""


class World(rights.World):
    """With cert-manager's kinds, the operator's objects, and a core provider that the page has installed."""

    def __init__(self):
        super().__init__()
        self.have_cert_managers_kinds()
        self.apply_manifests("no-webhooks")

    def ready(self, provider):
        """Condition Ready of a provider; {} where there is none."""
        kind, name, ns = provider
        item = self.plane.api.get(rights.provider_path(kind, name, ns))
        if item is None:
            return {}
        found = rights.conditions(item).get("Ready", {})
        return found if found.get("observedGeneration") == item["metadata"]["generation"] else {}

    def await_reason(self, provider, reason):
        """The condition's message."""
        found = self.until(
            f"{provider} says {reason}",
            lambda: (ready := self.ready(provider)).get("reason") == reason and ready,
            words=lambda: str(self.ready(provider)),
        )
        return found["message"]

    def await_ready(self, provider):
        self.until(f"{provider} is Ready", lambda: self.ready(provider).get("status") == "True", words=lambda: str(self.ready(provider)))

    def apply(self, provider, annotations=None, **spec):
        kind, name, ns = provider
        kinds = {"coreprovider": "CoreProvider", "infrastructureprovider": "InfrastructureProvider"}
        item = {"apiVersion": f"{API_GROUP}/v1alpha2", "kind": kinds[kind], "spec": spec}
        item["metadata"] = {"name": name, "namespace": ns, "annotations": annotations or {}}
        return self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", given=json.dumps(item))

    def writes(self):
        """(in whose name, verb, resource, namespace, name, status) of each write of the operator; "" is its own."""
        found = set()
        with open(self.plane.audit_log, encoding="utf-8") as file:
            for line in file:
                if not line.endswith("\n"):
                    continue
                event = json.loads(line)
                if event["user"].get("username") != rights.USER or event["verb"] not in WRITES:
                    continue
                ref, name = event.get("objectRef", {}), event.get("impersonatedUser", {}).get("username", "")
                place = (ref.get("resource", ""), ref.get("namespace", ""), ref.get("name", ""))
                dry = "dryRun=All" in event["requestURI"]
                if not dry:
                    found.add((name, event["verb"], *place, event.get("responseStatus", {}).get("code", 0)))
        return found


class OnAServer(rights.OnAServer):
    WORLD = World

    def setUp(self):
        self.start_world()
        self.addCleanup(self.world.end_operator)


def account(ns):
    return f"system:serviceaccount:{ns}:applier"


# What the operator writes in its own name, whoever a provider is installed for: "resource namespace/name". Reviews are questions.
OWN = re.compile(
    r"""(core|infrastructure)providers(/status)?\ .*
    |   configmaps\ \S+/(core|infrastructure)-[\w-]+-v[\d.]+            # the releases that it keeps
    |   customresourcedefinitions\ /providers\.clusterctl\.cluster\.x-k8s\.io
    |   providers\ (capi-system/cluster-api|team-a/infrastructure-aws|team-b/infrastructure-kubevirt)
    |   secrets\ capi-operator-system/capi-operator-inventory-key
    |   (events|leases|selfsubjectrulesreviews|selfsubjectaccessreviews)\ .*""",
    re.VERBOSE,
)


class Tenants(OnAServer):
    def run_page(self, heading):
        """The blocks of a section, one after the other; what each printed."""
        with tempfile.TemporaryDirectory(prefix="tenants-page-") as folder:
            variables = pages.environment(self.world.plane, folder)
            for block in pages.blocks(heading, PAGE):
                done = pages.run(block, folder, variables)
                self.assertEqual(done.returncode, 0, block + done.stdout + done.stderr)
                yield done.stdout

    def team(self, provider, version):
        """A namespace with a ServiceAccount that may do everything there, and what its release takes of the whole cluster: the
        rights of the release's own ClusterRoles, too, so that it may give those away, and no others."""
        world, (_, name, ns) = self.world, provider
        world.must("create", "namespace", ns)
        world.must("create", "serviceaccount", "applier", "-n", ns)
        who = f"--serviceaccount={ns}:applier"
        world.must("create", "rolebinding", "all", "-n", ns, "--clusterrole=cluster-admin", who)
        world.must("apply", "-f", "-", given=OF_ALL)
        world.must("create", "clusterrolebinding", f"{ns}-release", "--clusterrole=release-of-a-team", who)
        with open(os.path.join(rights.RELEASES, f"infrastructure-{name}", version, "infrastructure-components.yaml"), encoding="utf-8") as file:
            (role,) = rights.documents(file.read(), "ClusterRole")
        world.must("apply", "-f", "-", given=re.sub(r"name: cap\w-manager-role", f"name: {ns}", role))
        world.must("create", "clusterrolebinding", ns, f"--clusterrole={ns}", who)

    def assert_in_their_names(self):
        """Nothing was written of a release but by the ServiceAccount of its provider's namespace, or into another's namespace."""
        for name, verb, resource, ns, what, code in self.world.writes():
            with self.subTest(f"{name} {verb} {resource} {ns}/{what}"):
                if not name:
                    self.assertRegex(f"{resource} {ns}/{what}", OWN)
                elif code < 300:
                    self.assertIn(ns, ("", name.split(":")[2]))

    @longer_in_full
    def test_the_page_and_two_teams(self):
        world = self.world
        world.start_operator("--require-service-account")
        with self.subTest("nothing happens without a ServiceAccount"):
            world.must("create", "namespace", "capi-other")
            other = ("coreprovider", "cluster-api", "capi-other")
            self.assertEqual(world.apply(other, version="v1.12.0").returncode, 0)
            self.assertIn("spec.serviceAccountName: Required value", world.await_reason(other, "ServiceAccountRequired"))
            self.assertEqual(world.apply(other, version="v1.12.0", serviceAccountName="nobody").returncode, 0)
            self.assertIn("ServiceAccount capi-other/nobody", world.await_reason(other, "ServiceAccountNotFound"))
            world.must("create", "serviceaccount", "applier", "-n", "capi-other")
            self.assertEqual(world.apply(other, version="v1.12.0", serviceAccountName="applier").returncode, 0)
            told = world.await_reason(other, "PermissionsMissing")
            self.assertIn("the operator lacks rights that this release needs: impersonate serviceaccounts applier in namespace", told)
            world.must("delete", *other[:2], "-n", other[2], "--timeout=60s")
            self.assertEqual({write[0] for write in world.writes()}, {""})
        with self.subTest("the page"):
            list(self.run_page("Require it"))
            *_, told, applied, _ = self.run_page("Let a team install a provider")
            self.assertIn("\nServiceAccount capi-system/applier (spec.serviceAccountName) lacks rights", told)
            self.assertIn("rolebinding.rbac.authorization.k8s.io/capi-operator-core-cluster-api-", applied)
            # It goes on by itself, after a while.
            world.must("annotate", *CORE[:2], "-n", CORE[2], f"{API_GROUP}/reconcile-at=now")
            world.await_ready(CORE)
        self.assert_in_their_names()
        self.two_teams()

    def two_teams(self):
        world = self.world
        self.team(AWS, "v2.11.1")
        self.team(KUBEVIRT, "v0.11.2")
        world.must("create", "secret", "generic", "variables", "-n", "team-a", "--from-literal=AWS_B64ENCODED_CREDENTIALS=bm9uZQ==")
        aws = {"serviceAccountName": "applier", "configSecret": {"name": "variables"}}
        self.assertEqual(world.apply(AWS, version="v2.0.2", **aws).returncode, 0)
        self.assertEqual(world.apply(KUBEVIRT, version="v0.11.2", serviceAccountName="applier").returncode, 0)
        for provider in (AWS, KUBEVIRT):
            world.await_ready(provider)
        self.live(AWS, "v2.11.1", aws)
        self.assert_in_their_names()
        for ns in ("team-a", "team-b"):
            world.must("create", "secret", "generic", "hidden-secret", "-n", ns, "--from-literal=key=hidden-value")
            world.must("create", "configmap", "hidden-map", "-n", ns, "--from-literal=key=hidden-text")
        self.assert_all_fields_are_tried()
        self.assert_kept_apart(TEAM_B, TEAM_A)
        if FULL:
            self.assert_kept_apart(TEAM_A, TEAM_B)
        for kind, name, ns in (KUBEVIRT, AWS, CORE):
            world.must("delete", kind, name, "-n", ns, "--timeout=100s")
        self.assert_in_their_names()

    def live(self, provider, version, spec):
        """An upgrade, a pause, and drift."""
        world, ns = self.world, provider[2]
        self.assertEqual(world.apply(provider, version=version, **spec).returncode, 0)
        installed = f"--for=jsonpath={{.status.installedVersion}}={version}"
        world.must("wait", *provider[:2], "-n", ns, installed, "--timeout=100s")
        deployment = ("deployment", "capa-controller-manager", "-n", ns)
        for paused, replicas in ((True, 0), (False, 1)):
            self.assertEqual(world.apply(provider, version=version, paused=paused, **spec).returncode, 0)
            world.must("wait", *deployment, f"--for=jsonpath={{.spec.replicas}}={replicas}", "--timeout=100s")
        world.await_ready(provider)
        world.must("delete", "deployment", "capa-controller-manager", "-n", ns)
        world.until("the Deployment is back", lambda: world.kubectl("get", *deployment).returncode == 0)
        world.await_ready(provider)

    def assert_kept_apart(self, me, other):
        """A team tries to reach what is the other's, or the cluster's."""
        world, here = self.world, me.provider[2]
        before = self.of_team(other)
        theirs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "planted", "namespace": other.provider[2]}}
        world.must("create", "configmap", "manifests", "-n", here, f"--from-literal=manifests={json.dumps(theirs)}")
        told = []
        for attempt in tenant_attempts.attempts(me, other):
            with self.subTest(f"{here}: {attempt.what}"):
                done = world.apply(me.provider, attempt.annotations, **({"version": me.version} | me.spec | attempt.spec))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(attempt.words, world.await_reason(me.provider, attempt.reason))
            told.append(world.must("describe", *me.provider[:2], "-n", here))
        self.assert_a_guess_tells_nothing(me, other)
        with self.subTest(f"{here}: its provider"):
            second = (*other.provider[:2], here)
            self.assertEqual(world.apply(second, tenant_attempts.FORCE, version=other.version, serviceAccountName="applier").returncode, 0)
            world.await_reason(second, "MoreThanOneExists")
            world.must("delete", *second[:2], "-n", second[2], "--timeout=60s")
        told.append(world.must("get", "events", "-n", here, "-o", "json"))
        self.assertNotIn("hidden-", "\n".join(told), "what the other team has, and nobody named")
        self.assertEqual(self.of_team(other), before)
        self.assertNotIn(("ConfigMap", "planted"), before)
        self.assertEqual(world.apply(me.provider, version=me.version, **me.spec).returncode, 0)
        world.await_ready(me.provider)

    def assert_a_guess_tells_nothing(self, me, other):
        """The operator's own watches see what the team may not: it never tells by them whether something is there."""
        for what, spec, name, reason in tenant_attempts.guesses(me, other):
            said = []
            for guess in (name, "no-such-thing"):
                self.assertEqual(self.world.apply(me.provider, version=me.version, **(me.spec | spec(guess))).returncode, 0)
                said.append(self.world.await_reason(me.provider, reason).replace(guess, "NAME"))
            self.assertEqual(*said, what)

    def of_team(self, team):
        """What is its own, but for what changes by itself: {(kind, name): (uid, what is wanted of it)}."""
        world, (_, name, ns) = self.world, team.provider
        kinds = "configmaps,secrets,services,serviceaccounts,deployments,roles,rolebindings"
        items = world.get(kinds, "-n", ns)["items"]
        label = f"cluster.x-k8s.io/provider=infrastructure-{name}"
        items += world.get("clusterroles,clusterrolebindings,crds", "-l", label)["items"]
        return {(item["kind"], item["metadata"]["name"]): (item["metadata"]["uid"], json.dumps([item.get("spec"), item.get("rules")])) for item in items}

    def assert_all_fields_are_tried(self):
        crd = self.world.get("crd", f"infrastructureproviders.{API_GROUP}")
        (schema,) = (version["schema"]["openAPIV3Schema"] for version in crd["spec"]["versions"] if version["name"] == "v1alpha2")
        tried = tenant_attempts.attempts(TEAM_B, TEAM_A)
        self.assertEqual(tenant_attempts.untried(schema["properties"]["spec"], tried), (set(), set()), "fields without an attempt, reasons without a field")


if __name__ == "__main__":
    unittest.main()
