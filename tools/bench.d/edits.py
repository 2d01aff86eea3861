"""What may be changed in an object that an operator applied, and what of an object tells that it is as before. Pure."""

import base64
import json

# What a re-created object may have anew, and what others write.
OF_THE_SERVER = [
    ("metadata", "uid"),
    ("metadata", "resourceVersion"),
    ("metadata", "generation"),
    ("metadata", "creationTimestamp"),
    ("metadata", "managedFields"),
    ("metadata", "selfLink"),
    ("metadata", "annotations", "deployment.kubernetes.io/revision"),
    ("spec", "clusterIP"),
    ("spec", "clusterIPs"),
    ("status",),
]


def essence(item):
    """The object without what the server makes of it, to be compared."""
    item = json.loads(json.dumps(item))
    for *way, last in OF_THE_SERVER:
        place = item
        for step in way:
            place = place.get(step) or {}
        place.pop(last, None)
    return item


def scalars(value, path=()):
    """Every scalar below a value, as (path, value)."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from scalars(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from scalars(below, (*path, index))
    elif value is not None:
        yield path, value


def _owned(fields, value, path, keys):
    for step, below in fields.items():
        if step.startswith("f:") and isinstance(value, dict) and step[2:] in value:
            name = step[2:]
            if name in keys:  # it says which item of a list this is
                continue
            if below:
                yield from _owned(below, value[name], (*path, name), ())
            else:
                yield from scalars(value[name], (*path, name))
        elif step.startswith("k:") and isinstance(value, list):
            wanted = json.loads(step[2:])
            for index, item in enumerate(value):
                if all(item.get(key) == of for key, of in wanted.items()):
                    yield from _owned(below, item, (*path, index), wanted)


def owned_scalars(item, manager):
    """Every scalar that a manager has applied, as (path, value); but for those that identify an item of a list."""
    for entry in item["metadata"].get("managedFields", []):
        if entry["manager"] == manager and entry["operation"] == "Apply" and not entry.get("subresource"):
            yield from _owned(entry["fieldsV1"], item, (), ())


def another(value, secret=False):
    """A value of the same type that differs."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return base64.b64encode(b"another").decode() if secret else f"{value}-x"


def pointer(path):
    """A path as JSON patch writes it."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def at(item, path):
    """The value at a path; None where there is none."""
    for step in path:
        if isinstance(item, dict):
            item = item.get(step)
        elif isinstance(item, list) and isinstance(step, int) and step < len(item):
            item = item[step]
        else:
            return None
    return item


def percentile(values, share):
    """The smallest value that is no less than this share of all."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]
