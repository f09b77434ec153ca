"""Products of matrices with leading dimensions that broadcast."""

from __future__ import annotations

import math

from microgen.frontends.onnx import reducing
from microgen.frontends.onnx.composing import binary, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import DType
from microgen.graph.ops.dense.batch_matmul import MAX_RANK, BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs


def product(node: OnnxNode, lhs: Tensor, rhs: Tensor) -> Tensor:
    """Lhs [..., rows, depth] times rhs [..., depth, columns], of float32 or integers."""
    if lhs.shape[-1] != rhs.shape[-2]:
        raise node.invalid(f"multiplies {lhs.type} by {rhs.type}: the depths differ")
    if lhs.dtype is not DType.FLOAT32:
        return _of_integers(node, lhs, rhs)
    if math.prod(rhs.shape[:-2]) == 1 and len(rhs.shape) <= len(lhs.shape):
        return _by_one_matrix(node, lhs, node.reshaped(rhs, rhs.shape[-2:]))
    return _by_matrices(node, lhs, rhs)


def _by_one_matrix(node: OnnxNode, lhs: Tensor, rhs: Tensor) -> Tensor:
    """A dense layer if the matrix is constant, otherwise a product of two matrices."""
    if rhs.value is not None:
        attrs = DenseAttrs(Activation.UNLIMITED, Rounding.DOUBLE, keep_num_dims=True)
        return node.emit("nn.dense", attrs, (lhs, transposed(node, rhs, (1, 0))))
    rows = node.reshaped(lhs, (math.prod(lhs.shape[:-1]), lhs.shape[-1]))
    found = node.emit("nn.batch_matmul", BatchMatmulAttrs(False, False), (rows, rhs))
    return node.reshaped(found, (*lhs.shape[:-1], rhs.shape[-1]))


def _by_matrices(node: OnnxNode, lhs: Tensor, rhs: Tensor) -> Tensor:
    batches = lhs.shape[:-2]
    if batches == rhs.shape[:-2]:
        flat = [node.reshaped(t, (math.prod(batches), *t.shape[-2:])) for t in (lhs, rhs)]
        found = node.emit("nn.batch_matmul", BatchMatmulAttrs(False, False), flat)
        return node.reshaped(found, (*batches, *found.shape[1:]))
    if max(len(lhs.shape), len(rhs.shape)) > MAX_RANK:
        raise node.unsupported(
            f"multiplies {lhs.type} by {rhs.type}, whose leading dimensions broadcast",
            supported=f"up to {MAX_RANK} dimensions",
        )
    return node.emit("nn.batch_matmul", BatchMatmulAttrs(False, False), (lhs, rhs))


def _of_integers(node: OnnxNode, lhs: Tensor, rhs: Tensor) -> Tensor:
    """All products [..., rows, columns, depth], summed."""
    rank = len(rhs.shape)
    turned = transposed(node, rhs, (*range(rank - 2), rank - 1, rank - 2))
    rows = node.reshaped(lhs, (*lhs.shape[:-1], 1, lhs.shape[-1]))
    columns = node.reshaped(turned, (*turned.shape[:-2], 1, *turned.shape[-2:]))
    products = binary(node, "multiply", rows, columns)
    last = len(products.shape) - 1
    return reducing.total(node, products, (last,), keep_dims=False)
