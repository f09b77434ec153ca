"""Converts ONNX models to the graph: inputs and initialisers, then nodes in the file's order."""

from __future__ import annotations

from pathlib import PurePath

import onnx

from microgen.errors import ModelError, UnsupportedError, short
from microgen.frontends.numerics import Numerics
from microgen.frontends.onnx import reader, schemas, types
from microgen.frontends.onnx.declared import Declared
from microgen.frontends.onnx.functions import Functions
from microgen.frontends.onnx.scope import Scope
from microgen.frontends.onnx.walk import Walk
from microgen.frontends.tensors import GraphBuilder, Tensor
from microgen.ir.graph import Graph, TensorType


def load(data: bytes, *, file: str, numerics: Numerics) -> Graph:
    """The graph of a model; ``file`` is its name in messages and Origins.

    Raises ModelError if the bytes are malformed or contradict themselves, and UnsupportedError if
    the model is sound but uses a feature that microgen does not have.
    """
    model = reader.read(data, file)
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
    return builder.graph(PurePath(file).stem, inputs, outputs)


def _inputs(graph: onnx.GraphProto, builder: GraphBuilder, scope: Scope) -> list[Tensor]:
    """The inputs, without initialisers, which old models list among them."""
    initialised = {proto.name for proto in graph.initializer}
    infos = [info for info in graph.input if info.name not in initialised]
    found = [_input(info, builder, scope.file) for info in infos]
    for info, tensor in zip(infos, found, strict=True):
        scope.add(info.name, tensor)
    return found


def _input(info: onnx.ValueInfoProto, builder: GraphBuilder, file: str) -> Tensor:
    """An input of the model."""
    called = f'the input "{short(info.name)}"'
    kind = info.type.WhichOneof("value")
    if kind != "tensor_type":
        raise UnsupportedError(
            f"{called} is of the kind {kind}", where=file, hint="supported: tensors"
        )
    tensor = info.type.tensor_type
    shape = tuple(_size(dim, called, file) for dim in tensor.shape.dim)
    return builder.declare(
        info.name, TensorType(shape, types.dtype(tensor.elem_type, called, file))
    )


def _size(dim: onnx.TensorShapeProto.Dimension, called: str, file: str) -> int:
    if dim.HasField("dim_value") and dim.dim_value > 0:
        return int(dim.dim_value)
    raise UnsupportedError(
        f"{called} has the symbolic dimension {short(dim.dim_param or '?')!r}",
        where=file,
        hint=f"give it with --dim {short(dim.dim_param or 'NAME')}=N",
    )
