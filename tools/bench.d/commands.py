"""Times our clusterctl and the real one as whole processes, in turn: start-up, and `generate provider`."""

import os
import sys
import tempfile

import built
import programs
import releases
from figures import side_by_side

# Label, version, flag and reference of what is rendered.
RENDERED = [
    ("cluster-api", "v1.12.0", "core-components.yaml", "CoreProvider", "--core"),
    ("infrastructure-azure", "v1.13.0", "infrastructure-components.yaml", "InfrastructureProvider", "--infrastructure"),
]


def both():
    return {"clusterctl": built.find("clusterctl"), "the real one": programs.locate("clusterctl")}


def environment(folder):
    return {"HOME": folder, "XDG_CONFIG_HOME": folder, "PATH": os.environ["PATH"], "CLUSTERCTL_DISABLE_VERSIONCHECK": "true"}


def start_up(rounds):
    with tempfile.TemporaryDirectory() as folder:
        side_by_side("`clusterctl version`", both(), ["version"], environment(folder), rounds)


def generate(rounds):
    source = os.environ.get("RELEASES_DIR") or releases.locate()
    for label, version, file, kind, flag in RENDERED:
        path = os.path.join(source, label, version, file)
        if not os.path.exists(path):
            print(f"left out: {label} {version}; RELEASES_DIR names no folder with it", file=sys.stderr)
            continue
        name = label.removeprefix("infrastructure-")
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "clusterctl.yaml")
            with open(config, "w", encoding="utf-8") as file:
                file.write(f"providers: [{{name: {name}, type: {kind}, url: 'file://{path}'}}]\n")
            arguments = ["generate", "provider", flag, f"{name}:{version}", "--config", config]
            size = os.path.getsize(path) / 1e6
            title = f"`generate provider {flag} {name}:{version}`, {size:.1f} MB"
            side_by_side(title, both(), arguments, environment(folder), rounds)
