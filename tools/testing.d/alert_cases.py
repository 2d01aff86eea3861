"""For each alert of manifests/monitoring a world in which it fires, and those nearby in which it doesn't.

A world is what differs from a healthy operator: {series: values from the first minute on, one a minute}, as promtool writes
them: "1x9 0x60" is ten times 1, and then 0. The tests begin at time 0.
"""

import collections

import exposition
from monitoring import TARGET

DAY = 86400
MINUTES = 180  # of each world

# alert: what fires in the world at that minute, {alert: labels}; why: what the world is.
Case = collections.namedtuple("Case", "why world minute fires")


def of(metric, replica=1, /, **labels):
    """A series of a replica."""
    pod = {"instance": f"192.0.2.{replica}:8443", "pod": f"capi-operator-controller-manager-{replica}"}
    return exposition.series(metric, TARGET | pod | labels)


PROVIDER = {"kind": "CoreProvider", "namespace": "capi-system", "name": "cluster-api"}
LEASE = {"name": "controller-leader-election-capi-operator"}
QUEUE = {"controller": "provider", "name": "provider"}
READY = of("capi_operator_provider_ready", **PROVIDER)
READY_BY_OTHER = of("capi_operator_provider_ready", 2, **PROVIDER)
STALLED = of("capi_operator_provider_stalled", **PROVIDER)
STALLED_BY_OTHER = of("capi_operator_provider_stalled", 2, **PROVIDER)
PAUSED = of("capi_operator_provider_paused", **PROVIDER)
RESTORED = of("capi_operator_provider_drift_corrected_total", **PROVIDER)
LEADS = of("leader_election_master_status", **LEASE)
STANDS_BY = of("leader_election_master_status", 2, **LEASE)
ERRORS = of("controller_runtime_reconcile_errors_total", controller="provider")
LONGEST = of("workqueue_longest_running_processor_seconds", **QUEUE)
CERTIFICATE = of("capi_operator_webhook_certificate_expiry_timestamp_seconds")
BEGAN = of("process_start_time_seconds")
BEGAN_OTHER = of("process_start_time_seconds", 2)


def requests(code, method="GET", replica=1):
    return of("rest_client_requests_total", replica, code=code, host="192.0.2.9:6443", method=method)


def always(value):
    return f"{value}x{MINUTES}"


HEALTHY = {
    of("up"): always(1),
    of("up", 2): always(1),
    LEADS: always(1),
    STANDS_BY: always(0),
    READY: always(1),
    STALLED: always(0),
    PAUSED: always(0),
    RESTORED: always(0),
    ERRORS: always(0),
    LONGEST: always(0),
    CERTIFICATE: always(60 * DAY),
    BEGAN: always(0),
    BEGAN_OTHER: always(0),
    requests("200"): f"0+10x{MINUTES}",
    # The lease: the one that leads renews it, and the other one reads it.
    requests("200", "PUT"): f"0+30x{MINUTES}",
    requests("200", replica=2): f"0+30x{MINUTES}",
}

UP = (of("up"), of("up", 2))
SCRAPED = tuple(series for series in HEALTHY if series not in UP)

JOB = {"job": "capi-operator"}
RESTARTED = JOB | {"pod": "capi-operator-controller-manager-1"}
OF_PROVIDER = PROVIDER | JOB | {"service": TARGET["service"]}
NOBODY = {}

