"""The operator as its image has it: run in the root that the image's layer unpacks to, with nothing else in it."""

import json
import os
import shlex
import shutil
import subprocess
import tarfile

TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOT = os.path.dirname(TOOLS)


def unpack(program, folder):
    """Makes the image of a program in the folder; the root that its one layer unpacks to."""
    made, root = os.path.join(folder, "image"), os.path.join(folder, "root")
    subprocess.run([os.path.join(TOOLS, "image"), f"--program={program}", "--revision=tested", made], check=True, stdout=subprocess.DEVNULL)

    def blob(descriptor):
        return os.path.join(made, "blobs", *descriptor["digest"].split(":"))

    with open(os.path.join(made, "index.json"), encoding="utf-8") as file:
        (entry,) = json.load(file)["manifests"]
    with open(blob(entry), encoding="utf-8") as file:
        (layer,) = json.load(file)["layers"]
    with tarfile.open(blob(layer)) as tar:
        tar.extractall(root)
    return root


# What a pod of the manifests has: the image's user, no root that can be written, and so much memory.
USER = 65532
MEMORY = 64 << 20
MEMORY_GROUP = "/sys/fs/cgroup/memory"  # the first version's
GROUPS = "/sys/fs/cgroup"

# A kubeconfig and what it names are their owner's alone: this one gets a copy, with the authority in it.
FLATTEN = """
import base64, json, sys
config = json.load(open(sys.argv[1]))
for entry in config["clusters"]:
    authority = open(entry["cluster"].pop("certificate-authority"), "rb").read()
    entry["cluster"]["certificate-authority-data"] = base64.b64encode(authority).decode()
print(json.dumps(config))
"""
# The root is mounted for this process alone.
SCRIPT = """#!/bin/sh
set -e
for argument do
  shift
  case $argument in
    --kubeconfig=*)
      python3 -c {flatten} "${{argument#*=}}" > {root}/kubeconfig
      chmod 400 {root}/kubeconfig
      {own}
      argument=--kubeconfig={root}/kubeconfig ;;
  esac
  set -- "$@" "$argument"
done
{group}
exec {namespace} sh -c 'mount --bind {root} {root} && mount -o remount,bind,ro {root} && exec {enter} {program} "$@"' sh "$@"
"""


def entry_point(root, emulator=None, group=None):
    """A script beside the root that runs the operator in it as in a pod: as the image's user, with nothing that it could write, and
    in a MemoryLimit where one is named; by a static emulator where one is. The root's own path leads to itself inside, too, so
    the operator finds what it is told to read where that lies in the root."""
    inside = os.path.join(root, root.lstrip("/"))
    os.makedirs(os.path.dirname(inside))
    os.symlink("/", inside)
    program = "/capi-operator"
    if emulator:
        shutil.copy(shutil.which(emulator), root)
        program = f"/{emulator} {program}"
    ours = os.getuid() == 0
    there = shlex.quote(root)
    words = {
        "root": there,
        "flatten": shlex.quote(FLATTEN),
        "own": f"chown {USER} {there}/kubeconfig" if ours else ":",
        "group": f"echo $$ > {shlex.quote(group.members)}" if group else ":",
        "namespace": "unshare --mount" if ours else "unshare --user --map-root-user --mount",
        # Who isn't root may become that user in a namespace of users alone.
        "enter": f"chroot --userspec={USER}:{USER} {there}" if ours else f"unshare --user --map-user={USER} --map-group={USER} --root={there}",
        "program": program,
    }
    path = root + "-operator"
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT.format(**words))
    os.chmod(path, 0o755)
    return path


class MemoryLimit:
    """A memory cgroup with a pod's limit, until it is removed. `make` gives None on a machine that lets nobody make one."""

    def __init__(self, folder, second):
        self.folder = folder
        self.second = second
        self.members = os.path.join(folder, "cgroup.procs")

    @classmethod
    def make(cls, name):
        second = not os.path.isdir(MEMORY_GROUP)
        limit = cls(os.path.join(GROUPS if second else MEMORY_GROUP, name), second)
        try:
            os.mkdir(limit.folder)
        except OSError:
            return None
        try:
            limit.write("memory.max" if second else "memory.limit_in_bytes")
        except OSError:
            limit.remove()
            return None
        return limit

    def write(self, name):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(str(MEMORY))

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def pids(self):
        return {int(pid) for pid in self.read("cgroup.procs").split()}

    def kills(self):
        """How many processes were killed for what they took."""
        (line,) = (line for line in self.read("memory.events" if self.second else "memory.oom_control").splitlines() if line.startswith("oom_kill "))
        return int(line.split()[1])

    def remove(self):
        os.rmdir(self.folder)
