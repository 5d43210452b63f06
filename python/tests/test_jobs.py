"""Each job as a function; results as the command has them."""

import inspect
import pathlib
import pickle
import subprocess
import sys
import unittest

import numpy

import airy
from airy import _airy, _jobs
from common import FRAMES, GEOMETRY, command, equal, scratch, sky, stack_array, stack_file


class Functions(unittest.TestCase):
    def test_each_job_is_a_function(self):
        for job in _airy.jobs():
            with self.subTest(job["name"]):
                function = getattr(airy, _jobs.python_name(job["name"]))
                parameters = inspect.signature(function).parameters
                for parameter in job["parameters"]:
                    name = _jobs.python_name(parameter["name"])
                    self.assertIn(name, parameters)
                    self.assertTrue(name.isidentifier())
                    self.assertRegex(function.__doc__, rf"(?m)^{name} : ")
                    kind = parameters[name].kind
                    self.assertEqual(kind is inspect.Parameter.KEYWORD_ONLY, parameter["role"] != "input")
                for result in job["results"]:
                    self.assertIn(f"    {result['name']} : {result['kind']}\n", function.__doc__)

    def test_each_job_is_reached(self):
        """Called with a value that no parameter takes, each says so itself."""
        for name, function in _jobs.functions.items():
            inputs = {p.name: "no/such/file" for p in inspect.signature(function).parameters.values() if p.default is p.empty}
            if "output" in inspect.signature(function).parameters:
                inputs["output"] = "/no/such/folder/out.h5"
            if name == "simulate_oct":
                inputs["bits"] = -1
            with self.subTest(name), self.assertRaises((airy.Error, ValueError)) as caught:
                function(**inputs)
            self.assertTrue(str(caught.exception))

    def test_defaults(self):
        parameters = inspect.signature(airy.integrate).parameters
        self.assertEqual(parameters["bins"].default, 1000)
        self.assertEqual(parameters["unit"].default, "q_nm^-1")
        self.assertIs(parameters["force"].default, False)
        self.assertIsNone(parameters["saturation"].default)  # computed: its text is in the docstring
        self.assertIn("the type's largest value", airy.integrate.__doc__)
        self.assertIn("in keV", airy.integrate.__doc__)
        self.assertNotRegex(airy.integrate.__doc__.replace("{series}", ""), r"\{[a-z]")  # a part of a file's name

    def test_hidden_names(self):
        for name in ("oct", "filter", "compress"):
            self.assertNotIn(name, airy.__all__)
            self.assertTrue(callable(getattr(airy, name)))
        for name in airy.__all__:
            self.assertTrue(hasattr(airy, name), name)

    def test_pickle(self):
        self.assertIs(pickle.loads(pickle.dumps(airy.blur)), airy.blur)

    def test_devices(self):
        first = airy.devices()[0]
        self.assertEqual((first.spec, first.usable, first.why), ("cpu", True, ""))
        self.assertGreater(first.memory, 0)

    def test_import_needs_no_numpy(self):
        subprocess.run([sys.executable, "-c", "import airy, sys; assert 'numpy' not in sys.modules"], check=True)

    def test_command(self):
        out = subprocess.run([sys.executable, "-m", "airy", "--version"], check=True, capture_output=True, text=True).stdout
        self.assertIn(airy.__version__, out)
        self.assertEqual(subprocess.run([sys.executable, "-m", "airy", "nonsense"], capture_output=True).returncode, 2)


