"""What manifests/monitoring has for Prometheus and Grafana, and the real promtool to try it with."""

import json
import os
import re
import subprocess
import tempfile

import exposition
import plan
import yaml_texts

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
FOLDER = os.path.join(ROOT, "manifests", "monitoring")
RECORDED = os.path.join(ROOT, "testdata", "metrics", "scrape.txt")
# What Prometheus adds to each series: the operator is scraped through its ServiceMonitor.
TARGET = {
    "container": "manager",
    "endpoint": "metrics",
    "instance": "192.0.2.1:8443",
    "job": "capi-operator",
    "namespace": "capi-operator-system",
    "pod": "capi-operator-controller-manager-1",
    "service": "capi-operator-metrics-service",
}
# A controller that is none of ours, whose metrics have the names of controller-runtime, too.
NEIGHBOUR = {"instance": "192.0.2.2:8443", "job": "capi-controller-manager", "namespace": "capi-system"}
GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
AGGREGATES = re.compile(r"\bby\s*\(([^)]*)\)")
MATCHED = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"")
LABEL_VALUES = re.compile(r"label_values\((\w+), (\w+)\)")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def recorded():
    return exposition.parse(read(RECORDED))


def groups():
    """The groups of rules."""
    (rule,) = yaml_texts.documents(read(FOLDER, "rules.yaml"))
    return rule["spec"]["groups"]


def alerts():
    return [rule for group in groups() for rule in group["rules"]]


def variables(dashboard, scrape):
    """What Grafana puts in for each variable that stands at All; an instant query stands in a row of time."""
    found = {"$__rate_interval": "5m"}
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = LABEL_VALUES.fullmatch(variable["query"]["query"]).groups()
            there = {labels[label] for name, labels, _ in samples(scrape) if name == metric}
            found[f"${variable['name']}"] = variable.get("allValue", "|".join(sorted(there)))
    return found


def queries():
    """[(title of the panel, query, legend)] of the dashboard, whose variables stand at All."""
    dashboard = json.loads(read(FOLDER, "capi-operator.json"))
    given = variables(dashboard, recorded())
    found = []
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"]
            for name, value in given.items():
                query = query.replace(name, value)
            found.append((panel["title"], query, target.get("legendFormat", "")))
    return found


def labels_of(query):
    """The names of labels that a query groups and matches by."""
    grouped = re.findall(r"\w+", " ".join(GROUPING.findall(query)))
    return set(grouped) | set(MATCHED.findall(query))


def names_of(legend):
    return set(re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", legend))


def unknown_labels(query, legend, scrape):
    """Labels that nothing scraped has, and those of the legend that the query doesn't give."""
    known = {"le", *TARGET, *(name for _, labels in scrape.shape.values() for name in labels)}
    given = set(re.findall(r"\w+", " ".join(AGGREGATES.findall(query)))) or known
    return (labels_of(query) - known) | (names_of(legend) - given)


def promtool(*arguments, given=None):
    """promtool, run to its end."""
    (path,) = plan.have(["promtool"])
    return subprocess.run([path, *arguments], input=given, capture_output=True, text=True, check=False, timeout=120)


def values(name, value, scrape):
    """Of a sample, for an hour: a gauge stays as it is, and everything else rises, or its rates would be 0 and NaN. The more a
    bucket holds, the faster it rises: the buckets of a histogram stay in order."""
    kind, _ = scrape.shape.get(exposition.family(name, scrape.shape), ("gauge", ()))
    return f"{value!r}x120" if kind == "gauge" else f"{value!r}+{1 + value!r}x120"


def samples(scrape, neighbour=True):
    """[(name, labels, value)] as Prometheus has them, with those of a neighbour: it is down, and all of its values are higher."""
    found = [(name, TARGET | labels, value) for name, labels, value in (("up", {}, 1.0), *scrape.samples)]
    if neighbour:
        found.append(("up", NEIGHBOUR, 0.0))
        shared = [sample for sample in scrape.samples if not sample[0].startswith("capi_operator_")]
        found += [(name, NEIGHBOUR | labels, 3 * value + 7) for name, labels, value in shared]
    return found


def as_scraped(scrape, neighbour=True):
    """The samples as series of Prometheus."""
    found = samples(scrape, neighbour)
    return [{"series": exposition.series(name, labels), "values": values(name, value, scrape)} for name, labels, value in found]


def run_tests(tests, rules=None):
    """`promtool test rules`, with these groups of rules."""
    with tempfile.TemporaryDirectory(prefix="promtool-") as folder:
        written = {"rules.json": {"groups": rules or []}, "tests.json": {"rule_files": ["rules.json"], "tests": tests}}
        for name, content in written.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(content, file)
        return promtool("test", "rules", os.path.join(folder, "tests.json"))


def without_an_answer(found, scrape):
    """What promtool says of the queries that give no number from what was scraped, or are none; "" where each gives one.
    What stands in for no answer is none, and NaN is greater than nothing."""
    asked = [f"count(({query.removesuffix(' or vector(0)')}) > -Inf) > bool 0" for _, query, _ in found]
    return differing({query: 1 for query in asked}, scrape)


def differing(expected, scrape):
    """What promtool says of queries ({query: its one value, without labels}) that give something else; "" where none does."""
    done = ask(expected, "{}", as_scraped(scrape))
    return done.stdout + done.stderr if done.returncode != 0 else ""


def ask(expected, labels, series):
    """promtool, after each query ({query: value}) was to give the one value with these labels, of these series."""
    cases = [{"expr": query, "eval_time": "30m", "exp_samples": [{"labels": labels, "value": value}]} for query, value in expected.items()]
    return run_tests([{"interval": "30s", "input_series": series, "promql_expr_test": cases}])


def answers(found, scrape, neighbour):
    """{query: what it gives, in promtool's words}. It says so of what isn't as expected alone: so labels are that nothing has."""
    done = ask(dict.fromkeys(found, 0), '{nobody="has it"}', as_scraped(scrape, neighbour))
    given = [line.partition("got:")[2].strip() for line in done.stdout.splitlines() + done.stderr.splitlines() if "got:" in line]
    return dict(zip(dict.fromkeys(found), given, strict=True))
