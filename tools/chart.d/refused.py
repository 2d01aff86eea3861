"""Values of cluster-api-operator's chart that this one doesn't carry out: what of each is so here anyway, and what to do
instead. Helm prints the words; null is taken, since it is how a value is removed that an earlier release has."""

# name: (the values that are taken, words)
VALUES = {
    "enableHelmHook": ([False], "remove it: this chart has no hooks"),
    "profilerAddress": (["", "0"], "remove it: the operator has no profiler"),
    "contentionProfiling": ([False], "remove it: the operator has no profiler"),
    "watchConfigSecret": ([True], "remove it: Secrets of providers are always watched"),
    "watchConfigMap": ([True], "remove it: ConfigMaps of releases are always watched"),
    "nameOverride": ([""], "remove it: the names are fixed, since one operator works in a cluster"),
    "fullnameOverride": ([""], "remove it: the names are fixed, since one operator works in a cluster"),
    "secretName": ([""], "use configSecret.name"),
    "secretNamespace": ([""], "use configSecret.namespace"),
    "cert-manager": ([], "remove it: install cert-manager with its own chart, before the providers that need it"),
}
# Helm reads it where a chart that has this one as a dependency names it as the condition, and then gives it to this one as true.
ENABLED = ([True], "remove it: only a chart that has this one as a dependency can turn it off")
LEADER_ELECTION = ([True], "remove it: the operator always holds its Lease, so that no two write")


def schema(taken, words):
    """Takes these values and null. The words are in the list for Helm to print, and not to be given."""
    return {"enum": [words, *taken, None], "not": {"const": words}}


def never(words):
    """Takes nothing."""
    return {"enum": [words], "not": {}}
