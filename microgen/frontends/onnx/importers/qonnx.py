"""QONNX's quantizers, which Brevitas and QKeras write: floats that are rounded to steps of a scale.

Source: the definitions of Quant and BipolarQuant in the repository fastmachinelearning/qonnx.
"""

from __future__ import annotations

import numpy as np

from microgen.frontends.onnx.composing import chosen, compared, number
from microgen.frontends.onnx.importers.quantization import Group
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import Array, DType

_MOST_BITS = 32
_STORED_BITS = 8  # of integers that the graph stores
_DOMAINS = ("finn.custom_op.general", "onnx.brevitas", "qonnx.custom_op.general")


def _quant(node: OnnxNode) -> Value:
    """Clip(round(x / scale + zero)) to the limits of a number of bits, as floats again."""
    data = node.tensor(0, DType.FLOAT32)
    scale, zero, axis = _scales(node, data)
    low, high, bits = _limits(node)
    rounding = str(node.attr("rounding_mode", "ROUND")).upper()
    if rounding not in ("ROUND", "HALF_EVEN"):
        raise node.unsupported(f"has the rounding_mode {rounding!r}", supported="ROUND")
    group = Group(node)
    is_stored = bits <= _STORED_BITS and bool(((low <= zero) & (zero <= high)).all())
    build = _with_integers if is_stored else _with_floats
    build(group, (scale, zero, axis, len(data.shape)), (low, high))
    return group.value()


def _scales(node: OnnxNode, data: BuiltTensor) -> tuple[Array, Array, int | None]:
    """Scales and zero points, each of one number, or along an axis of the data; and that axis."""
    scale, zero = node.constant_of(1, "scales"), node.constant_of(2, "zero points")
    if not ((scale > 0) & np.isfinite(scale)).all():
        raise node.invalid(f"has the scale {scale.min():g}; positive numbers are expected")
    if (zero != np.rint(zero)).any():
        raise node.unsupported("has zero points that are no integers", supported="integers")
    if scale.size == zero.size == 1:
        return scale.reshape(()), zero.reshape(()), None
    wide = max(scale, zero, key=lambda each: each.size)
    shape = (1,) * (len(data.shape) - wide.ndim) + wide.shape
    along = [axis for axis, size in enumerate(shape) if size > 1]
    if len(along) != 1 or len(shape) != len(data.shape) or wide.size != data.shape[along[0]]:
        raise node.unsupported(
            f"has scales {list(scale.shape)} for {data.type}", supported="one, or one per channel"
        )
    if {scale.size, zero.size} - {1, wide.size}:
        raise node.invalid(f"has {scale.size} scales and {zero.size} zero points")
    scale, zero = (np.broadcast_to(each.reshape(-1), (wide.size,)) for each in (scale, zero))
    return scale.copy(), zero.copy(), along[0]


def _limits(node: OnnxNode) -> tuple[int, int, int]:
    """The least and the greatest integer, and the number of bits."""
    width = node.constant_of(3, "bit widths")
    if width.size != 1 or width.item() not in range(1, _MOST_BITS + 1):
        raise node.unsupported(
            f"has the bit widths {width.ravel()[:4].tolist()}", supported=f"one, 1 to {_MOST_BITS}"
        )
    bits, is_narrow = int(width.item()), bool(node.attr("narrow", 0))
    if node.attr("signed", 1):
        return -(2 ** (bits - 1)) + is_narrow, 2 ** (bits - 1) - 1, bits
    return 0, 2**bits - 1 - is_narrow, bits


def _with_integers(
    group: Group, scales: tuple[Array, Array, int | None, int], limits: tuple[int, int]
) -> None:
    scale, zero, axis, _ = scales
    dtype = np.int8 if limits[0] < 0 else np.uint8
    names = [
        group.constant(scale.astype(np.float32), "scale"),
        group.constant(zero.astype(dtype), "zero"),
    ]
    ends = [group.constant(np.array(end, dtype), f"end{k}") for k, end in enumerate(limits)]
    along = 0 if axis is None else axis
    stored = group.add("QuantizeLinear", ["x0", *names], "stored", axis=along)
    clipped = group.add("Clip", [stored, *ends], "clipped")
    group.add("DequantizeLinear", [clipped, *names], "result", axis=along)


def _with_floats(
    group: Group, scales: tuple[Array, Array, int | None, int], limits: tuple[int, int]
) -> None:
    """The same in floats, for more bits than the graph stores."""
    scale, zero, axis, rank = scales
    along = [1] * rank if axis is not None else []
    if axis is not None:
        along[axis] = -1
    factor, offset = (
        group.constant(each.astype(np.float32).reshape(along), name)
        for each, name in ((scale, "scale"), (zero, "zero"))
    )
    low, high = (
        group.constant(np.array(end, np.float32), f"end{k}") for k, end in enumerate(limits)
    )
    moved = group.add("Add", (group.add("Div", ("x0", factor), "steps"), offset), "moved")
    clipped = group.add("Clip", (group.add("Round", (moved,), "whole"), low, high), "clipped")
    group.add("Mul", (group.add("Sub", (clipped, offset), "centred"), factor), "result")


def _bipolar_quant(node: OnnxNode) -> BuiltTensor:
    """The scale, with the sign of the data; 0 is positive."""
    data, scale = node.tensor(0, DType.FLOAT32), node.tensor(1, DType.FLOAT32)
    if scale.value is None or scale.type.size != 1:
        raise node.unsupported("has computed or several scales", supported="one constant scale")
    factor = float(scale.value.reshape(-1)[0])
    positive, negative = (number(node, each, DType.FLOAT32) for each in (factor, -factor))
    return chosen(node, compared(node, "greater_equal", data, 0.0), positive, negative)


_OWN = {"BipolarQuant": _bipolar_quant, "Quant": _quant}
IMPORTERS = {f"{domain}.{name}": importer for domain in _DOMAINS for name, importer in _OWN.items()}
