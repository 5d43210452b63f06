"""Runs: rows, callbacks, Ctrl-C, threads, processes, many calls."""

import asyncio
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings

import numpy

import airy
from common import FRAMES, GEOMETRY, equal, scratch, sky, stack_file

LONG = {"frames": 100000, "force": True, **GEOMETRY}


def rows(**more):
    return airy.receive(stack_file(), bins=50, device="cpu", **more)


class Rows(unittest.TestCase):
    def test_rows(self):
        taken = rows(error_model="poisson")
        found = list(taken)
        wanted = airy.integrate(stack_file(), bins=50, device="cpu", error_model="poisson")
        self.assertEqual([row.frame for row in found], list(range(FRAMES)))
        equal(self, numpy.stack([row.intensity for row in found]), wanted.intensity)
        equal(self, numpy.stack([row.sem for row in found]), wanted.sem)
        equal(self, found[0].radial, wanted.radial)
        self.assertIs(found[0].radial, found[-1].radial)
        self.assertEqual((found[0].unit, found[0].status), ("q_nm^-1", 0))
        equal(self, taken.result.intensity, wanted.intensity)
        self.assertEqual(taken.series[0]["frames"], FRAMES)
        self.assertEqual(list(taken), [])

    def test_left_early(self):
        for row in rows():
            break
        gc.collect()
        with rows() as taken:
            next(taken)
        taken.close()
        self.assertRaises(StopIteration, next, taken)
        abandoned = rows()
        del abandoned
        gc.collect()

    def test_two_dimensions(self):
        self.assertEqual(next(airy.receive(stack_file(), bins=(50, 12), device="cpu")).intensity.shape, (12, 50))

    def test_failure(self):
        with self.assertRaises(FileNotFoundError):
            list(airy.receive("none.h5"))
        self.assertRaises(ValueError, airy.receive, "none.h5", bins=-1)

    def test_async(self):
        async def count():
            return [row.frame async for row in rows()]

        self.assertEqual(asyncio.run(count()), list(range(FRAMES)))

    def test_async_left(self):
        async def first():
            async with rows() as taken:
                async for row in taken:
                    return row.frame

        self.assertEqual(asyncio.run(first()), 0)

    def test_two_threads_on_one(self):
        taken, errors = rows(), []

        def take():
            try:
                for _ in taken:
                    pass
            except RuntimeError as error:
                errors.append(error)

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertFalse(any(thread.is_alive() for thread in threads))
        for error in errors:
            self.assertRegex(str(error), "another thread|has ended")


@unittest.skipIf("streams: no" in airy.build_info(), "built without streams")
class Stream(unittest.TestCase):
    def test_live(self):
        """stream sends what receive takes."""
        address = f"ipc://{scratch('live')}"
        taken = airy.receive(address, bins=50, device="cpu", timeout=30, series=1, **GEOMETRY)
        sent = []
        sender = threading.Thread(target=lambda: sent.append(airy.stream(stack_file(), to=address, patience=30)))
        sender.start()
        found = list(taken)
        sender.join(30)
        self.assertEqual([row.frame for row in found], list(range(FRAMES)))
        self.assertEqual(sent[0].images, FRAMES)
        equal(self, found[3].intensity, airy.integrate(stack_file(), bins=50, device="cpu", **GEOMETRY).intensity[3])

    def test_left(self):
        """Nobody sends: the loop is left by Ctrl-C, and by close() of another thread."""
        taken = airy.receive(f"ipc://{scratch('silent')}", bins=50, device="cpu", **GEOMETRY)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        self.assertRaises(KeyboardInterrupt, next, taken)
        taken = airy.receive(f"ipc://{scratch('silent')}", bins=50, device="cpu", **GEOMETRY)
        threading.Timer(0.3, taken.cancel).start()
        self.assertEqual(list(taken), [])  # a stream without a number of series ends so


