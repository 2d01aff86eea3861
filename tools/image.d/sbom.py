"""The bill of materials: an SPDX 2.3 document of the Debian packages that the image has files of, and of the operator.

The header-only libraries that the compiler took in leave no file in the image, and aren't listed.
"""

import hashlib
import json
import urllib.parse

NAMESPACE = "https://spdx.org/spdxdocs/capi-operator"


def write(files, facts, path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document(files, facts), file, indent=2, sort_keys=True)
        file.write("\n")


def document(files, facts):
    program = hashlib.sha256(files.files["capi-operator"][0]).hexdigest()
    packages = [operator(facts, program)] + [debian(item) for _, item in sorted(files.packages.items())]
    # Another image is another document: its contents are in the name.
    contents = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"capi-operator-{facts.version}",
        "documentNamespace": f"{NAMESPACE}-{facts.version}-{contents[:32]}",
        "creationInfo": {"created": facts.created, "creators": ["Tool: capi-operator-tools-image"]},
        "packages": packages,
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", packages[0]["SPDXID"])]
        + [relation(packages[0]["SPDXID"], "DEPENDS_ON", item["SPDXID"]) for item in packages[1:]],
    }


def relation(element, kind, related):
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": related}


def operator(facts, digest):
    return {
        "SPDXID": "SPDXRef-capi-operator",
        "name": "capi-operator",
        "versionInfo": facts.version,
        "downloadLocation": facts.source or "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
    }


def debian(package):
    quoted = urllib.parse.quote(package.version, safe="")
    purl = f"pkg:deb/debian/{package.name}@{quoted}?arch={package.architecture}&distro=bookworm"
    return {
        "SPDXID": f"SPDXRef-{package.name.replace('+', 'x')}",
        "name": package.name,
        "versionInfo": package.version,
        "supplier": "Organization: Debian",
        "sourceInfo": f"built from the Debian source package {package.source}",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
        ],
    }
