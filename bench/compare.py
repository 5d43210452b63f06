#!/usr/bin/env python3
"""The established Python packages beside Airy, on the same file, in the same run: results compared, then speed.

    bench/compare.py [--airy build/tools/airy/airy] [--device cpu] [--device gpu] [--cores 2] FILE PONI
    bench/compare.py --images [--airy ...] [--device cpu] [--device gpu] [--cores 2]

FILE: a bitshuffle-LZ4 stack with a frame a chunk; PONI: its geometry. A peer that is not installed, or finds no device, is named and
skipped; without h5py there is nothing to compare with. Airy and the peers take turns (A B C A B C ...), medians count. A peer runs in
one process with OpenMP over all cores and in several processes (on the CPU one per core, on a GPU four); each process makes its
engine, then all begin at once.

Airy's figures are rows of `airy bench`: integrate (into a file, steady), decode, and read+decode of its stages. Progress is told on stderr.

Agreement, of frame 0; intensities relative to the pattern's own:
    cython, full splitting    1e-4   float32 corner positions there; the worst bins hold a few pixels
    opencl, full splitting    1e-3   sums in float32 pairs there, too
    numpy, no splitting       1e-5 in 99 % of the bins: a pixel on an edge may fall on either side of it
    decoders                  sums of the frame's counts equal exactly

--images: filters, statistics, labels and measures of 2048 x 2048 elements, blurs of 100 x 1024 x 1024, the image in the memory of the
device. Peers are CuPy on a GPU; NumPy and SciPy, which work with one thread, on the CPU. A peer's calls run one behind the other and
are waited for once, as Airy's rows "back to back" are. What both make of one image of noise and sources is compared, too.
"""
import argparse
import importlib.metadata
import importlib.util
import json
import multiprocessing
import os
import queue as queue_module
import statistics
import subprocess
import sys
import tempfile
import time

DATASETS = ("entry/data/data", "data", "entry/instrument/detector/data", "entry/data/data_000001")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airy", default="build/tools/airy/airy")
    parser.add_argument("--device", action="append", help="of Airy and its peers: cpu, gpu, opencl:P:D; may be given several times")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--processes", type=int, help="of a peer beside one; default: the cores, on a device 4")
    parser.add_argument("--bins", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="of each of Airy's figures")
    parser.add_argument("--peer-frames", type=int, default=32, help="frames that a peer takes in one timing")
    parser.add_argument("--only", help="peers whose name contains this")
    parser.add_argument("--json", help="all figures into this file")
    parser.add_argument("--images", action="store_true", help="operations on images; no FILE, no PONI")
    parser.add_argument("file", nargs="?")
    parser.add_argument("poni", nargs="?")
    args = parser.parse_args()
    if args.images == bool(args.poni):
        parser.error("FILE and PONI, or --images")
    return args


def open_stack(path):
    import h5py
    if importlib.util.find_spec("hdf5plugin"):
        import hdf5plugin  # noqa: F401  registers the filters

    handle = h5py.File(path, "r")
    for name in DATASETS:
        if name in handle:
            return handle[name]
    raise SystemExit(f"{path}: no dataset found")


def chunk(data, i):
    """The stored bytes of frame i."""
    return data.id.read_direct_chunk((i % len(data), 0, 0))[1]


# Peers: each makes ready in a process of its own and returns the function of one frame.


def pyfai_method(args, algorithm, implementation):
    """integrate1d as its users call it; frames are decoded by hdf5plugin."""
    import pyFAI

    integrator, data = pyFAI.load(args.poni), open_stack(args.file)
    options = {"method": ("full", algorithm, implementation), "unit": "q_nm^-1"}
    if implementation == "opencl":
        options["method"] = (*options["method"], opencl_device(args)[0])
    return lambda i: integrator.integrate1d(data[i % len(data)], args.bins, **options).intensity


def pyfai_csr(args):
    return pyfai_method(args, "csr", "cython")


def pyfai_csc(args):
    return pyfai_method(args, "csc", "cython")


def pyfai_opencl(args):
    return pyfai_method(args, "csr", "opencl")


