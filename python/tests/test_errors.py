"""Bad input: each an exception of the right class with a sentence, never a crash."""

import io
import logging
import os
import pathlib
import pickle
import unittest

import numpy

import airy
from common import FRAMES, GEOMETRY, equal, scratch, sky, stack_array, stack_file


def blur(array, **more):
    return airy.blur(array, sigma=1.5, device="cpu", **more)


class Arrays(unittest.TestCase):
    """Arrays that are not as the library has them."""

    def refused(self, array, sentence, kind=ValueError):
        with self.assertRaises(kind) as caught:
            blur(array)
        self.assertIn(sentence, str(caught.exception))
        self.assertIn("image", str(caught.exception))

    def test_bool(self):
        self.refused(sky() > 0, "bool")

    def test_float16(self):
        self.refused(sky().astype(numpy.float16), "float16")

    def test_big_endian(self):
        self.refused(sky().astype(">f4"), "big-endian")

    def test_complex(self):
        self.refused(sky().astype(complex), "complex")

    def test_long_double(self):
        self.refused(sky().astype(numpy.longdouble), "64 bits")

    def test_objects(self):
        self.refused(sky().astype(object), "objects")

    def test_records(self):
        self.refused(numpy.zeros(5, [("a", "f4"), ("b", "i4")]), "elements of format")

    def test_dates(self):
        self.refused(numpy.zeros((5, 5), "M8[s]"), "no array of numbers")

    def test_texts(self):
        self.refused(numpy.zeros((5, 5), "U3"), "elements of format")

    def test_zero_size(self):
        self.refused(numpy.zeros((0, 5), "f4"), "0")

    def test_no_axes(self):
        self.refused(numpy.float32(3), "axes")

    def test_five_axes(self):
        self.refused(numpy.zeros((1, 1, 1, 2, 2), "f4"), "axes")

    def test_one_axis(self):
        with self.assertRaises(ValueError):
            airy.integrate(numpy.zeros(5, "f4"), device="cpu", **GEOMETRY)

    def test_shapes_that_do_not_fit(self):
        with self.assertRaises(ValueError):
            airy.integrate(stack_array(), dark=numpy.zeros((3, 3), "f4"), device="cpu", **GEOMETRY)

    def test_no_array(self):
        self.refused(object(), "object is not a path or an array", TypeError)
        self.refused(3.5, "float is not", TypeError)
        self.refused({1: 2}, "dict is not", TypeError)

    def test_file_object(self):
        with open(stack_file(), "rb") as file:
            self.refused(file, "give its name", TypeError)
        self.refused(io.BytesIO(), "give its name", TypeError)

    def test_array_where_none_is_taken(self):
        with self.assertRaisesRegex(TypeError, "poni: ndarray is not a path"):
            airy.integrate(stack_file(), poni=sky())

    def test_gpu_array(self):
        fake = type("Fake", (), {"__cuda_array_interface__": {}})()
        self.refused(fake, "GPU", NotImplementedError)

    def test_views(self):
        """Read-only, negative strides, Fortran order, one in two, misaligned: the same numbers."""
        plain = blur(numpy.ascontiguousarray(sky()[::-1, ::2])).image
        equal(self, blur(sky()[::-1, ::2]).image, plain)
        equal(self, blur(numpy.asfortranarray(sky()[::-1, ::2])).image, plain)
        still = numpy.ascontiguousarray(sky()[::-1, ::2])
        still.flags.writeable = False
        before = still.copy()
        equal(self, blur(still).image, plain)
        equal(self, still, before)
        odd = numpy.frombuffer(b"x" + still.tobytes(), numpy.uint8)[1:].view("f4").reshape(still.shape)
        self.assertFalse(odd.flags.aligned)
        equal(self, blur(odd).image, plain)
        interface = type("Holder", (), {"__array_interface__": still.__array_interface__})()
        equal(self, blur(interface).image, plain)

    def test_dtypes(self):
        for name in "u1 i1 u2 i2 u4 i4 u8 i8 f4 f8".split():
            with self.subTest(name):
                array = (numpy.arange(48).reshape(2, 4, 6) % 7).astype(name)
                equal(self, airy.reduce(array, by="max").image, array.max(0))


