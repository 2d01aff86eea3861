"""The flags and feature gates that the managers of Cluster API register, read from their Go sources."""

import re

# label: (which module, files that register the flags: the first that is there)
MANAGERS = {
    "cluster-api": ("core", ("main.go", "core/main.go")),
    "bootstrap-kubeadm": ("core", ("bootstrap/kubeadm/main.go",)),
    "control-plane-kubeadm": ("core", ("controlplane/kubeadm/main.go",)),
    "infrastructure-docker": ("test", ("infrastructure/docker/main.go",)),
}

# Files that are read of a module beside those above: helpers that register flags, and the feature gates.
WANTED = re.compile(r"^(?:(?:[\w/]+/)?main\.go|util/flags/\w+\.go|feature/\w+\.go)$")

# fs.StringVar(&value, "name", ...), also over two lines.
VARIABLE = re.compile(r'\b(?:fs|flag|pflag|flagset|flags)\.\w+Var\(\s*&?[\w.\[\]]+,\s*"([^"]+)"')
DEPRECATED = re.compile(r'\bMarkDeprecated\(\s*"([^"]+)"')
FUNCTION = re.compile(r"^func (\w+)\([^)]*\)[^{\n]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
HELPER = re.compile(r"\bflags\.(Add\w+)\(")
# Calls that register flags of libraries: (pattern, flags that matter here).
LIBRARIES = (
    (re.compile(r"\b(?:logs\w*|klog)\.(?:AddFlags|InitFlags)\("), ("v",)),
    (re.compile(r"\bMutableGates\.AddFlag\("), ("feature-gates",)),
)
GATE = re.compile(r'\bfeaturegate\.Feature = "(\w+)"')
# Every featuregate.MutableFeatureGate has them.
COMMON_GATES = {"AllAlpha", "AllBeta"}


def _code(text):
    """The text without comments that fill a line."""
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


def _helpers(files):
    """Function of package util/flags -> its body."""
    bodies = {}
    for path, text in files.items():
        if path.startswith("util/flags/") and not path.endswith("_test.go"):
            bodies.update(FUNCTION.findall(_code(text)))
    return bodies


def flags(main, files):
    """The flags that a manager's main.go registers, each with whether it is deprecated; `files` are those of its core
    module, for the helpers."""
    bodies = _helpers(files)
    found, deprecated, open_bodies, seen = set(), set(), [_code(main)], set()
    while open_bodies:
        body = open_bodies.pop()
        found.update(VARIABLE.findall(body))
        deprecated.update(DEPRECATED.findall(body))
        for pattern, names in LIBRARIES:
            if pattern.search(body):
                found.update(names)
        for name in HELPER.findall(body) + [name for name in bodies if re.search(rf"\b{name}\(", body)]:
            if name in bodies and name not in seen:
                seen.add(name)
                open_bodies.append(bodies[name])
    return {name: name in deprecated for name in found}


def gates(files):
    """The feature gates of the core module; all four managers have them."""
    texts = [text for path, text in files.items() if path.startswith("feature/") and not path.endswith("_test.go")]
    return set().union(*(GATE.findall(_code(text)) for text in texts)) | COMMON_GATES
