"""Prometheus' text format, as far as the operator writes it."""

import collections
import re
import ssl
import urllib.error
import urllib.request

# shape: {family: (type, names of labels)}, without le; samples: [(name, labels, value)] in order.
Scrape = collections.namedtuple("Scrape", "shape samples")
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def scrape(url, token=None, verify=False, put=None):
    """(status, text) of what is served there, or answered to what is put there."""
    context = ssl.create_default_context() if verify else ssl._create_unverified_context()
    request = urllib.request.Request(url, data=put, method="PUT" if put else "GET")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def family(name, families):
    """That of a sample: those of a histogram have names of their own."""
    return name if name in families else re.sub(r"_(bucket|sum|count)$", "", name)


def parse(text):
    """A scrape; a line that is none of the format is a ValueError."""
    types, shape, samples = {}, {}, []
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            types[name] = kind
        elif line and not line.startswith("#"):
            if (match := SAMPLE.match(line)) is None:
                raise ValueError(line)
            labels = dict(LABEL.findall(match[2] or ""))
            samples.append((match[1], labels, float(match[3])))
            name = family(match[1], types)
            names = tuple(sorted(set(labels) - {"le"}))
            if shape.setdefault(name, (types[name], names)) != (types[name], names):
                raise ValueError(f"{name} has other labels in {line}")
    return Scrape(shape, samples)


def series(name, labels):
    """As PromQL has it."""
    return name + "{" + ",".join(f'{key}="{value}"' for key, value in sorted(labels.items())) + "}"


def parse_series(names):
    """[(name, labels)] of series as PromQL has them."""
    found = [re.match(r"(\w+)\{(.*)\}$", text) for text in names]
    return [(match[1], dict(LABEL.findall(match[2]))) for match in found]
