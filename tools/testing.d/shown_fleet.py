"""A fleet with everything in it that the status page shows, the same each time: what its views look like is tried with it."""

import datetime

NOW = "2026-06-01T12:00:00Z"
# A page for which no time passes.
CLOCK = f"{{ const now = Date.parse('{NOW}'); Date.now = () => now; }}"
HELD = "InfrastructureProvider/team-a/aws"
WHOLE = "CoreProvider/capi-system/cluster-api"
SECRET = {"kind": "Secret", "namespace": "team-a", "name": "aws-credentials"}


def ago(**what):
    then = datetime.datetime.fromisoformat(NOW.replace("Z", "+00:00")) - datetime.timedelta(**what)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def why(reason, message, since, action="", meaning="", also=()):
    return {"ready": False, "reason": reason, "message": message, "since": since, "action": action, "meaning": meaning, "see": "docs/reasons.md", "also": list(also)}


def workload(namespace, name, healthy=True):
    message = "" if healthy else "1 of 1 pods isn't ready: the image can't be pulled"
    return {
        "group": "apps", "kind": "Deployment", "namespace": namespace, "name": name, "healthy": healthy, "message": message,
        "replicas": 1, "available": int(healthy),
    }  # fmt: skip


def fill(operator):
    """One provider in each state, and what the details of two of them say."""
    operator.fleet = {"version": "v0.9.0", "leads": True, "restoredInTheLastHour": 2}
    operator.have(
        "cluster-api", kind="CoreProvider", namespace="capi-system", installedVersion="v1.12.0", version="v1.12.0", declaredVersion="v1.12.0",
        workloads=[workload("capi-system", "capi-controller-manager")], certificateEnds=ago(days=-60),
        upgrades=[{"version": "v1.13.0", "contract": "v1beta2", "needs": "", "refused": ""}, {"version": "v2.0.0", "contract": "v1beta3", "needs": "Pause", "refused": ""}],
    )  # fmt: skip
    operator.have(
        "aws", "waiting", namespace="team-a", installedVersion="", version="v2.11.1", outcome="", needs=[SECRET],
        why=why("SecretNotFound", "The Secret team-a/aws-credentials isn't there.", ago(minutes=25), "Create the Secret, or name another in spec.configSecret.", "What the spec names isn't there."),
    )  # fmt: skip
    operator.have(
        "eks", "waiting", "ControlPlaneProvider", namespace="team-a", installedVersion="", version="v2.11.1", outcome="", waitsFor=[HELD], root=HELD,
        why=why("ProviderNotReady", "It waits for InfrastructureProvider team-a/aws.", ago(minutes=25)),
    )  # fmt: skip
    operator.have(
        "azure", "stalled", namespace="team-b", version="v1.21.0", workloads=[workload("team-b", "capz-controller-manager", False)], drifted=1,
        why=why("ReleaseNotFound", "There is no release v1.21.0 at https://releases.example/azure.", ago(hours=3), "Name a version that there is."),
    )  # fmt: skip
    operator.have("kubeadm", "working", "BootstrapProvider", version="v1.12.0", outcome="RollingOut", why=why("WorkloadsNotReady", "1 of 1 Deployments isn't healthy yet.", ago(minutes=1)))
    operator.have("kubeadm", "ready", "ControlPlaneProvider", workloads=[workload("default", "capi-kubeadm-control-plane-controller-manager")])
    operator.have("helm", "paused", "AddonProvider", why=why("Paused", "spec.paused says so.", ago(days=4)))
    operator.have("in-cluster", "deleting", "IPAMProvider", why=why("InUse", "InClusterIPPool team-b/pool is still there.", ago(minutes=6), "Delete what uses it."))
    operator.have("nutanix", "unseen", "RuntimeExtensionProvider", seen=False, why=why("Unseen", "The operator hasn't looked at it yet.", ago(minutes=0)))
    operator.details = {HELD: held(), WHOLE: whole()}


def fill_large(operator):
    """So many that some share a box of the graph."""
    for number in range(36):
        needs = [{"kind": "Secret", "namespace": "default", "name": f"s{number}"}] if number % 6 == 0 else []
        cause = {"why": why("SecretNotFound", f"The Secret default/s{number} isn't there.", ago(hours=1), "Create the Secret.")} if needs else {}
        operator.have(f"p{number}", "waiting" if needs else "ready", needs=needs, installedVersion=f"v1.{number % 3}.0", **cause)


def held():
    return {
        "source": "https://releases.example/aws",
        "conditions": [
            {"type": "Ready", "status": "False", "reason": "SecretNotFound", "message": "The Secret team-a/aws-credentials isn't there.", "lastTransitionTime": ago(minutes=25)},
            {"type": "PreflightCheckPassed", "status": "False", "reason": "SecretNotFound", "message": "", "lastTransitionTime": ago(minutes=25)},
        ],
        "references": [{"field": "spec.configSecret", **SECRET}],
        "inventory": {"objects": []},
        "specError": "spec.fetchConfig.url: it has no host",
        "users": ["AWSCluster team-a/one"],
    }


def whole():
    def one(group, kind, name, state="applied", **more):
        return {"group": group, "version": "v1", "kind": kind, "namespace": "capi-system", "name": name, "state": state, **more}

    return {
        "source": "https://releases.example/cluster-api",
        "conditions": [
            {"type": "Ready", "status": "True", "reason": "WorkloadsReady", "message": "All of v1.12.0 is healthy.", "lastTransitionTime": ago(days=2)},
            {"type": "PreflightCheckPassed", "status": "True", "reason": "Passed", "message": "", "lastTransitionTime": ago(days=2)},
        ],
        "transitions": [{"time": ago(hours=2), "type": "Ready", "status": "True", "reason": "WorkloadsReady", "message": "All of v1.12.0 is healthy."}],
        "history": [{"version": "v1.12.0", "contract": "v1beta2", "outcome": "Succeeded", "started": ago(days=2), "time": ago(days=2), "message": "", "insteadOf": ""}],
        "references": [{"field": "spec.configSecret", "kind": "Secret", "namespace": "capi-system", "name": "variables"}],
        "certificates": [{"namespace": "capi-system", "secret": "capi-webhook-service-cert", "certificate": "capi-serving-cert", "ends": ago(days=-60)}],
        "fights": ["Service capi-webhook-service: spec.type is changed again and again by kubectl-edit"],
        "releases": ["v1.11.0", "v1.12.0"],
        "inventory": {"objects": [
            one("apps", "Deployment", "capi-controller-manager"), one("", "Service", "capi-webhook-service", "missing"),
            one("", "ServiceAccount", "capi-manager", "changed", by="kubectl-edit"), one("", "ConfigMap", "capi-settings"),
        ]},
    }  # fmt: skip
