"""YAML as Kubernetes' Go tools read it: Python's standard library has none."""

import base64
import json
import subprocess

import plan


def documents(text):
    """The objects of a YAML text, without the empty documents."""
    (program,) = plan.have(["go-yaml"])
    given = base64.b64encode(text.encode()) + b"\n"
    done = subprocess.run([program], input=given, capture_output=True, check=True)
    answer = json.loads(done.stdout)
    if "streamError" in answer:
        raise ValueError(answer["streamError"])
    return answer["stream"]
