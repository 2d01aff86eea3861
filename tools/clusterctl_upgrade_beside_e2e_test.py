#!/usr/bin/env python3
"""`upgrade apply` beside Cluster API's own clusterctl on a real control plane: what the three ways to upgrade leave in the cluster,
object for object, and what is said: theirs, ours without an operator, and ours with the operator (L13, L23)."""

import base64
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d")]

import built  # noqa: E402
import cluster  # noqa: E402
import contents  # noqa: E402
import in_cluster  # noqa: E402
import plan  # noqa: E402
import rights  # noqa: E402
import worlds  # noqa: E402
from tiers import FULL, longer_in_full  # noqa: E402

VERSIONS = {
    "cluster-api": ("v1.10.4", "v1.11.0"),
    "bootstrap-kubeadm": ("v1.10.4", "v1.11.0"),
    "control-plane-kubeadm": ("v1.10.4", "v1.11.0"),
    "infrastructure-aws": ("v2.0.2", "v2.11.1"),
}
LABELS = tuple(VERSIONS) if FULL else ("cluster-api", "bootstrap-kubeadm", "infrastructure-aws")
CREDENTIALS = "bm90IGEgc2VjcmV0"
PROVIDER = "cluster.x-k8s.io/provider"
INJECT = "cert-manager.io/inject-ca-from"
# What the release of aws before had, and the newer one has no more. Theirs looks for the name of the provider's Namespace, and
# forgets them.
FORGOTTEN = {
    ("rbac.authorization.k8s.io", "ClusterRole", "", "capa-identity-viewer-role"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", "", "capa-identity-viewer-rolebinding"),
}
# Of both: what is said of a provider that is stopped, and of one whose new release comes.
STOPPED = {
    "theirs": r'Scaling down Provider={"name":"(?P<name>.*)","namespace":"(?P<ns>.*)"} providerVersion="(?P<version>.*)"',
    "ours": r'Scaling down provider="(?P<name>.*)" namespace="(?P<ns>.*)" from="(?P<version>.*)" to=".*"',
}
CHANGED = {
    "theirs": r'Installing provider="(?P<name>.*)" version="(?P<version>.*)" targetNamespace="(?P<ns>.*)"',
    "ours": r'Upgrading provider="(?P<name>.*)" namespace="(?P<ns>.*)" from=".*" to="(?P<version>.*)"',
}


def flags(labels, at):
    """For these providers, at the former or the newer version."""
    named = [in_cluster.name_of(label) for label in labels]
    return [f"--{kind or 'core'}={name}:{VERSIONS[label][at]}" for label, (name, kind) in zip(labels, named, strict=True)]


def said(lines, pattern):
    """(provider, namespace, version) of each such line, in their order."""
    found = [re.fullmatch(pattern, line) for line in lines.splitlines()]
    return [(match["name"], match["ns"], match["version"]) for match in found if match]


class World(rights.World):
    """With cert-manager's kinds, and a local repository."""

    def __init__(self):
        super().__init__()
        self.plane.api.create_crds(cluster.documents(plan.have(["crds"])))
        self.config = os.path.join(self.state.path, "clusterctl.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(in_cluster.configuration(self.state.path, {rights.RELEASES: LABELS}))
        (programs,) = {plan.link_folder(["clusterctl"])}
        self.programs = {"ours": built.find("clusterctl"), "theirs": os.path.join(programs, "clusterctl")}

    def run_one(self, which, *arguments):
        """(exit code, what it printed, its errors)"""
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.state.path, "CLUSTERCTL_DISABLE_VERSIONCHECK": "true", "GOPROXY": "off"}
        command = [self.programs[which], *arguments, "--config", self.config, "--kubeconfig", self.plane.kubeconfig]
        environment["AWS_B64ENCODED_CREDENTIALS"] = CREDENTIALS
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=worlds.LIMIT, stdin=subprocess.DEVNULL
        )
        return done.returncode, done.stdout, done.stderr

    def must_run(self, which, *arguments):
        """What it printed, and its errors."""
        code, out, errors = self.run_one(which, *arguments)
        if code != 0:
            raise AssertionError(f"{which} {arguments}\n{out}{errors}{self.last_words()}")
        return out, errors

    def certify(self):
        """As cert-manager does: a CRD with a bundle that is none isn't served."""
        with open(self.plane.authority, "rb") as file:
            bundle = base64.b64encode(file.read()).decode()
        for crd in self.crds():
            if INJECT in crd["metadata"].get("annotations", {}):
                patch = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}}
                self.merge(f"{cluster.CRDS}/{crd['metadata']['name']}?fieldManager=cert-manager-cainjector", patch)

    def init(self):
        """As theirs does it, on a server that has no provider."""
        missing = () if "control-plane-kubeadm" in LABELS else ("--control-plane=-",)
        self.must_run("theirs", "init", *flags(LABELS, 0), *missing)
        self.certify()
        self.await_kinds()

    def clear(self):
        """Namespaces stay: their end takes seconds."""
        self.must_run("ours", "delete", "--all")
        for crd in self.crds():
            if PROVIDER in crd["metadata"].get("labels", {}):
                self.remove_kind(crd)

    def hand_over(self):
        """To an operator, which has taken all over when this ends."""
        self.plane.api.create_crds(cluster.documents(cluster.own_crds()))
        fixed = ["--diagnostics-address=0", "--health-addr=0", "--webhook-port=0", f"--releases-dir={rights.RELEASES}"]
        self.run_operator([built.find("capi-operator"), f"--kubeconfig={self.plane.kubeconfig}", *fixed])
        self.must_run("ours", "adopt", "--all")
        self.until("all are taken over", self.all_ready)

    def all_ready(self):
        items = self.get("capi-providers", "-A")["items"]
        return len(items) == len(LABELS) and all(rights.conditions(item).get("Ready", {}).get("status") == "True" for item in items)

    def upgrade(self, which, *more):
        """All of a contract, and before that some by name: what was said of each."""
        steps = [flags(LABELS, 1), ["--contract=v1beta2"]] if FULL else [["--contract=v1beta2"]]
        return [self.must_run(which, "upgrade", "apply", *step, *more)[1] for step in steps]


