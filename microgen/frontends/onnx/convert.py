"""Converts ONNX models to the graph: inputs and initialisers, then nodes in the file's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import onnx

from microgen.errors import ModelError, UnsupportedError, short
from microgen.frontends import importers as tables
from microgen.frontends.numerics import Numerics
from microgen.frontends.onnx import reader, types
from microgen.frontends.onnx.importers import registry
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.quantization.recognise import recognised
from microgen.frontends.operators import Moved
from microgen.frontends.tensors import GraphBuilder, Tensor
from microgen.ir.graph import Graph, TensorType
from microgen.ops import budget


def load(data: bytes, *, file: str, numerics: Numerics) -> Graph:
    """The graph of a model; ``file`` is its name in messages and Origins.

    Raises ModelError if the bytes are malformed or contradict themselves, and UnsupportedError if
    the model is sound but uses a feature that microgen does not have.
    """
    model = reader.read(data, file, registry())
    builder = GraphBuilder()
    values = _constants(model.graph, builder, file)
    inputs = [_input(info, builder, file) for info in model.graph.input if info.name not in values]
    values |= {tensor.name: tensor for tensor in inputs}
    _import_nodes(model, values, builder, file, numerics, [t.name for t in inputs])
    outputs = [_known(values, info.name, file) for info in model.graph.output]
    for kind, found in (("inputs", inputs), ("outputs", outputs)):
        if not found:
            raise ModelError(f"has no {kind}", where=file, hint="give a model with both")
    builder.drop_dead(outputs)
    graph = builder.graph(PurePath(file).stem, inputs, outputs)
    return recognised(graph, builder.stored)


def _constants(graph: onnx.GraphProto, builder: GraphBuilder, file: str) -> dict[str, Tensor]:
    """The initialisers by name."""
    found: dict[str, Tensor] = {}
    for proto in graph.initializer:
        name = proto.name
        value = types.array(proto, f'the initialiser "{short(name)}"', file)
        budget.spend_array(value.nbytes, file)
        type_ = TensorType(tuple(value.shape), types.dtype(proto.data_type, name, file))
        found[name] = builder.constant(name, value, type_)
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


def _import_nodes(
    model: onnx.ModelProto,
    values: dict[str, Tensor],
    builder: GraphBuilder,
    file: str,
    numerics: Numerics,
    fed: Sequence[str],
) -> None:
    """Adds the tensors that the nodes make to ``values``."""
    versions, moved = reader.versions(model), Moved()
    for proto in model.graph.node:
        node = OnnxNode(
            proto,
            [_known(values, name, file) if name else None for name in proto.input],
            versions.get(proto.domain, versions[""]),
            file=file,
            graph=builder,
            moved=moved,
            numerics=numerics,
            fed=fed,
        )
        values |= node.finished(tables.of(node, registry())(node))


def _known(values: Mapping[str, Tensor], name: str, file: str) -> Tensor:
    if name not in values:
        raise ModelError(
            f'reads the tensor "{short(name)}" before anything makes it',
            where=file,
            hint="nodes must be in the order in which they run, without cycles",
        )
    return values[name]