def pyfai_silx(args):
    """The chunk goes to the device, silx decodes it there, the engine integrates it there."""
    import pyFAI
    from silx.opencl.codec.bitshuffle_lz4 import BitshuffleLz4

    integrator, data = pyFAI.load(args.poni), open_stack(args.file)
    method = ("full", "csr", "opencl", opencl_device(args)[0])
    first = integrator.integrate1d(data[0], args.bins, method=method, unit="q_nm^-1")
    engine = integrator.engines[first.method].engine
    omega, checksum = integrator.solidAngleArray(data.shape[1:]), engine.on_device["solidangle"]
    decoder = BitshuffleLz4(len(chunk(data, 0)), data[0].size, dtype=data.dtype, ctx=engine.ctx)
    decoder.queue = engine.queue  # one queue keeps the order

    def frame(i):
        decoded = decoder.decompress(chunk(data, i))
        return engine.integrate_ng(decoded, solidangle=omega, solidangle_checksum=checksum).intensity

    return frame


def numpy_bincount(args):
    """The plain way: the bin of each pixel's centre once, then a weighted count a frame."""
    import numpy

    data = open_stack(args.file)
    poni = {}
    with open(args.poni) as lines:
        for line in lines:
            key, _, value = line.partition(":")
            poni[key.strip().lower()] = value.strip()
    if any(float(poni.get(f"rot{k}", 0)) for k in (1, 2, 3)):
        raise NotImplementedError("the PONI has rotations")
    if numpy.any(data[0] >= numpy.iinfo(data.dtype).max - 2):
        raise NotImplementedError("the frames hold dummy values")
    detector = json.loads(poni["detector_config"])
    if "pixel1" not in detector:
        raise NotImplementedError("the PONI has no pixel size")
    y = (numpy.arange(data.shape[1]) + 0.5) * detector["pixel1"] - float(poni["poni1"])
    x = (numpy.arange(data.shape[2]) + 0.5) * detector["pixel2"] - float(poni["poni2"])
    distance, radius = float(poni["distance"]), numpy.hypot(y[:, None], x[None, :])
    q = 4e-9 * numpy.pi / float(poni["wavelength"]) * numpy.sin(0.5 * numpy.arctan2(radius, distance))
    low, high = q.min(), q.max()
    bins = numpy.minimum(((q - low) * (args.bins / (high - low))).astype(numpy.int64), args.bins - 1).ravel()
    solid = (distance / numpy.hypot(distance, radius)).ravel() ** 3
    norm = numpy.bincount(bins, weights=solid, minlength=args.bins)

    def frame(i):
        with numpy.errstate(invalid="ignore"):
            return numpy.bincount(bins, weights=data[i % len(data)].ravel(), minlength=args.bins) / norm

    return frame


def hdf5plugin_read(args):
    data = open_stack(args.file)
    return lambda i: data[i % len(data)]


def bitshuffle_decode(args):
    """Chunks from memory, as `airy bench decode` has them."""
    import bitshuffle
    import numpy

    data = open_stack(args.file)
    chunks = [numpy.frombuffer(chunk(data, i), dtype=numpy.uint8) for i in range(min(len(data), args.peer_frames))]
    block = int.from_bytes(chunks[0][8:12].tobytes(), "big") // data.dtype.itemsize
    return lambda i: bitshuffle.decompress_lz4(chunks[i % len(chunks)][12:], data.shape[1:], data.dtype, block)


def silx_decode(args):
    """Chunks from the host's memory to frames in the device's."""
    import pyopencl
    from silx.opencl.codec.bitshuffle_lz4 import BitshuffleLz4

    data = open_stack(args.file)
    chunks = [chunk(data, i) for i in range(min(len(data), args.peer_frames))]
    (platform, device), _ = opencl_device(args)
    context = pyopencl.Context([pyopencl.get_platforms()[platform].get_devices()[device]])
    decoder = BitshuffleLz4(max(map(len, chunks)), data[0].size, dtype=data.dtype, ctx=context)

    def frame(i, fetch=False):
        decoded = decoder.decompress(chunks[i % len(chunks)])
        if fetch:
            return decoded.get()
        decoder.queue.finish()
        return None

    return frame


