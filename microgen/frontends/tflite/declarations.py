"""Compares what an operator's nodes compute with what the file declares for its tensors."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.arithmetic.int8 import unreachable_bound
from microgen.ir.graph import Attrs, DType, TensorType
from microgen.ops import registry

_NEVER_INT32 = frozenset(
    {
        *("nn.avg_pool2d", "nn.conv2d", "nn.conv2d_transpose", "nn.dense", "nn.depthwise_conv2d"),
        *("qnn.dequantize", "qnn.quantize"),
    }
)


def contradiction(
    op: str, attrs: Attrs, inputs: Sequence[TensorType], output: TensorType
) -> str | None:
    """A sentence if a node is impossible because its op or TFLite refuses the types."""
    return (
        _in_relay_only(op, inputs[0], output)
        or registry()[op].check(attrs, inputs, [output])
        or _unreachable(attrs, output)
    )


def _unreachable(attrs: Attrs, output: TensorType) -> str | None:
    """A sentence if a bound of the activation is out of the range that TFLite computes with."""
    activation, quant = getattr(attrs, "activation", None), output.quant
    bound = unreachable_bound(activation, quant) if activation and quant else None
    if bound is None or quant is None:
        return None
    return (
        f"the activation's bound {bound:g} is out of the range of int32 on the output's scale "
        f"{quant.scale[0]:g}, which TFLite does not define; no value of "
        f"{output.dtype.value} reaches it: leave the bound out"
    )


def _in_relay_only(op: str, data: TensorType, output: TensorType) -> str | None:
    """A sentence if a tensor is int32 and the op has int32 only for Relay, so LiteRT refuses it."""
    for role, tensor in (("input", data), ("output", output)):
        if op in _NEVER_INT32 and tensor.dtype is DType.INT32:
            known = "int8 or int16" if op.startswith("qnn.") else "int8 or int16 or float32"
            return f"the {role} is {tensor}; it must be {known}"
    return None
