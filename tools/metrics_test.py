#!/usr/bin/env python3
"""Tests of what people see of the metrics: the alerts and the dashboard of manifests/monitoring, and docs/metrics.md, by the
real promtool and a recorded scrape. tools/metrics_e2e_test.py records it, and sees that the operator still gives it."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("run.d", "assets.d", "testing.d", "chart.d")]

import alert_cases  # noqa: E402
import exposition  # noqa: E402
import monitoring  # noqa: E402
import pages  # noqa: E402
import yaml_texts  # noqa: E402

PAGE = monitoring.read(monitoring.ROOT, "docs", "metrics.md")
SCRAPE = monitoring.recorded()
RULES = monitoring.alerts()
WORDS = re.compile(r"\$labels\.(\w+)")


class Scrape(unittest.TestCase):
    def test_promtool_finds_nothing_wrong(self):
        done = monitoring.promtool("check", "metrics", given=monitoring.read(monitoring.RECORDED))
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_the_page_has_each_metric_with_its_type_and_labels(self):
        rows = re.findall(r"^\| `(\w+)` \| (\w+) \|(.*?)\| \S", PAGE, re.MULTILINE)
        told = {name: (kind, tuple(sorted(re.findall(r"`(\w+)`", labels)))) for name, kind, labels in rows}
        self.assertEqual(len(told), len(rows), "a metric stands there twice")
        self.assertEqual(told, SCRAPE.shape)

    def test_prometheus_takes_the_configuration_of_the_page(self):
        (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        (job,) = yaml_texts.documents(text)[0]["scrape_configs"]
        # What the rules look for, and what keeps the namespace of a provider.
        self.assertEqual((job["job_name"], job["honor_labels"]), (monitoring.TARGET["job"], True))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            done = monitoring.promtool("check", "config", "--syntax-only", file.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class ProvidersThatAreBehind(unittest.TestCase):
    def test_the_query_of_the_page_finds_them(self):
        (query,) = re.findall(r"^```\n(capi_operator_provider_info\{latest.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        name = "capi_operator_provider_info"

        def provider(name, version, latest):
            return {"kind": "InfrastructureProvider", "name": name, "namespace": "n", "version": version, "contract": "v1beta1", "latest": latest}

        found = [provider("behind", "v1.0.0", "v1.1.0"), provider("newest", "v1.1.0", "v1.1.0"), provider("unknown", "v1.0.0", "")]
        series = [{"series": exposition.series(name, labels), "values": "1x60"} for labels in found]
        expected = [{"labels": exposition.series(name, found[0]), "value": 1}]
        case = {"expr": query, "eval_time": "30m", "exp_samples": expected}
        done = monitoring.run_tests([{"interval": "30s", "input_series": series, "promql_expr_test": [case]}])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class LookAtThemYourself(unittest.TestCase):
    """The page's commands, with stand-ins: a forward that lasts until it is ended, and a curl that says what it is given.

    The reader's shell has another job before: a coprocess, which answers at the end if it is still there."""

    PROGRAMS = {
        "kubectl": 'case $1 in create) echo secret ;; port-forward) exec tail -f /dev/null ;; esac',
        "curl": 'printf "argument: %s\\n" "$@"; sed "s/^/input: /"',
    }
    BEFORE = "coproc cat\n"
    AFTER = 'echo "the other job lives" >&${COPROC[1]}; read -r word <&${COPROC[0]}; echo "$word"\n'

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="metrics-test-")
        self.addCleanup(folder.cleanup)
        self.programs, self.home = (os.path.join(folder.name, name) for name in ("bin", "home"))
        os.mkdir(self.home)
        os.mkdir(self.programs)
        for name, body in self.PROGRAMS.items():
            path = os.path.join(self.programs, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{body}\n")
            os.chmod(path, 0o755)

    def test_nobody_reads_the_token_and_the_forward_alone_ends(self):
        """The token stayed behind in a file, and then stood among curl's arguments: everybody could read either. The forward ran
        on, and then another job of the reader's ended in its place."""
        for heading in ("Have Prometheus scrape them", "Hear more for a while"):
            with self.subTest(heading):
                self.run_last_block(heading)

    def run_last_block(self, heading):
        (*_, block) = pages.blocks(heading, "docs/metrics.md")
        environment = dict(os.environ, HOME=self.home, PATH=self.programs + os.pathsep + os.environ["PATH"])
        shell = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", self.BEFORE + block + self.AFTER],
            cwd=self.home, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )
        try:
            asked, _ = shell.communicate(timeout=60)  # ends with the last that writes there: the forward, too
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.communicate()
            self.fail("the forward runs on")
        self.assertEqual((shell.returncode, os.listdir(self.home)), (0, []))
        lines = asked.splitlines()
        self.assertEqual([line for line in lines if "secret" in line], ["input: Authorization: Bearer secret"])
        self.assertIn("argument: --header\nargument: @-\n", asked)
        self.assertIn("argument: --retry-connrefused", lines, "the forward needs a moment")
        self.assertEqual(lines[-1], "the other job lives")