class Integrate(unittest.TestCase):
    OPTIONS = {"bins": 300, "error_model": "poisson", "device": "cpu"}

    def setUp(self):
        self.out = scratch("command.h5")
        command("integrate", stack_file(), "-o", self.out, "--bins", "300", "--error-model", "poisson", "--device", "cpu", "--force")

    def check(self, result):
        with airy.open_result(self.out) as wanted:
            for name in ("radial", "intensity", "std", "sem"):
                equal(self, getattr(result, name), getattr(wanted, name))

    def test_file(self):
        r = airy.integrate(stack_file(), **self.OPTIONS)
        self.check(r)
        self.assertEqual((r.frames, r.unit, r.partly), (FRAMES, "q_nm^-1", False))
        self.assertFalse(r.status.any())
        self.assertTrue(r.intensity.flags.writeable)
        self.assertEqual(r.provenance["parameters"]["bins"], "300")
        self.assertEqual(r.provenance["configuration"]["geometry"]["dist"], 0.1)
        self.assertIn("float32 [12, 300]", repr(r))

    def test_path_list_and_pattern(self):
        path = pathlib.Path(stack_file())
        self.check(airy.integrate(path, **self.OPTIONS))
        self.check(airy.integrate([path], **self.OPTIONS))
        self.check(airy.integrate((str(path),), **self.OPTIONS))
        self.check(airy.integrate(path.parent / "st?ck.h5", **self.OPTIONS))
        self.check(airy.integrate(str(path.parent / "st?ck.h5") + "::/entry/data/data", **GEOMETRY, **self.OPTIONS))
        self.assertEqual(airy.integrate([path, path], **self.OPTIONS).intensity.shape, (2 * FRAMES, 300))

    def test_array(self):
        self.check(airy.integrate(stack_array(), **GEOMETRY, **self.OPTIONS))
        self.check(airy.integrate(memoryview(stack_array()), **GEOMETRY, **self.OPTIONS))

    def test_output(self):
        out = scratch("python.h5")
        r = airy.integrate(stack_file(), output=pathlib.Path(out), **self.OPTIONS)
        self.assertEqual(r.output, out)
        self.check(r)  # read from the file
        self.check(airy.open_result(out))

    def test_dark_and_mask(self):
        shape = stack_array().shape[1:]
        dark, mask = numpy.full(shape, 3, numpy.float32), numpy.zeros(shape, numpy.uint8)
        mask[20:40, 30:80] = 1
        numpy.save(scratch("dark.npy"), dark)
        numpy.save(scratch("mask.npy"), mask)
        arrays = airy.integrate(stack_file(), dark=dark, mask=mask, **self.OPTIONS)
        files = airy.integrate(stack_file(), dark=scratch("dark.npy"), mask=scratch("mask.npy"), **self.OPTIONS)
        plain = airy.integrate(stack_file(), **self.OPTIONS)
        equal(self, arrays.intensity, files.intensity)
        self.assertFalse(numpy.array_equal(arrays.intensity, plain.intensity, equal_nan=True))

    def test_kinds_of_values(self):
        r = airy.integrate(stack_file(), bins=(100, 36), device="cpu", frames=slice(2, 8, 2), radial_range=(5, numpy.float32(20)), roi=[(5, 6), (7, 8)])
        self.assertEqual(r.intensity.shape, (3, 36, 100))
        self.assertEqual(r.azimuthal.shape, (36,))
        for frames in (range(2, 8, 2), "2:8:2"):
            again = airy.integrate(stack_file(), bins="100x36", device="cpu", frames=frames, radial_range="5,20")
            equal(self, again.intensity, r.intensity)
        self.assertEqual(len(airy.integrate(stack_file(), frames=numpy.int64(3), device="cpu").intensity), 1)
        with_sums = airy.integrate(stack_file(), device="cpu", want=["sum_signal"])
        self.assertEqual(with_sums.sum_signal.dtype, numpy.float64)

    def test_plot(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is not installed")
        matplotlib.use("Agg")
        r = airy.integrate(stack_file(), **self.OPTIONS)
        self.assertEqual(r.plot(row=0).get_xlabel(), "q_nm^-1")
        r.plot()


class Others(unittest.TestCase):
    def test_reduce(self):
        r = airy.reduce(stack_array(), by="max")
        equal(self, r.image, stack_array().max(0))

    def test_numbers(self):
        r = airy.stats(sky())
        self.assertAlmostEqual(r.mean, float(sky().mean(dtype=float)), 6)
        self.assertEqual(r.count, sky().size)

    def test_table(self):
        r = airy.sources(sky(), sigma=5, want="segmentation")
        self.assertEqual(len(r.catalog), r.sources)
        self.assertEqual(r.catalog.units["x"], "pix")
        self.assertEqual(r.segmentation.max(), r.sources)
        self.assertIsInstance(r.catalog.flux, numpy.ndarray)

    def test_image_to_file(self):
        airy.blur(sky(), sigma=2, output=scratch("blur.npy"), device="cpu")
        equal(self, numpy.load(scratch("blur.npy")), airy.blur(sky(), sigma=2, device="cpu").image)

    def test_filter_has_two_inputs(self):
        r = airy.filter("median", sky(), size=3, device="cpu") if "size" in airy.filter._parameters else airy.filter("median", sky(), device="cpu")
        self.assertEqual(r.image.shape, sky().shape)

    def test_large_results_stay(self):
        images = [airy.blur(sky(), sigma=1, device="cpu").image for _ in range(4)]
        wanted = images[0].copy()
        for image in images:
            equal(self, image, wanted)
            image[:] = 0


class Files(unittest.TestCase):
    def test_rows(self):
        out = scratch("rows.h5")
        airy.integrate(stack_file(), output=out, bins=50, device="cpu", force=True)
        with airy.open_result(out) as r:
            everything = r.intensity
            self.assertEqual((len(r), everything.shape), (FRAMES, (FRAMES, 50)))
            equal(self, r[3:6].intensity, everything[3:6])
            equal(self, r[::-2].intensity, everything[::-2])
            equal(self, r[-1].intensity, everything[-1])
            equal(self, r[2:][1:3].intensity, everything[3:5])
            self.assertEqual(list(r[3:6].status), [0, 0, 0])
            self.assertEqual(r[5:5].intensity.shape, (0, 50))
            self.assertTrue(r.info["complete"])
            self.assertEqual(r.provenance["configuration"]["bins"], 50)
            self.assertRaises(AttributeError, lambda: r.nothing)
            self.assertRaises(IndexError, lambda: r[FRAMES])
            self.assertEqual(r.refresh().intensity.shape, (FRAMES, 50))
        self.assertRaises(ValueError, lambda: r.intensity)
        self.assertRaises(FileNotFoundError, airy.open_result, scratch("none.h5"))
        with open(scratch("text.txt"), "w", encoding="ascii") as file:
            file.write("not HDF5")
        self.assertRaises(airy.Error, airy.open_result, scratch("text.txt"))


if __name__ == "__main__":
    unittest.main()
