"""Results in files, which are read when somebody looks at them."""

from __future__ import annotations

import json
import threading

import numpy

from . import _airy

__all__ = ["OpenResult", "open_result"]


class _Shared:
    """The file of several views, with a lock: one thread at a time reads it."""

    def __init__(self, path: object) -> None:
        self.file, self.lock = _airy.File(path), threading.Lock()
        self.look()

    def look(self) -> None:
        self.info = self.file.info()
        self.planes = {}
        for plane in self.info["planes"]:
            self.planes.setdefault(plane["name"], plane)
            self.planes.setdefault(plane["name"].rpartition("/")[2], plane)
        self.axes = {axis["name"]: axis for axis in self.info["axes"]}


class OpenResult:
    """A result in a file, or some of its rows. Attributes are arrays, read when they are asked for.

    result.intensity           all rows
    result[10:20].intensity    rows 10 to 19, and nothing else of the file
    result.radial              an axis
    result.status              of each row: 0 good, 1 bad, -1 not written yet
    """

    def __init__(self, shared: _Shared, rows: range | None = None, single: bool = False) -> None:
        self._shared, self._rows, self._single = shared, rows, single

    def _range(self) -> range:
        return range(self._shared.info["rows"]) if self._rows is None else self._rows

    def __len__(self) -> int:
        return len(self._range())

    def __getitem__(self, rows: int | slice) -> OpenResult:
        chosen = self._range()[rows]
        if isinstance(chosen, int):
            return OpenResult(self._shared, range(chosen, chosen + 1), single=True)
        return OpenResult(self._shared, chosen)

    def _read(self, plane: dict) -> object:
        rows = self._range() if plane["has_rows"] and plane["rows"] == self._shared.info["rows"] else range(plane["rows"])
        low, high = (min(rows[0], rows[-1]), max(rows[0], rows[-1]) + 1) if rows else (0, 0)
        array = numpy.empty((high - low, *plane["shape"]), plane["dtype"])
        if array.size:
            with self._shared.lock:
                self._shared.file.read(plane["name"], low, high - low, plane["dtype"], array)
        if plane["text"]:
            array = array.reshape(-1).view(f"S{plane['text']}").reshape(array.shape[:-1])
        elif plane["complex"]:
            array = array.view("complex64" if plane["dtype"] == "float32" else "complex128")[..., 0]
        if not plane["has_rows"]:
            return array[0] if len(array) == 1 else array
        if rows and (rows.step != 1 or len(rows) != len(array)):
            array = array[[row - low for row in rows]]
        return array[0] if self._single and len(array) == 1 else array

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        shared = self._shared
        if name in shared.axes:
            return numpy.frombuffer(shared.axes[name]["values"], numpy.float64)
        if name in shared.planes:
            return self._read(shared.planes[name])
        raise AttributeError(f"no '{name}' in the result; there are {', '.join(self.keys())}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.keys()]

    def keys(self) -> list[str]:
        """Names of axes and planes."""
        return [*self._shared.axes, *(plane["name"].rpartition("/")[2] for plane in self._shared.info["planes"])]

    @property
    def status(self) -> numpy.ndarray:
        with self._shared.lock:
            states = numpy.frombuffer(self._shared.file.rows(), numpy.int8)
        return states[self._rows.start : self._rows.stop : self._rows.step] if self._rows is not None and len(self._rows) else states

    @property
    def unit(self) -> str | None:
        """The unit of the radial axis."""
        return next((axis["unit"] or axis["units"] for axis in self._shared.info["axes"]), None)

    @property
    def info(self) -> dict:
        """Kind, rows, good and bad ones, whether it grows, is being written, is complete."""
        return {k: v for k, v in self._shared.info.items() if k not in ("axes", "planes")}

    @property
    def provenance(self) -> dict:
        with self._shared.lock:
            texts = {name: self._shared.file.text(name) for name in ("program", "version", "date", "configuration")}
        if texts["configuration"]:
            texts["configuration"] = json.loads(texts["configuration"])
        return {name: text for name, text in texts.items() if text is not None}

    def message(self, row: int) -> str:
        """Why a row is bad."""
        with self._shared.lock:
            return self._shared.file.message(self._range()[row])

    def refresh(self) -> OpenResult:
        """Look at the rows that have been written since."""
        with self._shared.lock:
            self._shared.file.refresh()
            self._shared.look()
        return self

    def close(self) -> None:
        with self._shared.lock:
            self._shared.file.close()

    def __enter__(self) -> OpenResult:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def plot(self, row: int | None = None, ax: object = None) -> object:
        """Draw it with matplotlib, as Result.plot."""
        from ._plot import plot

        return plot(self, row, ax)

    def __repr__(self) -> str:
        info = self._shared.info
        state = "complete" if info["complete"] else "being written" if info["written"] else "not complete"
        return f"<airy result {info['path']}: {len(self)} rows, {state}; {', '.join(self.keys())}>"


def open_result(path: object) -> OpenResult:
    """Open a result of integrate, merge, peaks, oct, densify or reduce, also while it is being written."""
    return OpenResult(_Shared(path))
