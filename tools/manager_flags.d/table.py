"""The table of flags as C++ initialisers: by series of versions, a row for each run of series that have a flag."""

import re

import goflags

HEADER = """// Made by `tools/manager_flags --write` from the sources of the versions in tools/manager_flags.d/modules.txt.

// {manager, series, first and last patch version whose sources were read and agree}, ascending for each manager.
constexpr VerifiedSeries kVerified[] = {
"""
GATES = "gates"


def parse(version):
    return tuple(int(part) for part in re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", version).groups())


class Reading:
    """What was read of each manager at each version: {name: deprecated}; gates are one more "manager"."""

    def __init__(self, wanted=lambda name: True):
        self.wanted = wanted
        self.of = {}  # (label, version) -> {name: deprecated}

    def add(self, version, core, test):
        """`core` and `test`: path -> text of a module's files; `test` is None where that version has none."""
        for label, (module, paths) in goflags.MANAGERS.items():
            files = core if module == "core" else test
            if files is None:
                continue
            main = next((files[path] for path in paths if path in files), None)
            if main is None:
                raise ValueError(f"{label} {version}: none of {', '.join(paths)} is there")
            read = goflags.flags(main, core)
            self.of[label, version] = {name: gone for name, gone in read.items() if self.wanted(name)}
        self.of[GATES, version] = {name: False for name in goflags.gates(core)}


def _series(reading, label):
    """(major, minor) -> (first patch, last patch, {name: deprecated}). Fails where two versions of a series differ."""
    out = {}
    versions = sorted((parse(v), names) for (owner, v), names in reading.of.items() if owner == label)
    for (major, minor, patch), names in versions:
        first, _, before = out.get((major, minor), (patch, patch, names))
        if before != names:
            differing = sorted(set(before.items()) ^ set(names.items()))
            raise ValueError(f"{label} v{major}.{minor}: patch versions {first} and {patch} differ in {differing}")
        out[major, minor] = (first, patch, names)
    return out


def _runs(series):
    """(name, deprecated, first series, last series) for each run of neighbouring series that have it."""
    order = sorted(series)
    runs = []
    for entry in sorted({item for key in order for item in series[key][2].items()}):
        begin = None
        for at, key in enumerate(order + [None]):
            has = key is not None and entry in series[key][2].items()
            if has and begin is None:
                begin = key
            elif not has and begin is not None:
                runs.append((*entry, begin, order[at - 1]))
                begin = None
    return runs


def text(reading):
    labels = [*goflags.MANAGERS, GATES]
    series = {label: _series(reading, label) for label in labels}
    lines = [HEADER]
    for label in goflags.MANAGERS:
        for (major, minor), (first, last, _) in sorted(series[label].items()):
            lines.append(f'    {{"{label}", {major}, {minor}, {first}, {last}}},\n')
    lines.append("};\n\n// {manager, flag or feature gate, deprecated, first and last series that have it}.\n")
    lines.append("constexpr FlagRow kFlags[] = {\n")
    for label in labels:
        for name, deprecated, begin, end in _runs(series[label]):
            said = "true" if deprecated else "false"
            lines.append(f'    {{"{label}", "{name}", {said}, {{{begin[0]}, {begin[1]}}}, {{{end[0]}, {end[1]}}}}},\n')
    lines.append("};\n")
    return "".join(lines)