def made_by_the_operator(key, item):
    """What is there because somebody looks after the providers: its kinds and their objects; the values of variables; the releases
    that it has applied."""
    group, kind, ns, name = key
    labels = item["metadata"].get("labels", {})
    return (
        group == cluster.API_GROUP
        or (kind == "CustomResourceDefinition" and name.endswith(f".{cluster.API_GROUP}"))
        or ns == rights.NAMESPACE
        or name in (rights.NAMESPACE, "capi-operator-inventory-key")
        or key == ("", "Secret", "capa-system", "infrastructure-aws-variables")
        or (kind == "ConfigMap" and "provider.cluster.x-k8s.io/name" in labels)
    )


class Beside(rights.OnAServer):
    WORLD = World

    @longer_in_full
    def test_all_leave_the_same(self):
        """One story: each begins with what theirs has installed at the versions before."""
        world = self.world
        world.init()
        self.what_both_refuse()
        told = world.upgrade("theirs")
        # A controller puts roles together meanwhile.
        theirs = worlds.settled(self.everything)
        self.assertLessEqual(FORGOTTEN, theirs.keys())
        wanted = {key: item for key, item in theirs.items() if key not in FORGOTTEN}
        world.clear()
        world.init()
        self.assert_said(world.upgrade("ours", "--operator=false"), told)
        self.assert_same(self.everything, wanted)
        world.clear()
        world.init()
        world.hand_over()
        self.assert_said(world.upgrade("ours", "--wait-providers"), told)
        # What an old release had goes when the new one is Ready.
        self.assert_same(self.looked_after, wanted)

    def everything(self):
        return contents.everything(self.world.plane.api)

    def looked_after(self):
        return {key: item for key, item in self.everything().items() if not made_by_the_operator(key, item)}

    def assert_same(self, look, wanted):
        """Controllers may be behind."""
        more = lambda: contents.differences(look(), wanted)  # noqa: E731
        self.world.until("no more differs", lambda: not more(), words=lambda: "\n".join(more()))

    def what_both_refuse(self):
        elsewhere = ["--core=cluster-api:v1.11.0", "--infrastructure=other/aws:v2.11.1"]
        for arguments in (["--core=cluster-api"], ["--core=cluster-api:v9.9.9"], elsewhere):
            ours = self.world.run_one("ours", "upgrade", "apply", *arguments, "--operator=false")
            theirs = self.world.run_one("theirs", "upgrade", "apply", *arguments)
            self.assertEqual((ours[0], theirs[0]), (1, 1), arguments)
            self.assertEqual(ours[2].splitlines()[-1:], theirs[2].splitlines()[-1:])

    def assert_said(self, ours, theirs):
        """The same providers change, in the same order. Ours stops them only where it has to."""
        for one, other in zip(ours, theirs, strict=True):
            changed = said(one, CHANGED["ours"])
            self.assertTrue(changed, one)
            self.assertEqual(changed, said(other, CHANGED["theirs"]))
            self.assertLessEqual(set(said(one, STOPPED["ours"])), set(said(other, STOPPED["theirs"])))


if __name__ == "__main__":
    unittest.main()
