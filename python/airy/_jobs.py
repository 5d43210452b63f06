"""Functions made of the descriptions of jobs: nothing here knows any job or parameter by its name but `device`."""

from __future__ import annotations

import difflib
import inspect
import keyword
import logging
import os
import re
import textwrap

from . import _airy, _bar, _values
from ._errors import Error, make_error

_log = logging.getLogger("airy")
_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO, 4: logging.DEBUG}
_TYPES = {
    "flag": "bool",
    "whole": "int",
    "seed": "int",
    "bytes": "int | str",
    "real": "float",
    "text": "str",
    "word": "str",
    "dtype": "str | numpy.dtype",
    "path": "path",
    "tuple": "tuple[float, ...]",
    "range": "slice | str",
    "shape": "tuple[int, int]",
    "record": "str | tuple",
}
functions: dict[str, object] = {}


def python_name(name: str) -> str:
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


# ---- processes ----

_state = {"forked": False, "opencl": False}


def _after_fork() -> None:
    _state["forked"] = True
    _airy.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def touch_opencl(device: object) -> None:
    """Note that this process uses OpenCL, unless the device is the CPU; after a fork it must not, where its parent has."""
    device = os.environ.get("AIRY_DEVICE") if device is None else device
    if isinstance(device, str) and device.strip().lower() == "cpu":
        return
    if _state["forked"] and _state["opencl"]:
        text = "OpenCL does not work in a child process that was made by fork after its parent has used it"
        raise make_error("AIRY_ERR_DEVICE", -6, text, "device", str(device or "default"), 'use spawn: multiprocessing.get_context("spawn"); or give device="cpu"')
    _state["opencl"] = True


# ---- messages ----


def _message(level: int, text: str) -> None:
    _log.log(_LEVELS.get(level, logging.DEBUG), "%s", text)


def _pass_log() -> None:
    for level, text in _airy.take_log():
        _message(level, text)


def _set_log_level() -> None:
    wanted = _log.getEffectiveLevel()
    level = 4 if wanted <= logging.DEBUG else 3 if wanted <= logging.INFO else 2
    if level != _state.get("level", 2):
        _airy.set_log_level(level)
    _state["level"] = level


# ---- a run ----


class Run:
    """A job with its values, until its results are collected."""

    def __init__(self, job: object, bar: object, description: dict, outputs: dict) -> None:
        self.job, self.bar, self.description, self.outputs = job, bar, description, outputs

    def close(self) -> None:
        if isinstance(self.bar, _bar.Bar):
            self.bar.close()
        _pass_log()

    def end(self, status: int) -> object:
        import json

        from . import _results

        self.close()
        parameters = {python_name(name): value for name, value in json.loads(self.job.parameters()).items()}
        provenance = {"job": self.description["name"], "version": _airy.version, "parameters": parameters}
        return _results.collect(self.job, self.description, status, self.outputs, provenance)


