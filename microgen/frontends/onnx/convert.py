"""Converts ONNX models to the graph: inputs and initialisers, then nodes in the file's order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

import onnx

from microgen.errors import ModelError, UnsupportedError, short
from microgen.frontends import tensors
from microgen.frontends.numerics import Numerics
from microgen.frontends.onnx import given, schemas, types
from microgen.frontends.onnx.declared import Declared
from microgen.frontends.onnx.functions import Functions
from microgen.frontends.onnx.quantization.recognise import recognised
from microgen.frontends.onnx.scope import Scope
from microgen.frontends.onnx.walk import Walk
from microgen.frontends.tensors import GraphBuilder, Tensor
from microgen.ir.graph import Graph, TensorType


def graph_of(model: onnx.ModelProto, *, file: str, numerics: Numerics) -> Graph:
    """The graph of a model that ``reader.read`` has read; ``file`` is its name in messages and
    Origins.

    Raises ModelError if the model contradicts itself, and UnsupportedError if it is sound but uses
    a feature that microgen does not have.
    """
    builder = GraphBuilder()
    scope = Scope(file, schemas.versions(model.opset_import))
    inputs = _inputs(model.graph, builder, scope)
    walk = Walk(
        file,
        builder,
        numerics,
        Functions(model, file),
        Declared(model.graph, file),
        fed=frozenset(tensor.name for tensor in inputs),
    )
    outputs = walk.graph(model.graph, scope)
    for kind, found in (("inputs", inputs), ("outputs", outputs)):
        if not found:
            raise ModelError(f"has no {kind}", where=file, hint="give a model with both")
    builder.drop_dead(outputs)
    graph = builder.graph(PurePath(file).stem, inputs, outputs)
    return recognised(graph, builder.stored)


def _inputs(graph: onnx.GraphProto, builder: GraphBuilder, scope: Scope) -> list[Tensor]:
    """The inputs, without initialisers, which old models list among them."""
    sizes = given.default_sizes(graph)
    found = []
    for info in given.inputs(graph):
        tensor = builder.declare(info.name, _type(info, sizes, scope.file))
        scope.add(info.name, tensor)
        found.append(tensor)
    return found


def _type(info: onnx.ValueInfoProto, sizes: Mapping[str, int], file: str) -> TensorType:
    """The type of an input. ``sizes``: those of symbolic dimensions that nobody gives."""
    called = f'the input "{short(info.name)}"'
    kind = info.type.WhichOneof("value")
    tensor = info.type.tensor_type
    if kind != "tensor_type" or not tensor.HasField("shape"):
        what = "has no shape" if kind == "tensor_type" else f"is of the kind {kind}"
        raise UnsupportedError(
            f"{called} {what}",
            where=file,
            hint="supported: tensors whose number of axes is known; or export without it",
        )
    dtype = types.dtype(tensor.elem_type, called, file)
    axes = enumerate(tensor.shape.dim)
    shape = [_size(given.dim_name(info.name, i, dim), dim, sizes, called, file) for i, dim in axes]
    return tensors.checked(TensorType(tuple(shape), dtype), f"{file}: {called}")


def _size(
    name: str,
    dim: onnx.TensorShapeProto.Dimension,
    sizes: Mapping[str, int],
    called: str,
    file: str,
) -> int:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    if name in sizes:
        return sizes[name]
    raise UnsupportedError(
        f"{called} has the symbolic dimension {short(name)!r}",
        where=file,
        hint=f"give its size with --dim {short(name)}=N",
    )
