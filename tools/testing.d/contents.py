"""What a cluster has, object by object, as far as two clusters that are to be alike can be compared."""

import json

import worlds

# What controllers and the server make of what others wrote.
MADE = {
    *("ComponentStatus", "ControllerRevision", "CSINode", "Endpoints", "EndpointSlice", "Event", "IPAddress", "Lease", "Node"),
    *("APIService", "Pod", "ReplicaSet"),
}
WRITTEN_BY_THE_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")
REVISION = "deployment.kubernetes.io/revision"


class NotServed(LookupError):
    """A place where the server told of a kind: that has gone since, or its storage is made anew."""


def everything(api):
    """{(group, kind, namespace, name): the object}, of all kinds that the server has. Where it is about to change them it is
    asked anew."""
    missing = []

    def listed():
        try:
            return all_items(api)
        except NotServed as error:
            missing[:] = error.args
            return None

    return contents(worlds.until("the server lists all its kinds", listed, words=lambda: f"it doesn't answer at {missing}"))


def all_items(api):
    """A list leaves out what all its items have."""
    groups = [group["preferredVersion"]["groupVersion"] for group in served(api, "/apis")["groups"]]
    items = []
    for root in ("/api/v1", *(f"/apis/{version}" for version in groups)):
        for resource in served(api, root)["resources"]:
            if "list" in resource["verbs"] and "/" not in resource["name"]:
                answer = served(api, f"{root}/{resource['name']}")
                items += [{**item, "apiVersion": answer["apiVersion"], "kind": resource["kind"]} for item in answer["items"]]
    return items


def served(api, path):
    answer = api.get(path)
    if answer is None:
        raise NotServed(path)
    return answer


def contents(items):
    """What is being deleted, and what is in such a Namespace, is gone."""
    left = [item for item in items if "deletionTimestamp" not in item["metadata"]]
    namespaces = {"", *(item["metadata"]["name"] for item in left if item["kind"] == "Namespace")}
    return {key_of(item): bare(item) for item in left if item["kind"] not in MADE and item["metadata"].get("namespace", "") in namespaces}


def key_of(item):
    group = item["apiVersion"].rpartition("/")[0]
    return group, item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]


def bare(item):
    """Without what the server and controllers write."""
    metadata = {name: value for name, value in item["metadata"].items() if name not in WRITTEN_BY_THE_SERVER}
    annotations = {name: value for name, value in metadata.pop("annotations", {}).items() if name != REVISION}
    if annotations:
        metadata["annotations"] = annotations
    out = {name: value for name, value in item.items() if name != "status"} | {"metadata": metadata}
    if item["kind"] == "Service":
        out["spec"] = {name: value for name, value in item["spec"].items() if name not in ("clusterIP", "clusterIPs")}
    return out


def differences(ours, theirs):
    """A line for each, those of objects that are in both by the path of the field."""
    lines = []
    for key in sorted(ours.keys() | theirs.keys()):
        name = "/".join(part for part in key if part)
        if key not in theirs or key not in ours:
            lines.append(f"{name}: {'ours' if key in ours else 'theirs'} alone has it")
        else:
            lines += [f"{name}: {line}" for line in different(ours[key], theirs[key], "")]
    return lines


def different(ours, theirs, path):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = sorted(ours.keys() | theirs.keys())
        return [line for name in names for line in different(ours.get(name), theirs.get(name), f"{path}.{name}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [line for at, pair in enumerate(zip(ours, theirs, strict=True)) for line in different(*pair, f"{path}[{at}]")]
    return [] if ours == theirs else [f"{path}: {json.dumps(ours)} and theirs {json.dumps(theirs)}"]
