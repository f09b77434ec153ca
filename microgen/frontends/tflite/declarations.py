"""Compares the results of an operator's nodes with the file's declarations of its tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from microgen.frontends.quantization import CALIBRATE, NORMAL_SCALE, SMALLEST_SCALE
from microgen.graph.arithmetic.int8 import unreachable_bound
from microgen.graph.ir.graph import ArrayType, Attrs, DType
from microgen.graph.ops import registry

_NEVER_INT32 = frozenset(
    {
        *("nn.avg_pool2d", "nn.conv2d", "nn.conv2d_transpose", "nn.dense", "nn.depthwise_conv2d"),
        *("qnn.dequantize", "qnn.quantize"),
    }
)

# Ops that compute plain integers of all dtypes, and the dtypes of LiteRT's kernels.
_WIDE = (
    *("add", "multiply", "subtract", "equal", "not_equal"),
    *("less", "less_equal", "greater", "greater_equal"),
)
_PLAIN = {
    **dict.fromkeys(_WIDE, (DType.INT32, DType.INT64)),
    **dict.fromkeys(("divide", "floor_mod", "maximum", "minimum"), (DType.INT32,)),
}


def contradiction(
    op: str, attrs: Attrs, inputs: Sequence[ArrayType], output: ArrayType
) -> str | None:
    """The reason why a node is impossible, if its op or TFLite refuses the types; otherwise
    None."""
    return (
        _in_relay_only(op, inputs[0], output)
        or _in_onnx_only(op, inputs[0])
        or _dead(op, attrs, inputs, output)
        or registry()[op].check(attrs, inputs, [output])
        or _unreachable(attrs, output)
    )


def _in_onnx_only(op: str, data: ArrayType) -> str | None:
    """The reason to refuse integers without a scale that only ONNX's operators compute."""
    accepted = _PLAIN.get(op)
    if (
        accepted is None
        or data.quant
        or data.dtype in accepted
        or data.dtype.numpy.kind not in "iu"
    ):
        return None
    names = " or ".join(dtype.value for dtype in accepted)
    return f"the left input is {data}; without a scale it must be {names}"


def _dead(op: str, attrs: Attrs, inputs: Sequence[ArrayType], output: ArrayType) -> str | None:
    """The reason to refuse a scale that is 0 or denormal in float32, if the op computes with the
    scale."""
    # The op's `check` decides whether these scales may be 0: then the op computes nothing with
    # them.
    activations = (*inputs, output)
    wrong = next((scale for each in activations if (scale := _dead_scale(each)) is not None), None)
    if wrong is None:
        return None
    *operands, result = (
        each if _dead_scale(each) is None else _zeroed(each) for each in activations
    )
    if registry()[op].check(attrs, operands, [result]) is None:
        return None
    return f"a scale is {wrong:g}; {NORMAL_SCALE}; {CALIBRATE}"


def _dead_scale(tensor: ArrayType) -> float | None:
    quant = tensor.quant
    if quant is None or not quant.is_per_tensor or quant.scale[0] >= SMALLEST_SCALE:
        return None
    return quant.scale[0]


def _zeroed(tensor: ArrayType) -> ArrayType:
    assert tensor.quant is not None, "it has a scale"
    return dataclasses.replace(tensor, quant=dataclasses.replace(tensor.quant, scale=(0.0,)))


def _unreachable(attrs: Attrs, output: ArrayType) -> str | None:
    """The reason to refuse an activation with a bound outside the range of TFLite's arithmetic."""
    activation, quant = getattr(attrs, "activation", None), output.quant
    bound = unreachable_bound(activation, quant) if activation and quant else None
    if bound is None or quant is None:
        return None
    return (
        f"the activation's bound {bound:g} is out of the range of int32 on the output's scale "
        f"{quant.scale[0]:g}, which TFLite does not define; no value of "
        f"{output.dtype.value} reaches it: leave the bound out"
    )


def _in_relay_only(op: str, data: ArrayType, output: ArrayType) -> str | None:
    """The reason to refuse an int32 tensor of an op that has int32 only for Relay, because LiteRT
    refuses it, too."""
    for role, tensor in (("input", data), ("output", output)):
        if op in _NEVER_INT32 and tensor.dtype is DType.INT32:
            known = "int8 or int16" if op.startswith("qnn.") else "int8 or int16 or float32"
            return f"the {role} is {tensor}; it must be {known}"
    return None
