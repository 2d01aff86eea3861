"""Cluster API's own managers as processes, in the place of the pods that their Deployments ask for; and what cert-manager does for
them. The pods themselves are simulated, as all of the control plane's are."""

import base64
import contextlib
import json
import os
import subprocess
import urllib.request

import cluster
import forward
import plan
import process

# Program: the Namespace of its Deployment.
MANAGERS = {
    "core-manager": "capi-system",
    "bootstrap-manager": "capi-kubeadm-bootstrap-system",
    "control-plane-manager": "capi-kubeadm-control-plane-system",
    "docker-manager": "capd-system",
}
INJECT = "cert-manager.io/inject-ca-from"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"


def workload_address(number=0):
    """Addresses of loopback that no other run has."""
    pid = os.getpid()
    return f"127.{1 + (pid >> 16) % 94}.{(pid >> 8) % 256}.{1 + (pid + number) % 254}"


def is_ready(port):
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
        return True
    return False


class RealManagers:
    """Of the providers that are installed in a world, with the rights of their own ServiceAccounts, from the beginning to close()."""

    def __init__(self, world):
        self.world = world
        self.forwarders, self.running = [], []
        self._certify()
        for program, namespace in MANAGERS.items():
            self._start(program, namespace)

    def leave_address(self):
        """Begins the docker provider again, at another address: another one can serve its workload clusters where they were."""
        self._end([entry for entry in self.running if entry[0] == "docker-manager"])
        self.forwarders.pop().close()
        self._start("docker-manager", MANAGERS["docker-manager"], workload_address(1))

    def close(self):
        self._end(list(self.running))
        for forwarder in self.forwarders:
            forwarder.close()
        self.forwarders = []

    def _end(self, some):
        for entry in some:
            entry[1].kill()
            entry[1].wait()
            self.world.processes.started.remove(entry)
            self.running.remove(entry)

    def words(self):
        """The end of what each has said, for the message of a failure."""
        found = ""
        for program in MANAGERS:
            with contextlib.suppress(FileNotFoundError), open(self.world.processes.log_path(program), encoding="utf-8", errors="replace") as file:
                found += f"---- the log of the {program} ends with\n" + "".join(file.readlines()[-15:])
        return found

    def _folder(self):
        return os.path.join(self.world.state.path, "managers")

    def _certify(self):
        """One certificate for all webhooks, which the API server then trusts, as cert-manager sees to it."""
        names = [name for item in self.world.get("certificates", "-A")["items"] for name in item["spec"]["dnsNames"]]
        os.makedirs(self._folder())
        certificate, key = (os.path.join(self._folder(), name) for name in ("tls.crt", "tls.key"))
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        command += ["-keyout", key, "-out", certificate, "-subj", "/CN=webhooks"]
        command += ["-addext", "subjectAltName=" + ",".join(f"DNS:{name}" for name in names)]
        subprocess.run(command, capture_output=True, check=True)
        with open(certificate, "rb") as file:
            bundle = base64.b64encode(file.read()).decode()
        for crd in self.world.crds():
            if INJECT in crd["metadata"].get("annotations", {}):
                patch = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}}
                self.world.merge(f"{cluster.CRDS}/{crd['metadata']['name']}", patch)
        for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
            for item in json.loads(self.world.request("GET", f"{ADMISSION}/{kind}")[1])["items"]:
                if INJECT not in item["metadata"].get("annotations", {}):
                    continue
                for webhook in item["webhooks"]:
                    webhook["clientConfig"]["caBundle"] = bundle
                self.world.merge(f"{ADMISSION}/{kind}/{item['metadata']['name']}", {"webhooks": item["webhooks"]})

    def _start(self, program, namespace, address=None):
        (deployment,) = self.world.get("deployments", "-n", namespace)["items"]
        pod = deployment["spec"]["template"]["spec"]
        (container,) = [item for item in pod["containers"] if item["name"] == "manager"]
        webhooks, health, diagnostics = process.free_ports(3)
        (path,) = plan.have([program])
        command = [path, *container["args"], "--leader-elect=false", f"--kubeconfig={self._kubeconfig(namespace, pod['serviceAccountName'])}"]
        command += [f"--webhook-port={webhooks}", f"--webhook-cert-dir={self._folder()}", f"--health-addr=127.0.0.1:{health}"]
        command += [f"--diagnostics-address=127.0.0.1:{diagnostics}", "--insecure-diagnostics=true"]
        own = {"POD_NAMESPACE": namespace, "POD_NAME": program, "POD_UID": "stand-in", "POD_IP": address or workload_address()}
        self.running.append((program, self.world.processes.start(program, command, {**os.environ, **own})))
        for service in self.world.get("services", "-n", namespace)["items"]:
            if [port["port"] for port in service["spec"]["ports"]] == [443]:
                self.forwarders.append(forward.Forwarder(service["spec"]["clusterIP"], webhooks))
        self.world.until(f"the {program} is ready", lambda: is_ready(health), words=self.words)

    def _kubeconfig(self, namespace, account):
        config = self.world.plane.access()
        config["users"] = [{"name": "admin", "user": {"token": self.world.token(namespace, account)}}]
        path = os.path.join(self._folder(), namespace)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path
