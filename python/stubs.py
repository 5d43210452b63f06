#!/usr/bin/env python3
"""Write the stubs of the package airy, for editors and type checkers. It needs no NumPy.

usage: stubs.py FOLDER OUT    FOLDER: of the package, with its extension
"""

import os
import sys

HEAD = '''# Made by python/stubs.py of the descriptions of jobs.
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy
from numpy.typing import ArrayLike

from ._errors import CancelledError as CancelledError
from ._errors import Error as Error
from ._errors import ExistsError as ExistsError
from ._errors import FileError as FileError
from ._errors import NotFoundError as NotFoundError
from ._errors import OutOfMemoryError as OutOfMemoryError
from ._errors import ParameterError as ParameterError
from ._errors import TimedOutError as TimedOutError
from ._errors import UnsupportedError as UnsupportedError
from ._files import OpenResult as OpenResult
from ._files import open_result as open_result
from ._results import Result as Result
from ._results import Table as Table
from ._rows import Row as Row
from ._rows import Rows as Rows
from ._rows import receive as receive

__version__: str
__all__: list[str]

def devices() -> list[Device]: ...
def build_info() -> str: ...
'''


def stub_of(function):
    lines, after = [f"def {function.__name__}("], False
    for parameter in function.__signature__.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not after:
            lines.append("    *,")
            after = True
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        lines.append(f"    {parameter.name}: {parameter.annotation}{default},")
    return "\n".join([*lines, ") -> Result: ..."]) + "\n"


def stub_of_device(device):
    return "\n".join(["", "class Device(NamedTuple):", *(f"    {name}: {kind}" for name, kind in device.__annotations__.items()), ""])


def stubs():
    from airy import Device, _jobs

    return HEAD + stub_of_device(Device) + "".join("\n" + stub_of(_jobs.functions[name]) for name in sorted(_jobs.functions))


def main():
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[1])))
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write(stubs())


if __name__ == "__main__":
    main()
