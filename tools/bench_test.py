#!/usr/bin/env python3
"""Tests of what tools/bench makes of its measurements."""

import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(TOOLS, folder) for folder in ("bench.d", "assets.d")]

import figures  # noqa: E402
import plot  # noqa: E402
import render  # noqa: E402


class Figures(unittest.TestCase):
    def test_a_cell_has_the_median_and_the_spread(self):
        self.assertEqual(figures.cell([3.0, 1.0, 2.25], "ms"), "2.2 ms (1.0 to 3.0)")
        self.assertEqual(figures.cell([3, 1, 2], ""), "2 (1 to 3)")

    def test_ratios_are_the_first_to_the_second(self):
        self.assertEqual(figures.ratios([1, 5], [10, 2]), ["0.10", "2.50"])

    def test_a_process_is_measured(self):
        wall, cpu = figures.times_ms(["/bin/sh", "-c", "exit 0"], {})
        self.assertGreater(wall, 0)
        self.assertLess(cpu, 1000)
        self.assertGreater(figures.peak_mb(["/bin/sh", "-c", "exit 0"], {}), 0.1)

    def test_a_program_that_fails_ends_the_measurement(self):
        for measure in (figures.times_ms, figures.peak_mb):
            with self.subTest(measure=measure.__name__), self.assertRaisesRegex(RuntimeError, "ended with 3"):
                measure(["/bin/sh", "-c", "exit 3"], {})


class Fit(unittest.TestCase):
    def test_finds_a_line(self):
        base, slope, worst = render.fit([(x, 0.5 + 3 * x) for x in (0.01, 1, 50)])
        self.assertAlmostEqual(base, 0.5)
        self.assertAlmostEqual(slope, 3)
        self.assertAlmostEqual(worst, 0)

    def test_says_how_far_a_parabola_is_from_it(self):
        _, _, worst = render.fit([(x, x * x) for x in (1, 2, 4, 8, 16)])
        self.assertGreater(worst, 0.3)


class Picture(unittest.TestCase):
    def test_is_a_picture_with_every_point(self):
        drawn = plot.Plot("a < b", "MB", "ms", "note")
        drawn.add("measured", [(0.01, 0.4), (1.0, 12.0), (50.0, 700.0)])
        drawn.add_line("line", lambda x: 0.3 + 14 * x)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plot.svg")
            drawn.write(path)
            root = xml.etree.ElementTree.parse(path).getroot()
        circles = root.findall("{http://www.w3.org/2000/svg}circle")
        self.assertEqual(len(circles), 3)
        heights = [float(circle.get("cy")) for circle in circles]
        self.assertEqual(heights, sorted(heights, reverse=True))  # more is higher
        self.assertIn("a < b", [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")])


class Command(unittest.TestCase):
    def test_an_unknown_part_is_refused(self):
        done = subprocess.run([os.path.join(TOOLS, "bench"), "nothing"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no part is called nothing", done.stderr)


if __name__ == "__main__":
    unittest.main()
