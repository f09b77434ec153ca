"""Products of matrices: Gemm and MatMul."""

from __future__ import annotations

import numpy as np

from microgen.frontends.onnx import multiplying
from microgen.frontends.onnx.composing import binary, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import DType
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs


def _matmul(node: OnnxNode) -> Tensor:
    """Source: numpy.matmul; a vector is a row on the left, and a column on the right."""
    lhs, rhs = node.tensor(0), node.tensor(1)
    node.expect(lhs, DType.FLOAT32, DType.INT32, DType.INT64)
    node.expect(rhs, lhs.dtype)
    if not lhs.shape or not rhs.shape:
        raise node.invalid(f"multiplies {lhs.type} by {rhs.type}; vectors or matrices are expected")
    rows = lhs if len(lhs.shape) > 1 else node.reshaped(lhs, (1, *lhs.shape))
    columns = rhs if len(rhs.shape) > 1 else node.reshaped(rhs, (*rhs.shape, 1))
    found = multiplying.product(node, rows, columns)
    *batches, height, width = found.shape
    kept = (*([height] if len(lhs.shape) > 1 else []), *([width] if len(rhs.shape) > 1 else []))
    return node.reshaped(found, (*batches, *kept))


def _gemm(node: OnnxNode) -> Tensor:
    """Alpha * A * B + beta * C, where A and B may be transposed. A constant B is a dense layer."""
    lhs, rhs = node.tensor(0), node.tensor(1)
    for operand in (lhs, rhs):
        node.expect(operand, DType.FLOAT32)
        if len(operand.shape) != 2:
            raise node.invalid(f"has the operand {operand.type}; a matrix is expected")
    alpha = np.float32(node.attr("alpha", 1.0))
    flips = bool(node.attr("transA", 0)), bool(node.attr("transB", 0))
    offset = _offset(node)
    if rhs.value is None:
        found = node.emit("nn.batch_matmul", BatchMatmulAttrs(*flips), (lhs, rhs))
        return _plus(node, _times(node, found, alpha), offset)
    rows = transposed(node, lhs, (1, 0)) if flips[0] else lhs
    weight = rhs if flips[1] else transposed(node, rhs, (1, 0))
    scaled = _times(node, weight, alpha)
    bias = _bias(node, offset, scaled.shape[0], rows.shape[0])
    attrs = DenseAttrs(Activation.UNLIMITED, Rounding.DOUBLE, keep_num_dims=False)
    if bias is not None:
        return node.emit("nn.dense", attrs, (rows, scaled, bias))
    return _plus(node, node.emit("nn.dense", attrs, (rows, scaled)), offset)


def _offset(node: OnnxNode) -> Tensor | None:
    """The last operand times beta; None if it is left out, or beta is 0."""
    offset, beta = node.optional(2), np.float32(node.attr("beta", 1.0))
    if offset is None or beta == 0:
        return None
    node.expect(offset, DType.FLOAT32)
    return _times(node, offset, beta)


def _times(node: OnnxNode, data: Tensor, factor: np.float32) -> Tensor:
    return data if factor == 1 else binary(node, "multiply", data, float(factor))


def _plus(node: OnnxNode, data: Tensor, offset: Tensor | None) -> Tensor:
    if offset is None:
        return data
    found = binary(node, "add", data, offset)
    if found.shape != data.shape:
        raise node.invalid(f"adds {offset.type} to the product {data.type}")
    return found


def _bias(node: OnnxNode, offset: Tensor | None, units: int, rows: int) -> Tensor | None:
    """The offset as one value per column; None if it has more, or there is none."""
    if offset is None:
        return None
    shape = (1,) * (2 - len(offset.shape)) + offset.shape
    if shape == (1, units) or (rows == 1 and shape[-2:] == (1, units)):
        return node.reshaped(offset, (units,))
    if offset.value is None or shape not in ((1, 1), (rows, 1)) or shape[0] != 1:
        return None
    return node.constant(np.full(units, offset.value.reshape(()), np.float32), "bias")


IMPORTERS = {"Gemm": _gemm, "MatMul": _matmul}
