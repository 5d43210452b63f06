"""Exceptions. Each failure of the library is an airy.Error and, where Python has a class for it, also one of that class."""

from __future__ import annotations

import errno

__all__ = ["Error", "ParameterError", "NotFoundError", "FileError", "ExistsError", "OutOfMemoryError", "UnsupportedError", "TimedOutError", "CancelledError"]


class Error(Exception):
    """A failure of the library.

    status   its name, such as "AIRY_ERR_CORRUPT"
    subject  what it is about, as a pair (kind, name), such as ("parameter", "bins"); None: nothing that has a name
    hint     what to do next; None where the library knows nothing
    """

    status: str = ""
    subject: tuple[str, str] | None = None
    hint: str | None = None

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ParameterError(Error, ValueError):
    """A parameter, the shape or the type of an array is wrong."""


class NotFoundError(Error, FileNotFoundError):
    """There is no such file."""


class FileError(Error, OSError):
    """The system refused to open, read or write a file."""


class ExistsError(Error, FileExistsError):
    """The output is there already."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class UnsupportedError(Error, NotImplementedError):
    """The device, the file or this build lacks what was asked for."""


class TimedOutError(Error, TimeoutError):
    """What was waited for did not happen."""


class CancelledError(Error):
    """The run was cancelled."""


_CLASSES = {
    "AIRY_ERR_PARAM": ParameterError,
    "AIRY_ERR_SHAPE": ParameterError,
    "AIRY_ERR_DTYPE": ParameterError,
    "AIRY_ERR_UNSUPPORTED": UnsupportedError,
    "AIRY_ERR_MEMORY": OutOfMemoryError,
    "AIRY_ERR_IO": FileError,
    "AIRY_ERR_EXISTS": ExistsError,
    "AIRY_ERR_CANCELLED": CancelledError,
    "AIRY_ERR_TIMED_OUT": TimedOutError,
}
_NUMBERS = {NotFoundError: errno.ENOENT, ExistsError: errno.EEXIST}


def _class_of(status: str, kind: str) -> type[Error]:
    if status == "AIRY_ERR_NOT_FOUND":
        return {"file": NotFoundError, "parameter": ParameterError}.get(kind, Error)
    return _CLASSES.get(status, Error)


def make_error(status: str, code: int, text: str, kind: str, name: str, hint: str) -> Error:
    """Make the exception of a failure, which the extension raises."""
    if kind == "parameter" and "-" in name:  # as it is written in Python
        text = text.replace(name, name.replace("-", "_"))
        name = name.replace("-", "_")
    cls = _class_of(status, kind)
    error = cls(text)
    error.status = status
    error.subject = (kind, name) if kind != "none" else None
    error.hint = hint or None
    if isinstance(error, OSError):
        error.errno = _NUMBERS.get(cls)
        error.filename = name if kind == "file" else None
    if hint:
        error.add_note(f"hint: {hint}")
    return error
