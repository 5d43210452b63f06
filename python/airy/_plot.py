"""Pictures of results."""

from __future__ import annotations

import numpy


def _pyplot():
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
    return pyplot


def _main(result: object) -> tuple[str, numpy.ndarray]:
    for name in ("intensity", "image", "profiles", "mask", "picture", "stack"):
        value = getattr(result, name, None)
        if isinstance(value, numpy.ndarray):
            return name, value
    raise ValueError("the result has nothing to draw")


def plot(result: object, row: int | None, ax: object) -> object:
    name, value = _main(result)
    ax = _pyplot().gca() if ax is None else ax
    if value.ndim > 1 and (row is not None or value.shape[0] == 1):
        value = value[row or 0]
    radial = getattr(result, "radial", None)
    if value.ndim == 1:
        ax.plot(radial if radial is not None else numpy.arange(len(value)), value)
        ax.set_xlabel(str(getattr(result, "unit", "") or "bin"))
        ax.set_ylabel(name)
        return ax
    while value.ndim > 2:
        value = value[0]
    extent = None if radial is None else (radial[0], radial[-1], -0.5, value.shape[0] - 0.5)
    ax.imshow(value, aspect="auto" if extent else "equal", origin="lower", extent=extent)
    return ax
