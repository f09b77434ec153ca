"""Reads a library's metadata and parameters: ours or TVM's, versions 5 to 7.

Version 5 (TVM v0.8) has one module, whose record is the file's top level, and targets by device
type. Version 6 has a list of targets. Version 7 (TVM v0.9 to v0.14) has records by module name,
except that the "operator" style is still at the top level.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from microgen.base.errors import ModelError, ProjectError
from microgen.base.formats.checked_json import JsonPlace, parse
from microgen.graph import params_file
from microgen.graph.params_file import Described
from microgen.tvm.mlf import contents
from microgen.tvm.mlf.contents import Contents

VERSIONS = (5, 6, 7)
_Record = TypeVar("_Record", bound="ArchivedPort | Workspace | Sid | OperatorParameter")


@dataclass(frozen=True, slots=True)
class ArchivedPort:
    """An input or output: bytes and dtype."""

    size: int
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Bytes that something needs on a target. ``target`` is empty in TVM's files, which have only
    DLPack's device type."""

    device: int
    target: str = ""
    workspace_size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Main(Workspace):
    """The runner's needs on a target. ``inputs`` and ``outputs`` are empty if the file does not
    have them."""

    constants_size_bytes: int
    io_size_bytes: int
    inputs: Mapping[str, ArchivedPort]
    outputs: Mapping[str, ArchivedPort]


@dataclass(frozen=True, slots=True)
class OperatorFunction:
    """An operator function, and its own workspace per target."""

    function_name: str
    workspace: tuple[Workspace, ...]


@dataclass(frozen=True, slots=True)
class Sid:
    """A storage id of the graph executor; ``input_binding`` is the argument it holds, or empty."""

    storage_id: int
    size_bytes: int
    input_binding: str = ""


@dataclass(frozen=True, slots=True)
class OperatorParameter:
    """A parameter of a function of the "operator" style."""

    input_binding: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ArchivedModule:
    """One module. ``operators`` is for the "operator" style, which has neither ``main`` nor
    ``operator_functions``. ``parameters`` are the contents of the module's parameter file."""

    model_name: str
    export_datetime: str
    style: str
    executors: tuple[str, ...]
    target: tuple[str, ...]
    external_dependencies: tuple[str, ...]
    main: tuple[Main, ...]
    operator_functions: tuple[OperatorFunction, ...]
    sids: tuple[Sid, ...]
    operators: Mapping[str, tuple[OperatorParameter, ...]]
    parameters: tuple[Described, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """A library: the format's version, modules by name, the size of each file in bytes."""

    version: int
    modules: Mapping[str, ArchivedModule]
    files: Mapping[str, int]


def load(path: Path) -> Library:
    """Read an archive or a folder. Raises ModelError if it is not a valid library."""
    files = contents.load(path)
    if contents.METADATA not in files.sizes:
        raise ModelError(
            f"is not a model library: it has no {contents.METADATA}",
            where=files.where,
            hint=f"if it has a model, type `tar -xf {shlex.quote(files.where)}` and give the model",
        )
    root = parse(files.read(contents.METADATA), f"{files.where}: {contents.METADATA}")
    version = root.field("version")
    if version.size() not in VERSIONS:
        version.refuse(f"is {version.value}; this microgen reads 5, 6 and 7")
    # Version 7 has "modules", except in the "operator" style.
    if root.has("modules"):
        records = dict(root.field("modules").fields())
    else:
        records = {root.field("model_name").text(): root}
    modules = {name: _module(name, place, files) for name, place in records.items()}
    return Library(version.size(), modules, files.sizes)


def _module(name: str, place: JsonPlace, files: Contents) -> ArchivedModule:
    style = place.field("style").text()
    memory = place.field("memory")
    is_operator = style == "operator"
    # The "operator" style has one entry per function in place of a memory plan.
    functions = None if is_operator else memory.field("functions")
    dependencies = _list(place, "external_dependencies")
    return ArchivedModule(
        model_name=place.field("model_name").text(),
        export_datetime=place.field("export_datetime").text(),
        style=style,
        executors=tuple(item.text() for item in place.field("executors").items()),
        target=_targets(place.field("target")),
        external_dependencies=tuple(d.field("short_name").text() for d in dependencies),
        main=tuple(map(_main, functions.field("main").items())) if functions else (),
        operator_functions=_functions(functions.field("operator_functions")) if functions else (),
        sids=() if is_operator else tuple(_record(Sid, sid) for sid in _list(memory, "sids")),
        operators=_operators(memory) if is_operator else {},
        parameters=_parameters(name, files),
    )


def _list(place: JsonPlace, key: str) -> tuple[JsonPlace, ...]:
    """The elements of a list that may be missing."""
    return tuple(place.field(key).items()) if place.has(key) else ()


def _record(cls: type[_Record], place: JsonPlace, **others: Any) -> _Record:
    """An object with numbers and texts as a record, by the names and types of its fields. A field
    with a default may be missing. ``others`` are the fields of other types."""
    listed = (f for f in dataclasses.fields(cls) if f.name not in others)
    values: dict[str, Any] = {
        f.name: place.field(f.name).size() if f.type == "int" else place.field(f.name).text()
        for f in listed
        if f.default is dataclasses.MISSING or place.has(f.name)
    }
    return cls(**values, **others)


def _targets(place: JsonPlace) -> tuple[str, ...]:
    if place.is_object():
        return tuple(target.text() for _, target in place.fields())
    return tuple(target.text() for target in place.items())


def _main(place: JsonPlace) -> Main:
    return _record(Main, place, inputs=_ports(place, "inputs"), outputs=_ports(place, "outputs"))


def _ports(place: JsonPlace, key: str) -> dict[str, ArchivedPort]:
    ports = place.field(key).fields() if place.has(key) else ()
    return {name: _record(ArchivedPort, port) for name, port in ports}


def _functions(place: JsonPlace) -> tuple[OperatorFunction, ...]:
    return tuple(
        OperatorFunction(
            item.field("function_name").text(),
            tuple(_record(Workspace, need) for need in item.field("workspace").items()),
        )
        for item in place.items()
    )


def _operators(memory: JsonPlace) -> dict[str, tuple[OperatorParameter, ...]]:
    return {
        name: tuple(_record(OperatorParameter, parameter) for parameter in function.items())
        for name, function in memory.fields()
    }


def _parameters(module: str, files: Contents) -> tuple[Described, ...]:
    """The contents of the module's parameter file; empty if it has none."""
    path = f"parameters/{module}.params"
    if path not in files.sizes:
        return ()
    try:
        return params_file.describe(files.read(path))
    except ProjectError as error:
        raise ModelError(error.what, where=f"{files.where}: {path}") from error
