#!/usr/bin/env python3
"""Run the tests of the package airy.

usage: run.py BUILD [PATTERN]    BUILD: a build folder with -Dpython=enabled; PATTERN: part of the names of tests

Prints a line for each test, and at the end: N passed, N failed, N skipped. Where NumPy or the package is missing, a line says so.
"""

import os
import sys
import tempfile
import time
import unittest


class Tap(unittest.TestResult):
    """A line for each test, as TAP has them."""

    def __init__(self):
        super().__init__()
        self.count = {"ok": 0, "not ok": 0, "skip": 0}
        self.bad = False

    def startTest(self, test):
        super().startTest(test)
        self.bad, self.why, self.began = False, "", time.monotonic()

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._fail(error, str(subtest))

    def addError(self, test, error):
        super().addError(test, error)
        self._fail(error, str(test))

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail(error, str(test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.why = reason

    def _fail(self, error, name):
        self.bad = True
        text = self._exc_info_to_string(error, unittest.TestCase())
        print("\n".join(f"# {line}" for line in [name, *text.splitlines()]))

    def stopTest(self, test):
        super().stopTest(test)
        kind = "not ok" if self.bad else "skip" if self.why else "ok"
        self.count[kind] += 1
        name = test.id().partition(".")[2]
        end = f" # skip {self.why}" if kind == "skip" else f" # {time.monotonic() - self.began:.2f} s"
        print(f"{'ok' if kind == 'skip' else kind} {self.testsRun} - {name}{end}", flush=True)


def skip(why):
    print(f"ok 1 - python # skip {why}")
    print("0 passed, 0 failed, 1 skipped")
    return 0


def all_tests(folder, pattern):
    suite = unittest.TestSuite()
    for group in unittest.defaultTestLoader.discover(folder):
        for module in group:
            suite.addTests(test for test in module if pattern in test.id()) if isinstance(module, unittest.TestSuite) else suite.addTest(module)
    return suite


def main():
    build = os.path.abspath(sys.argv[1])
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    if sys.version_info < (3, 11):
        return skip("Python 3.11 or later is needed")
    try:
        import numpy  # noqa: F401
    except ImportError:
        return skip(f"NumPy is missing for {sys.executable}: python3-numpy, or make test-python PYTHON=...")
    if not os.path.exists(os.path.join(build, "python/airy/__init__.pyi")):
        return skip("the package is not built: python3-dev is missing, or -Dpython=enabled")
    sys.path.insert(0, os.path.join(build, "python"))
    os.environ["PYTHONPATH"] = os.pathsep.join([os.path.join(build, "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ["AIRY_TEST_BUILD"] = build
    result = Tap()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["AIRY_TEST_SCRATCH"] = scratch
        all_tests(os.path.dirname(os.path.abspath(__file__)), pattern).run(result)
    passed, failed, skipped = result.count["ok"], result.count["not ok"], result.count["skip"]
    failed += not result.testsRun
    print(f"1..{result.testsRun}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
