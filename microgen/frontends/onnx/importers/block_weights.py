"""MatMulNBits of ONNX Runtime: weights of 2, 4 or 8 bits with a scale for each block of a row.

Source: docs/ContribOperators.md of ONNX Runtime.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.composing import binary
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType, Quant, Stored
from microgen.graph.ops.dense.dense import DenseAttrs

_WIDTHS = (2, 4, 8)
_MOST_BLOCKS = 256  # layers, one for each block of a row


@dataclass(frozen=True, slots=True)
class _Weights:
    """Stored numbers [columns, blocks, numbers of a block], and a scale and a zero point for each
    block of a column."""

    values: Array
    scales: Array
    zeros: Array

    @property
    def centred(self) -> Array:
        """The numbers minus their zero points, float32."""
        return np.asarray(self.values.astype(np.float32) - self.zeros[..., None])

    @property
    def are_small(self) -> bool:
        """Whether the centred numbers are int8."""
        numbers = self.centred
        is_whole = bool(np.all(numbers == np.round(numbers)))
        return is_whole and numbers.min() >= -128 and bool(numbers.max() <= 127)


def _matmul_n_bits(node: OnnxNode) -> BuiltTensor:
    """A times the transposed weights, plus a bias."""
    depth, columns = (int(node.attr(name)) for name in ("K", "N"))
    weights, data = _read(node), node.tensor(0, DType.FLOAT32)
    if not data.shape or data.shape[-1] != depth:
        raise node.invalid(f"has the data {data.type} for K {depth}")
    bias = node.optional(5, DType.FLOAT32)
    if bias is not None and bias.shape != (columns,):
        raise node.invalid(f"has the bias {bias.type} for N {columns}")
    if weights.are_small and weights.values.shape[1] <= _MOST_BLOCKS:
        total = _of_blocks(node, data, weights)
    else:
        node.note("its weights of a few bits are float32 in flash")
        floats = (weights.centred * weights.scales[..., None]).reshape(columns, -1)[:, :depth]
        constant = node.constant(np.ascontiguousarray(floats, np.float32), "weight")
        total = _dense(node, data, constant)
    return total if bias is None else binary(node, "add", total, bias)


def _of_blocks(node: OnnxNode, data: BuiltTensor, weights: _Weights) -> BuiltTensor:
    """The sum of the products of all blocks, whose weights remain integers."""
    depth, size = data.shape[-1], weights.values.shape[2]
    total = None
    for block in range(weights.values.shape[1]):
        first = block * size
        count = min(size, depth - first)
        part = move_nodes.cut(node, data, len(data.shape) - 1, first, count)
        values = np.ascontiguousarray(weights.centred[:, block, :count].astype(np.int8))
        scales = tuple(float(scale) for scale in weights.scales[:, block])
        quant = Quant(scales, (0,) * len(scales), 0) if len(scales) > 1 else Quant(scales, (0,))
        is_int4 = bool(values.min() >= -8 and values.max() <= 7)
        constant = node.dequantized(Stored(values, quant, is_int4), f"block{block}")
        product = _dense(node, part, constant)
        total = product if total is None else binary(node, "add", total, product)
    assert total is not None, "a row has a block"
    return total


def _dense(node: OnnxNode, data: BuiltTensor, weight: BuiltTensor) -> BuiltTensor:
    attrs = DenseAttrs(Activation.UNLIMITED, Rounding.DOUBLE, keep_num_dims=True)
    return node.emit("nn.dense", attrs, (data, weight))


def _read(node: OnnxNode) -> _Weights:
    """The weights. Errors name what is wrong with them."""
    depth, columns, block = (int(node.attr(name)) for name in ("K", "N", "block_size"))
    bits = int(node.attr("bits", 4))
    if bits not in _WIDTHS or node.optional(4) is not None:
        what = "an order of groups" if bits in _WIDTHS else f"{bits} bits"
        raise node.unsupported(f"has {what}", supported="2, 4 and 8 bits without g_idx")
    if not (depth > 0 and columns > 0 and block > 0 and block * bits % 8 == 0):
        raise node.invalid(f"has K {depth}, N {columns} and blocks of {block}")
    blocks = -(-depth // block)
    node.tensor(1, DType.UINT8)
    node.tensor(2, DType.FLOAT32)
    stored, scale = node.constant_of(1, "weights"), node.constant_of(2, "scales")
    if stored.size != columns * blocks * block * bits // 8 or scale.size != columns * blocks:
        raise node.invalid(
            f"has {stored.size} bytes of weights and {scale.size} scales for K {depth}, N {columns}"
        )
    values = _unpacked(stored.reshape(columns * blocks, -1), bits)
    zeros = _zeros(node, columns, blocks, bits)
    shape = (columns, blocks)
    return _Weights(values.reshape(*shape, block), scale.reshape(shape), zeros.reshape(shape))


def _zeros(node: OnnxNode, columns: int, blocks: int, bits: int) -> Array:
    """The zero point of each block of each column, float32."""
    zeros = node.optional_constant(3, "zero points")
    if zeros is None:
        return np.full((columns, blocks), 2.0 ** (bits - 1), np.float32)
    if zeros.dtype == np.uint8 and zeros.size == columns * -(-blocks * bits // 8):
        zeros = _unpacked(zeros.reshape(columns, -1), bits)[:, :blocks]
    elif zeros.dtype != np.float32 or zeros.size != columns * blocks:
        raise node.invalid(f"has {zeros.size} zero points for {columns} columns of {blocks} blocks")
    return zeros.astype(np.float32)


def _unpacked(rows: Array, bits: int) -> Array:
    """The numbers that are packed in rows of bytes. A byte's lowest bits come first."""
    each = np.arange(0, 8, bits, dtype=np.uint8)
    values: Array = (rows[..., None] >> each) & np.uint8(2**bits - 1)
    return values.reshape(len(rows), -1)


IMPORTERS = {"com.microsoft.MatMulNBits": _matmul_n_bits}
