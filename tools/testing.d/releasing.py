"""tools/release as tests run it: with the programs that are built, and a kubectl in the PATH."""

import os
import subprocess

import built
import variants

TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
KUBECTL = variants.kubectl()
EPOCH = 1700000000
REVISION = "0123456789abcdef"


def programs():
    return [f"--operator={built.find('capi-operator')}", f"--clusterctl={built.find('clusterctl')}"]


def environment(**more):
    """With kubectl in the PATH."""
    path = os.pathsep.join([os.path.dirname(KUBECTL), os.environ["PATH"]])
    return {**os.environ, "PATH": path, **more}


def begin(*arguments, **more):
    """tools/release, begun."""
    return subprocess.Popen(
        [os.path.join(TOOLS, "release"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**more),
    )


def release(*arguments, **more):
    """(exit code, standard output, errors) of tools/release, run to its end."""
    with begin(*arguments, **more) as run:
        out, err = run.communicate(timeout=250)
    return run.returncode, out, err


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def contents(folder):
    return {name: read(folder, name) for name in os.listdir(folder)}
