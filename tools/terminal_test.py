#!/usr/bin/env python3
"""Tests of who has the terminal while `make run` runs, and afterwards: on a terminal of the test's own."""

import os
import pty
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = os.path.dirname(os.path.realpath(__file__))

# Stands for the program above, as make: the terminal's foreground, which starts another and waits for it.
ABOVE = """
import os, signal, subprocess, sys
signal.signal(signal.SIGINT, lambda *_: print("above: interrupted", flush=True))
device = os.open("/dev/tty", os.O_RDWR)
subprocess.run([sys.executable, "-c", sys.argv[1]], process_group=0 if sys.argv[2] == "background" else None)
print("above: has it" if os.tcgetpgrp(device) == os.getpgrp() else "above: has lost it", flush=True)
"""
# What is started, with what it does while it is alone.
BELOW = """
import os, sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, {run!r})
import terminal
device = os.open("/dev/tty", os.O_RDWR)
try:
    with terminal.alone():
        print("below: has it" if os.tcgetpgrp(device) == os.getpgrp() else "below: hasn't it", flush=True)
        {work}
except KeyboardInterrupt:
    print("below: interrupted", flush=True)
"""


class Terminal(unittest.TestCase):
    def run_on_terminal(self, work, where="foreground"):
        """Each line that was written to it. Ctrl-C is pressed once "waits" is."""
        below = BELOW.format(run=os.path.join(TOOLS, "run.d"), work=work)
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        # A process without one gets the terminal that it opens first.
        begin = "import os, sys\nos.setsid()\nos.close(os.open(os.ttyname(0), os.O_RDWR))\nos.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
        command = [sys.executable, "-c", begin, "-c", ABOVE, below, where]
        child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave)
        self.addCleanup(child.wait)
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # the last one has closed it
                break
            text += part
            if text.endswith(b"waits\r\n"):  # what isn't read yet is dropped
                os.write(master, b"\x03")
        self.assertEqual(child.wait(), 0, text)
        return [line for line in text.decode().replace("^C", "").split("\r\n") if line]

    def test_it_is_given_back(self):
        self.assertEqual(self.run_on_terminal("pass"), ["below: has it", "above: has it"])

    def test_its_ctrl_c_is_for_who_has_it(self):
        """The program above would end without waiting for what it started, or tell an error. The wait has an end: a signal
        may come before it begins, or not at all."""
        told = self.run_on_terminal('print("waits", flush=True); [time.sleep(0.01) for _ in range(2000)]')
        self.assertEqual(told, ["below: has it", "waits", "below: interrupted", "above: has it"])

    def test_it_is_left_to_who_took_it_meanwhile(self):
        told = self.run_on_terminal("os.tcsetpgrp(device, os.getpgid(os.getppid()))")
        self.assertEqual(told, ["below: has it", "above: has it"])

    def test_in_the_background_nothing_is_taken(self):
        self.assertEqual(self.run_on_terminal("pass", "background"), ["below: hasn't it", "above: has it"])


if __name__ == "__main__":
    unittest.main()
