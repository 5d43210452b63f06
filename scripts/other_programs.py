#!/usr/bin/env python3
"""Write files with airy and read them with the programs of others; print a table.

Not in CI: it takes whatever of them is installed (h5py, hdf5plugin, fabio, pyFAI, silx), GSAS-II's importers from a checkout (--gsas), and
DECTRIS neggia's check_h5_plugin, as XDS reads files (--neggia). What is missing is skipped by name. Exit code 1 when one of them misreads a file.

    scripts/other_programs.py --airy build/tools/airy/airy --gsas ../GSAS-II --neggia ../neggia/build/bin/check_h5_plugin
"""
import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import types

import numpy as np

FRAMES = 6
rows = []


class Skip(Exception):
    pass


def need(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise Skip(f"no {name}") from error


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}"
    return done.stdout


def case(number, program, what):
    def wrap(test):
        try:
            rows.append((number, program, what, "good", test() or ""))
        except Skip as skip:
            rows.append((number, program, what, "skipped", str(skip)))
        except Exception as error:  # pylint: disable=broad-except
            rows.append((number, program, what, "MISREAD", f"{type(error).__name__}: {error}"))
        return test

    return wrap


def truth():
    need("hdf5plugin")
    with need("h5py").File("st.h5") as file:
        return file["entry/data/data"][()]


def write(airy):
    run(airy, "simulate", "diffraction", "st.h5", "--detector", "pilatus_300k", "--dist", "0.15", "--poni1", "0.05", "--poni2", "0.04",
        "--energy", "12", "--frames", str(FRAMES), "--write-poni", "st.poni", "--quiet")
    run(airy, "simulate", "diffraction", "gaps_master.h5", "--detector", "pilatus_300k", "--frames", str(FRAMES), "--frames-per-file", "4",
        "--gaps", "--quiet")
    run(airy, "compress", "st.h5", "m_master.h5", "--frames-per-file", "2", "--quiet")
    text = ("--poni", "st.poni", "--frames", "0", "--unit", "2th_deg", "--error-model", "poisson", "--quiet")
    for name in ("t.chi", "t.xye", "t.xy"):
        run(airy, "integrate", "st.h5", *text, "-o", name)
    azint = ("--poni", "st.poni", "--unit", "2th_deg", "--error-model", "poisson", "--format", "nxazint", "--source", "MAX IV", "--instrument",
             "DanMAX", "--quiet")
    run(airy, "integrate", "st.h5", *azint, "--bins", "300", "-o", "one.h5")
    run(airy, "integrate", "st.h5", *azint, "--bins", "300x8", "-o", "two.h5")
    run(airy, "reduce", "st.h5", "-o", "mean.h5", "--quiet")
    run(airy, "peaks", "st.h5", "--poni", "st.poni", "-o", "peaks.h5", "--quiet")
    for name in ("frame.cbf", "frame.edf", "frame.tif", "frame.h5"):
        run(airy, "convert", "st.h5", "--frames", "2", "-o", name, "--quiet")
    run(airy, "convert", "st.h5", "-o", "all.h5", "--quiet")
    run(airy, "simulate", "sky", "sky.fits", "--quiet")
    run(airy, "simulate", "oct", "oct.raw", "--samples", "64", "--lines", "6", "--frames", "3", "--quiet")
    with open("plan.json", "w", encoding="ascii") as file:
        file.write('{"samples": 64, "lines": 6, "dtype": "u16", "output": "complex"}')
    for name, more in (("complex.npy", ()), ("complex.h5", ()), ("pairs.npy", ("--complex-as-pairs",))):
        run(airy, "oct", "oct.raw", "--plan", "plan.json", "-o", name, "--quiet", *more)


