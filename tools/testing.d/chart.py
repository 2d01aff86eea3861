"""The Helm chart and the real helm: both majors that are in use."""

import json
import os
import subprocess
import sys
import tempfile

import plan

TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.append(os.path.join(TOOLS, "chart.d"))

import yaml_texts  # noqa: E402

ROOT = os.path.dirname(TOOLS)
CHART = os.path.join(ROOT, "charts", "capi-operator")
NAMESPACE = "capi-operator-system"
RELEASE = "capi-operator"
HELMS = ("helm", "helm-v3")
KEEP = "helm.sh/resource-policy"
# The annotations of what stays where the release is removed. Argo CD looks at the second alone.
KEPT = {KEEP: "keep", "argocd.argoproj.io/sync-options": "Prune=false,Delete=false"}
# Values for each variant of tools/manifests.
VARIANTS = {
    "default": {},
    "no-webhooks": {"webhooks": {"enabled": False}},
    "single-namespace": {"watchNamespace": "capi-providers"},
    "ha": {"replicaCount": 3},
    "cluster-admin": {"rbac": {"clusterAdmin": True}},
    "cert-manager": {"webhooks": {"certManager": True}},
}


def run(*arguments, program="helm", values=None, home=None, kubeconfig=os.devnull, limit=120):
    """helm, run to its end: nothing of the caller's own settings, and values as a file where there are any."""
    (path,) = plan.have([program])
    with tempfile.TemporaryDirectory(prefix="helm-") as folder:
        if values is not None:
            arguments = [*arguments, "--values", os.path.join(folder, "values.yaml")]
            with open(arguments[-1], "w", encoding="utf-8") as file:
                json.dump(values, file)
        kept = {name: text for name, text in os.environ.items() if not name.startswith("HELM_")}
        # So short a process needn't look for memory that it could use again.
        environment = kept | {"HOME": home or folder, "KUBECONFIG": kubeconfig, "GOGC": "400"}
        return subprocess.run(
            [path, *arguments],
            capture_output=True,
            text=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=limit,
        )


def template(values=None, *flags, chart=CHART, namespace=NAMESPACE, program="helm"):
    """`helm template`, run to its end."""
    arguments = ("template", RELEASE, chart, "--namespace", namespace, *flags)
    return run(*arguments, program=program, values=values or {})


def objects(values=None, *flags, **more):
    """The objects of `helm template`."""
    done = template(values, *flags, **more)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return yaml_texts.documents(done.stdout)


def name_of(item):
    metadata = item["metadata"]
    return item["kind"], metadata.get("namespace"), metadata["name"]


def named(items):
    """Objects by kind, namespace and name, each once."""
    found = {name_of(item): item for item in items}
    if len(found) != len(items):
        raise AssertionError("an object is there twice")
    return found


def difference(found, wanted, path=""):
    """The first place where two values differ, in words; "" where there is none. Those of CRDs are too long to print."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in sorted(set(found) | set(wanted)):
            if key not in found or key not in wanted:
                return f"{path}/{key} is {'not there' if key in wanted else 'there'}"
            if told := difference(found[key], wanted[key], f"{path}/{key}"):
                return told
        return ""
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        told = (difference(*pair, f"{path}/{number}") for number, pair in enumerate(zip(found, wanted)))
        return next((words for words in told if words), "")
    return "" if found == wanted else f"{path} is {str(found)[:200]}, not {str(wanted)[:200]}"


def small(values):
    """Without the CRDs, which are most of the work."""
    return merged({"crds": {"install": False}}, values)


def merged(*parts):
    """As Helm does: maps key by key."""
    result = {}
    for part in parts:
        for key, value in part.items():
            both = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = merged(result[key], value) if both else value
    return result


def providers(values, **more):
    """The objects that values of providers lead to, without what is as that of any other."""
    ours = ("Namespace", "ConfigMap")
    return {
        name_of(item): item.get("spec") or item.get("data")
        for item in objects(small(values), **more)
        if item["kind"].endswith("Provider") or item["kind"] in ours
    }
