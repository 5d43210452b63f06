"""Airy: detector stacks, integration, images of the sky, OCT, on CPUs and GPUs.

    import airy
    r = airy.integrate("run_master.h5", poni="lab6.poni")
    r.radial, r.intensity          # arrays of NumPy

Each job of the command `airy` is a function here: help(airy.integrate) lists parameters and results. docs/python.md begins with examples.
"""

from __future__ import annotations

from typing import NamedTuple

from . import _airy, _jobs
from ._errors import CancelledError, Error, ExistsError, FileError, NotFoundError, OutOfMemoryError, ParameterError, TimedOutError, UnsupportedError, make_error

_airy.set_errors(make_error)
__version__ = _airy.version

# These would hide functions of Python and NumPy, or names that scripts have, in `from airy import *`.
_HIDDEN = {"oct", "filter", "compress"}
# Modules that need NumPy are loaded when they are used.
_LATER = {
    "OpenResult": "_files",
    "open_result": "_files",
    "Result": "_results",
    "Table": "_results",
    "Row": "_rows",
    "Rows": "_rows",
    "receive": "_rows",
}


class Device(NamedTuple):
    """A device: airy.integrate(..., device=device.spec)."""

    spec: str
    name: str
    memory: int
    free: int
    usable: bool
    why: str
    backend: str
    driver: str
    max_alloc: int
    units: int
    fp64: bool
    gpu: bool
    is_default: bool


def devices() -> list[Device]:
    """List all devices, also those that cannot be used; `why` gives the reason."""
    _jobs.touch_opencl("all")
    return [Device(**device) for device in _airy.devices()]


def build_info() -> str:
    """Features of this build, on several lines."""
    return _airy.build_info()


globals().update(_jobs.make_functions())
__all__ = sorted(
    {"Device", "build_info", "devices", "Error", "CancelledError", "ExistsError", "FileError", "NotFoundError", "OutOfMemoryError"}
    | {"ParameterError", "TimedOutError", "UnsupportedError", *_LATER, *_jobs.functions} - _HIDDEN
)


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'airy' has no attribute '{name}'")
    import importlib

    value = getattr(importlib.import_module("." + _LATER[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
