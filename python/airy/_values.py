"""Values of Python as a job takes them: a bool, a float, a text, a tuple of numbers, or an object with the buffer protocol."""

from __future__ import annotations

import glob
import operator
import os
import re

_SIZES = re.compile(r"[A-Z]+\[?x[A-Z]+\]?$")  # "N[xM]"
_NUMBERS = frozenset(["whole", "seed", "bytes", "real"])


def _wrong(parameter: dict, value: object, expected: str) -> TypeError:
    return TypeError(f"{parameter['python']}: {type(value).__name__} is not {expected}")


def _is_flag(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool") and hasattr(value, "dtype")


def _number(parameter: dict, value: object) -> object:
    if isinstance(value, str):
        return value
    if _is_flag(value):
        raise _wrong(parameter, value, "a number")
    try:
        return str(operator.index(value))
    except TypeError:
        pass
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _wrong(parameter, value, "a number") from None


def _flag(parameter: dict, value: object) -> object:
    if isinstance(value, str):
        return value
    if not _is_flag(value):
        raise _wrong(parameter, value, "True or False")
    return bool(value)


def _text(parameter: dict, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if _is_flag(value) or not isinstance(value, (int, float)) and not hasattr(value, "__index__"):
        raise _wrong(parameter, value, "a text")
    return _word(parameter, value)


def _word(parameter: dict, value: object) -> str:
    """A part of a record, or a number that stands for a text."""
    if isinstance(value, (str, os.PathLike)):
        return os.fsdecode(value)
    number = _number(parameter, value)
    return number if isinstance(number, str) else repr(number)


def _dtype(parameter: dict, value: object) -> str:
    if isinstance(value, str):
        return value
    import numpy

    return numpy.dtype(value).name


def _tuple(parameter: dict, value: object) -> object:
    if isinstance(value, str):
        return value
    if not hasattr(value, "__iter__"):
        value = (value,)
    numbers = [_number(parameter, part) for part in value]
    try:
        return tuple(float(number) for number in numbers)
    except ValueError:
        raise _wrong(parameter, value, "a tuple of numbers") from None


def _range(parameter: dict, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (slice, range)):
        parts = [value.start, value.stop, value.step]
        if parts[2] is None or parts[2] == 1:
            parts.pop()
        return ":".join("" if part is None else str(operator.index(part)) for part in parts)
    return _number(parameter, value)


def _shape(parameter: dict, value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, (tuple, list)):
        raise _wrong(parameter, value, "a tuple (height, width)")
    return "x".join(_word(parameter, part) for part in value)


def _record(parameter: dict, value: object) -> str:
    if isinstance(value, (tuple, list)):
        between = "x" if _SIZES.match(parameter["argument"] or "") else ","
        return between.join(_word(parameter, part) for part in value)
    return _word(parameter, value)


def _path(parameter: dict, value: object) -> object:
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    if hasattr(value, "read") and hasattr(value, "close"):
        raise _wrong(parameter, value, f"a path: give its name, {parameter['python']}=file.name")
    if not parameter["array"]:
        raise _wrong(parameter, value, "a path")
    return array_of(parameter, value)


def array_of(parameter: dict, value: object) -> object:
    """An object with the buffer protocol: the value itself, or an array of NumPy over its memory."""
    import numpy

    name = parameter["python"]
    if isinstance(value, (numpy.ndarray, memoryview, bytearray)):
        return value
    if hasattr(value, "__cuda_array_interface__"):
        raise NotImplementedError(f"{name}: the array is in the memory of a GPU; copy it to the host")
    if type(value).__module__.partition(".")[0] == "h5py":
        raise _wrong(parameter, value, f"read yet: give {name}=\"FILE::DATASET\", or dataset[...]")
    if hasattr(value, "__array_interface__"):
        return numpy.asarray(value)
    if hasattr(value, "__dlpack__"):
        return numpy.from_dlpack(value)
    try:
        memoryview(value)
    except TypeError:
        raise _wrong(parameter, value, "a path or an array") from None
    return value


_CONVERTERS = {
    "flag": _flag,
    "text": _text,
    "word": _text,
    "dtype": _dtype,
    "path": _path,
    "tuple": _tuple,
    "range": _range,
    "shape": _shape,
    "record": _record,
    **dict.fromkeys(_NUMBERS, _number),
}


def _is_several(parameter: dict, value: object) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    if parameter["type"] not in ("tuple", "record", "shape"):
        return True
    return any(isinstance(part, (list, tuple)) for part in value) or (
        parameter["type"] != "shape" and bool(value) and all(isinstance(part, str) for part in value)
    )


def _expand(parameter: dict, value: str) -> list[str]:
    """The files that a pattern stands for, in the order of their names."""
    if "*" not in value and "?" not in value or os.path.exists(value) or "://" in value:
        return [value]
    files, colons, dataset = value.partition("::")
    found = [name + colons + dataset for name in sorted(glob.glob(files))]
    if not found:
        from ._errors import make_error

        raise make_error("AIRY_ERR_NOT_FOUND", -10, f"no file matches '{value}'", "file", value, "check the path")
    return found


def convert(parameter: dict, value: object) -> list:
    """Values for Job.set: one, or several of a list."""
    converter = _CONVERTERS[parameter["type"]]
    if not parameter["list"]:
        return [converter(parameter, value)]
    if not _is_several(parameter, value):
        value = [value]
    if not value:
        raise ValueError(f"{parameter['python']}: the list is empty")
    values = [converter(parameter, part) for part in value]
    if parameter["role"] in ("input", "read"):
        return [file for one in values for file in (_expand(parameter, one) if isinstance(one, str) else [one])]
    return values
