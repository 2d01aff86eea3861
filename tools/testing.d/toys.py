"""Releases of two providers, as small as they can be: a core and another one, with a kind."""

import json
import os

LABEL = "clusterctl.cluster.x-k8s.io"
TOY = """\
apiVersion: v1
kind: Namespace
metadata: {{name: {name}-system}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {name}-system}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: manager, image: "example.com/toy:{version}"}}]}}
"""
TOYS_KIND = """\
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.infrastructure.cluster.x-k8s.io}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Toy, plural: toys, singular: toy, listKind: ToyList}
  versions:
"""
TOYS_VERSION = "  - {{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {{type: object}}}}}}\n"


NAMES = (("cluster-api", "CoreProvider", "cluster-api"), ("toy", "InfrastructureProvider", "infrastructure-toy"))


class Releases:
    """Both in a local repository."""

    def __init__(self, folder):
        self.folder = folder

    def sources(self):
        """What clusterctl's configuration says of them."""
        return [{"name": name, "type": kind, "url": os.path.join(self.folder, label, "latest", "components.yaml")} for name, kind, label in NAMES]

    def flags(self, version):
        return [f"--core=cluster-api:{version}", f"--infrastructure=toy:{version}"]

    def release(self, version, contract, stored, earlier=None, core="", toy=""):
        """Of both, at one contract; `earlier`: that of the minor versions before; each with more documents."""
        minor = int(version.split(".")[1])
        series = [{"major": 1, "minor": at, "contract": contract if at == minor else earlier or contract} for at in range(minor + 1)]
        metadata = {"apiVersion": f"{LABEL}/v1alpha3", "kind": "Metadata", "releaseSeries": series}
        versions = [TOYS_VERSION.format(name=name, storage=str(name == stored).lower()) for name in ("v1alpha1", "v1beta1")]
        for label, text in (
            ("cluster-api", TOY.format(name="toy-core", version=version) + core),
            ("infrastructure-toy", TOY.format(name="toy", version=version) + TOYS_KIND + "".join(versions) + toy),
        ):
            folder = os.path.join(self.folder, label, version)
            os.makedirs(folder)
            for name, what in (("metadata.yaml", json.dumps(metadata)), ("components.yaml", text)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(what)