class Interrupts(unittest.TestCase):
    def test_control_c(self):
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            airy.simulate_diffraction(output=scratch("long.h5"), **LONG)
        self.assertLess(time.monotonic() - began, 5)
        self.assertFalse(os.path.exists(scratch("long.h5")))

    def test_progress_raises(self):
        def stop(done, total):
            self.assertEqual(total, LONG["frames"])
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            airy.simulate_diffraction(output=scratch("long.h5"), progress=stop, **LONG)

    def test_progress_cancels(self):
        with self.assertRaises(airy.CancelledError):
            airy.simulate_diffraction(output=scratch("long.h5"), progress=lambda done, total: done < 3, **LONG)

    def test_progress_counts(self):
        seen = []
        airy.simulate_diffraction(frames=5, progress=lambda done, total: seen.append((done, total)), **GEOMETRY)
        self.assertEqual(seen[-1], (5, 5))

    def test_bar(self):
        code = (
            "import sys; sys.stderr.isatty = lambda: True; sys.modules['tqdm'] = None; import airy\n"
            "from airy import _bar; _bar._DELAY = 0\n"
            f"airy.simulate_diffraction(frames=5, progress=True, **{GEOMETRY!r})"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/5", done.stderr)

    def test_exit_with_a_run(self):
        """The interpreter ends while runs go on: of a thread, and of rows that nobody has taken."""
        code = (
            "import airy, threading\n"
            f"rows = airy.receive({stack_file()!r}, device='cpu'); next(rows)\n"
            f"t = threading.Thread(target=lambda: airy.simulate_diffraction(frames=200000, output={scratch('exit.h5')!r}, **{GEOMETRY!r}), daemon=True)\n"
            "t.start(); import time; time.sleep(0.3)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


def work(device):
    try:
        return float(airy.blur(sky(), sigma=2, device=device).image.sum())
    except airy.Error as error:
        return error.hint


class Processes(unittest.TestCase):
    def pool(self, method, devices):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with multiprocessing.get_context(method).Pool(2) as pool:
                return pool.map_async(work, devices).get(60)

    def test_fork_cpu(self):
        self.assertEqual(self.pool("fork", ["cpu"] * 4), [work("cpu")] * 4)

    def test_fork_opencl(self):
        airy.devices()
        for answer in self.pool("fork", ["opencl", None]):
            self.assertIn("spawn", answer)

    def test_fork_of_a_run(self):
        """A child that has its parent's rows ends, and the parent goes on."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            taken = rows()
            next(taken)
            child = os.fork()
            if child == 0:
                try:
                    next(taken)
                except RuntimeError:
                    del taken
                    gc.collect()
                    os._exit(7)
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
        self.assertEqual(len(list(taken)), FRAMES - 1)

    def test_spawn(self):
        code = "import airy, sys; sys.exit(airy.blur(__import__('numpy').ones((9, 9), 'f4'), sigma=1, device='cpu').image.shape != (9, 9))"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)

    def test_threads(self):
        wanted, found = airy.blur(sky(), sigma=2, device="cpu").image, [None] * 8

        def one(i):
            found[i] = airy.blur(sky(), sigma=2, device="cpu").image

        threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for image in found:
            equal(self, image, wanted)


def memory():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Leaks(unittest.TestCase):
    def test_small_calls(self):
        """10^4 calls, half of them refused, and 200 results of which one small array is kept."""
        small = numpy.ones((8, 8), "f4")

        def calls(count):
            for _ in range(count // 2):
                airy.stats(small)
                try:
                    airy.stats(small, mask=small[:, :0])
                except ValueError:
                    pass
            gc.collect()

        def integrations(count):
            return [airy.integrate(stack_file(), bins=50, device="cpu").radial for _ in range(count)]

        calls(1000)
        integrations(100)  # what the allocator of C keeps for threads
        before = memory()
        calls(10000)
        self.assertLess(memory() - before, 4 << 20)
        self.assertEqual(len(integrations(200)), 200)
        self.assertLess(memory() - before, 16 << 20)

    def test_arrays_are_let_go(self):
        array = numpy.ones((64, 64), "f4")
        count = sys.getrefcount(array)
        r = airy.blur(array, sigma=1, device="cpu")
        self.assertEqual(sys.getrefcount(array), count)
        with self.assertRaises(ValueError):
            airy.blur(array, sigma=-1, device="cpu")
        gc.collect()
        self.assertEqual(sys.getrefcount(array), count)
        array.resize((32, 32), refcheck=False)  # nobody exports its buffer
        self.assertEqual(r.image.shape, (64, 64))


if __name__ == "__main__":
    unittest.main()
