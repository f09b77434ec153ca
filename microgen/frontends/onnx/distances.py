"""Squared distances of rows from constant vectors, also as a Scan over the vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import GraphProto, NodeProto, numpy_helper

from microgen.frontends.onnx.move_nodes import transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.dense.squared_distances import SquaredDistancesAttrs


def squared(node: OnnxNode, rows: BuiltTensor, vectors: Array) -> BuiltTensor:
    """The squared Euclidean distance of each row [rows, features] from each vector [vectors,
    features], float32 [rows, vectors]."""
    constant = node.constant(vectors, "vectors")
    return node.emit("squared_distances", SquaredDistancesAttrs(), (rows, constant))


def scanned(
    node: OnnxNode, body: GraphProto, operands: Sequence[BuiltTensor]
) -> tuple[BuiltTensor, BuiltTensor] | None:
    """The outputs of a Scan that subtracts each vector from all rows and adds the squares, in which
    skl2onnx writes distances; None if it computes anything else. ``operands`` are the rows, which
    remain, and the vectors."""
    rows, vectors = operands if len(operands) == 2 else (None, None)
    if rows is None or vectors is None or not _is_distance(body):
        return None
    shapes = (rows.shape, vectors.shape)
    if rows.dtype is not DType.FLOAT32 or [len(shape) for shape in shapes] != [2, 2]:
        return None
    if rows.shape[1] != vectors.shape[1] or vectors.dtype is not DType.FLOAT32:
        return None
    found = node.emit("squared_distances", SquaredDistancesAttrs(), (rows, vectors))
    return rows, transposed(node, found, (1, 0))


def _is_distance(body: GraphProto) -> bool:
    """Whether a body returns the rows unchanged, and the sums over features of the squared
    differences between the rows and the vector."""
    if len(body.input) != 2 or len(body.output) != 2:
        return False
    makers = {name: node for node in body.node for name in node.output}
    rows, vector = (info.name for info in body.input)
    kept, total = (_source(makers, info.name) for info in body.output)
    if kept != rows or total not in makers:
        return False
    return _is_sum_of_squares(body, makers, makers[total], (rows, vector))


def _is_sum_of_squares(
    body: GraphProto, makers: dict[str, NodeProto], total: NodeProto, names: tuple[str, str]
) -> bool:
    attributes = {each.name: each for each in total.attribute}
    stored = {each.name: each for each in body.initializer}
    if total.op_type != "ReduceSumSquare" or total.domain not in ("", "ai.onnx"):
        return False
    if len(total.input) == 2 and total.input[1] in stored:
        axes = np.ravel(numpy_helper.to_array(stored[total.input[1]])).tolist()
    else:
        axes = list(attributes["axes"].ints) if "axes" in attributes else []
    keeps = attributes["keepdims"].i if "keepdims" in attributes else 1
    apart = makers.get(total.input[0])
    if axes not in ([1], [-1]) or keeps or apart is None:
        return False
    is_plain = apart.op_type == "Sub" and apart.domain in ("", "ai.onnx")
    return is_plain and tuple(_source(makers, name) for name in apart.input) == names


def _source(makers: dict[str, NodeProto], name: str) -> str:
    """The original tensor, if a name is a copy of it by Identity; otherwise the name."""
    for _ in range(len(makers)):
        maker = makers.get(name)
        if maker is None or maker.op_type != "Identity" or len(maker.input) != 1:
            break
        name = maker.input[0]
    return name
