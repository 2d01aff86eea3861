"""What a node downloads, and what the operator may do: the compressed image, and the rules of RBAC with a "*".

The peer is given the same treatment: its program, built of its pinned module without what only a debugger reads, in a root of
its own that is packed as ours is. A static program needs no libraries there, so that is the least that an image of it has.
"""

import json
import os
import subprocess
import sys
import tempfile

import built
import peer_chart
import programs
from figures import ROOT, print_table, ratios

sys.path[:0] = [os.path.join(ROOT, "tools", folder) for folder in ("image.d", "chart.d")]

import archive  # noqa: E402
import rootfs  # noqa: E402
import yaml_texts  # noqa: E402
from program import ImageError, Program  # noqa: E402

CHART = os.path.join(ROOT, "charts", "capi-operator")
ROLES = ("ClusterRole", "Role")


def root_of(program, name):
    """The files of an image with this program in it."""
    files = rootfs.collect(program)
    if name != "capi-operator":
        files.files[name] = files.files.pop("capi-operator")
    return files


def static_root(program, name):
    """The same, of a program that is linked with nothing."""
    files = rootfs.Files(program.architecture)
    files.add(rootfs.CERTIFICATES, rootfs.certificates())
    for path, text in rootfs.TEXTS.items():
        files.add(path, text.encode())
    files.add(name, program.stripped(), 0o755)
    return files


def is_static(path):
    done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
    return "not a dynamic executable" in done.stdout + done.stderr


def sizes(files):
    """(program, all files, compressed) in MB."""
    entries = [(name, None, rootfs.folder_mode(name)) for name in files.folders()]
    entries += [(name, content, mode) for name, (content, mode) in files.files.items()]
    packed = len(archive.packed(archive.tar(entries, 0)))
    contents = [len(content) for content, _ in files.files.values()]
    return [size / 1e6 for size in (max(contents), sum(contents), packed)]


def rules(objects):
    """All rules of roles; a role that is put together of others has none of its own."""
    return [rule for item in objects if item and item["kind"] in ROLES for rule in item.get("rules") or []]


def with_a_star(found):
    """Those that give a verb, a kind or a group by "*". Paths that end in one are no such thing."""
    return [rule for rule in found if any("*" in (rule.get(field) or []) for field in ("verbs", "resources", "apiGroups"))]


def rendered(chart):
    with tempfile.TemporaryDirectory(prefix="bench-helm-") as home:
        command = [programs.locate("helm"), "template", "capi-operator", chart, "--namespace", "capi-operator-system"]
        environment = {"PATH": os.environ["PATH"], "HOME": home, "KUBECONFIG": os.devnull}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return yaml_texts.documents(done.stdout)


def run(_):
    try:
        ours, peer = Program(built.find("capi-operator")), Program(programs.locate("peer"))
        theirs = static_root(peer, "manager") if is_static(peer.path) else root_of(peer, "manager")
        measured = [sizes(root_of(ours, "capi-operator")), sizes(theirs)]
    except ImageError as error:
        raise RuntimeError(str(error)) from error
    rows = [[name, *(f"{size:.1f} MB" for size in row)] for name, row in zip(("capi-operator", "peer"), measured)]
    print_table(["image", "program", "all files", "compressed"], [*rows, ["ratio", *ratios(*measured)]])
    counted = [rules(rendered(chart)) for chart in (CHART, peer_chart.locate())]
    rows = [[name, str(len(found)), str(len(with_a_star(found)))] for name, found in zip(("capi-operator", "peer"), counted)]
    print_table(["chart, as it is without values", "rules", 'rules with a "*"'], rows)
    for rule in with_a_star(counted[0]):
        raise RuntimeError(f'a rule of ours has a "*": {json.dumps(rule)}')
