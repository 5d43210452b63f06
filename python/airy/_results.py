"""What a job has made."""

from __future__ import annotations

import json

import numpy

_SMALL = 1 << 16  # bytes: smaller arrays do not keep the memory of the others


class Table(numpy.recarray):
    """A record array whose columns have units: table.units["flux"] is "Jy"."""

    units: dict
    descriptions: dict

    def __array_finalize__(self, other: object) -> None:
        super().__array_finalize__(other)
        self.units = getattr(other, "units", {})
        self.descriptions = getattr(other, "descriptions", {})


def as_array(memory: object) -> numpy.ndarray:
    array = numpy.asarray(memory)
    return array.copy() if array.nbytes < _SMALL else array


def as_table(columns: list) -> Table:
    arrays = [numpy.asarray(memory) for _, _, _, _, memory in columns]
    dtype = numpy.dtype([(column[0], array.dtype) for column, array in zip(columns, arrays)])
    table = numpy.empty(len(arrays[0]) if arrays else 0, dtype).view(Table)
    for column, array in zip(columns, arrays):
        table[column[0]] = array
    table.units = {name: unit for name, unit, _, _, _ in columns if unit}
    table.descriptions = {name: text for name, _, text, _, _ in columns if text}
    return table


class Result:
    """Results of a job, each an attribute by its name; one that went to a file is read from there.

    provenance  a dict: the job, its parameters, the version, and the configuration where the job has one
    partly      True where frames were left out, as on_error="skip" allows
    summary     a sentence
    """

    def __init__(self, description: dict, values: dict, outputs: dict, provenance: dict, partly: bool, summary: str) -> None:
        self.__dict__.update(values)
        self._description, self._values, self._outputs = description, values, outputs
        self.provenance, self.partly, self.summary = provenance, partly, summary

    def __getattr__(self, name: str) -> object:
        outputs = self.__dict__.get("_outputs", {})
        if name in outputs:
            from ._files import open_result

            with open_result(outputs[name]) as result:
                value = getattr(result, name)
            self.__dict__[name] = value
            return value
        configuration = self.__dict__.get("provenance", {}).get("configuration", {})
        if name == "unit" and "unit" in configuration:  # of the radial axis
            return configuration["unit"]
        known = [one["name"] for one in self.__dict__.get("_description", {}).get("results", ())]
        if name in known:
            raise AttributeError(f"the run has not made '{name}'; want=[\"{name}\"] may ask for it")
        raise AttributeError(f"no result '{name}'; there are {', '.join(self._values) or 'none'}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._outputs]

    def keys(self) -> list[str]:
        """Names of the results that are in memory."""
        return list(self._values)

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __iter__(self):
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        lines = [f"<airy.{self._description['python']}: {self.summary}>" if self.summary else f"<airy.{self._description['python']}>"]
        for name, value in self._values.items():
            if isinstance(value, Table):
                text = f"table of {len(value)} rows: {', '.join(value.dtype.names or ())}"
            elif isinstance(value, numpy.ndarray):
                text = f"{value.dtype} {list(value.shape)}"
            else:
                text = repr(value)
            lines.append(f"  {name:<14} {text if len(text) < 100 else text[:97] + '...'}")
        return "\n".join(lines)

    def plot(self, row: int | None = None, ax: object = None) -> object:
        """Draw the main result with matplotlib, which must be installed, and return the axes.

        row: of several, the one to draw (default: all of them, as an image)
        """
        from ._plot import plot

        return plot(self, row, ax)


def collect(job: object, description: dict, status: int, outputs: dict, provenance: dict) -> Result:
    """Results of a run that has ended."""
    given = json.loads(job.results())
    values = {}
    for result in description["results"]:
        name, kind, value = result["name"], result["kind"], None
        if kind == "array":
            memory = job.array(name)
            value = None if memory is None else as_array(memory)
        elif kind == "table":
            columns = job.table(name)
            value = None if columns is None else as_table(columns)
        elif name in given:
            value = given[name]
            if value is None:
                value = job.text(name) if kind == "text" else float("nan") if kind == "number" else None
            values[name] = value
        if value is not None:
            values[name] = value
    if isinstance(values.get("configuration"), dict):
        provenance["configuration"] = values["configuration"]
    named = {one["name"]: outputs[one["parameter"]] for one in description["results"] if one["parameter"] in outputs and one["kind"] == "array"}
    return Result(description, values, {k: v for k, v in named.items() if k not in values}, provenance, status == 1, job.summary())
