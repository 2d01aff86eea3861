"""The operator as its image has it: run in the root that the image's layer unpacks to, with nothing else in it."""

import json
import os
import shlex
import shutil
import subprocess
import tarfile

TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


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


def entry_point(root, emulator=None):
    """A script beside the root that runs the operator in it, by a static emulator where one is named. The root's own path leads
    to itself inside, too, so the operator finds what it is told to read where that lies in the root."""
    inside = os.path.join(root, root.lstrip("/"))
    os.makedirs(os.path.dirname(inside))
    os.symlink("/", inside)
    command = ["chroot", root] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "chroot", root]
    if emulator:
        shutil.copy(shutil.which(emulator), root)
        command.append(f"/{emulator}")
    path = root + "-operator"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {shlex.join(command)} /capi-operator "$@"\n')
    os.chmod(path, 0o755)
    return path
