"""Helpers of the tests of the packages and of the image."""

import time


def expect(what, found, wanted):
    assert found == wanted, f"{what}: {found!r} instead of {wanted!r}"


def wait_until(what, condition, patience=60):
    """Returns the result of `condition` once it is true."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within {patience} s")
