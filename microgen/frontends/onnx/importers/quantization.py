"""QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

import numpy as np

from microgen.frontends.onnx import types
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.quantization import conversions, scales
from microgen.frontends.tensors import Tensor
from microgen.ir.graph import DType


def _dequantize(node: OnnxNode) -> Tensor:
    data = node.typed(0) or node.tensor(0)
    node.expect(data, *scales.ACCEPTED)
    _check_output(node)
    found = scales.read(node, data, 1, 2)
    if found is not None:
        return conversions.dequantized(node, data, found)
    scale, zero = node.tensor(1), node.optional(2)
    _expect_one(node, scale)
    zeros = zero if zero is not None else node.constant(np.zeros((), np.float32), "zero")
    return conversions.scaled(node, data, scale, zeros)


def _quantize(node: OnnxNode) -> Tensor:
    data = node.tensor(0)
    node.expect(data, DType.FLOAT32, DType.INT32)
    dtype = _stored_dtype(node)
    found = scales.read(node, data, 1, 2)
    if found is not None:
        return conversions.quantized(node, data, found, dtype)
    scale, zero = node.tensor(1), node.optional(2)
    _expect_one(node, scale)
    zeros = zero if zero is not None else node.constant(np.zeros((), np.float32), "zero")
    return conversions.divided(node, data, scale, zeros, dtype)


def _expect_one(node: OnnxNode, scale: Tensor) -> None:
    if scale.type.size != 1:
        raise node.unsupported(
            f"has computed scales {scale.type}", supported="one computed scale, or constants"
        )


def _stored_dtype(node: OnnxNode) -> DType:
    """The dtype of the result: that of the zero point, or the one that the attribute names."""
    declared = int(node.attr("output_dtype", 0))
    found = scales.zero_dtype(node, 2)
    if found is None:
        found = types.dtype(declared, "the result", node.where) if declared else DType.UINT8
    if found not in scales.NARROW:
        names = ", ".join(dtype.value for dtype in scales.NARROW)
        raise node.unsupported(f"makes {found.value}", supported=names)
    return found


def _check_output(node: OnnxNode) -> None:
    declared = int(node.attr("output_dtype", 0))
    scale = types.dtype(declared, "the result", node.where) if declared else node.tensor(1).dtype
    if scale is not DType.FLOAT32:
        raise node.unsupported(f"makes {scale.value}", supported="float32")


IMPORTERS = {"DequantizeLinear": _dequantize, "QuantizeLinear": _quantize}
