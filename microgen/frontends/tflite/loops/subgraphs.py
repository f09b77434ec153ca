"""A subgraph of a file as a graph of its own, whose inputs have the types of its arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends.tflite import composites, importers, ordering, refusals
from microgen.frontends.tflite.layers import Importing
from microgen.frontends.tflite.loops import list_writes
from microgen.frontends.tflite.records import FileRecord
from microgen.frontends.tflite.tensors import FileTensors
from microgen.frontends.tflite.variables import Variables
from microgen.graph.builder import BuiltTensor, GraphBuilder
from microgen.graph.ir.graph import Graph

_DEEPEST = 8  # subgraphs within subgraphs


def imported(file: Importing, number: int, arguments: Sequence[BuiltTensor], where: str) -> Graph:
    """The graph of subgraph ``number``, whose inputs have the shapes of the ``arguments``.

    Raises ModelError if the file has no such subgraph, or if it has another number of inputs;
    UnsupportedError if subgraphs are too deep, or keep a state; and the errors of
    ``convert.load`` for its operators.
    """
    model = composites.inlined(_typed(file, number, arguments, where))
    tensors, graph = FileTensors(model.tensors), GraphBuilder()
    refusals.check(model, tensors.names, file.numerics)
    ordering.check(model, tensors)
    variables = Variables(model, graph)
    inner = dataclasses.replace(
        *(file,),
        model=model,
        tensors=tensors,
        graph=graph,
        variables=variables,
        fixes=[],
        depth=file.depth + 1,
    )
    importers.run(model.operators, inner)
    if inner.fixes or variables.are_used or any(t.is_variable for t in model.tensors):
        raise UnsupportedError(
            f"runs subgraph {number}, which keeps a state",
            where=where,
            hint="supported: state outside of loops and branches",
        )
    inputs, outputs = (
        [tensors.get(index, where) for index in side] for side in (model.inputs, model.outputs)
    )
    return graph.graph(f"subgraph {number}", inputs, outputs)


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
    typed = list_writes.replaced(dataclasses.replace(record, tensors=tuple(tensors)))
    return FileRecord(
        *(typed.tensors, typed.operators, typed.inputs, typed.outputs),
        *(file.model.reader, number, file.model.signature),
        called,
    )
