#!/usr/bin/env python3
"""Times each command that is a job from its start to its exit, with the smallest input that it has work for.

usage: bench/start.py AIRY OTHER [RUNS]

AIRY and OTHER, the commands of two builds, run in turn, and each begins as often as the other. Prints a line
a command: the median of both in ms, and the median of the ratios OTHER / AIRY, above 1 where AIRY is faster,
with the 10th and 90th percentile of these ratios. Inputs are made by AIRY in a temporary folder.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

DETECTOR = "--detector pilatus_100k --dist 0.1 "
STACK = "simulate diffraction s.h5 --frames 2 --calibrant LaB6 --poni1 0.0168 --poni2 0.0419 --wavelength 1e-10 " + DETECTOR
RINGS = "--calibrant LaB6 --wavelength 1e-10 --detector eiger_1M --dist 0.1 "
INPUTS = [
    STACK,
    "simulate diffraction rings.h5 --frames 1 --poni1 0.04 --poni2 0.04 " + RINGS,
    "simulate sky i.fits --height 64 --width 64 --sources 5",
    "simulate kernel k.npy",
    "simulate oct o.npy --lines 64 --reflectors 800:-20 --dispersion 30,-12 --write-plan plan.json",
    "peaks s.h5 -o sparse.h5",
    "integrate s.h5 -o r.h5 --bins 50",
]
# What is timed, by the job. An output is removed before each run.
COMMANDS = [
    "simulate kernel out.npy",
    "simulate diracs out.npy --size 64",
    "simulate oct out.h5 --samples 256 --lines 16",
    "simulate sky out.npy --height 64 --width 64",
    STACK.replace(" s.h5", " out.h5"),
    "reduce s.h5 -o out.npy",
    "convert i.fits -o out.npy",
    "compress s.h5 -o out.h5",
    "decompress s.h5 -o out.h5",
    "densify sparse.h5 -o out.h5",
    "integrate s.h5 -o out.h5 --bins 50",
    "calibrate rings.h5 --center 533,533 -o out.poni " + RINGS,
    "peaks s.h5 -o out.h5",
    "merge r.h5 -o out.h5",
    "diff i.fits i.fits",
    "stats i.fits",
    "clip i.fits",
    "threshold i.fits --above 1 -o out.npy",
    "label i.fits --above 1 -o out.npy",
    "sources i.fits --catalog out.csv",
    "sky i.fits --pixels 3,4",
    "convolve i.fits --kernel k.npy -o out.npy",
    "blur i.fits --sigma 1 -o out.npy",
    "filter median i.fits --size 3 -o out.npy",
    "oct o.npy --plan plan.json -o out.h5",
    "oct calibrate o.npy --plan plan.json --fit dispersion -o out.json",
    "stream s.h5 --to tcp://127.0.0.1:1 --frames 9:10",
]


def run(airy, words, folder):
    """Returns the seconds to the exit, the exit code and what it printed."""
    for name in os.listdir(folder):
        if name.startswith("out."):
            os.unlink(os.path.join(folder, name))
    begin = time.perf_counter()
    done = subprocess.run([airy, *words.split()], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return time.perf_counter() - begin, done.returncode, done.stderr


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    airy, other = (os.path.abspath(path) for path in sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 21
    os.environ["AIRY_DEVICE"] = "cpu"
    with tempfile.TemporaryDirectory() as folder:
        for words in INPUTS:
            _, code, text = run(airy, words, folder)
            if code:
                print(f"input: airy {words}: exit code {code}: {text}", file=sys.stderr)
        for words in COMMANDS:
            times = {airy: [], other: []}
            codes = {build: run(build, words, folder) for build in (airy, other)}
            if codes[airy][1] != codes[other][1] or (codes[airy][1] and not words.startswith("stream")):
                print(f"{words}: exit codes {codes[airy][1]}, {codes[other][1]}: {codes[airy][2]}", file=sys.stderr)
                continue
            for i in range(runs):
                for build in (airy, other) if i % 2 else (other, airy):
                    times[build].append(run(build, words, folder)[0])
            ratios = sorted(b / a for a, b in zip(times[airy], times[other]))
            is_two = words.startswith(("simulate", "filter", "oct calibrate"))
            name = " ".join(words.split()[: 2 if is_two else 1])
            print(f"{name:22} {1e3 * statistics.median(times[airy]):8.1f} {1e3 * statistics.median(times[other]):8.1f}"
                  f" {statistics.median(ratios):6.2f} {ratios[len(ratios) // 10]:6.2f} {ratios[-1 - len(ratios) // 10]:6.2f}", flush=True)


main()
