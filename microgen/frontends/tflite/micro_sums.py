"""int8 sums of ADD_N and CUMSUM, which TensorFlow Lite Micro has and LiteRT has not.

Source: TFLite Micro, micro/kernels/add_n.cc and cumsum.cc, and reference/add_n.h and cumsum.h. Both
begin a sum with the stored value 0 instead of the zero point, so it is less by the zero point. They
multiply each term by 2**19 and scale the int32 sum, rounding twice. Where C leaves a sum undefined,
because it exceeds int32, it is computed modulo 2**32.
"""

from __future__ import annotations

import numpy as np

from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.layers import Layer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, Quant
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.views import ReinterpretAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.quantization.rescale import RequantizeAttrs

_SHIFT = 19


def has_own(layer: Layer, data: Tensor) -> bool:
    """Whether the sum is one that only TensorFlow Lite Micro has. UnsupportedError if the profile
    is another one."""
    if data.dtype is not DType.INT8:
        return False
    if layer.numerics.name != "tflm":
        raise layer.unsupported(
            f"adds {data.type}, which only TensorFlow Lite Micro computes",
            supported="float32 and int32, or int8 with --numerics tflm",
        )
    return True


def wide(layer: Layer, data: Tensor) -> Tensor:
    """The stored values as int32."""
    hint = f"{layer.output().name}/wide"
    return layer.emit("cast", CastAttrs(), (data,), dtype=DType.INT32, quant=None, hint=hint)


def plus(layer: Layer, data: Tensor, number: int) -> Tensor:
    """int32 values plus a number."""
    return layer.emit("add", AddAttrs(Activation.NONE), (data, _constant(layer, number)))


def rescaled(layer: Layer, total: Tensor, data: Tensor) -> Tensor:
    """The output: int32 sums of values with the scale of ``data`` in the output's scale."""
    output, scale = layer.output(), data.type.scale
    layer.expect(output, DType.INT8)
    if not 2 * scale < 2**20 * output.type.scale:
        raise layer.unsupported(
            f"has the scale {scale:g} and an output with the scale {output.type.scale:g}, at which "
            "TensorFlow Lite Micro stops",
            supported="an output's scale of more than 1 / 524288 of the input's",
        )
    factor = _constant(layer, 2**_SHIFT)
    shifted = layer.emit("multiply", MultiplyAttrs(Activation.NONE), (total, factor))
    quant = Quant((scale / 2**_SHIFT,), (0,), None)
    attrs = ReinterpretAttrs(total.shape)
    named = layer.emit("qnn.reinterpret", attrs, (shifted,), dtype=DType.INT32, quant=quant)
    return layer.emit("qnn.requantize", RequantizeAttrs(), (named,), output)


def _constant(layer: Layer, number: int) -> Tensor:
    return layer.constant(np.array([number], np.int32), f"{layer.output().name}/number")
