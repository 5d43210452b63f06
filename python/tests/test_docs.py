"""The programs of docs/python.md, one after the other."""

import contextlib
import io
import os
import re
import unittest

import numpy

import airy
from common import GEOMETRY, scratch

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/python.md")
PONI = """poni_version: 2
Detector: Pilatus100k
Detector_config: {{}}
Distance: {dist}
Poni1: {poni1}
Poni2: {poni2}
Rot1: 0
Rot2: 0
Rot3: 0
Wavelength: {wavelength}
"""


class Docs(unittest.TestCase):
    def test_python(self):
        with open(PAGE, encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreater(len(blocks), 4)
        folder, before = scratch("docs"), os.getcwd()
        os.mkdir(folder)
        os.chdir(folder)
        try:
            made = airy.simulate_diffraction(output="run_master.h5", frames=6, **GEOMETRY)
            numpy.save("dark.npy", numpy.ones(made.shape[1:], numpy.float32))
            with open("lab6.poni", "w", encoding="ascii") as file:
                file.write(PONI.format(**GEOMETRY))
            names = {}
            for block in blocks:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(block, PAGE, "exec"), names)
        finally:
            os.chdir(before)


if __name__ == "__main__":
    unittest.main()