class Function:
    """A job as a function."""

    def __init__(self, description: dict) -> None:
        self._job = description
        self._inputs = [p for p in description["parameters"] if p["role"] == "input"]
        self._parameters = {}
        for parameter in description["parameters"]:
            parameter["python"] = python_name(parameter["name"])
            self._parameters[parameter["python"]] = parameter
            if parameter["alias"]:
                self._parameters.setdefault(python_name(parameter["alias"]), parameter)
        description["python"] = self.__name__ = python_name(description["name"])
        self.__qualname__, self.__module__ = self.__name__, "airy"

    @property
    def __signature__(self) -> inspect.Signature:
        return signature(self._job)

    @property
    def __doc__(self) -> str:
        return document(self._job)

    def __repr__(self) -> str:
        return f"<function airy.{self.__name__}{self.__signature__}>"

    def __reduce__(self) -> str:
        return self.__name__  # a name of the module, for processes

    def _bind(self, args: tuple, kwargs: dict) -> dict:
        if len(args) > len(self._inputs):
            raise TypeError(f"{self.__name__}() takes at most {len(self._inputs)} positional arguments ({len(args)} given); the others have names")
        given = {}
        for parameter, value in zip(self._inputs, args):
            given[parameter["python"]] = (parameter, value)
        for name, value in kwargs.items():
            parameter = self._parameters.get(name)
            if parameter is None:
                near = difflib.get_close_matches(name, self._parameters, 1)
                raise TypeError(f"{self.__name__}() has no parameter '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
            if parameter["python"] in given:
                raise TypeError(f"{self.__name__}() got several values of '{parameter['python']}'")
            given[parameter["python"]] = (parameter, value)
        missing = [p["python"] for p in self._inputs if p["python"] not in given]
        if missing:
            raise TypeError(f"{self.__name__}() lacks {' and '.join(repr(name) for name in missing)}")
        return {name: (parameter, value) for name, (parameter, value) in given.items() if value is not None}

    def begin(self, args: tuple, kwargs: dict, events: bool = False) -> Run:
        """A job with these values, not yet started."""
        progress, want = kwargs.pop("progress", None), kwargs.pop("want", ())
        given = self._bind(args, kwargs)
        if "device" in self._parameters:
            touch_opencl(given["device"][1] if "device" in given else None)
        bar = None if events and progress is None else _bar.choose(progress, self.__name__)
        _set_log_level()
        job = _airy.Job(self._job["name"], bar, _message, events)
        outputs = {}
        for parameter, value in given.values():
            for one in _values.convert(parameter, value):
                job.set(parameter["name"], one)
                if parameter["role"] == "written":
                    outputs[parameter["name"]] = one
        for result in (want,) if isinstance(want, str) else want:
            job.want(result)
        return Run(job, bar, self._job, outputs)

    def __call__(self, *args: object, **kwargs: object) -> object:
        run = self.begin(args, kwargs)
        try:
            status = run.job.run()
        except BaseException:
            run.close()
            raise
        return run.end(status)


# ---- what a description says ----


def default_of(parameter: dict) -> object:
    """The default value, as far as it is one of Python; None where it is computed, or none."""
    text, kind = parameter["fallback"], parameter["type"]
    if kind == "flag":
        return text == "on"
    if text is None or parameter["computed"] or parameter["list"]:
        return None
    try:
        if kind in ("whole", "seed"):
            return int(text)
        if kind == "real":
            return float(text)
        if kind == "tuple":
            return tuple(float(part) for part in text.split(","))
        if kind == "shape":
            return tuple(int(part) for part in text.split("x"))
        if kind == "record":
            return int(text)
    except ValueError:
        pass
    return text


def annotation(parameter: dict) -> str:
    kind = parameter["type"]
    if kind == "word" and parameter["words"]:
        text = "Literal[" + ", ".join(repr(word) for word in parameter["words"]) + "]"
    elif kind == "path":
        text = "str | os.PathLike" + (" | ArrayLike" if parameter["array"] else "")
    else:
        text = _TYPES[kind]
    if parameter["list"]:
        text = f"{text} | Sequence[{text}]"
    if parameter["words"] and kind == "whole":
        text += " | str"
    return text if default_of(parameter) is not None or parameter["role"] == "input" else f"{text} | None"


def signature(description: dict) -> inspect.Signature:
    kinds = inspect.Parameter
    made = [kinds(python_name(p["name"]), kinds.POSITIONAL_OR_KEYWORD, annotation=annotation(p)) for p in description["parameters"] if p["role"] == "input"]
    for p in description["parameters"]:
        if p["role"] != "input":
            made.append(kinds(python_name(p["name"]), kinds.KEYWORD_ONLY, default=default_of(p), annotation=annotation(p)))
    made.append(kinds("want", kinds.KEYWORD_ONLY, default=(), annotation="Sequence[str]"))
    made.append(kinds("progress", kinds.KEYWORD_ONLY, default=None, annotation="bool | Callable[[int, int], object] | None"))
    return inspect.Signature(made, return_annotation="Result")


def _spell(text: str) -> str:
    """{name} and {name=value} of a help text as Python has them."""

    def one(found: re.Match) -> str:
        name, equals, value = found.group(1).partition("=")
        if not equals:
            return python_name(name)
        return f"{python_name(name)}={'True' if value == 'on' else repr(value)}"

    return re.sub(r"\{([a-z0-9-]+(?:=[^}]*)?)\}", one, text or "")


def _limits(p: dict) -> str:
    if p["type"] not in ("whole", "seed", "real", "tuple", "shape") or p["lo"] == 0 and p["hi"] == 0:
        return ""
    if p["hi"] == float("inf"):
        return f"{'more than' if p['open'] else 'at least'} {p['lo']:g}"
    return f"{p['lo']:g} to {p['hi']:g}{', both excluded' if p['open'] else ''}"


def _describe(p: dict) -> str:
    parts = [_spell(p["help"]) or "a file"]
    if p["unit"]:
        parts[0] += f", in {p['unit']}"
    if p["words"]:
        parts.append("one of " + ", ".join(p["words"]))
    if p["argument"] and p["type"] == "record":
        parts.append(f"as text {p['argument']}")
    if _limits(p):
        parts.append(_limits(p))
    if p["with"]:
        words = f"={' or '.join(p['with_words'])}" if p["with_words"] else ""
        parts.append(f"goes with {python_name(p['with'])}{words}")
    if p["fallback"]:
        parts.append(f"default: {p['fallback']}")
    return "; ".join(parts)


def _wrap(text: str, indent: str) -> str:
    return textwrap.fill(text, 96, initial_indent=indent, subsequent_indent=indent)


def document(description: dict) -> str:
    """The docstring: summary, parameters with units, limits and defaults, results."""
    lines = [description["summary"][:1].upper() + description["summary"][1:] + ".", ""]
    if description["details"]:
        lines += [_wrap(_spell(description["details"]), ""), ""]
    lines += ["Parameters", "----------"]
    for p in description["parameters"]:
        if p["section"]:
            lines += ["", p["section"] + ":", ""]
        lines += [f"{python_name(p['name'])} : {annotation(p)}", _wrap(_describe(p), "    ")]
    lines += ["want : Sequence[str]", "    results to keep in memory although a file is named for them, or that are made only then"]
    lines += ["progress : bool | Callable[[int, int], object] | None"]
    lines += ["    True: a bar; a callable (done, total), which cancels the run by returning False; default: a bar in terminals and notebooks"]
    lines += ["", "Returns", "-------", "Result", "    with these attributes, as far as the run makes them:", ""]
    for result in description["results"]:
        lines += [f"    {result['name']} : {result['kind']}", _wrap(_spell(result["help"]), "        ")]
    return "\n".join(lines) + "\n"


def make_functions() -> dict[str, Function]:
    for description in _airy.jobs():
        function = Function(description)
        functions[function.__name__] = function
    return functions
