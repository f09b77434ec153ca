"""Converts ONNX models to the graph: inputs and initialisers, then nodes in the file's order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

import numpy as np
import onnx

from microgen.base.errors import ModelError, UnsupportedError, few, short
from microgen.frontends.onnx import given, halves, schemas, types
from microgen.frontends.onnx.functions import Functions
from microgen.frontends.onnx.importers import registry
from microgen.frontends.onnx.nodes import OnnxWalk
from microgen.frontends.onnx.scope import DeclaredTypes, OnnxScope, named
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
    builder = GraphBuilder()
    scope = OnnxScope(file, schemas.versions(model.opset_import))
    inputs = _inputs(model.graph, builder, scope)
    declared = DeclaredTypes(model.graph, file)
    walk = OnnxWalk(
        file,
        builder,
        Functions(model, file),
        declared,
        inputs=frozenset(tensor.name for tensor in inputs),
        importers=registry(),
    )
    names = [info.name for info in model.graph.output]
    outputs = named(builder, walk.graph(model.graph, scope), names, file)
    for kind, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ModelError(f"has no {kind}", where=file, hint="give a model with both")
    # Constants that only importers have read, such as shapes, are no part of the graph.
    builder.drop_dead(outputs)
    graph = builder.graph(PurePath(file).stem, inputs, outputs)
    # Outputs may have got other names.
    labels = {**builder.labels, **{each.name: each.labels for each in outputs if each.labels}}
    labels = {name: texts for name, texts in labels.items() if name in graph.types}
    _check_labels(labels, file)
    graph = graph.replace(labels=labels)
    # Integers are recognised in the complete graph, because any nodes may be between two
    # conversions.
    notes = (*declared.notes, *halves.notes(model))
    found = recognised(graph, builder.stored)
    # The floats that are still needed are computed only now, once for all stages.
    return found.replace(constants=dict(found.constants), notes=notes)


def _check_labels(labels: Mapping[str, tuple[str, ...]], file: str) -> None:
    """UnsupportedError for a text that is no string in C."""
    for name, texts in labels.items():
        for text in texts:
            if len(text) > _LONGEST_LABEL or "\0" in text:
                raise UnsupportedError(
                    f'"{short(name)}" has the text "{short(text)}" of {len(text)} characters',
                    where=file,
                    hint=f"supported: up to {_LONGEST_LABEL}, without NUL",
                )


def _inputs(graph: onnx.GraphProto, builder: GraphBuilder, scope: OnnxScope) -> list[BuiltTensor]:
    """The inputs without initialisers, which old models list among the inputs."""
    # All missing sizes are named in one error, so they are looked up before the first input.
    sizes, tensors = _sizes(graph, scope.file), []
    for info in given.inputs(graph):
        type_ = _type(info, sizes, scope.file)
        if type_.size:
            tensor = builder.declare(info.name, type_)
            tensors.append(tensor)
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
