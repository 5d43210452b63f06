"""What several tests need: a stack, an image, the command."""

import functools
import os
import subprocess

import numpy

import airy

BUILD = os.environ["AIRY_TEST_BUILD"]
SCRATCH = os.environ["AIRY_TEST_SCRATCH"]
COMMAND = os.path.join(BUILD, "tools/airy/airy")
GEOMETRY = {"detector": "Pilatus100k", "dist": 0.1, "poni1": 0.02, "poni2": 0.03, "wavelength": 1e-10}
FRAMES = 12


def scratch(name):
    return os.path.join(SCRATCH, name)


@functools.cache
def stack_file():
    path = scratch("stack.h5")
    airy.simulate_diffraction(output=path, frames=FRAMES, **GEOMETRY)
    return path


@functools.cache
def stack_array():
    return airy.simulate_diffraction(frames=FRAMES, **GEOMETRY).stack


@functools.cache
def sky():
    return airy.simulate_sky(width=256, height=200, sources=20).image


def command(*args):
    return subprocess.run([COMMAND, *args], check=True, capture_output=True, text=True)


def equal(test, a, b):
    """The same bits, NaN included."""
    a, b = numpy.asarray(a), numpy.asarray(b)
    test.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
    test.assertEqual(numpy.ascontiguousarray(a).tobytes(), numpy.ascontiguousarray(b).tobytes())
