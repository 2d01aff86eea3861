"""Which tests run: those of `make test`, and with CAPI_TEST_FULL more."""

import os

FULL = os.environ.get("CAPI_TEST_FULL")


def longer_in_full(test):
    """A test that does more in `make test-full`, which FULL tells it."""
    test.runs_in_full = True  # so tools/CMakeLists.txt has to name it (runs_test.py)
    return test


def only_full(test):
    """A test of `make test-full`. Elsewhere there is none: a skipped one would count as such."""
    return longer_in_full(test) if FULL else None
