"""Four providers by the operator as its image has it in a pod, on a control plane."""

import json
import os

import cluster
import image_root
import plan
import preload
import worlds

SAMPLE = os.path.join(image_root.ROOT, "manifests", "samples", "quickstart.yaml")
FLAGS = ["--diagnostics-address=127.0.0.1:0", "--health-addr=127.0.0.1:0"]


class ImageWorld(worlds.World):
    """With the releases of the sample in ConfigMaps, and the sample applied."""

    def __init__(self):
        super().__init__()
        self.start_plane()
        api = self.plane.api
        api.create_crds(cluster.documents([*cluster.own_crds(), *plan.have(["crds"])]))
        with open(SAMPLE, encoding="utf-8") as file:
            self.providers = preload.read_providers(file.read())
        for path, item in preload.objects(plan.have(["releases"])[0], self.providers):
            api.create(path, json.dumps(item))
        self.plane.kubectl("apply", "--server-side", "-f", SAMPLE)

    def run_image(self, entry_point):
        self.run_operator([entry_point, f"--kubeconfig={self.plane.kubeconfig}", *FLAGS])

    def await_ready(self, seconds=worlds.LIMIT):
        """Until all four are."""
        self.until("four providers are Ready", lambda: all(map(self.is_ready, self.providers)), seconds)

    def is_ready(self, provider):
        path = f"/apis/{cluster.API_GROUP}/v1alpha2/namespaces/{provider.namespace}/{provider.plural}/{provider.name}"
        status = (self.plane.api.get(path) or {}).get("status", {})
        ready = [entry["status"] for entry in status.get("conditions", []) if entry["type"] == "Ready"]
        return ready == ["True"] and status.get("installedVersion") == provider.version