def opencl_device(args):
    """((platform, device), name) that answers to --device, of pyopencl's list."""
    import pyopencl

    want = args.on
    for p, platform in enumerate(pyopencl.get_platforms()):
        for d, device in enumerate(platform.get_devices()):
            gpu = device.type & pyopencl.device_type.GPU
            if want == f"opencl:{p}:{d}" or (gpu and want in ("gpu", "gpu:0")) or (not gpu and want == "cpu"):
                return (p, d), device.name
    raise NotImplementedError(f"OpenCL has no device for '{want}'")


def counts(frame):
    """Sum of the pixels that are no dummy values: what Airy's frame/total holds."""
    import numpy

    if frame.dtype.kind == "u":
        good = frame < numpy.iinfo(frame.dtype).max - 2
    else:
        good = frame >= 0 if frame.dtype.kind == "i" else numpy.isfinite(frame)
    return float(frame.sum(dtype="f8", where=good))


class Peer:
    def __init__(self, name, make, needs, job, tolerance=None, on_cpu=True, on_device=False):
        self.name, self.make, self.needs, self.job, self.tolerance = name, make, needs, job, tolerance
        self.on_cpu, self.on_device = on_cpu, on_device

    def missing(self):
        return [module for module in self.needs if not importlib.util.find_spec(module)]


PEERS = [
    Peer("pyFAI csr cython", pyfai_csr, ("pyFAI", "hdf5plugin"), "integrate", 1e-4),
    Peer("pyFAI csc cython", pyfai_csc, ("pyFAI", "hdf5plugin"), "integrate", 1e-4),
    Peer("pyFAI csr opencl", pyfai_opencl, ("pyFAI", "hdf5plugin", "pyopencl"), "integrate", 1e-3, on_device=True),
    Peer("pyFAI csr opencl, silx decodes", pyfai_silx, ("pyFAI", "hdf5plugin", "pyopencl", "silx"), "integrate", 1e-3,
         on_device=True),
    Peer("numpy bincount, no splitting", numpy_bincount, ("numpy", "hdf5plugin"), "integrate no", 1e-5),
    Peer("hdf5plugin through h5py", hdf5plugin_read, ("hdf5plugin",), "read+decode"),
    Peer("bitshuffle package", bitshuffle_decode, ("bitshuffle",), "decode"),
    Peer("silx decodes", silx_decode, ("pyopencl", "silx"), "decode", on_cpu=False, on_device=True),
]