def masters(neggia):
    for name in ("m_master.h5", "st.h5"):
        @case(1, "fabio", name)
        def _(name=name):
            need("hdf5plugin")
            with need("fabio").open(name) as image:
                assert image.nframes == FRAMES, f"{image.nframes} frames of {FRAMES}"
                total = sum(int(image.getframe(i).data.sum(dtype=np.int64)) for i in range(image.nframes))
            assert total == int(truth().sum(dtype=np.int64)), "another sum"
            return f"{FRAMES} frames"

    @case(1, "pyFAI-average", "m_master.h5")
    def _():
        need("pyFAI")
        run("pyFAI-average", "m_master.h5", "-m", "sum", "-F", "edf", "-o", "average.edf")
        got = need("fabio").open("average.edf").data.astype(np.float64)
        ratio = got.sum() / truth().sum(dtype=np.int64)
        assert abs(ratio - 1) < 1e-6, f"{ratio:.4f} of the true sum"

    @case(1, "h5py", "m_master.h5, the virtual dataset")
    def _():
        need("hdf5plugin")
        with need("h5py").File("m_master.h5") as file:
            assert (file["entry/instrument/detector/data"][()] == truth()).all()

    @case(1, "silx", "m_master.h5, the default plot")
    def _():
        need("silx")
        from silx.io import nxdata, open as silx_open
        with silx_open("m_master.h5") as file:
            data = nxdata.get_default(file)
            assert data is not None and (data.signal[()] == truth()[:2]).all()

    for name in ("m_master.h5", "gaps_master.h5", "st.h5"):
        @case(2, "neggia", name)
        def _(name=name):
            if not neggia:
                raise Skip("no --neggia")
            run(neggia, name)


