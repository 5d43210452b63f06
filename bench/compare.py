#!/usr/bin/env python3
"""The established Python packages beside Airy, on the same file, in the same run: results compared, then speed.

    bench/compare.py [--airy build/tools/airy/airy] [--cores 2] [--bins 1000] [--repeat 3] FILE PONI

FILE: a bitshuffle-LZ4 stack; PONI: its geometry. Needs pyFAI, h5py and hdf5plugin; says so and stops where they are missing. Runs
alternate (A B A B ...), the medians are compared. Peers: one process with OpenMP over `cores` threads, and one process per core;
cython CSR and CSC each; the fastest counts.
"""
import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--airy", default="build/tools/airy/airy")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--bins", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peer-frames", type=int, default=32, help="frames that a peer integrates in one timing")
    parser.add_argument("file")
    parser.add_argument("poni")
    return parser.parse_args()


def open_stack(path):
    import h5py
    import hdf5plugin  # noqa: F401  registers the filters

    handle = h5py.File(path, "r")
    for name in ("entry/data/data", "data", "entry/data/data_000001"):
        if name in handle:
            return handle[name]
    raise SystemExit(f"{path}: no dataset found")


def peer_worker(args, algorithm, threads, frames, barrier, queue):
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import pyFAI

    integrator = pyFAI.load(args.poni)
    data = open_stack(args.file)
    method = ("full", algorithm, "cython")
    options = {"method": method, "unit": "q_nm^-1"}
    result = integrator.integrate1d(data[0], args.bins, **options)
    barrier.wait()
    start = time.perf_counter()
    for i in frames:
        integrator.integrate1d(data[i % len(data)], args.bins, **options)
    queue.put((time.perf_counter() - start, result.intensity))


def peer(args, algorithm, processes, threads):
    """Frames a second of `processes` processes with `threads` OpenMP threads each, and the pattern of frame 0."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(processes), context.Queue()
    workers = [
        context.Process(target=peer_worker,
                        args=(args, algorithm, threads, range(k, args.peer_frames, processes), barrier, queue))
        for k in range(processes)
    ]
    for worker in workers:
        worker.start()
    answers = [queue.get() for _ in workers]
    for worker in workers:
        worker.join()
    return args.peer_frames / max(a[0] for a in answers), answers[0][1]


def airy(args, output):
    command = [args.airy, "integrate", args.file, "--poni", args.poni, "-o", output, "--force", "--json", "--device", "cpu",
               "--threads", str(args.cores), "--bins", str(args.bins), "--compat", "pyfai"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return answer["frames"] / answer["seconds"]


def main():
    args = arguments()
    try:
        import h5py
        import hdf5plugin  # noqa: F401
        import numpy
        import pyFAI
    except ImportError as missing:
        print(f"bench/compare.py: {missing}; nothing to compare with", file=sys.stderr)
        return 0
    cores = sorted(os.sched_getaffinity(0))[:args.cores]
    os.sched_setaffinity(0, cores)
    print(f"pyFAI {pyFAI.version}, cores {cores}, {len(open_stack(args.file))} frames, medians of {args.repeat}")
    peers = [(algorithm, processes, args.cores // processes) for algorithm in ("csr", "csc")
             for processes in sorted({1, args.cores})]
    rates = {name: [] for name in ["airy", *peers]}
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "airy.h5")
        for _ in range(args.repeat):
            rates["airy"].append(airy(args, output))
            for name in peers:
                rate, pattern = peer(args, *name)
                rates[name].append(rate)
        with h5py.File(output) as handle:
            ours = handle["entry/integrate/result/intensity"][0]
    filled = numpy.isfinite(ours) & (pattern != 0)
    worst = numpy.max(numpy.abs(ours - pattern)[filled] / numpy.maximum(numpy.abs(pattern[filled]), 1e-30))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    best = max(peers, key=medians.get)
    print(f"largest relative difference of frame 0: {worst:.1e}")
    print(f"airy                                 {medians['airy']:8.1f} frames/s")
    for name in peers:
        print(f"pyFAI {name[0]}, {name[1]} processes x {name[2]} threads    {medians[name]:8.1f} frames/s")
    print(f"ratio to the fastest peer            {medians['airy'] / medians[best]:8.1f}")
    return 0 if worst < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
