"""What is mutated, how, and by which test program a change has to be noticed."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Target:
    file: str
    kinds: tuple
    program: str
    functions: tuple = ()  # these alone; all of them where there is none


_EXPRESSIONS = ("compare", "logic")
_RULES = [f"operator/decide/{name}.cc" for name in ("contract_rules", "decide", "delete_rules", "install_rules", "preflight_rules")]
# Pure: what they do, they do to their arguments alone, and operator_test sees all of it.
_PURE = [
    f"operator/{name}.cc"
    for name in (
        "act/install/fetched_releases act/install/installation act/install/newest_versions act/install/server_warnings act/rendered_cache decide/adoption "
        "decide/crd_stages decide/drift decide/missing_rights decide/pause decide/rights decide/rollout decide/upgrades/policy decide/upgrades/updates inputs observe/fights observe/pod_reasons observe/references observe/settings "
        "observe/slim observe/tracks options report/provider_metrics report/resyncs report/secret_values report/status_change report/summarize report/summarize_updates wakes"
    ).split()
]
# The rest makes text, or lists at a server in other tests' programs.
_IN_USE = ("IsOfOneCluster", "BelongsByItself", "ReadCrd", "ReadableResources", "StillBelongs")
# A search, which its test's own server answers.
_SEARCH = ("Begin", "IsFull", "See", "Take", "FindUsers")
# Have unit tests beside them, and are no targets, each for its reason.
LEFT_OUT = {
    "operator/act/install/installer.cc": "goes through its steps at a server, and most of it is seen on a control plane alone",
    "lifecycle/labelled.cc": "lists at a server, and most of it is seen on a control plane alone (direct/direct_cluster_test.cc)",
    "lifecycle/storage_migration.cc": "writes to a server; its tests take seconds",
    "operator/act/install/sources.cc": "makes what asks sources",
    "operator/act/own_storage.cc": "asks a server what is stored at an older version, and storage_migration does the rest",
    "operator/act/restorer.cc": "writes to a server, and most of it is seen on a control plane alone (e2e/scenarios/drift_test.cc)",
    "operator/act/actor.cc": "hands a step to who carries it out, and most of that is seen on a control plane alone",
    "operator/act/remover.cc": "deletes at a server, and most of it is seen on a control plane alone (e2e/scenarios/deletion_test.cc)",
    "operator/observe/observe.cc": "needs the watches of a cluster: its unit tests are of a part",
    "operator/observe/provider_cache.cc": "needs the watches of a cluster: its unit tests are of a part",
    "operator/observe/watches.cc": "needs the watches of a cluster: its unit tests are of a part",
    "operator/report/reporter.cc": "writes to a server; what it judges by is in status_change and next_pass, which are targets",
    "operator/report/status_writer.cc": "writes to a server, and most of it is seen on a control plane alone (status_writer_cluster_test.cc)",
    "operator/ui/feed.cc": "writes to viewers; most of it is seen in a browser alone (tools/ui_e2e_test.py)",
    "operator/ui/graph.cc": "words and lines of a page, most of which is seen in a browser alone (tools/ui_e2e_test.py)",
    "operator/ui/node.cc": "words of a page, most of which are seen in a browser alone (tools/ui_e2e_test.py)",
    "operator/ui/page_server.cc": "serves viewers; most of it is seen in a browser alone (tools/ui_e2e_test.py)",
    "operator/ui/viewers.cc": "asks a server for each viewer",
    "operator/servers.cc": "opens ports; its tests take seconds each",
    "operator/act/certificates/certifier.cc": "writes to a server, and much of it is seen on a control plane alone (tools/certificates_e2e_test.py)",
    "operator/act/certificates/handing_over.cc": "writes to a server, and much of it is seen on a control plane alone (tools/certificates_e2e_test.py)",
    "operator/webhooks/access_review.cc": "asks a server",
    "operator/webhooks/certificate_files.cc": "waits for files to change; its tests take seconds",
    "operator/webhooks/certificates.cc": "writes to a server, and most of it is seen on a control plane alone (e2e/scenarios/webhooks_test.cc)",
    "operator/webhooks/webhook_server.cc": "opens a port; its tests take seconds",
}
# Functions of a review.
_WEBHOOKS = "admission_request admission_review conversion_review injection reference_access serving_certificate".split()
_META = "condition health label_selector object resource".split()
_TEMPLATING = (
    "customise/args customise/customise customise/images customise/known_managers field_types namespace parse patch/json_patch "
    "patch/merge patch/patch recover render scope source"
).split()

TARGETS = (
    [Target(file, ("rule", *_EXPRESSIONS), "operator_test") for file in _RULES]
    + [Target(file, _EXPRESSIONS, "operator_test") for file in _PURE]
    + [Target("operator/act/install/render_turn.cc", ("logic",), "operator_test")]
    + [Target(f"operator/{name}.cc", _EXPRESSIONS, "operator_certificates_test") for name in ("decide/certificates/due", "observe/cert_manager")]
    + [Target("operator/act/update_checks.cc", _EXPRESSIONS, "operator_test")]
    + [
        Target(f"lifecycle/certificates/{name}.cc", _EXPRESSIONS, "lifecycle_certificates_test")
        for name in "bundle held injections issue make read_objects requests".split()
    ]
    + [Target("operator/act/install/source_turns.cc", ("drop", *_EXPRESSIONS), "operator_test")]
    + [Target("operator/report/announce.cc", ("drop",), "operator_test")]
    + [Target("operator/report/next_pass.cc", ("drop", "logic"), "operator_test")]
    + [Target("operator/report/secret_masks.cc", ("drop", *_EXPRESSIONS), "operator_test")]
    + [Target("operator/act/migrations.cc", _EXPRESSIONS, "operator_test")]
    # How a run ends, and what is told of it, other statements make up for.
    + [Target("operator/act/migrations.cc", ("drop",), "operator_test", ("Ask", "Withdraw", "Forget"))]
    + [Target(f"operator/{name}.cc", ("compare",), "operator_test") for name in ("observe/just_stored", "process_metrics")]
    + [Target("operator/act/adopt_inventory.cc", _EXPRESSIONS, "operator_test", ("WithoutProvider",))]  # the rest asks a server
    + [Target("operator/observe/unseen_writes.cc", _EXPRESSIONS, "operator_test")]
    + [Target("operator/observe/selections/selections.cc", _EXPRESSIONS, "operator_observe_test")]
    + [Target("operator/ui/timeline.cc", _EXPRESSIONS, "operator_ui_test")]
    + [Target("operator/metrics_readers.cc", _EXPRESSIONS, "operator_test"), Target("operator/review_turns.cc", _EXPRESSIONS, "operator_test")]
    + [Target("lifecycle/in_use.cc", _EXPRESSIONS, "lifecycle_test", _IN_USE)]
    + [Target("lifecycle/in_use.cc", ("drop", *_EXPRESSIONS), "lifecycle_test", _SEARCH)]
    + [Target(f"lifecycle/{name}.cc", _EXPRESSIONS, "lifecycle_test") for name in ("deletion", "plan/crd_stages", "plan/removal")]
    + [Target(f"lifecycle/plan/{name}.cc", _EXPRESSIONS, "operator_test") for name in ("crd_state", "scale")]
    + [Target(f"operator/webhooks/{name}.cc", _EXPRESSIONS, "operator_webhooks_test") for name in _WEBHOOKS]
    + [Target("advice/warnings.cc", _EXPRESSIONS, "advice_test")]
    + [Target(f"api/{name}.cc", _EXPRESSIONS, "api_test") for name in ("moves/contract_plan", "moves/version_moves", "patch_operation")]
    + [Target(f"verify/{name}.cc", _EXPRESSIONS, "verify_test") for name in ("artifact", "bundle")]
    + [Target(f"api/conversion/{name}.cc", _EXPRESSIONS, "api_test") for name in ("arguments", "convert", "spec")]
    + [Target(f"kube/meta/{name}.cc", _EXPRESSIONS, "kube_meta_test") for name in _META]
    + [Target(f"templating/{name}.cc", _EXPRESSIONS, "templating_test") for name in _TEMPLATING]
    + [Target("templating/substitute.cc", ("logic",), "templating_test")]
    + [Target(f"templating/{name}.cc", ("compare",), "templating_test") for name in ("order", "patch/budget")]
    + [
        Target("kube/cache/server_state.cc", ("drop", *_EXPRESSIONS), "kube_cache_test"),
        Target("kube/client/warnings.cc", _EXPRESSIONS, "kube_client_test"),
        Target("kube/runtime/work_queue.cc", ("drop", *_EXPRESSIONS), "kube_runtime_test"),
        Target("kube/runtime/controller.cc", ("drop", *_EXPRESSIONS), "kube_runtime_test"),
        Target("kube/client/outage_gate.cc", ("drop", *_EXPRESSIONS), "kube_client_test"),
        Target("kube/client/transport.cc", ("drop", *_EXPRESSIONS), "kube_client_test", ("Lost", "Do", "RetryIn", "Send")),
        Target("kube/client/client.cc", ("repeat",), "kube_client_test"),
    ]
)
