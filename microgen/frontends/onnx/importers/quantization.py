"""QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

import numpy as np

from microgen.frontends.onnx import types
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.quantization import conversions, scales
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import DType


def _dequantize(node: OnnxNode) -> Tensor:
    data = node.typed(0) or node.tensor(0)
    node.expect(data, *scales.ACCEPTED)
    _check_output(node)
    found = scales.read(node, data, 1, 2)
    if found is not None:
        return conversions.dequantized(node, data, found)
    return conversions.scaled(node, data, *_computed(node, data))


def _quantize(node: OnnxNode) -> Tensor:
    data = node.tensor(0)
    node.expect(data, DType.FLOAT32, DType.INT32)
    dtype = _stored_dtype(node)
    found = scales.read(node, data, 1, 2)
    if found is not None:
        return conversions.quantized(node, data, found, dtype)
    return conversions.divided(node, data, *_computed(node, data), dtype)


def _computed(node: OnnxNode, data: Tensor) -> tuple[Tensor, Tensor]:
    """Computed scales and zero points."""
    scale = scales.broadcast(node, data, 1)
    assert scale is not None, "checked: the operator needs it"
    zero = scales.broadcast(node, data, 2)
    return scale, node.constant(np.zeros((), np.float32), "zero") if zero is None else zero


def _stored_dtype(node: OnnxNode) -> DType:
    """The dtype of the result: that of the zero point, or the one that the attribute names."""
    declared = int(node.attr("output_dtype", 0))
    found = scales.zero_dtype(node, 2)
    zero = node.optional(2)
    if types.is_int4(declared) or (zero is not None and zero.is_int4):
        raise node.unsupported("makes integers of 4 bits", supported="constants of 4 bits")
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


_OWN = {"DequantizeLinear": _dequantize, "QuantizeLinear": _quantize}
# ONNX Runtime's quantizer writes its own for 16 and 4 bits in opsets that lack these.
IMPORTERS = {**_OWN, **{f"com.microsoft.{name}": importer for name, importer in _OWN.items()}}
