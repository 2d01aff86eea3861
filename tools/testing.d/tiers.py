"""Which tests run: those of `make test`, and with CAPI_TEST_FULL more."""

import os

FULL = os.environ.get("CAPI_TEST_FULL")


def only_full(test):
    """A test of `make test-full`. Elsewhere there is none: a skipped one would count as such."""
    return test if FULL else None
