"""Rows of a run as they are finished: of a live stream, and of files."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import NamedTuple

import numpy

from . import _airy, _jobs

__all__ = ["Row", "Rows", "receive"]

_log = logging.getLogger("airy")
_BEGINS, _ROW, _LOST, _ENDS = range(4)


class Row(NamedTuple):
    """A pattern. intensity, std and sem are NaN where status is not 0, and text says why."""

    row: int
    frame: int
    series: int
    status: int
    unit: str
    radial: numpy.ndarray
    intensity: numpy.ndarray
    std: numpy.ndarray | None
    sem: numpy.ndarray | None
    text: str


class Rows:
    """Rows of a run, for `for` and `async for`. Leaving the loop and calling close() cancels the run.

    result   the Result, when all rows have come
    series   of each series that has ended a dict
    lost     frames that did not come
    """

    def __init__(self, function: object, args: tuple, kwargs: dict) -> None:
        self._run = function.begin(args, kwargs, events=True)
        self.result, self.series, self.lost = None, [], []
        self._radial, self._bytes = None, None
        self._ended = False
        self._run.job.start()

    def _axis(self, data: bytearray | None) -> numpy.ndarray | None:
        if data is not None and data != self._bytes:
            self._bytes, self._radial = data, numpy.frombuffer(data, numpy.float64)
        return self._radial

    def _take(self, event: tuple) -> Row | None:
        kind, status, series, row, frame, _, unit, radial, bins, azimuth, *planes, text, ended = event
        if kind == _LOST:
            self.lost.append(frame)
            _log.warning("frame %d does not come: %s", frame, text)
        elif kind == _ENDS:
            self.series.append({"series": series, "status": status, "text": text, **(json.loads(ended) if ended else {})})
        if kind != _ROW:
            return None
        shape = (azimuth, bins) if azimuth else (bins,)
        arrays = [None if plane is None else numpy.frombuffer(plane, numpy.float32).reshape(shape) for plane in planes]
        return Row(row, frame, series, status, unit, self._axis(radial), *arrays, text)

    def _next(self) -> tuple | None:
        """The next event. The run has ended where there is none, or a failure."""
        job = self._run.job
        try:
            event = job.next()
            if event is None:
                self.result = self._run.end(job.finish())
        except BaseException as error:  # a RuntimeError of the job itself: another thread waits for an event
            self._ended = self._ended or type(error) is not RuntimeError
            raise
        self._ended = event is None
        return event

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> Row:
        while not self._ended:
            event = self._next()
            if event is None:
                break
            row = self._take(event)
            if row is not None:
                return row
        raise StopIteration

    def cancel(self) -> None:
        """Cancel the run, from any thread: the loop ends, over files with CancelledError."""
        self._run.job.cancel()

    def close(self) -> None:
        """End the run. What has come so far stays with whoever has it."""
        if self._ended:
            return
        self._ended = True
        self._run.job.cancel()
        try:
            self._run.job.finish()
        except (_jobs.Error, RuntimeError):  # it was cancelled, or has ended by itself
            pass
        self._run.close()

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __aiter__(self) -> Rows:
        return self

    async def __anext__(self) -> Row:
        loop = asyncio.get_running_loop()
        try:
            row = await loop.run_in_executor(None, next, self, None)
        except asyncio.CancelledError:
            self._run.job.cancel()
            raise
        if row is None:
            raise StopAsyncIteration
        return row

    async def aclose(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    async def __aenter__(self) -> Rows:
        return self

    async def __aexit__(self, *unused: object) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if not getattr(self, "_ended", True):
            self._run.job.cancel()


def receive(stack: object, /, **parameters: object) -> Rows:
    """Integrate frames, and give each row as soon as it is finished.

    stack: an address "tcp://HOST:PORT" of a detector, or files, or an array. Parameters are those of airy.integrate.

        for row in airy.receive("tcp://dcu:31001", poni="lab6.poni"):
            print(row.frame, row.intensity.max())

    `async for` does the same without holding up the loop.
    """
    return Rows(_jobs.functions["integrate"], (stack,), parameters)
