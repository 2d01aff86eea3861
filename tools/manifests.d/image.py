"""A reference to an image, as the manifests and the chart have it."""

import re

# [HOST[:PORT]/]PATH[:TAG][@DIGEST], as https://github.com/distribution/reference has it.
_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
_STEP = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_TAG, _DIGEST = r":\w[\w.-]{0,127}", "@[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-fA-F]{32,}"
REFERENCE = re.compile(rf"(?:{_HOST}/)?{_STEP}(?:/{_STEP})*(?:{_TAG})?(?:{_DIGEST})?", re.ASCII)
# A : of the registry's port has a / behind it.
PARTS = re.compile(r"(?P<repository>[^@]+?)(?::(?P<tag>[^/@]+))?(?:@(?P<digest>.+))?")


class Image:
    """[HOST[:PORT]/]PATH with a tag, a digest or both. A value."""

    def __init__(self, reference):
        """ValueError, in words, where this isn't one."""
        if not REFERENCE.fullmatch(reference):
            raise ValueError(f"{reference!r} is no reference to an image, like registry.example.com/capi-operator:v1.0.0")
        self.reference = reference
        self._parts = PARTS.fullmatch(reference).groupdict(default="")
        if not (self._parts["tag"] or self._parts["digest"]):
            # It would be the tag `latest` to kubectl, and the chart's version to Helm.
            raise ValueError(f"{reference!r} has neither a tag nor a digest: name one, like {reference}:v1.0.0")

    def values(self):
        """The chart's image.yaml, or its value image.manager: whoever installs the chart may put a registry before it."""
        return self._parts
