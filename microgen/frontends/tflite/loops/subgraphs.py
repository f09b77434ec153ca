"""A subgraph of a file as a graph of its own, whose inputs have the types of its arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends.tflite import composites, importers, ordering, refusals
from microgen.frontends.tflite.layers import Importing
from microgen.frontends.tflite.loops import list_writes
from microgen.frontends.tflite.records import FileRecord
from microgen.frontends.tflite.tensors import FileTensors
from microgen.frontends.tflite.variables import WITHOUT_OUTPUTS, Variables
from microgen.graph.builder import BuiltTensor, GraphBuilder
from microgen.graph.ir.graph import Graph

_DEEPEST = 8  # subgraphs within subgraphs


def imported(
    file: Importing,
    number: int,
    arguments: Sequence[BuiltTensor],
    where: str,
    *,
    known: Iterable[int] = (),
    keeps: bool = False,
) -> Graph:
    """The graph of subgraph ``number``, whose inputs have the shapes of the ``arguments``. The
    inputs at the positions ``known`` have their values, too. If it ``keeps`` a state, the graph
    has variables.

    Raises ModelError if the file has no such subgraph, or if it has another number of inputs;
    UnsupportedError if subgraphs are too deep, or keep a state; and the errors of
    ``convert.load`` for its operators.
    """
    model = composites.inlined(_typed(file, number, arguments, where))
    inner = _inside(file, model)
    tensors = inner.tensors
    for position in known:
        value = arguments[position].value
        if value is not None:
            tensors.define(tensors.names[model.inputs[position]], value)
    importers.run(model.operators, inner)
    is_kept = any(t.is_variable for t in model.tensors) and not keeps
    if inner.fixes or inner.variables.are_used or is_kept:
        raise UnsupportedError(
            f"runs subgraph {number}, which keeps a state",
            where=where,
            hint="supported: state outside of loops and branches",
        )
    ports = ([tensors.get(i, where) for i in side] for side in (model.inputs, model.outputs))
    return inner.graph.graph(f"subgraph {number}", *ports)


def _inside(file: Importing, model: FileRecord) -> Importing:
    """The parts that the operators of a subgraph share, which is checked."""
    tensors, graph = FileTensors(model.tensors), GraphBuilder()
    refusals.check(model, tensors.names, file.numerics)
    ordering.check(model, tensors)
    own: dict[str, Any] = {"tensors": tensors, "graph": graph}
    own["variables"] = Variables(model, graph)
    return dataclasses.replace(file, model=model, fixes=[], depth=file.depth + 1, **own)


def _typed(
    file: Importing, number: int, arguments: Sequence[BuiltTensor], where: str
) -> FileRecord:
    """The subgraph in the place of the file's main one."""
    called = file.model.called
    record = called.get(number)
    if record is None:
        raise ModelError(f"runs subgraph {number}, which the file does not have", where=where)
    if file.depth >= _DEEPEST:
        raise UnsupportedError(
            f"runs subgraphs more than {_DEEPEST} deep",
            where=where,
            hint="convert the model with fewer loops inside loops",
        )
    if len(record.inputs) != len(arguments):
        raise ModelError(
            f"gives {len(arguments)} tensors to subgraph {number}, which has "
            f"{len(record.inputs)} inputs",
            where=where,
        )
    tensors = list(record.tensors)
    # Shapes are inferred from the arguments; the file's own may have open sizes.
    for index, tensor in zip(record.inputs, arguments, strict=True):
        tensors[index] = dataclasses.replace(tensors[index], shape=tensor.shape, signature=())
    for index, operator in enumerate(record.operators):
        if not operator.outputs and operator.name not in WITHOUT_OUTPUTS:
            raise ModelError(
                f"runs subgraph {number}, whose operator {index} ({operator.name}) has no output",
                where=where,
            )
    typed = list_writes.replaced(dataclasses.replace(record, tensors=tuple(tensors)))
    return FileRecord(
        *(typed.tensors, typed.operators, typed.inputs, typed.outputs),
        *(file.model.reader, number, file.model.signature),
        called,
    )