class Alerts(unittest.TestCase):
    def test_promtool_finds_nothing_wrong(self):
        given = json.dumps({"groups": monitoring.groups()})
        done = monitoring.promtool("check", "rules", "--lint=all", "--lint-fatal", given=given)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_fires_when_it_should_and_not_otherwise(self):
        tests = [self.as_test(case) for case in alert_cases.CASES]
        done = monitoring.run_tests(tests, monitoring.groups())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        fired = {name for case in alert_cases.CASES for name in case.fires}
        self.assertEqual(fired, {rule["alert"] for rule in RULES})

    @staticmethod
    def as_test(case):
        own = {rule["alert"]: rule["labels"] | {"alertname": rule["alert"], "alertstate": "firing"} for rule in RULES}
        firing = [{"labels": exposition.series("ALERTS", labels | own[name]), "value": 1} for name, labels in case.fires.items()]
        series = [{"series": name, "values": values} for name, values in (alert_cases.HEALTHY | case.world).items()]
        asked = {"expr": 'ALERTS{alertstate="firing"}', "eval_time": f"{case.minute}m", "exp_samples": firing}
        return {"name": case.why, "interval": "1m", "input_series": series, "promql_expr_test": [asked]}

    def test_the_worlds_have_no_series_that_the_operator_does_not_give(self):
        """Else an alert on a misspelt metric would fire there, and nowhere else."""
        for case in alert_cases.CASES:
            for name, labels in exposition.parse_series(alert_cases.HEALTHY | case.world):
                if name == "up":
                    continue
                with self.subTest(case.why, name=name):
                    _, known = SCRAPE.shape[name]
                    own = set(labels) - (set(monitoring.TARGET) - set(known))
                    self.assertEqual(own, set(known))

    def test_their_words_name_labels_that_they_have(self):
        labels = {name: found for case in alert_cases.CASES for name, found in case.fires.items()}
        for rule in RULES:
            with self.subTest(rule["alert"]):
                self.assertEqual(set(rule["annotations"]), {"summary", "description", "runbook"})
                self.assertLessEqual(set(WORDS.findall(json.dumps(rule["annotations"]))), set(labels[rule["alert"]]))

    def test_the_page_says_what_to_do_for_each(self):
        headings = {heading.lower(): heading for heading in re.findall(r"^### (Capi\w+)$", PAGE, re.MULTILINE)}
        rules = {rule["alert"]: rule for rule in RULES}
        self.assertEqual(list(headings.values()), list(rules))
        for heading, name in headings.items():
            self.assertEqual(rules[name]["annotations"]["runbook"], f"docs/metrics.md#{heading}")
            self.assertRegex(PAGE, rf"(?m)^### {name}\n\n.*\b{rules[name]['labels']['severity']}\b")

    # World, alert, and the texts that a person reads.
    TEXTS = (
        ("it waits for long", "CapiProviderNotReady", "CoreProvider capi-system/cluster-api has not been Ready for 15 minutes."),
        ("one request of six has no answer", "CapiOperatorApiRequestsFail", "16.67% of the operator's requests to the API server fail."),
        ("six days are left", "CapiOperatorWebhookCertificateExpires", "The webhooks' certificate of capi-operator expires in 5d 22h 0m 0s."),
        ("it has ended", "CapiOperatorWebhookCertificateExpires", "The webhooks' certificate of capi-operator has expired."),
        ("there is no certificate", "CapiOperatorWebhookCertificateExpires", "The webhooks of capi-operator have no certificate."),
        (
            "one of two replicas doesn't come up",
            "CapiOperatorReplicaDown",
            "The operator in pod capi-operator-controller-manager-1 has not answered for 15 minutes.",
        ),
        (
            "it restarts again and again",
            "CapiOperatorRestarts",
            "The operator in pod capi-operator-controller-manager-1 restarted 4 times within an hour.",
        ),
    )

    def test_what_a_person_reads(self):
        cases = {case.why: case for case in alert_cases.CASES}
        rules = {rule["alert"]: rule for rule in RULES}
        tests = []
        for why, name, summary in self.TEXTS:
            test = self.as_test(cases[why])
            annotations = rules[name]["annotations"] | {"summary": summary}
            alert = {"exp_labels": cases[why].fires[name] | rules[name]["labels"], "exp_annotations": annotations}
            del test["promql_expr_test"]
            test["alert_rule_test"] = [{"eval_time": f"{cases[why].minute}m", "alertname": name, "exp_alerts": [alert]}]
            tests.append(test)
        done = monitoring.run_tests(tests, monitoring.groups())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Dashboard(unittest.TestCase):
    def test_each_query_has_an_answer_in_what_was_scraped(self):
        queries = monitoring.queries()
        self.assertGreater(len(queries), 30)
        self.assertEqual(monitoring.without_an_answer(queries, SCRAPE), "")

    def test_labels_that_nobody_has_are_found(self):
        for title, query, legend in monitoring.queries():
            with self.subTest(title, query=query):
                self.assertEqual(monitoring.unknown_labels(query, legend, SCRAPE), set())

    def test_what_is_misspelt_is_found(self):
        query = 'sum by (phase) (rate(capi_operator_provider_phase_duration_seconds_count{kind=~".*"}[5m]))'
        cases = {
            query: ("{{phase}}", True, set()),
            query.replace("(phase)", "(phrase)"): ("{{phase}}", True, {"phrase", "phase"}),
            query.replace("{kind", "{kinds"): ("", True, {"kinds"}),
            query.replace("{kind=", "{phase=\"x\",kind="): ("", False, set()),
            query.replace("_count", "_counts"): ("", False, set()),
            query.replace("sum", "sums"): ("", False, set()),
            query.replace("_count", "_counts") + " or vector(0)": ("", False, set()),
            f"0 * {query} / (0 * {query})": ("", False, set()),  # NaN
        }
        for broken, (legend, answered, unknown) in cases.items():
            with self.subTest(broken):
                self.assertEqual(monitoring.without_an_answer([("", broken, legend)], SCRAPE) == "", answered)
                self.assertEqual(monitoring.unknown_labels(broken, legend, SCRAPE), unknown)

    # What it shows of the operator by names that others use, too.
    SHOWN = {"Replicas that lead": 1, "Replicas away": 0}

    def test_all_jobs_are_the_operators(self):
        """Any controller has the names of controller-runtime, and any target `up`: with All, the panels summed up those of all."""
        queries = [query for _, query, _ in monitoring.queries()]
        alone, beside = (monitoring.answers(queries, SCRAPE, neighbour) for neighbour in (False, True))
        self.assertEqual(beside, alone)
        panels = dict((title, query) for title, query, _ in reversed(monitoring.queries()))
        shown = {panels[title]: value for title, value in self.SHOWN.items()}
        self.assertEqual(monitoring.differing(shown, SCRAPE), "")

    def test_a_panel_of_all_jobs_is_found(self):
        """Each query of what a neighbour has too gives something else without its job."""
        shared = {name for name in SCRAPE.shape if not name.startswith("capi_operator_")} | {"up"}
        pattern = re.compile(rf"\b(?:{'|'.join(shared)})(?:_bucket|_sum|_count)?\{{")
        found = {query: re.sub(r'job=~"[^"]*",? ?', "", query) for _, query, _ in monitoring.queries() if pattern.search(query)}
        self.assertGreater(len(found), 10)
        alone, beside = (monitoring.answers(found.values(), SCRAPE, neighbour) for neighbour in (False, True))
        self.assertEqual([query for query, without in found.items() if alone[without] == beside[without]], [])

    def test_each_metric_is_on_it(self):
        """What nobody looks at needn't be measured; these few are for other questions."""
        asked = " ".join(query for _, query, _ in monitoring.queries())
        left = {name for name in SCRAPE.shape if not re.search(rf"\b{name}(_bucket|_sum|_count)?\b", asked)}
        self.assertEqual(left, {"process_max_fds", "process_virtual_memory_bytes"})

    def test_panels_have_ids_and_places_of_their_own(self):
        panels = json.loads(monitoring.read(monitoring.FOLDER, "capi-operator.json"))["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        cells = set()
        for panel in panels:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            taken = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            cells |= taken


if __name__ == "__main__":
    unittest.main()