def gsas_reader(folder, module):
    """GSAS-II's importer with stand-ins for the modules that need the whole program."""
    if not folder:
        raise Skip("no --gsas")

    class ImportPowderData:
        def __init__(self, **_):
            self.errors, self.comments, self.dnames, self.selections = "", [], [], []
            self.powderentry, self.Sample, self.instdict = [None] * 3, {}, {}
            self.powderdata, self.repeat = [], False

    for name, values in (("GSASII", {"__path__": []}), ("GSASII.imports", {"__path__": []}),
                         ("GSASII.GSASIIobj", {"ImportPowderData": ImportPowderData}), ("GSASII.GSASIIfiles", {}),
                         ("GSASII.GSASIIpath", {"GetConfigValue": lambda *_: None})):
        fake = types.ModuleType(name)
        fake.__dict__.update(values)
        sys.modules[name] = fake
        if "." in name:
            setattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2], fake)
    path = os.path.join(folder, "GSASII", "imports", module + ".py")
    spec = importlib.util.spec_from_file_location("GSASII.imports." + module, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def powder(folder):
    points = [line for line in open("t.xy", encoding="ascii") if not line.startswith("#")]
    want = np.array([line.split() for line in points], dtype=float)
    for number, name in ((3, "t.chi"), (5, "t.xye"), (5, "t.xy")):
        @case(number, "GSAS-II", name)
        def _(name=name):
            reader = gsas_reader(folder, "G2pwd_xye").xye_ReaderClass()
            assert reader.ContentsValidator(name), reader.errors
            assert reader.Reader(name), reader.errors
            x, y, w = reader.powderdata[:3]
            assert len(x) == len(want) and np.array_equal(x, want[:, 0]) and np.array_equal(y, np.maximum(want[:, 1], 0))
            return f"{len(x)} points"
    for name, each in (("one.h5", 1), ("two.h5", 8)):
        @case(4, "GSAS-II", name)
        def _(name=name, each=each):
            reader = gsas_reader(folder, "G2pwd_HDF5").HDF5_Reader()
            assert reader.ContentsValidator(name), reader.errors
            buffer, count, reader.repeat = {}, 0, True
            with need("h5py").File(name) as file:
                intensity = file["entry/data/I"][()].reshape(-1, 300)
            while reader.repeat:
                assert reader.Reader(name, buffer=buffer), reader.errors
                assert np.array_equal(reader.powderdata[1], intensity[count], equal_nan=True)
                count += 1
            assert count == FRAMES * each and reader.instdict["wave"] > 0
            return f"{count} histograms"


def rest():
    @case(8, "h5py", "one.h5, names and NXsource's type")
    def _():
        with need("h5py").File("one.h5") as file:
            found = [file["entry/instrument/" + name][()].decode() for name in ("name", "source/name", "source/type")]
        assert found == ["DanMAX", "MAX IV", "Synchrotron X-ray Source"], found

    @case(9, "fabio", "mean.h5")
    def _():
        with need("fabio").open("mean.h5") as image:
            assert image.data.shape == truth().shape[1:]

    @case(10, "fabio", "peaks.h5")
    def _():
        need("hdf5plugin")
        with need("fabio").open("peaks.h5") as image:
            assert type(image).__name__ == "SparseImage" and image.nframes == FRAMES
            assert image.cutoff_pick is not None if hasattr(image, "cutoff_pick") else True


def geometry_of(name):
    """Pixel size, distance (m), beam centre (pixels) and wavelength (A) of a header, as its own format has them."""
    with need("fabio").open(name) as image:
        header = image.header
        assert np.array_equal(image.data, truth()[2]), "other pixels"
    if name.endswith(".edf"):
        return [float(header[key]) for key in ("PSize_1", "SampleDistance", "Center_1", "Center_2")] + [float(header["WaveLength"]) * 1e10]
    text = header.get("_array_data.header_contents") or header["imageDescription"]
    assert name != "frame.cbf" or header["_array_data.header_convention"].startswith("PILATUS")
    words = {line.split()[1].rstrip(":"): line.split()[2:] for line in text.splitlines() if line.startswith("# ")}
    center = [float(word.strip("(),")) for word in words["Beam_xy"][:2]]
    return [float(words["Pixel_size"][0]), float(words["Detector_distance"][0]), *center, float(words["Wavelength"][0])]


def images():
    want = [172e-6, 0.15, 0.04 / 172e-6, 0.05 / 172e-6, 12.398419843320026 / 12]
    for name in ("frame.cbf", "frame.edf", "frame.tif"):
        @case(12, "fabio", name + ", its geometry")
        def _(name=name):
            got = geometry_of(name)
            assert np.allclose(got, want, rtol=1e-12, atol=0), got
    for name, count in (("frame.h5", 1), ("all.h5", FRAMES)):
        @case(12, "fabio", name)
        def _(name=name, count=count):
            with need("fabio").open(name) as image:
                assert image.nframes == count

        @case(12, "h5py", name + ", detectorSpecific")
        def _(name=name, count=count):
            with need("h5py").File(name) as file:
                detector = file["entry/instrument/detector"]
                mask = detector["detectorSpecific/pixel_mask"]
                assert mask.dtype == np.uint32 and mask.chunks is None and not mask[()].any()
                assert detector["detectorSpecific/nimages"][()] == count
                assert abs(detector["detector_distance"][()] - 0.15) < 1e-12

    @case(13, "astropy", "sky.fits, BUNIT")
    def _():
        need("astropy")
        from astropy import units
        from astropy.io import fits
        with fits.open("sky.fits") as hdus:
            assert units.Unit(hdus[0].header["BUNIT"]) == units.Jy / units.beam

    @case(14, "astropy", "sky.fits, CHECKSUM and DATASUM")
    def _():
        need("astropy")
        from astropy.io import fits
        with fits.open("sky.fits", checksum=True) as hdus:
            assert hdus[0].verify_checksum() == 1 and hdus[0].verify_datasum() == 1

    @case("oct", "NumPy, h5py", "complex.npy, complex.h5")
    def _():
        numbers, pairs = np.load("complex.npy"), np.load("pairs.npy")
        assert numbers.dtype == np.complex64 and numbers.shape == (3, 6, 32) and pairs.shape == (3, 6, 32, 2)
        assert (numbers.view(np.float32).reshape(pairs.shape) == pairs).all()
        with need("h5py").File("complex.h5") as file:
            dataset = file["entry/oct/result/complex"]
            assert dataset.dtype == np.complex64 and (dataset[()] == numbers).all()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airy", default="build/tools/airy/airy")
    parser.add_argument("--gsas", help="folder of GSAS-II's source")
    parser.add_argument("--neggia", help="neggia's check_h5_plugin")
    options = parser.parse_args()
    os.environ.setdefault("AIRY_DEVICE", "cpu")
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    airy, gsas, neggia = (path and os.path.abspath(path) for path in (options.airy, options.gsas, options.neggia))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write(airy)
        masters(neggia)
        powder(gsas)
        rest()
        images()
        os.chdir("/")
    for row in rows:
        print("{:>3}  {:14}  {:36}  {:8} {}".format(*row))
    return any(row[3] == "MISREAD" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
