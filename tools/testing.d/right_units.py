"""Single rights, as (group, resource, verb): those that rules give, and those that requests took."""

import re

# What passes of another kind than those of this test ask for: patterns of "group/resource verb", and when it is.
ELSEWHERE = {
    r".* update": "an immutable field of an object changes, and the server takes a replacement",
    r"operator\S+/(addon|controlplane|ipam|runtimeextension)providers(/status)? patch": "as for the three kinds that are tried",
    r"operator\S+/\w+providers get": "one that is stored at v1alpha1 goes while it is written again",
    r"/namespaces get": "a release asks for labels of its Namespace",
    r"apps/daemonsets (get|create|patch|delete)": "a release has a DaemonSet, as azure's",
    r"apps/deployments/scale patch": "a provider goes on after a change of contract",
    r"authentication\S+/tokenreviews create": "somebody scrapes the metrics",
    r"authorization\S+/subjectaccessreviews create": "somebody scrapes the metrics, or names a Secret of another namespace",
    # The API server asks for them inside of a request for something else; that they are needed the second test shows.
    r"rbac\S+/(cluster)?roles (escalate|bind)": "roles of a release",
}
# What a pass asks for when the machine is slow: it may be seen here, and need not be.
AT_TIMES = {
    r"/events patch": "an event comes again",
    r"/pods list": "a rollout takes longer than the pods of this test mostly do",
}


def units(rules):
    """Each right of these rules: (group, resource, verb)."""
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule.get("apiGroups", [])
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def used(requests):
    """The rights that these requests took."""
    found = set()
    for verb, group, resource, _, _, code in requests:
        found.add((group, resource, verb))
        if verb == "patch" and code == 201:  # an apply of what isn't there creates it, and is asked for that, too
            found.add((group, resource, "create"))
    return found


def is_elsewhere(right):
    return any(re.fullmatch(pattern, right) for pattern in (*ELSEWHERE, *AT_TIMES))


def without_a_use(given, took):
    """(rights that nobody uses and that have no reason, reasons for what is used) of all given, and of those that were used."""
    unused = names(given - took)
    needless = [pattern for pattern in ELSEWHERE if not any(re.fullmatch(pattern, right) for right in unused)]
    return sorted(right for right in unused if not is_elsewhere(right)), needless


def names(unit_set):
    return {f"{group}/{resource} {verb}" for group, resource, verb in unit_set}
