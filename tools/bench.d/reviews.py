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


def provider(api_version, **spec):
    metadata = {"name": "docker", "namespace": "capd-system", "uid": "1", "annotations": {"note": "x" * 1000}}
    return {"apiVersion": f"{GROUP}/{api_version}", "kind": "InfrastructureProvider", "metadata": metadata, "spec": spec}


NEW = provider("v1alpha2", version="v1.12.0", configSecret={"name": "variables"}, manager={"verbosity": 5})
OLD = provider("v1alpha1", version="v1.12.0", secretName="variables", manager={"verbosity": 5})


def admission():
    request = {
        "uid": "u",
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
    request = {"uid": "u", "desiredAPIVersion": f"{GROUP}/{version}", "objects": [objects] * CONVERTED}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}


def allows(response):
    return response["allowed"]


def converts(version):
    def check(response):
        found = {item["apiVersion"] for item in response["convertedObjects"]}
        return response["result"]["status"] == "Success" and found == {f"{GROUP}/{version}"}

    return check


ADMISSION = "operator-cluster-x-k8s-io-v1alpha2-infrastructureprovider"
# What, path, review, whether its response is the right one.
REVIEWS = [
    ("defaulting", f"/mutate-{ADMISSION}", admission(), allows),
    ("validation", f"/validate-{ADMISSION}", admission(), allows),
    (f"{CONVERTED} from v1alpha1", "/convert", conversion(OLD, "v1alpha2"), converts("v1alpha2")),
    (f"{CONVERTED} to v1alpha1", "/convert", conversion(NEW, "v1alpha1"), converts("v1alpha1")),
]


def is_right(answer, text, check):
    return answer.status == 200 and bool(check(json.loads(text)["response"]))


def send_all(port, path, body, check, begin, offset):
    """One connection's share: seconds of each review, and how many answers weren't right."""
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE  # it is our own child
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=tls)
    connection.connect()
    times, answers = [], []
    for number in range(RATE * SECONDS // CONNECTIONS):
        due = begin + (number * CONNECTIONS + offset) / RATE
        time.sleep(max(0.0, due - time.monotonic()))
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        times.append(time.monotonic() - due)
        answers.append((answer, text))
    connection.close()
    return times, sum(not is_right(answer, text, check) for answer, text in answers)


def measure(port, path, review, check):
    """Seconds of all reviews, and how many failed."""
    begin = time.monotonic() + 0.2
    share = (port, path, json.dumps(review).encode(), check, begin)
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        done = list(pool.map(lambda offset: send_all(*share, offset), range(CONNECTIONS)))
    return [seconds for times, _ in done for seconds in times], sum(failed for _, failed in done)


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
