"""What the API server waits for: admission and conversion reviews, 200 a second, of an operator with four providers.

Eight connections are kept, as the API server keeps its own, and each review is sent at its time, however long the one before
took: one that has to wait for that counts from when it was due. The API server isn't between them, so that nothing but the
operator is measured. Every answer is looked at.
"""

import concurrent.futures
import http.client
import json
import ssl
import time

import edits
import install
import process
import rig
from figures import print_table

RATE, SECONDS, CONNECTIONS = 200, 10, 8
CONVERTED = 10  # objects of one conversion review
GROUP = "operator.cluster.x-k8s.io"
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


def provider(api_version, **spec):
    metadata = {"name": "docker", "namespace": "capd-system", "uid": "1", "annotations": {"note": "x" * 1000}}
    return {"apiVersion": f"{GROUP}/{api_version}", "kind": "InfrastructureProvider", "metadata": metadata, "spec": spec}


NEW = provider("v1alpha2", version="v1.12.0", configSecret={"name": "variables"}, manager={"verbosity": 5})
OLD = provider("v1alpha1", version="v1.12.0", secretName="variables", manager={"verbosity": 5})


def admission():
    request = {
        "uid": UID,
        "kind": {"group": GROUP, "version": "v1alpha2", "kind": "InfrastructureProvider"},
        "resource": {"group": GROUP, "version": "v1alpha2", "resource": "infrastructureproviders"},
        "name": "docker",
        "namespace": "capd-system",
        "operation": "CREATE",
        "userInfo": {"username": "a-person", "groups": ["system:authenticated"]},
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
        "object": NEW,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def conversion(objects, version):
    request = {"uid": UID, "desiredAPIVersion": f"{GROUP}/{version}", "objects": [objects] * CONVERTED}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}


def allows(response):
    return response["allowed"]


def converts(version, secret):
    """All of them, each with the name of its Secret where that version has it."""

    def check(response):
        objects = response["convertedObjects"]
        right = [item for item in objects if item["apiVersion"] == f"{GROUP}/{version}" and secret(item["spec"]) == "variables"]
        return response["result"]["status"] == "Success" and len(objects) == len(right) == CONVERTED

    return check


ADMISSION = "operator-cluster-x-k8s-io-v1alpha2-infrastructureprovider"
# What, path, review, whether its response is the right one.
REVIEWS = [
    ("defaulting", f"/mutate-{ADMISSION}", admission(), allows),
    ("validation", f"/validate-{ADMISSION}", admission(), allows),
    (f"{CONVERTED} from v1alpha1", "/convert", conversion(OLD, "v1alpha2"), converts("v1alpha2", lambda spec: spec["configSecret"]["name"])),
    (f"{CONVERTED} to v1alpha1", "/convert", conversion(NEW, "v1alpha1"), converts("v1alpha1", lambda spec: spec["secretName"])),
]


def is_right(status, text, check):
    try:
        response = json.loads(text)["response"]
        return status == 200 and response["uid"] == UID and bool(check(response))
    except (ValueError, KeyError, TypeError):
        return False


def connect(port):
    """A connection that is ready for its first review."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE  # it is our own child
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=tls)
    connection.connect()
    return connection


def send_all(connection, path, body, begin, offset):
    """One connection's share: (seconds, status, text) of each review; status 0 where no answer came."""
    answers = []
    for number in range(RATE * SECONDS // CONNECTIONS):
        due = begin + (number * CONNECTIONS + offset) / RATE
        time.sleep(max(0.0, due - time.monotonic()))
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()  # the next request opens it again
            status, text = 0, b""
        answers.append((time.monotonic() - due, status, text))
    return answers


def measure(port, path, review, check):
    """Seconds of all reviews, and how many failed."""
    body = json.dumps(review).encode()
    connections = [connect(port) for _ in range(CONNECTIONS)]
    begin = time.monotonic() + 0.2
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        shares = pool.map(lambda share: send_all(share[1], path, body, begin, share[0]), enumerate(connections))
        answers = [answer for share in shares for answer in share]
    for connection in connections:
        connection.close()
    return [seconds for seconds, _, _ in answers], sum(not is_right(status, text, check) for _, status, text in answers)


def row(what, times, failed, cpu, memory):
    shown = [f"{edits.percentile(times, share) * 1000:.1f} ms" for share in (50, 99, 100)]
    return [what, str(len(times)), str(failed), *shown, f"{cpu:.0f} %", f"{memory:.1f} MB"]


def one_round(bench, rows):
    wanted = install.quickstart()
    with rig.Rig(bench, rig.OURS) as run:
        run.preload(wanted)
        (port,) = process.free_ports(1)
        run.start([f"--webhook-port={port}", f"--webhook-cert-dir={bench.certificates}"])
        for each in wanted:
            run.create(each)
        run.await_ready(wanted)
        for what, path, review, check in REVIEWS:
            cpu = rig.cpu_seconds(run.pid)
            times, failed = measure(port, path, review, check)
            run.processes.check()
            spent = (rig.cpu_seconds(run.pid) - cpu) * 100 / SECONDS
            rows.append(row(what, times, failed, spent, rig.memory_kib(run.pid, "VmRSS") * 1024 / 1e6))


def run(rounds):
    """Prints the table."""
    rows = []
    with rig.Bench() as bench:
        for _ in range(rounds):
            one_round(bench, rows)
    print_table([f"{RATE} reviews a second", "answered", "failed", "median", "99%", "slowest", "CPU", "memory afterwards"], rows)
    if any(cells[2] != "0" for cells in rows):
        raise RuntimeError("reviews weren't answered as they should be")
