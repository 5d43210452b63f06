"""The stubs are those of the jobs, and Python reads them."""

import ast
import inspect
import os
import sys
import unittest

import airy
from airy import _jobs
from common import BUILD

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import stubs  # noqa: E402


class Stubs(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(BUILD, "python/airy/__init__.pyi"), encoding="utf-8") as file:
            self.text = file.read()

    def test_same(self):
        self.assertEqual(self.text, stubs.stubs())

    def test_complete(self):
        tree = ast.parse(self.text)
        found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        for name, function in _jobs.functions.items():
            names = [argument.arg for argument in found[name].args.args + found[name].args.kwonlyargs]
            self.assertEqual(names, list(inspect.signature(function).parameters))
        defined = set(found) | {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        defined |= {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        self.assertLessEqual(set(airy.__all__), defined)

    def test_typed(self):
        self.assertTrue(os.path.exists(os.path.join(BUILD, "python/airy/py.typed")))


if __name__ == "__main__":
    unittest.main()
