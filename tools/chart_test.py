#!/usr/bin/env python3
"""Tests of the Helm chart without a cluster: it renders the objects of manifests/, refuses what it doesn't know, and ignores
nothing."""

import base64
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d", "chart.d")]

import chart  # noqa: E402
import refused  # noqa: E402
import rights  # noqa: E402
import tree  # noqa: E402
import yaml_texts  # noqa: E402
from chart import KEEP, KEPT, NAMESPACE, merged, providers, small  # noqa: E402


def schema():
    with open(os.path.join(chart.CHART, "values.schema.json"), encoding="utf-8") as file:
        return json.load(file)


def sources(changed):
    """Values with two sources of providers: a good one, and one that differs from it in this."""
    good = {"name": "mine", "url": "https://h.example/x.yaml", "type": "AddonProvider"}
    return {"clusterctlConfig": {"providers": [good, good | changed]}}


def only(items, kind, name=None):
    """The one object of that kind, and name where one is said."""
    (found,) = (item for item in items if item["kind"] == kind and name in (None, item["metadata"]["name"]))
    return found


class Sources(unittest.TestCase):
    def test_what_is_made_of_manifests_is_as_it_would_be_made(self):
        done = subprocess.run([os.path.join(TOOLS, "chart")], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_lint(self):
        for program in chart.HELMS:
            for values in ({}, FULL):
                with self.subTest(program, full=values is FULL):
                    done = chart.run("lint", "--strict", chart.CHART, program=program, values=values)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_it_is_for_the_versions_of_kubernetes_that_the_page_names(self):
        """Both majors of Helm render it without a cluster, as the one that they say they are for."""
        with open(os.path.join(os.path.dirname(TOOLS), "docs", "install.md"), encoding="utf-8") as file:
            minor = int(re.search(r"^\| Kubernetes \| 1\.(\d+) and later", file.read(), re.MULTILINE).group(1))
        for program in chart.HELMS:
            for version, code in ((f"1.{minor}.0", 0), (f"v1.{minor}.4-vendor.1", 0), (f"1.{minor - 1}.15", 1)):
                with self.subTest(program, version=version):
                    done = chart.template(None, f"--kube-version={version}", program=program)
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertEqual("chart requires kubeVersion: >=1." in done.stderr, code == 1, done.stderr)

    def test_there_are_no_hooks(self):
        for items in (chart.objects(), chart.objects(FULL)):
            self.assertNotIn("helm.sh/hook", json.dumps(items))

    def test_a_release_fits_into_its_secret(self):
        """Helm keeps chart and objects in a Secret: 1 MiB at most, of which they get half, for values and notes."""
        with tempfile.TemporaryDirectory() as folder:
            done = chart.run("package", chart.CHART, "--destination", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            (package,) = os.listdir(folder)
            made = chart.template(FULL, chart=os.path.join(folder, package))
            self.assertEqual(made.stdout, chart.template(FULL).stdout)
        # As Helm does: the files in base64, all of it in JSON, compressed, and in base64 once more.
        files = []
        for path, _, names in os.walk(chart.CHART):
            for name in names:
                with open(os.path.join(path, name), "rb") as file:
                    files.append(base64.b64encode(file.read()).decode())
        text = json.dumps({"chart": files, "manifest": made.stdout})
        self.assertLess(len(base64.b64encode(gzip.compress(text.encode()))), 512 * 1024)


class SameAsManifests(unittest.TestCase):
    """helm install and kubectl apply make the same objects."""

    # The kinds are most of the work, and those of the other variants are as in the first.
    OWN_KINDS = ("default", "no-webhooks", "cert-manager")

    def expected(self, variant):
        """Those of tools/manifests, as the chart has them: without the Namespace of the operator, which whoever installs the
        release makes; and with Helm told to keep what it may not delete."""
        items = chart.named(yaml_texts.documents(rights.kustomize(variant)))
        del items["Namespace", None, NAMESPACE]
        for (kind, _, _), item in items.items():
            kept = kind in ("CustomResourceDefinition", "Namespace")
            if kept or "aggregationRule" in item:
                own = item["metadata"].setdefault("annotations", {})
                self.assertLessEqual(set(own), {"cert-manager.io/inject-ca-from"})
                own |= KEPT if kept else {KEEP: "keep"}
        return items

    def test_of_each_variant(self):
        for variant, values in chart.VARIANTS.items():
            wanted = self.expected(variant)
            for program in chart.HELMS:
                with self.subTest(variant, program=program):
                    if variant not in self.OWN_KINDS:
                        values = small(values)
                        wanted = {name: item for name, item in wanted.items() if name[0] != "CustomResourceDefinition"}
                    found = chart.named(chart.objects(values, program=program))
                    self.assertEqual(sorted(found, key=str), sorted(wanted, key=str))
                    for name, item in wanted.items():
                        self.assertEqual(chart.difference(found[name], item), "", name)

    def test_in_another_namespace(self):
        """Its name stands in Roles, subjects, webhooks and conversions."""
        for variant, values in chart.VARIANTS.items():
            values = values if variant in self.OWN_KINDS else small(values)
            found = chart.objects(values, namespace="elsewhere")
            here = json.loads(json.dumps(chart.objects(values)).replace(NAMESPACE, "elsewhere"))
            self.assertNotIn(NAMESPACE, json.dumps(found))
            self.assertEqual(chart.difference(found, here), "")


# Each value with an example that isn't its default, and a text that it leads to in the objects.
EXAMPLES = {
    "additionalDeployments": ({"ipam": {"nutanix": {}}, "additionalDeployments": {"aso": {"deployment": {"replicas": 7}}}}, '"aso": {"deployment"'),
    "addon": ({"addon": {"helm": {}}}, '"AddonProvider"'),
    "adoptInventory": (True, "--adopt-inventory"),
    "affinity": ({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": []}]}}}, '"affinity"'),
    "allowedSources": (["registry.example:5000", "*.r.example"], "--allowed-sources=registry.example:5000,*.r.example"),
    "allowCrossNamespaceReferences": (True, "--allow-cross-namespace-references"),
    "requireServiceAccount": (True, "--require-service-account"),
    "requireVerified": (True, "--require-verified"),
    "certificates": ("auto", "--certificates=auto"),
    "bootstrap": ({"bootstrap": {"talos": {}}}, '"BootstrapProvider"'),
    "clusterctlConfig": ({"images": {"all": {"repository": "r.example"}}}, "images:\\n  all:\\n    repository: r.example"),
    "checkUpdates": ("1h", "--check-updates=1h"),
    "concurrency": (9, "--concurrency=9"),
    "configSecret": ({"core": {"cluster-api": {}}, "configSecret": {"name": "v"}}, '"configSecret": {"name": "v"}'),
    "containerSecurityContext": ({"manager": {"runAsUser": 77}}, '"runAsUser": 77'),
    "controlPlane": ({"controlPlane": {"talos": {}}}, '"ControlPlaneProvider"'),
    "core": ({"core": {"cluster-api": {}}}, '"CoreProvider"'),
    "crds": ({"install": True}, '"CustomResourceDefinition"'),
    "createWatchNamespace": ({"watchNamespace": "one", "createWatchNamespace": False}, None),
    "deploymentAnnotations": ({"a/b": "c"}, '"a/b": "c"'),
    "deploymentLabels": ({"a/b": "c"}, '"a/b": "c"'),
    "diagnosticsAddress": (":8444", "--diagnostics-address=:8444"),
    "env": ({"manager": [{"name": "HTTPS_PROXY", "value": "p"}]}, '"env": [{"name": "HTTPS_PROXY", "value": "p"}]'),
    "environmentVariables": (["EXP_*", "AWS_*"], "--environment-variables=EXP_*,AWS_*"),
    "fetchConfig": ({"infrastructure": {"mine": {}}, "fetchConfig": {"mine": {"url": "https://h.example/x"}}}, '"url": "https://h.example/x"'),
    "githubApiUrl": ("https://g.example/api/v3", "--github-api-url=https://g.example/api/v3"),
    "githubUrl": ("https://g.example", "--github-url=https://g.example"),
    "healthAddr": (":9441", "--health-addr=:9441"),
    "uiAddress": (":8445", "--ui-address=:8445"),
    "image": ({"manager": {"registry": "r.example:5000", "tag": "v9"}}, '"image": "r.example:5000/capi-operator:v9"'),
    "imagePullSecrets": ([{"name": "registry"}], '"imagePullSecrets": [{"name": "registry"}]'),
    "infrastructure": ({"infrastructure": {"aws": {}}}, '"InfrastructureProvider"'),
    "insecureDiagnostics": (True, "--insecure-diagnostics"),
    "installProviders": ({"core": {"cluster-api": {}}, "installProviders": False}, None),
    "ipam": ({"ipam": {"in-cluster": {}}}, '"IPAMProvider"'),
    "leaderElection": ({"leaseDuration": "30s", "renewDeadline": "20s", "retryPeriod": "4s"}, "--leader-elect-retry-period=4s"),
    "logFormat": ("json", "--log-format=json"),
    "logLevel": (4, "--v=4"),
    "metrics": ({name: {"enabled": True} for name in ("serviceMonitor", "rules", "dashboard")}, '"PrometheusRule"'),
    "networkPolicy": ({"enabled": False}, None),
    "nodeSelector": ({"pool": "infra"}, '"pool": "infra"'),
    "podAnnotations": ({"a/b": "c"}, '"a/b": "c"'),
    "podDisruptionBudget": ({"maxUnavailable": "50%"}, '"maxUnavailable": "50%"'),
    "podDnsConfig": ({"nameservers": ["192.0.2.1"]}, '"dnsConfig": {"nameservers": ["192.0.2.1"]}'),
    "podDnsPolicy": ("Default", '"dnsPolicy": "Default"'),
    "podLabels": ({"a/b": "c"}, '"a/b": "c"'),
    "rbac": ({"clusterAdmin": True}, '"capi-operator-cluster-admin"'),
    "releasesDir": ("/releases", "--releases-dir=/releases"),
    "replicaCount": (2, '"replicas": 2'),
    "resources": ({"manager": {"limits": {"memory": "96Mi"}}}, '"memory": "96Mi"'),
    "runtimeExtension": ({"runtimeExtension": {"nutanix": {}}}, '"RuntimeExtensionProvider"'),
    "securityContext": ({"fsGroup": 77}, '"fsGroup": 77'),
    "strategy": ({"type": "Recreate"}, '"strategy": {"type": "Recreate"}'),
    "syncPeriod": ("1h", "--sync-period=1h"),
    "tolerations": ([{"key": "k", "operator": "Exists"}], '"tolerations": [{"key": "k", "operator": "Exists"}]'),
    "topologySpreadConstraints": ([{"topologyKey": "rack"}], '"topologySpreadConstraints": [{"topologyKey": "rack"}]'),
    "volumeMounts": ({"manager": [{"name": "x", "mountPath": "/x"}]}, '"volumeMounts": [{"mountPath": "/x", "name": "x"}]'),
    "volumes": ([{"name": "x", "emptyDir": {}}], '"volumes": [{"emptyDir": {}, "name": "x"}]'),
    "watchNamespace": ("one", "--namespace=one"),
    "webhooks": ({"port": 9000}, "--webhook-port=9000"),
}
# Helm's own; nothing reads them.
UNREAD = {"global", "enabled"}


def example(name):
    """The values of an example: the whole of them where it needs others beside it."""
    given, _ = EXAMPLES[name]
    return given if isinstance(given, dict) and name in given else {name: given}


# Everything at once that goes together.
FULL = merged(*(example(name) for name in sorted(EXAMPLES) if name not in ("crds", "installProviders", "watchNamespace", "createWatchNamespace")))


class Values(unittest.TestCase):
    """A value is carried out, or refused by name."""

    def test_none_is_ignored(self):
        known = set(schema()["properties"]) - set(refused.VALUES) - UNREAD
        self.assertEqual(known, set(EXAMPLES))
        nothing = chart.objects(small({}))
        for name, (_, text) in EXAMPLES.items():
            with self.subTest(name):
                values = example(name)
                found = chart.objects(values if name == "crds" else small(values))
                without = {key: value for key, value in values.items() if key != name}
                self.assertNotEqual(chart.difference(found, chart.objects(small(without)) if without else nothing), "")
                self.assertTrue(text is None or text in json.dumps(found, sort_keys=True), f"{text} is not in {found}")

    def test_every_field_of_a_spec_reaches_the_object(self):
        fields = set(schema()["definitions"]["provider"]["properties"]) - {"namespace", "createNamespace"}
        spec = {
            "version": "v1.2.3",
            "configSecret": {"name": "s", "namespace": "n"},
            "fetchConfig": {"selector": {"matchLabels": {"a": "b"}}},
            "manager": {"featureGates": {"A": True, "B": False}, "verbosity": 3, "metrics": {"insecureDiagnostics": False}},
            "deployment": {"replicas": 0, "tolerations": [], "containers": [{"name": "manager", "imageUrl": "i"}]},
            "additionalDeployments": {"x": {"deployment": {"replicas": 1}}},
            "additionalManifests": {"name": "m"},
            "serviceAccountName": "applier",
            "patches": [{"patch": "a: b\n"}],
            "manifestPatches": ["a: b\nc: d\n"],
            "paused": True,
            "rollout": {"onFailure": "Rollback"},
            "upgradePolicy": {"type": "Patch", "window": {"start": "02:00", "duration": "2h", "days": ["Sat"]}},
        }
        self.assertEqual(fields, set(spec))
        values = {"infrastructure": {"x": spec}}
        self.assertEqual(only(chart.objects(small(values)), "InfrastructureProvider")["spec"], spec)

    def test_the_image_is_made_of_its_parts(self):
        digest, version = "sha256:" + "a" * 64, tree.version()
        for parts, wanted in (
            ({}, f"capi-operator:{version}"),
            ({"registry": "r.example:5000"}, f"r.example:5000/capi-operator:{version}"),
            ({"repository": None, "tag": None, "digest": None}, f"capi-operator:{version}"),
            ({"repository": "r.example:5000/team/operator", "tag": "v1"}, "r.example:5000/team/operator:v1"),
            ({"registry": "r.example", "repository": "operator", "tag": "v1", "digest": digest}, f"r.example/operator@{digest}"),
        ):
            with self.subTest(parts):
                (container,) = only(chart.objects(small({"image": {"manager": parts}})), "Deployment")["spec"]["template"]["spec"]["containers"]
                self.assertEqual(container["image"], wanted)

    def test_without_metrics_nothing_names_their_port(self):
        items = chart.objects(small({"diagnosticsAddress": "0"}))
        self.assertNotIn('"metrics"', json.dumps(items))
        self.assertNotIn("capi-operator-metrics-service", {item["metadata"]["name"] for item in items})

    # Values, and what Helm says of them: the path and the reason.
    REFUSED = (
        ({"replicas": 3}, "at '': additional properties 'replicas' not allowed"),
        ({"replicaCount": "3"}, "at '/replicaCount': got string, want integer"),
        ({"logLevel": -1}, "at '/logLevel': minimum: got -1, want 0"),
        ({"webhooks": {"enabled": "no"}}, "at '/webhooks/enabled': got string, want boolean"),
        ({"webhooks": {"certManager": "yes"}}, "at '/webhooks/certManager': got string, want boolean"),
        ({"webhooks": None}, "missing property 'webhooks'"),
        ({"image": {"manager": {"tags": "v1"}}}, "at '/image/manager': additional properties 'tags' not allowed"),
        ({"image": {"manager": {"repository": "r.example/x:v1"}}}, "at '/image/manager/repository'"),
        ({"core": {"other": {}}}, "at '/core': additional properties 'other' not allowed"),
        ({"infrastructure": "docker:v1.12.0"}, "at '/infrastructure': got string, want object"),
        ({"infrastructure": {"Docker": {}}}, "at '/infrastructure': additional properties 'Docker' not allowed"),
        ({"infrastructure": {"docker": {"version": 1.12}}}, "at '/infrastructure/docker/version': got number, want string"),
        ({"infrastructure": {"docker": {"versoin": "v1"}}}, "at '/infrastructure/docker': additional properties 'versoin'"),
        ({"addon": {"helm": {"manager": {"featureGate": {}}}}}, "at '/addon/helm/manager': additional properties 'featureGate'"),
        ({"addon": {"helm": {"manager": {"featureGates": {"A": "on"}}}}}, "at '/addon/helm/manager/featureGates/A': got string"),
        ({"ipam": {"x": {"deployment": {"containers": [{}]}}}}, "at '/ipam/x/deployment/containers/0': missing property 'name'"),
        ({"tolerations": [{"keys": "k"}]}, "at '/tolerations/0': additional properties 'keys' not allowed"),
        ({"podLabels": {"control-plane": "x"}}, "at '/podLabels/control-plane': value must be 'remove it: the chart sets it'"),
        ({"healthAddr": "127.0.0.1:9440"}, "at '/healthAddr': '127.0.0.1:9440' does not match pattern"),
        ({"leaderElection": {"retryPeriod": "1.5s"}}, "at '/leaderElection/retryPeriod': '1.5s' does not match pattern"),
        ({"releasesDir": "releases"}, "at '/releasesDir': 'releases' does not match pattern"),
        ({"syncPeriod": "soon"}, "at '/syncPeriod': 'soon' does not match pattern"),
        ({"environmentVariables": []}, "at '/environmentVariables': minItems: got 0, want 1"),
        ({"diagnosticsAddress": ":65536"}, "at '/diagnosticsAddress': ':65536' does not match pattern"),
        ({"leaderElection": {"enabled": False}}, "the operator always holds its Lease"),
        ({"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}}, "at '/podDisruptionBudget': 'not' failed"),
        ({"metrics": {"alerts": {}}}, "at '/metrics': additional properties 'alerts' not allowed"),
        ({"metrics": {"rules": None}}, "at '/metrics': missing property 'rules'"),
        ({"metrics": {"serviceMonitor": {"tokenSecret": {"name": "x"}}}}, "at '/metrics/serviceMonitor/tokenSecret'"),
        # What the templates know alone.
        ({"syncPeriod": "0m9s"}, "syncPeriod: it must be at least 10s"),
        ({"checkUpdates": "9s"}, "checkUpdates: it must be 0s, for never, or at least 10s"),
        ({"leaderElection": {"leaseDuration": "10s"}}, "leaderElection: retryPeriod (2s) must be shorter than renewDeadline"),
        ({"leaderElection": {"leaseDuration": "1m", "retryPeriod": "10s"}}, "leaderElection: retryPeriod (2s) must be shorter"),
        # The operator ended at once with these, in each pod that Helm had made.
        ({"leaderElection": {"retryPeriod": "0s"}}, "leaderElection.retryPeriod: it must be at least 1s"),
        ({"diagnosticsAddress": ":9440"}, "healthAddr: diagnosticsAddress has port 9440, too"),
        ({"uiAddress": ":8443"}, "uiAddress: diagnosticsAddress has port 8443, too"),
        ({"healthAddr": "0.0.0.0:9443"}, "webhooks.port: healthAddr has port 9443, too"),
        ({"webhooks": {"enabled": False, "certManager": True}}, "webhooks.certManager: there is nothing to issue a certificate for"),
        ({"webhooks": {"port": 8443}}, "webhooks.port: diagnosticsAddress has port 8443, too"),
        # T4
        (sources({"url": "https://${HOST}/x.yaml"}), "clusterctlConfig.providers[1].url: it has a variable"),
        (sources({"url": "https://h.example/x%zz.yaml"}), "clusterctlConfig.providers[1].url: %zz is no escape"),
        (sources({"url": "https://h.example/x%2"}), "clusterctlConfig.providers[1].url: %2 is no escape"),
        (sources({"url": "https://h.example/%25%"}), "clusterctlConfig.providers[1].url: % is no escape"),
        (sources({"url": "https://[::1/x.yaml"}), "clusterctlConfig.providers[1].url: its host begins with [ and has no ]"),
        (sources({"url": "https://[::1/x].yaml"}), "clusterctlConfig.providers[1].url: its host begins with ["),
        (sources({"type": "CoreProvider"}), "clusterctlConfig.providers[1].name: a CoreProvider, and no other"),
        (sources({"name": "cluster-api"}), "clusterctlConfig.providers[1].name: a CoreProvider, and no other"),
        (sources({"name": "Mine"}), "at '/clusterctlConfig/providers/1/name': 'Mine' does not match pattern"),
        (sources({"url": ""}), "at '/clusterctlConfig/providers/1/url': '' does not match pattern"),
        ({"configSecret": {"name": "x"}}, "configSecret: it is for providers, and there is none"),
        ({"core": {"cluster-api": {"configSecret": {"namespace": "x"}}}}, "core.cluster-api.configSecret: it has a namespace and no name"),
        ({"fetchConfig": {"aws": {"url": "u"}}}, "fetchConfig.aws: there is no provider infrastructure.aws or ipam.aws"),
        (
            {"fetchConfig": {"aws": {"url": "u"}}, "infrastructure": {"aws": {"fetchConfig": {"url": "u"}}}},
            "fetchConfig.aws: infrastructure.aws.fetchConfig is set, too; remove one of them",
        ),
        ({"additionalDeployments": {"x": {}}, "addon": {"helm": {}}}, "they are of infrastructure and IPAM providers, and there is none"),
        ({"watchNamespace": "a", "addon": {"helm": {"namespace": "b"}}}, "addon.helm.namespace: the operator works in namespace a alone"),
        (
            {"addon": {"a": {"namespace": "n", "createNamespace": True}, "b": {"namespace": "n", "createNamespace": False}}},
            "createNamespace is both true and false for namespace n",
        ),
        (
            {"addon": {name: {"namespace": "n", "additionalManifests": {"name": "m", "manifests": name}} for name in "ab"}},
            "two providers give ConfigMap n/m other manifests",
        ),
        (
            {"volumes": [{"name": "cert", "secret": {"secretName": "capi-operator-webhook-service-cert"}}]},
            "volumes: remove cert and its entry in volumeMounts.manager",
        ),
    )

    def test_what_is_refused(self):
        for values, words in self.REFUSED:
            with self.subTest(values=values):
                done = chart.template(small(values))
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(words, done.stderr)

    def test_helm_3_says_the_same(self):
        values, words = self.REFUSED[0]
        self.assertIn(words, chart.template(values, program="helm-v3").stderr)

    def test_servers_that_are_not_there_have_no_port(self):
        for values in ({"diagnosticsAddress": "0", "healthAddr": ":8443"}, {"webhooks": {"enabled": False}, "healthAddr": ":9443"}):
            with self.subTest(values=values):
                self.assertEqual(chart.template(small(values)).returncode, 0)

    def test_sources_of_providers_are_taken(self):
        core = {"name": "cluster-api", "type": "CoreProvider"}
        self.assertIn("name: cluster-api", chart.template(small(sources(core))).stdout)
        for url in ("https://h.example/%7Ex%2f[1/x.yaml?%5B", "https://[::1]:8443/x.yaml", "/folder/[x/v1.0.0/x.yaml", "x[://h/x"):
            with self.subTest(url):
                self.assertIn(url, chart.template(small(sources({"url": url}))).stdout)

    def test_values_of_the_peer_that_mean_nothing_here(self):
        for name, (taken, words) in refused.VALUES.items():
            for value in (*taken, None):
                with self.subTest(name, value=value):
                    self.assertEqual(chart.template(small({name: value})).returncode, 0)
            for value in ("another", words, {"a": "b"}, not taken[0] if taken and isinstance(taken[0], bool) else 7):
                with self.subTest(name, value=value):
                    done = chart.template({name: value})
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(f"at '/{name}': ", done.stderr)
                    self.assertIn("'not' failed" if value == words else words, done.stderr)


class Providers(unittest.TestCase):
    def test_those_of_testdata(self):
        def read(name):
            with open(os.path.join(chart.ROOT, "testdata", "chart", name), encoding="utf-8") as file:
                return yaml_texts.documents(file.read())

        (values,) = read("values.yaml")
        for program in chart.HELMS:
            with self.subTest(program):
                found = chart.objects(small(values), "--show-only=templates/providers.yaml", program=program)
                self.assertEqual(chart.named(found), chart.named(read("providers.yaml")))

    def test_namespaces_are_made_once_and_where_nobody_says_no(self):
        values = {
            "core": {"cluster-api": {"namespace": NAMESPACE}},
            "addon": {"a": {"namespace": "shared"}, "b": {"namespace": "shared"}},
            "ipam": {"a": {"namespace": "there"}, "b": {"namespace": "there", "createNamespace": False}},
        }
        made = [name for kind, _, name in providers(values) if kind == "Namespace"]
        self.assertEqual(made, ["shared"], "and not that of the release")

    def test_in_one_namespace(self):
        values = {"watchNamespace": "one", "infrastructure": {"docker": {}}}
        found = providers(values)
        self.assertEqual({namespace for _, namespace, _ in found}, {None, "one"})
        self.assertEqual([name for kind, _, name in found if kind == "Namespace"], ["one"])
        self.assertNotIn(("Namespace", None, "one"), providers(values | {"createWatchNamespace": False}))

    def test_what_a_user_could_lose_is_kept(self):
        """Argo CD deleted providers whose values were removed, where there was nothing but Helm's annotation."""
        kept = {"CustomResourceDefinition", "Namespace", "ConfigMap"}
        values = {name: {"x": {"additionalManifests": {"name": "m", "manifests": "a"}}} for name in ("infrastructure", "addon", "ipam")}
        for item in chart.objects(values | {"runtimeExtension": {"x": {}}}):
            if item["kind"].endswith("Provider") or item["kind"] in kept:
                with self.subTest(chart.name_of(item)):
                    self.assertEqual(item["metadata"]["annotations"], KEPT)

    def test_an_empty_text_is_no_value(self):
        """As the peer's values.yaml shows fields."""
        empty = {"namespace": "", "version": "", "configSecret": {"name": "", "namespace": ""}}
        more = {"additionalManifests": {"name": "m", "namespace": "", "manifests": ""}}
        found = providers({"addon": {"a": empty, "b": empty | more}, "configSecret": {"name": "", "namespace": ""}})
        self.assertEqual(found["AddonProvider", "a-addon-system", "a"], None)
        self.assertEqual(found["AddonProvider", "b-addon-system", "b"], {"additionalManifests": {"name": "m"}})

    def test_none_without_them(self):
        self.assertEqual(providers({}), {})
        self.assertEqual(providers({"infrastructure": {"docker": {}}, "configSecret": {"name": "s"}, "installProviders": False}), {})
        for empty in (None, {}):
            self.assertEqual(providers({name: empty for name in ("core", "infrastructure", "addon")}), {})


class AsADependency(unittest.TestCase):
    """Of an umbrella chart, which turns it on and off with a condition of the usual name."""

    def test_it_takes_the_condition(self):
        """The closed schema refused the `enabled` that the condition reads, and so the whole umbrella."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "charts"))
            os.symlink(chart.CHART, os.path.join(folder, "charts", "capi-operator"))
            dependency = {"name": "capi-operator", "version": "*", "condition": "capi-operator.enabled"}
            umbrella = {"apiVersion": "v2", "name": "umbrella", "version": "1.0.0", "dependencies": [dependency]}
            with open(os.path.join(folder, "Chart.yaml"), "w", encoding="utf-8") as file:
                json.dump(umbrella, file)
            for program in chart.HELMS:
                for enabled in (True, False):
                    with self.subTest(program, enabled=enabled):
                        values = {"capi-operator": small({"enabled": enabled})}
                        kinds = {item["kind"] for item in chart.objects(values, chart=folder, program=program)}
                        self.assertEqual("Deployment" in kinds, enabled)
        self.assertIn("only a chart that has this one as a dependency", chart.template({"enabled": False}).stderr)


class Pages(unittest.TestCase):
    def test_the_readme_has_the_commands_of_the_book(self):
        """Those that tools/chart_e2e_test.py runs."""
        def commands(*path):
            with open(os.path.join(chart.ROOT, *path), encoding="utf-8") as file:
                return re.findall(r"^```sh\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)

        book = commands("docs", "install.md")
        for block in commands("charts", "capi-operator", "README.md"):
            self.assertIn(block, book)

    def test_the_values_of_the_page_of_sources(self):
        """Each example renders, and what it has the operator read is mounted into its pod."""
        with open(os.path.join(chart.ROOT, "docs", "sources.md"), encoding="utf-8") as file:
            examples = re.findall(r"^```yaml\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        read = []
        for text in (text for text in examples if "volumeMounts:" in text):
            with self.subTest(text):
                (values,) = yaml_texts.documents(text)
                pod = only(chart.objects(small(values)), "Deployment")["spec"]["template"]["spec"]
                (container,), (volume,) = pod["containers"], pod["volumes"]
                (mount,) = container["volumeMounts"]
                self.assertEqual(mount["name"], volume["name"])
                settings = [f"{one['name']}={one['value']}" for one in container.get("env", [])] + container["args"]
                (path,) = (path for _, _, path in (one.partition("=") for one in settings) if path.startswith(mount["mountPath"]))
                read.append(path)
        self.assertEqual(read, ["/own-ca/ca.crt", "/releases"])

    def test_each_flag_has_a_value_or_is_named_as_one_without(self):
        with open(os.path.join(chart.ROOT, "docs", "flags.md"), encoding="utf-8") as file:
            how, _, table = file.read().partition("## Flags of cluster-api-operator")[0].partition("| Flag |")
        with open(os.path.join(chart.CHART, "templates", "_arguments.tpl"), encoding="utf-8") as file:
            given = set(re.findall(r"--[a-z][a-z-]*", file.read()))
        flags = set(re.findall(r"^\| `(?:-[a-z],)?(--[a-z-]+)`", table, re.MULTILINE))
        without = set(re.findall(r"`(--[a-z-]+)`", re.search(r"([^:.]*) have no value", how).group(1)))
        self.assertIn("--webhook-hosts", without)
        # The file's content is a value, mounted where the flag's default is.
        self.assertEqual(flags - given, without | {"--help", "--version", "--clusterctl-config"})

    def test_values_yaml_has_every_value(self):
        """With its default, or as a comment."""
        with open(os.path.join(chart.CHART, "values.yaml"), encoding="utf-8") as file:
            text = file.read()
        named = set(re.findall(r"^(?:# )?([a-zA-Z]+):", text, re.MULTILINE))
        self.assertLessEqual(set(EXAMPLES), named)


if __name__ == "__main__":
    unittest.main()
