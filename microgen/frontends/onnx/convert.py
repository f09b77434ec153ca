"""Converts ONNX models to the graph: inputs and initialisers, then nodes in the file's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import numpy as np
import onnx

from microgen.base.errors import ModelError, UnsupportedError, few, short
from microgen.frontends import rolled
from microgen.frontends.onnx import given, halves, schemas, states, types
from microgen.frontends.onnx.functions import Functions
from microgen.frontends.onnx.importers import registry
from microgen.frontends.onnx.nodes import OnnxWalk
from microgen.frontends.onnx.scope import DeclaredTypes, OnnxScope, named
from microgen.frontends.rounds import MostRounds
from microgen.graph.builder import BuiltTensor, GraphBuilder, checked
from microgen.graph.ir.graph import ArrayType, Graph
from microgen.graph.qdq.recognise import recognised

_LONGEST_LABEL = 1000  # characters; C99 has string literals of at least 4095 bytes


def graph_of(model: onnx.ModelProto, *, file: str) -> Graph:
    """The graph of a model that ``reader.read`` has read; ``file`` is its name in messages and
    Origins.

    Raises ModelError if the model contradicts itself, and UnsupportedError if it is sound but uses
    a feature that microgen does not have.
    """
    found = states.pairs(model, file)
    begin = states.initial(model, found, file)
    builder = GraphBuilder()
    scope = OnnxScope(file, schemas.versions(model.opset_import))
    ports = _inputs(model.graph, builder, scope)
    inputs = list(ports.values())
    declared = DeclaredTypes(model.graph, file)
    outputs = _outputs(model, inputs, builder, scope, declared)
    # Constants that only importers have read, such as shapes, are no part of the graph.
    builder.drop_dead(outputs)
    graph = builder.graph(PurePath(file).stem, inputs, outputs)
    # Outputs may have got other names.
    labels = {**builder.labels, **{each.name: each.labels for each in outputs if each.labels}}
    graph = _labelled(graph, labels, file)
    # Integers are recognised in the complete graph, because any nodes may be between two
    # conversions.
    notes = (*declared.notes, *halves.notes(model))
    graph = rolled.rolled(recognised(graph, builder.stored))
    if found:
        names = [info.name for info in model.graph.output]
        graph = states.kept(graph, list(ports), names, found, begin, file)
    # The floats that are still needed are computed only now, once for all stages.
    return graph.replace(constants=dict(graph.constants), notes=notes)


def _outputs(
    model: onnx.ModelProto,
    inputs: Sequence[BuiltTensor],
    builder: GraphBuilder,
    scope: OnnxScope,
    declared: DeclaredTypes,
) -> list[BuiltTensor]:
    """The outputs of the model, after all nodes. ModelError without inputs or outputs."""
    walk = OnnxWalk(
        scope.file,
        builder,
        Functions(model, scope.file),
        declared,
        inputs=frozenset(tensor.name for tensor in inputs),
        importers=registry(),
        most=MostRounds(given.most_rounds(model, scope.file)),
    )
    names = [info.name for info in model.graph.output]
    outputs = named(builder, walk.graph(model.graph, scope), names, scope.file)
    walk.most.check(scope.file)
    for kind, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ModelError(f"has no {kind}", where=scope.file, hint="give a model with both")
    return outputs


def _labelled(graph: Graph, every: Mapping[str, tuple[str, ...]], file: str) -> Graph:
    """The graph with the texts of its tensors. UnsupportedError for one that is no string in C."""
    labels = {name: texts for name, texts in every.items() if name in graph.types}
    for name, texts in labels.items():
        for text in texts:
            if len(text) > _LONGEST_LABEL or "\0" in text:
                raise UnsupportedError(
                    f'"{short(name)}" has the text "{short(text)}" of {len(text)} characters',
                    where=file,
                    hint=f"supported: up to {_LONGEST_LABEL}, without NUL",
                )
    return graph.replace(labels=labels)


def _inputs(
    graph: onnx.GraphProto, builder: GraphBuilder, scope: OnnxScope
) -> dict[str, BuiltTensor]:
    """The inputs without initialisers, which old models list among the inputs, by the names that
    the model has for them."""
    # All missing sizes are named in one error, so they are looked up before the first input.
    sizes, tensors = _sizes(graph, scope.file), dict[str, BuiltTensor]()
    for info in given.inputs(graph):
        type_ = _type(info, sizes, scope.file)
        if type_.size:
            tensor = builder.declare(info.name, type_)
            tensors[info.name] = tensor
        else:
            # An input without elements has only one value, so it is a constant.
            tensor = builder.constant(info.name, np.zeros(type_.shape, type_.dtype.numpy), type_)
        scope.add(info.name, tensor)
    return tensors


def _sizes(graph: onnx.GraphProto, file: str) -> Mapping[str, int]:
    """The sizes of symbolic dimensions. Raises UnsupportedError if the user has to specify some."""
    sizes = given.default_sizes(graph)
    missing = [short(name) for name in given.symbolic(graph) if name not in sizes]
    if missing:
        names = few([f'"{name}"' for name in missing])
        raise UnsupportedError(
            f"its inputs have the symbolic dimension{'s' * (len(missing) > 1)} {names}",
            where=file,
            hint=f"give sizes: {' '.join(f'--dim {name}=N' for name in missing[:4])}",
        )
    return sizes


def _type(info: onnx.ValueInfoProto, sizes: Mapping[str, int], file: str) -> ArrayType:
    """The type of an input. ``sizes`` are the sizes of symbolic dimensions."""
    called = f'the input "{short(info.name)}"'
    kind = info.type.WhichOneof("value")
    tensor = info.type.tensor_type
    if kind != "tensor_type" or not tensor.HasField("shape"):
        what = f"is of the kind {kind}" if kind else "has no type"
        raise UnsupportedError(
            f"{called} {'has no shape' if kind == 'tensor_type' else what}",
            where=file,
            hint="supported: tensors whose number of axes is known",
        )
    dtype = types.dtype(tensor.elem_type, called, file)
    shape = [
        sizes[given.dim_name(info.name, axis, dim)] if given.is_symbolic(dim) else dim.dim_value
        for axis, dim in enumerate(tensor.shape.dim)
    ]
    type_ = ArrayType(tuple(map(int, shape)), dtype)
    whole = ArrayType(tuple(size for size in type_.shape if size), dtype)
    checked(whole, f"{file}: {called}")  # without elements, too, so that numpy takes it
    return type_