CASES = (
    Case("all is well", {}, 170, NOBODY),
    Case("it waits for long", {READY: "1x9 0x99"}, 30, {"CapiProviderNotReady": OF_PROVIDER}),
    Case("it is installed in time", {READY: "0x13 1x99"}, 30, NOBODY),
    Case("it waits, but not for 15 minutes yet", {READY: "0x99"}, 14, NOBODY),
    # The next replica leads, and tells the same: the alert goes on, and doesn't begin anew.
    Case(
        "it waits beyond a hand-over",
        {
            READY: "0x9 stale",
            STALLED: "0x9 stale",
            BEGAN: "0x9 stale",
            READY_BY_OTHER: "_x12 0x99",
            STALLED_BY_OTHER: "_x12 0x99",
        },
        20,
        {"CapiProviderNotReady": OF_PROVIDER},
    ),
    # Two minutes pass until the same pod says it again, with a process that began then.
    Case(
        "it waits beyond a restart",
        {READY: "0x9 stale _ 0x99", STALLED: "0x9 stale _ 0x99", BEGAN: "0x9 stale 660x99"},
        20,
        {"CapiProviderNotReady": OF_PROVIDER},
    ),
    Case(
        "it is Ready for the next replica",
        {
            READY: "0x12 stale",
            STALLED: "0x12 stale",
            BEGAN: "0x12 stale",
            READY_BY_OTHER: "_x13 1x99",
            STALLED_BY_OTHER: "_x13 0x99",
        },
        16,
        NOBODY,
    ),
    Case("it is deleted while it waits", {READY: "0x13 stale", STALLED: "0x13 stale"}, 16, NOBODY),
    Case(
        "it is deleted while the operator is away",
        {READY: "0x8 stale", STALLED: "0x8 stale", BEGAN: "0x8 stale _ 600x99"},
        16,
        NOBODY,
    ),
    Case("it is paused", {READY: "1x9 0x99", PAUSED: "0x9 1x99"}, 60, NOBODY),
    Case("it is back from a pause, and waits", {READY: "0x99", PAUSED: "1x9 0x99"}, 30, {"CapiProviderNotReady": OF_PROVIDER}),
    # Its Paused condition stays True until the workloads are up again: that kept the alert away for as long as they weren't.
    Case(
        "it is unpaused, and its workloads are held at zero",
        {READY: "1x4 0x99", PAUSED: "0x4 1x4 0x99"},
        40,
        {"CapiProviderNotReady": OF_PROVIDER},
    ),
    Case(
        "it has failed for good, and the operator restarts",
        {READY: "0x99", STALLED: "1x3 stale _ 1x99", BEGAN: "0x3 stale 300x99"},
        7,
        {"CapiProviderStalled": OF_PROVIDER},
    ),
    Case(
        "the next replica knows that it goes on",
        {READY: "0x2 stale", STALLED: "1x2 stale", BEGAN: "0x2 stale", READY_BY_OTHER: "_x3 0x99", STALLED_BY_OTHER: "_x3 0x99"},
        7,
        NOBODY,
    ),
    Case("it has failed for good", {READY: "0x99", STALLED: "0x4 1x99"}, 30, {"CapiProviderStalled": OF_PROVIDER}),
    Case("a right was missing for a moment", {READY: "0x9 1x99", STALLED: "1x3 0x99"}, 30, NOBODY),
    Case("a fight goes on", {RESTORED: "0+1x5 5x99"}, 20, {"CapiProviderDriftFight": OF_PROVIDER}),
    Case("a fight lasts", {RESTORED: "0 _x8 1 _x8 2 _x8 3 _x8 4 _x8 5 _x8 6 _x8 7"}, 60, {"CapiProviderDriftFight": OF_PROVIDER}),
    Case("somebody deletes forty objects", {RESTORED: "0x9 40x99"}, 20, NOBODY),
    Case("somebody tries it four times", {RESTORED: "0+1x4 4x99"}, 20, NOBODY),
    Case("nobody answers", {of("up"): "1x4 0x99", of("up", 2): "1x4 0x99"}, 20, {"CapiOperatorDown": {}}),
    Case("there is none", {of("up"): "1x4 stale", of("up", 2): "1x4 stale"}, 20, {"CapiOperatorDown": {}}),
    Case("one of two replicas is away", {of("up"): "1x9 0x99"}, 24, NOBODY),
    # It ended each time before it was scraped: nothing told of it as long as the other one ran.
    Case("one of two replicas doesn't come up", {of("up"): "1x9 0x99"}, 30, {"CapiOperatorReplicaDown": RESTARTED}),
    Case("one of two replicas restarts", {of("up"): "1x9 0x12 1x99"}, 30, NOBODY),
    Case("the pod of one of two replicas is replaced", {of("up"): "1x9 0x12 stale", of("up", 3): "_x9 0x2 1x99"}, 30, NOBODY),
    Case("nobody leads", {LEADS: "1x4 0x99"}, 20, {"CapiOperatorNoLeader": JOB}),
    Case("the other one leads", {LEADS: "1x4 0x99", STANDS_BY: "0x5 1x99"}, 20, NOBODY),
    Case("it restarts again and again", {BEGAN: "0x9 600x4 900x4 1200x9 1800x99"}, 40, {"CapiOperatorRestarts": RESTARTED}),
    Case("it restarts three times", {BEGAN: "0x9 600x4 900x4 1200x99"}, 40, NOBODY),
    Case(
        "the operator is upgraded",
        {BEGAN: "0x9 stale", BEGAN_OTHER: "0x11 stale"}
        | {of("process_start_time_seconds", 3 + i): f"_x{10 + i} 600x99" for i in range(4)},
        40,
        NOBODY,
    ),
    Case("a look fails each time", {ERRORS: "0+1x99"}, 40, {"CapiOperatorReconcileErrors": JOB | {"controller": "provider"}}),
    # The longest time until the next try is ten minutes.
    Case(
        "a status is refused for an hour",
        {ERRORS: "0 1 2 2 3 3 3 3 4x7 5x9 6x9 7x9 8x9 9x99"},
        58,
        {"CapiOperatorReconcileErrors": JOB | {"controller": "provider"}},
    ),
    Case("one look has failed", {ERRORS: "0x4 1x99"}, 20, NOBODY),
    Case("a look doesn't end", {LONGEST: "0+60x99"}, 30, {"CapiOperatorQueueStuck": JOB | {"name": "provider"}}),
    Case("each look takes nine minutes", {LONGEST: "0+60x9 0+60x9 0+60x9 0+60x9"}, 30, NOBODY),
    Case("looks of nearly ten minutes overlap", {LONGEST: "590x99"}, 30, NOBODY),
    Case("one request of six has no answer", {requests("<error>"): "0+2x99"}, 40, {"CapiOperatorApiRequestsFail": JOB}),
    Case("one of two API servers knows no token", {requests("401"): "0+10x99"}, 40, {"CapiOperatorApiRequestsFail": JOB}),
    Case("the other replica gets no answer", {requests("<error>", replica=2): "0+10x99"}, 40, {"CapiOperatorApiRequestsFail": JOB}),
    # Then no API server says who may get /metrics: nothing is scraped.
    Case(
        "no API server knows the token",
        dict.fromkeys(UP, "1x9 0x99") | dict.fromkeys(SCRAPED, "0x9 stale"),
        40,
        {"CapiOperatorDown": {}},
    ),
    Case("one request of eleven fails", {requests("500"): "0+1x99"}, 40, NOBODY),
    Case("half of the objects aren't there", {requests("404"): "0+10x99"}, 40, NOBODY),
    Case("six days are left", {CERTIFICATE: always(6 * DAY)}, 120, {"CapiOperatorWebhookCertificateExpires": JOB}),
    Case("it has ended", {CERTIFICATE: "3600x180"}, 120, {"CapiOperatorWebhookCertificateExpires": JOB}),
    Case("there is no certificate", {CERTIFICATE: always(0)}, 30, {"CapiOperatorWebhookCertificateExpires": JOB}),
    Case("the first certificate is made late", {CERTIFICATE: f"0x9 {always(60 * DAY)}"}, 30, NOBODY),
    Case("eight days are left", {CERTIFICATE: always(8 * DAY)}, 120, NOBODY),
)
