#!/usr/bin/env python3
"""Tests of how tools/manager_flags reads Go sources and writes its table. That the committed table is what the pinned sources
give is the full run's to see: `tools/manager_flags`."""

import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, "manager_flags.d"), os.path.join(TOOLS, "assets.d")]

import goflags  # noqa: E402
import modules  # noqa: E402
import table  # noqa: E402

MAIN = """
func InitFlags(fs *pflag.FlagSet) {
	logsv1.AddFlags(logOptions, fs)

	fs.StringVar(&metricsBindAddr, "metrics-bind-addr", "localhost:8080",
		"The address.")
	_ = fs.MarkDeprecated("metrics-bind-addr", "gone soon")
	fs.DurationVar(
		&renew, "renew", 1,
		"Or \\"fs.StringVar(&x, y)\\"")
	// fs.StringVar(&never, "never", "", "")
	flags.AddManagerOptions(fs, &managerOptions)
	feature.MutableGates.AddFlag(fs)
}
"""

HELPERS = """
// AddManagerOptions adds fs.StringVar(&no, "no", "").
func AddManagerOptions(fs *pflag.FlagSet, options *ManagerOptions) {
	AddDiagnostics(fs, options)
	fs.StringSliceVar(&options.Suites, "tls-cipher-suites", []string{}, "x")
}

func AddDiagnostics(fs *pflag.FlagSet, options *ManagerOptions) {
	fs.StringVar(&options.Address, "diagnostics-address", ":8443", "x")
}

func AddOther(fs *pflag.FlagSet) {
	fs.StringVar(&other, "other", "", "x")
}
"""

GATES = 'const (\n\t// A featuregate.Feature = "Commented"\n\tRuntimeSDK featuregate.Feature = "RuntimeSDK"\n)\n'


def core(main):
    managers = {path: main for module, paths in goflags.MANAGERS.values() for path in paths[-1:] if module == "core"}
    return managers | {"util/flags/manager.go": HELPERS, "feature/feature.go": GATES}


def main_with(*names):
    return "".join(f'fs.IntVar(&x, "{name}", 1, "")\n' for name in names)


class GoFlags(unittest.TestCase):
    def test_flags_are_those_that_the_sources_register(self):
        wanted = {"v", "metrics-bind-addr", "renew", "tls-cipher-suites", "diagnostics-address", "feature-gates"}
        found = goflags.flags(MAIN, core(MAIN))
        self.assertEqual(set(found), wanted)
        self.assertEqual([name for name, deprecated in found.items() if deprecated], ["metrics-bind-addr"])

    def test_gates_are_those_of_the_package_and_of_its_library(self):
        self.assertEqual(goflags.gates(core(MAIN)), {"RuntimeSDK", "AllAlpha", "AllBeta"})


class Table(unittest.TestCase):
    def rows(self, versions):
        reading = table.Reading()
        for version, names in versions.items():
            reading.add(version, core(main_with(*names)), None)
        return re.findall(r'\{"cluster-api", ("?.*)\},', table.text(reading))

    def test_a_flag_has_a_row_for_each_run_of_series_that_have_it(self):
        rows = self.rows({"v1.1.0": ["a", "b"], "v1.1.5": ["a", "b"], "v1.2.0": ["a"], "v1.10.3": ["a", "b"]})
        self.assertEqual(
            rows,
            [
                "1, 1, 0, 5",
                "1, 2, 0, 0",
                "1, 10, 3, 3",
                '"a", false, {1, 1}, {1, 10}',
                '"b", false, {1, 1}, {1, 1}',
                '"b", false, {1, 10}, {1, 10}',
            ],
        )

    def test_flags_that_nobody_asks_for_are_left_out_and_a_manager_that_moved_is_an_error(self):
        reading = table.Reading(lambda name: name == "a")
        reading.add("v1.1.0", core(main_with("a", "b")), None)
        self.assertEqual(reading.of["cluster-api", "v1.1.0"], {"a": False})
        with self.assertRaisesRegex(ValueError, "none of main.go, core/main.go is there"):
            reading.add("v1.2.0", {"elsewhere/main.go": ""}, None)

    def test_versions_of_a_series_that_differ_are_no_range(self):
        with self.assertRaisesRegex(ValueError, r"cluster-api v1\.1: patch versions 0 and 5 differ in .*'b'"):
            self.rows({"v1.1.0": ["a"], "v1.1.5": ["a", "b"]})


class Pins(unittest.TestCase):
    def test_every_version_is_pinned_once_and_read_with_its_core(self):
        pinned = modules.pins()
        self.assertEqual(len(pinned), len({(module, version) for module, version, _ in pinned}))
        cores = {version for module, version, _ in pinned if module == "core"}
        for module, version, expected in pinned:
            self.assertIn(module, modules.PATHS)
            self.assertIn(version, cores)
            self.assertRegex(expected, r"^h1:[A-Za-z0-9+/]{43}=$")

    def test_the_table_has_every_pinned_series(self):
        with open(os.path.join(os.path.dirname(TOOLS), "templating", "customise", "known_managers.inc"), encoding="utf-8") as file:
            text = file.read()
        for module, version, _ in modules.pins():
            major, minor, _ = table.parse(version)
            label = "cluster-api" if module == "core" else "infrastructure-docker"
            self.assertIn(f'{{"{label}", {major}, {minor}, ', text)


if __name__ == "__main__":
    unittest.main()
