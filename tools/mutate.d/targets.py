"""What is mutated, how, and by which test program a change has to be noticed."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Target:
    file: str
    kinds: tuple
    program: str
    functions: tuple = ()  # these alone; all of them where there is none


_EXPRESSIONS = ("compare", "logic")
_RULES = ("contract_rules", "decide", "delete_rules", "preflight_rules", "release_rules")
# Pure: what they do, they do to their arguments alone, and operator_test sees all of it.
_PURE = (
    "adoption contract_plan crd_stages drift fights materials options pause pod_reasons rendered_cache rollout settings "
    "summarize"
).split()
# The rest needs the watches of a cluster.
_IN_USE = ("IsOfOneCluster", "Belongs", "StoredVersions", "ReadableResources", "SlimToOwners")
_META = "condition health label_selector object resource".split()

TARGETS = (
    [Target(f"operator/{name}.cc", ("rule", *_EXPRESSIONS), "operator_test") for name in _RULES]
    + [Target(f"operator/{name}.cc", _EXPRESSIONS, "operator_test") for name in _PURE]
    + [Target("operator/in_use.cc", _EXPRESSIONS, "operator_test", _IN_USE)]
    + [Target(f"kube/meta/{name}.cc", _EXPRESSIONS, "kube_meta_test") for name in _META]
    + [
        Target("kube/runtime/work_queue.cc", ("drop", *_EXPRESSIONS), "kube_runtime_test"),
        Target("kube/runtime/controller.cc", ("drop", *_EXPRESSIONS), "kube_runtime_test"),
        Target("kube/client/outage_gate.cc", ("drop", *_EXPRESSIONS), "kube_client_test"),
        Target("kube/client/transport.cc", ("drop", *_EXPRESSIONS), "kube_client_test", ("Lost", "Do", "RetryIn", "Send")),
        Target("kube/client/client.cc", ("repeat",), "kube_client_test"),
    ]
)