def work(args, peer, threads, frames, barrier, queue):
    """One process: ready, together with the others, then its frames. Answers (seconds, what frame 0 gave) or a sentence."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    try:
        frame = peer.make(args)
        result = frame(0, True) if peer.make is silx_decode else frame(0)
        barrier.wait(600)
        start = time.perf_counter()
        for i in frames:
            frame(i)
        seconds = time.perf_counter() - start
        queue.put((seconds, counts(result) if peer.tolerance is None else result))
    except NotImplementedError as why:
        barrier.abort()
        queue.put(str(why))
    except Exception as why:  # whatever a package does, the others go on
        barrier.abort()
        queue.put(f"failed: {type(why).__name__}: {why}")


def run_peer(args, peer, processes):
    """Frames a second, what frame 0 gave; or a sentence."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(processes), context.Queue()
    threads = max(1, args.cores // processes)
    workers = [
        context.Process(target=work, args=(args, peer, threads, range(k, args.peer_frames, processes), barrier, queue))
        for k in range(processes)
    ]
    for worker in workers:
        worker.start()
    answers = []
    while len(answers) < processes:
        try:
            answers.append(queue.get(timeout=5))
        except queue_module.Empty:
            died = [worker.exitcode for worker in workers if worker.exitcode]
            if died:  # a crash says nothing, and the others wait for it
                answers += [f"failed: a process ended with {died[0]}"] * (processes - len(answers))
                for worker in workers:
                    worker.terminate()
    for worker in workers:
        worker.join()
    sentences = [a for a in answers if isinstance(a, str)]
    if sentences:
        return None, next((s for s in sentences if "BrokenBarrier" not in s), sentences[0])
    return args.peer_frames / max(a[0] for a in answers), answers[0][1]


def airy_plain(args, *words):
    """What a command prints as JSON, with no options but those given."""
    command = [args.airy, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"bench/compare.py: {done.stderr.strip()}")
    return json.loads(done.stdout)


def airy_json(args, *words):
    return airy_plain(args, *words, "--device", args.on, "--threads", str(args.cores), "--quiet")


def airy_bench(args, bench, *words):
    geometry = () if bench == "decode" else ("--poni", args.poni, "--bins", str(args.bins))
    rows = airy_json(args, "bench", bench, args.file, *geometry, "--seconds", str(args.seconds), *words)
    return {row["name"]: row["value"] or 0.0 for row in rows}


def airy_integrate(args, *words):
    """The rate of a long run, as the peers' is: what is made once is left out."""
    rows = airy_bench(args, "integrate", "--write", *words)
    return rows.get("integrate to a file, steady", rows["integrate to a file"])


def airy_rates(args):
    """Frames a second by job, once; jobs that no peer of this device does are left out."""
    rates = {"integrate": airy_integrate(args, "--compat", "pyfai")}
    if args.on == "cpu":
        stages = airy_bench(args, "stages")
        rates["integrate no"] = airy_integrate(args, "--split", "no")
        rates["read+decode"] = stages["read+decode, cached"]
        rates["decode"] = stages["decode"]
    else:
        rates["decode"] = airy_bench(args, "decode")["decode"]
    return rates


def airy_results(args, folder):
    """Patterns of frame 0 by job, and the sum of all its pixels."""
    import h5py
    import numpy

    empty = os.path.join(folder, "empty.npy")
    numpy.save(empty, numpy.zeros(open_stack(args.file).shape[1:], numpy.uint8))
    results = {}
    for job, words in (("integrate", ("--compat", "pyfai")), ("integrate no", ("--split", "no", "--mask-only", empty))):
        output = os.path.join(folder, "airy.h5")
        airy_json(args, "integrate", args.file, "--poni", args.poni, "-o", output, "--force", "--json", "--bins",
                  str(args.bins), "--frames", "0:1", *words)
        with h5py.File(output) as handle:
            results[job] = handle["entry/integrate/result/intensity"][0]
            results["sum"] = float(handle["entry/integrate/frame/total"][0])
    return results


def agreement(peer, ours, theirs):
    """(agrees, in words)"""
    import numpy

    if peer.tolerance is None:
        return theirs == ours["sum"], "sum of frame 0 equal" if theirs == ours["sum"] else "sum of frame 0 DIFFERS"
    pattern = ours[peer.job]
    filled = numpy.isfinite(pattern) & numpy.isfinite(theirs) & (theirs != 0)
    differences = numpy.abs(pattern - theirs)[filled] / numpy.abs(theirs[filled])
    if peer.job == "integrate no":
        differences = numpy.sort(differences)[: int(0.99 * len(differences))]
    worst = float(differences.max()) if len(differences) else float("nan")
    agrees = worst < peer.tolerance
    return agrees, f"{worst:.0e} apart" if agrees else f"{worst:.0e} apart, MORE than {peer.tolerance:.0e}"


def compare(args, device, rows):
    """All peers of one device; rows gets what is found. True if all agree."""
    args.on = device
    args.on_name = next((d["name"] for d in airy_plain(args, "devices", "--json") if d["spec"] in (device, device + ":0")), "")
    many = args.processes or (args.cores if device == "cpu" else 4)
    counts = sorted({1, many})
    peers, skipped = [], []
    for peer in PEERS:
        if not (peer.on_cpu if device == "cpu" else peer.on_device) or (args.only and args.only not in peer.name):
            continue
        if peer.missing():
            skipped.append((peer.name, "not installed: " + ", ".join(peer.missing())))
        else:
            peers += [(peer, count) for count in counts]
    rates, answers = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        ours = airy_results(args, folder)
    for _ in range(args.repeat):
        for job, rate in airy_rates(args).items():
            rates.setdefault(job, []).append(rate)
            print(f"  {job}, Airy: {rate:.1f}", file=sys.stderr, flush=True)
        for peer, count in list(peers):
            rate, answer = run_peer(args, peer, count)
            print(f"  {peer.job}, {peer.name} ({count}): {f'{rate:.1f}' if rate else answer}", file=sys.stderr, flush=True)
            if rate is None:
                peers.remove((peer, count))
                skipped.append((peer.name, f"{count} processes: {answer}"))
            else:
                rates.setdefault((peer.name, count), []).append(rate)
                answers[peer.name] = answer
    medians = {name: statistics.median(values) for name, values in rates.items()}
    print(f"\n{device}: {args.on_name}\n{'job':14}{'':34}{'frames/s':>10}{'Airy x':>8}")
    good = True
    for job in (job for job in medians if isinstance(job, str)):
        print(f"{job:14}{'Airy':34}{medians[job]:10.1f}")
        rows.append({"device": device, "job": job, "name": "airy", "value": medians[job], "unit": "frames/s"})
        for peer, count in peers:
            if peer.job != job:
                continue
            agrees, words = agreement(peer, ours, answers[peer.name])
            good = good and agrees
            value = medians[peer.name, count]
            ratio = medians[job] / value
            name = f"{peer.name} ({count})"
            print(f"{'':14}{name:34}{value:10.1f}{ratio:8.1f}  {words}")
            rows.append({"device": device, "job": job, "name": peer.name, "processes": count, "value": value,
                         "unit": "frames/s", "airy_ratio": ratio, "agrees": agrees, "agreement": words})
    for name, why in skipped:
        print(f"{'skipped':14}{name}: {why}")
        rows.append({"device": device, "name": name, "skipped": why})
    return good


# Operations on images. A job has the name that its row of `airy bench` begins with; `peer` makes a call of the peer's on what `scene`
# has, `check` compares what it gives with what the command gives.


class Scene:
    """One image, as NumPy has it and in the peer's memory, and Airy's word on it."""

    def __init__(self, args, folder):
        import numpy

        self.args, self.folder = args, folder
        if args.on == "cpu":
            import scipy.ndimage
            import scipy.signal

            self.np, self.ndimage, self.signal = numpy, scipy.ndimage, scipy.signal
        else:
            import cupy
            import cupyx.scipy.ndimage
            import cupyx.scipy.signal

            self.np, self.ndimage, self.signal = cupy, cupyx.scipy.ndimage, cupyx.scipy.signal
        random = numpy.random.default_rng(1)
        image = random.standard_normal((2048, 2048), dtype=numpy.float32)
        y, x = numpy.mgrid[-4:5, -4:5]
        disc = numpy.exp(-(y * y + x * x) / 4).astype(numpy.float32)
        for cy, cx, height in zip(random.integers(8, 2040, 200), random.integers(8, 2040, 200), random.uniform(6, 50, 200)):
            image[cy - 4 : cy + 5, cx - 4 : cx + 5] += numpy.float32(height) * disc
        taps = numpy.exp(-0.5 * (numpy.arange(-7, 8) / 3.5) ** 2)
        self.host = {"image": image, "kernel": numpy.outer(taps, taps), "volume": image[:256].reshape(8, 256, 256)}
        for name, array in self.host.items():
            numpy.save(self.path(name), array)
        self.image = self.np.asarray(image)
        self.wide = self.image.astype("f8")
        self.kernel = self.np.asarray(self.host["kernel"])
        self.narrow_kernel = self.kernel.astype("f4")
        self.volume = self.np.asarray(self.host["volume"])
        self.large = self.np.zeros((100, 1024, 1024), "f4")
        self.large[:] = self.image[:1024, :1024]
        self.threshold = 5 * self.airy("clip", "image")["std"]
        self.labels, self.count = self.ndimage.label(self.image > self.threshold)
        self.count = int(self.count)
        self.numbers = self.np.arange(1, self.count + 1)

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def airy(self, command, image, *words):
        return airy_json(self.args, command, self.path(image), "--json", *words)

    def airy_image(self, command, image, *words):
        import numpy

        self.airy(command, image, "-o", self.path("out"), "--force", *words)
        return numpy.load(self.path("out"))

    def fetch(self, array):
        return array.get() if hasattr(array, "get") else array

    def wait(self):
        if self.args.on != "cpu":
            self.np.cuda.Device().synchronize()


def clip(scene):
    """Iterated, about the median, as it is written with arrays."""
    kept = scene.image.ravel()
    while True:
        center, spread = scene.np.median(kept), scene.np.std(kept)
        good = kept[(kept > center - 3 * spread) & (kept < center + 3 * spread)]
        if good.size == kept.size:
            return float(center), float(spread), kept.size
        kept = good


def moments(scene):
    x = scene.image
    return [float(v) for v in (x.mean(), scene.np.median(x), x.std(), x.max())]


def of_labels(scene):
    sums = scene.ndimage.sum_labels(scene.image, scene.labels, scene.numbers)
    return sums, scene.ndimage.center_of_mass(scene.image, scene.labels, scene.numbers)


def apart(ours, theirs, tolerance):
    """Largest difference, of the largest value."""
    import numpy

    ours, theirs = numpy.asarray(ours, "f8"), numpy.asarray(theirs, "f8")
    if ours.shape != theirs.shape:
        return False, f"shapes {ours.shape} and {theirs.shape}"
    worst = float(numpy.max(numpy.abs(ours - theirs)) / numpy.max(numpy.abs(theirs)))
    return worst < tolerance, f"{worst:.0e} apart" + ("" if worst < tolerance else f", MORE than {tolerance:.0e}")


def check_convolve(scene, result, wide):
    words = ("--kernel", scene.path("kernel"), "--dtype", "float64" if wide else "float32")
    return apart(scene.airy_image("convolve", "image", *words), scene.fetch(result), 1e-12 if wide else 2e-5)


def check_blur(scene, _result):
    theirs = scene.fetch(scene.ndimage.gaussian_filter(scene.volume, 2.0))
    return apart(scene.airy_image("blur", "volume", "--sigma", "2"), theirs, 1e-5)


def check_moments(scene, result):
    ours = scene.airy("stats", "image")
    return apart([ours[key] for key in ("mean", "median", "std", "max")], result, 1e-5)


def check_clip(scene, result):
    ours = scene.airy("clip", "image")
    return apart([ours[key] for key in ("median", "std", "count")], result, 1e-5)


def check_labels(scene, result):
    ours = scene.airy_image("label", "image", "--above", repr(scene.threshold))
    same = bool((ours == scene.fetch(result[0])).all())
    return same, f"{scene.count} labels, " + ("the same bits" if same else "DIFFERENT")


def check_measures(scene, result):
    import csv

    table = os.path.join(scene.folder, "table.csv")
    scene.airy("label", "image", "--above", repr(scene.threshold), "--table", table, "--force")
    with open(table) as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    theirs = [[float(s), float(c[0]), float(c[1])] for s, c in zip(result[0], result[1])]
    return apart([[float(row[key]) for key in ("sum", "com_y", "com_x")] for row in rows], theirs, 1e-5)


class Job:
    def __init__(self, bench, row, call, check, name=None):
        self.bench, self.row, self.call, self.check, self.name = bench, row, call, check, name


JOBS = [
    Job("convolve", "convolve 15x15, direct, f32", lambda s: s.signal.convolve2d(s.image, s.narrow_kernel),
        lambda s, r: check_convolve(s, r, False), "convolve2d"),
    Job("convolve", "convolve 15x15, direct, f64", lambda s: s.signal.convolve2d(s.wide, s.kernel),
        lambda s, r: check_convolve(s, r, True), "convolve2d"),
    Job("convolve", "convolve 15x15, rank 1, f32", lambda s: s.signal.fftconvolve(s.image, s.narrow_kernel),
        lambda s, r: check_convolve(s, r, False), "fftconvolve"),
    Job("convolve", "convolve 15x15, rank 1, f64", lambda s: s.signal.fftconvolve(s.wide, s.kernel),
        lambda s, r: check_convolve(s, r, True), "fftconvolve"),
    *(Job("blur", f"blur 100x1024x1024, sigma {sigma}", lambda s, sigma=sigma: s.ndimage.gaussian_filter(s.large, sigma), check_blur,
          "gaussian_filter") for sigma in (1, 2, 5, 10)),
    Job("stats", "mean, median, std, max of 2048x2048", moments, check_moments),
    Job("clip", "clip to convergence, 2048x2048", clip, check_clip),
    Job("threshold", "threshold, 2048x2048", lambda s: s.image > s.threshold, None),
    Job("label", "label, 2048x2048", lambda s: s.ndimage.label(s.image > s.threshold), check_labels),
    Job("measure", "measures of labels, 2048x2048", of_labels, check_measures, "sum_labels, center_of_mass"),
]


def time_peer(scene, job, seconds):
    """ms of a call among calls one behind the other, the first apart; what it gave."""
    result = job.call(scene)
    scene.wait()
    start = time.perf_counter()
    job.call(scene)
    scene.wait()
    calls = max(1, min(200, int(seconds / max(1e-6, time.perf_counter() - start))))
    start = time.perf_counter()
    for _ in range(calls):
        job.call(scene)
    scene.wait()
    return 1e3 * (time.perf_counter() - start) / calls, result


def bench_images(args, benches):
    """ms by name of row."""
    rows = airy_json(args, "bench", *benches, "--seconds", str(args.seconds))
    return {row["name"]: row["value"] for row in rows}


def compare_images(args, device, rows):
    """Every job on one device, Airy and the peer in turn; True where all agree."""
    args.on = device
    peer = "scipy" if device == "cpu" else "cupy"
    if not importlib.util.find_spec(peer):
        print(f"{device}: skipped, not installed: {peer}")
        return True
    good, ours, theirs, words = True, {}, {}, {}
    jobs = [job for job in JOBS if not args.only or args.only in job.row]
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(args, folder)
        for k in range(args.repeat):
            for name, value in bench_images(args, sorted({job.bench for job in jobs})).items():
                ours.setdefault(name, []).append(value)
            for job in jobs:
                ms, result = time_peer(scene, job, args.seconds)
                print(f"  {job.row}, {peer}: {ms:.3f} ms", file=sys.stderr, flush=True)
                theirs.setdefault(job.row, []).append(ms)
                if k == 0:
                    words[job.row] = job.check(scene, result) if job.check else (True, "")
    print(f"\n{device}\n{'ms':40}{'Airy':>10}{'with copies':>13}{peer:>10}{'Airy x':>8}")
    for job in jobs:
        value = statistics.median(ours.get(job.row + ", back to back") or ours[job.row])
        copies = ours.get(job.row + ", with copies")
        copies = statistics.median(copies) if copies else None
        other, (agrees, sentence) = statistics.median(theirs[job.row]), words[job.row]
        good = good and agrees
        print(f"{job.row:40}{value:10.4f}{copies and f'{copies:.4f}' or '-':>13}{other:10.3f}{other / value:8.1f}  {sentence}")
        rows.append({"device": device, "job": job.row, "value": value, "with_copies": copies, "unit": "ms", "peer": job.name or peer,
                     "peer_value": other, "airy_ratio": other / value, "agrees": agrees, "agreement": sentence})
    return good


def versions():
    found = []
    for module in ("pyFAI", "silx", "hdf5plugin", "bitshuffle", "pyopencl", "numpy", "scipy", "cupy", "h5py"):
        if importlib.util.find_spec(module):
            try:
                found.append(f"{module} {importlib.metadata.version(module)}")
            except importlib.metadata.PackageNotFoundError:
                found.append(module)
    return ", ".join(found)


def main():
    args = arguments()
    needed = "numpy" if args.images else "h5py"
    if not importlib.util.find_spec(needed):
        print(f"bench/compare.py: no module {needed}; nothing to compare with", file=sys.stderr)
        return 0
    cores = sorted(os.sched_getaffinity(0))[: args.cores]
    os.sched_setaffinity(0, cores)
    args.cores = len(cores)
    what = "images" if args.images else f"{args.file}: {len(open_stack(args.file))} frames"
    print(f"{versions()}\n{what}; {len(cores)} cores; medians of {args.repeat}"
          + ("" if args.images else "; (n): processes of a peer, which share the cores"))
    rows = []
    good = all([(compare_images if args.images else compare)(args, device, rows) for device in args.device or ["cpu"]])
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"packages": versions(), "cores": len(cores), "file": args.file, "rows": rows}, out, indent=1)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