class Values(unittest.TestCase):
    """Values of parameters."""

    def refused(self, kind, sentence, **values):
        with self.assertRaises(kind) as caught:
            airy.integrate(stack_file(), device="cpu", **values)
        self.assertRegex(str(caught.exception), sentence)
        return caught.exception

    def test_unknown_name(self):
        self.refused(TypeError, "no parameter 'bin'; did you mean 'bins'", bin=3)

    def test_too_small(self):
        error = self.refused(ValueError, "bins -1: expected", bins=-1)
        self.assertIsInstance(error, airy.Error)
        self.assertEqual((error.status, error.subject), ("AIRY_ERR_PARAM", ("parameter", "bins")))

    def test_not_a_number(self):
        self.refused(ValueError, "dist", dist=float("nan"))
        self.refused(ValueError, "radial_range", radial_range=(float("nan"), 3))
        self.refused(ValueError, "saturation", saturation=float("nan"))

    def test_wrong_types(self):
        self.refused(TypeError, "dist: list is not a number", dist=[1])
        self.refused(TypeError, "dist: bool is not a number", dist=True)
        self.refused(TypeError, "force: int is not True or False", force=1)
        self.refused(TypeError, "unit", unit=sky())
        self.refused(TypeError, "radial_range", radial_range=(1, object()))
        self.refused(ValueError, "average 1.5", average=1.5)

    def test_word(self):
        error = self.refused(ValueError, "on_error x: expected stop or skip", on_error="x")
        self.assertEqual(error.subject, ("parameter", "on_error"))

    def test_that_does_not_go_with_another(self):
        self.refused(ValueError, "zigzag", zigzag=True)

    def test_huge(self):
        self.refused(ValueError, "average", average=10**30)
        self.refused(ValueError, "numbers", radial_range=range(100))

    def test_empty_list(self):
        with self.assertRaisesRegex(ValueError, "empty"):
            airy.integrate([])

    def test_arguments(self):
        for call, text in [
            (lambda: airy.integrate(), "lacks 'stack'"),
            (lambda: airy.integrate("a", "b"), "positional"),
            (lambda: airy.integrate("a", stack="b"), "several values"),
            (lambda: airy.integrate("a", progress=3), "progress"),
        ]:
            self.assertRaisesRegex(TypeError, text, call)

    def test_zero_byte(self):
        with self.assertRaises(ValueError):
            airy.integrate("a\0b.h5")

    def test_want(self):
        with self.assertRaises((airy.Error, ValueError)):
            airy.integrate(stack_file(), want="nothing")


class Failures(unittest.TestCase):
    """Files, memory, devices."""

    def test_no_file(self):
        with self.assertRaises(FileNotFoundError) as caught:
            airy.integrate("nope.h5")
        error = caught.exception
        self.assertIsInstance(error, airy.Error)
        self.assertEqual((error.filename, error.hint), ("nope.h5", "check the path"))
        self.assertIn("hint: check the path", error.__notes__)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), str(again), again.subject), (type(error), str(error), error.subject))

    def test_no_match(self):
        self.assertRaises(FileNotFoundError, airy.integrate, scratch("none*.h5"))

    def test_exists(self):
        path = scratch("exists.npy")
        pathlib.Path(path).write_bytes(b"")
        with self.assertRaises(FileExistsError) as caught:
            airy.blur(sky(), sigma=1, output=path, device="cpu")
        self.assertIn("force=True", caught.exception.hint)

    def test_no_folder(self):
        self.assertRaises(OSError, airy.blur, sky(), sigma=1, output="/none/at/all.npy", device="cpu")

    def test_not_an_image(self):
        path = scratch("text.h5")
        pathlib.Path(path).write_text("not HDF5")
        with self.assertRaises(airy.Error) as caught:
            airy.integrate(path)
        self.assertEqual(caught.exception.status, "AIRY_ERR_FORMAT")

    def test_damaged(self):
        path = scratch("cut.h5")
        data = pathlib.Path(stack_file()).read_bytes()
        pathlib.Path(path).write_bytes(data[: len(data) // 2])
        self.assertRaises(airy.Error, airy.integrate, path)

    def test_removed(self):
        path = scratch("removed.h5")
        pathlib.Path(path).write_bytes(pathlib.Path(stack_file()).read_bytes())
        rows = airy.receive(path, device="cpu", bins=50)
        os.unlink(path)
        with rows:
            try:
                self.assertLessEqual(len(list(rows)), FRAMES)
            except (airy.Error, OSError) as error:
                self.assertTrue(str(error))

    def test_memory(self):
        with self.assertRaises(MemoryError) as caught:
            airy.integrate(stack_file(), memory_limit="1K", device="cpu")
        self.assertIn("memory_limit", caught.exception.hint)

    def test_device(self):
        with self.assertRaises(airy.Error) as caught:
            airy.blur(sky(), sigma=1, device="gpu:77")
        self.assertIn(caught.exception.status, ("AIRY_ERR_DEVICE", "AIRY_ERR_PARAM"))

    def test_geometry(self):
        with self.assertRaises(ValueError) as caught:
            airy.integrate(stack_array(), device="cpu")
        self.assertIn("poni=FILE", caught.exception.hint)

    def test_skipped_frames(self):
        array = stack_array()[:3]
        r = airy.integrate(array, on_error="skip", device="cpu", **GEOMETRY)
        self.assertFalse(r.partly)

    def test_messages(self):
        with self.assertLogs("airy", logging.INFO) as caught:
            airy.simulate_diffraction(output=scratch("log.h5"), frames=1, **GEOMETRY)
            airy.integrate(scratch("log.h5"), device="cpu")
            logging.getLogger("airy").info("one at least")
        self.assertTrue(caught.output)


if __name__ == "__main__":
    unittest.main()
