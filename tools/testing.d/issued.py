"""What a Secret of a certificate says, read by openssl, so that those of two issuers can be compared."""

import base64
import datetime
import os
import re
import subprocess
import tempfile

OURS = "operator.cluster.x-k8s.io/"  # annotations that cert-manager doesn't know
BEGIN = "-----BEGIN CERTIFICATE-----"
# Of what differs with every key there is only that it is there.
IDENTIFIERS = ("X509v3 Subject Key Identifier", "X509v3 Authority Key Identifier")


def openssl(*words, given):
    return subprocess.run(["openssl", *words], input=given, capture_output=True, check=True, text=True).stdout


def decoded(secret):
    """Its data as text."""
    return {name: base64.b64decode(value).decode() for name, value in secret.get("data", {}).items()}


def certificates(pem):
    return [BEGIN + part for part in pem.split(BEGIN)[1:]]


def key_facts(pem):
    text = openssl("pkey", "-noout", "-text", given=pem)
    curve = re.search(r"ASN1 OID: (\S+)", text)
    return {"form": pem.splitlines()[0], "size": text.splitlines()[0], "curve": curve and curve[1]}


def extensions(text):
    """Name: (is it critical, its value)."""
    found = re.findall(r"^            (X509v3 [^:\n]+):( critical)?\s*\n((?:                .*\n?)*)", text, re.MULTILINE)
    values = {name: (bool(critical), " ".join(value.split())) for name, critical, value in found}
    return {name: (value[0], "there") if name in IDENTIFIERS else value for name, value in values.items()}


def moments(pem):
    """Its first and its last second."""
    text = openssl("x509", "-noout", "-dates", given=pem)
    read = lambda name: datetime.datetime.strptime(re.search(f"{name}=(.*)", text)[1], "%b %d %H:%M:%S %Y %Z")  # noqa: E731
    return read("notBefore"), read("notAfter")


def certificate_facts(pem):
    text = openssl("x509", "-noout", "-text", "-nameopt", "RFC2253", given=pem)
    found = {name: re.search(rf"{name}: *(.*)", text)[1] for name in ("Version", "Signature Algorithm", "Issuer", "Subject", "Public Key Algorithm")}
    begins, ends = moments(pem)
    return {**found, "lasts": int((ends - begins).total_seconds()), "extensions": extensions(text)}


def hosts(pem):
    text = openssl("x509", "-noout", "-ext", "subjectAltName", given=pem)
    return re.findall(r"(?:DNS|IP Address):([^,\s]+)", text)


def verifies(pem, trusted):
    """Whether who trusts these alone takes the chain, for whatever host."""
    first, *others = certificates(pem)
    with tempfile.TemporaryDirectory(prefix="issued-") as folder:
        paths = {}
        for name, text in {"first": first, "others": "".join(others), "trusted": trusted}.items():
            paths[name] = os.path.join(folder, name)
            with open(paths[name], "w", encoding="utf-8") as file:
                file.write(text)
        command = ["openssl", "verify", "-CAfile", paths["trusted"], "-no-CApath", "-no-CAstore", "-partial_chain"]
        command += ["-untrusted", paths["others"]] if others else []
        return subprocess.run([*command, paths["first"]], capture_output=True, check=False).returncode == 0


def facts(secret):
    """All that two Secrets for one Certificate can have in common."""
    data, metadata = decoded(secret), secret["metadata"]
    chain = certificates(data["tls.crt"])
    return {
        "type": secret["type"],
        "keys": sorted(data),
        "key": key_facts(data["tls.key"]),
        "certificate": certificate_facts(chain[0]),
        "behind it": [certificate_facts(pem)["Subject"] for pem in chain[1:]],
        "trusted": [certificate_facts(pem)["Subject"] for pem in certificates(data["ca.crt"])],
        "verified": verifies(data["tls.crt"], data["ca.crt"]),
        "labels": metadata.get("labels", {}),
        "annotations": {name: value for name, value in metadata.get("annotations", {}).items() if not name.startswith(OURS)},
        "owners": metadata.get("ownerReferences", []),
    }


def flat(value, path=""):
    """Each fact by its path: facts of one Secret that differ are told one by one."""
    if not isinstance(value, dict):
        return {path: value}
    return {name: found for key, item in value.items() for name, found in flat(item, f"{path}/{key}" if path else key).items()}
