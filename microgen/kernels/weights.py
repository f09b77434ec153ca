"""Shared by kernels with weights: refusals of nodes, and constants with their arguments."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from microgen.graph.arithmetic.int8 import RELAY, conv_scales
from microgen.graph.arithmetic.int16 import SUM_LIMIT
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.constraints import leaves_int32, weight_zero
from microgen.kernels.base import Fields, Mismatch, Params, Trait, computed, only, types
from microgen.kernels.constant import Arguments, KernelConstant, Tables
from microgen.kernels.identity import known_of
from microgen.kernels.requantization.sums import largest_sums

# How scales are multiplied: see microgen.kernels.requantization.transforms.
Rule = Literal["conv", "dense", "sums", "float32"]
TFLITE = tuple(rounding for rounding in Rounding if rounding not in RELAY)
_SUM_LIMITS = {DType.INT8: 2**31 - 1, DType.INT16: SUM_LIMIT}
_RULES: dict[Rounding | None, Rule] = {  # of roundings whose rule is the same for every op
    Rounding.PRODUCT: "dense",
    Rounding.FLOAT: "float32",
    **dict.fromkeys(RELAY, "sums"),
}


def constant_float_weights(node: Node, graph: Graph) -> str | None:
    """Refusal unless the data is float32, and weight and bias are constants."""
    return only(DType.FLOAT32)(node, graph) or _computed(node, graph)


def constant_weights(
    node: Node,
    graph: Graph,
    *,
    axis: int,
    dtype: DType = DType.INT8,
    output: DType | None = None,
    roundings: Collection[Rounding] = TFLITE,
    wraps: bool = False,
    has_offset: bool = False,
) -> str | None:
    """Refusal of a node that an integer kernel cannot compute.

    Data must have the dtype ``dtype``, and so must the output unless ``output`` is given. Weight
    and bias must be constants. No sum of products may exceed int32 (for int16 data: ``SUM_LIMIT``),
    not even when scaled, unless the kernel ``wraps``. The rounding of scaled sums must be in
    ``roundings``. The weight's zero point must be 0, or must not be 0 if the kernel ``has_offset``.
    ``axis`` is the weight's axis of output channels."""
    refusal = mismatch(node, graph, dtype, output, roundings, has_offset)
    return refusal or overflow(node, graph, axis, wraps or output is not None)


def mismatch(
    node: Node,
    graph: Graph,
    dtype: DType,
    output: DType | None,
    roundings: Collection[Rounding],
    has_offset: bool = False,
) -> str | None:
    """The refusals of ``constant_weights`` that do not depend on the weights' values. Outputs that
    are not scaled have the dtype ``output``."""
    refusal = only(dtype, output)(node, graph) or _computed(node, graph)
    refusal = refusal or _other_zero(node, graph, has_offset)
    return refusal or (None if output else _otherwise_rounded(node, roundings))


def overflow(node: Node, graph: Graph, axis: int, wraps: bool) -> str | None:
    """Refusal if sums with these weights, or scaled sums unless the kernel ``wraps``, may exceed
    the accumulator. ``axis`` is the weight's axis of output channels."""
    known, key = known_of(node, graph), ("overflow", axis, wraps)
    if key not in known:
        known[key] = (None if wraps else _wrapped(node, graph)) or _overflow(node, graph, axis)
    found: str | None = known[key]
    return found


def _other_zero(node: Node, graph: Graph, has_offset: bool) -> str | None:
    zero = weight_zero(graph.types[node.inputs[1]])
    if bool(zero) is has_offset:
        return None
    expected = "one other than 0" if has_offset else "0"
    why = f"the zero point of its weights is {zero}, the kernel takes {expected}"
    return Mismatch(Trait.WEIGHTS, why)


def _otherwise_rounded(node: Node, roundings: Collection[Rounding]) -> str | None:
    rounding = getattr(node.attrs, "rounding", None)
    if rounding is None or rounding in roundings:
        return None
    why = f"its sums are rounded {rounding.value!r}, the kernel rounds otherwise"
    return Mismatch(Trait.ARITHMETIC, why)


def _wrapped(node: Node, graph: Graph) -> str | None:
    """Refusal if scaled sums of int8 data may exceed int32."""
    (data, weight, *_), output = types(node, graph)
    rounding = getattr(node.attrs, "rounding", None)
    if rounding not in (Rounding.DOUBLE, Rounding.PRODUCT) or data.dtype is not DType.INT8:
        return None
    products = weight.size // output.shape[-1]
    # LiteRT takes such sums modulo 2**32, and only the reference kernels do the same.
    if not leaves_int32(data, products, conv_scales(data, weight, output)):
        return None
    return "scaled sums may leave int32, the kernel does not take them modulo 2**32"


def _computed(node: Node, graph: Graph) -> str | None:
    return next(filter(None, (computed(name, graph) for name in node.inputs[1:])), None)


def _overflow(node: Node, graph: Graph, axis: int) -> str | None:
    """Refusal if these weights and this bias can make a larger sum from the data than the
    accumulator may hold."""
    # Sums of magnitudes, because each kernel adds in an order of its own: no partial sum is larger.
    limit = _SUM_LIMITS[graph.types[node.inputs[0]].dtype]
    worst = int(largest_sums(node, graph, axis).sum(axis=0).max())
    if worst <= limit:
        return None
    return f"sums with its weights and bias may reach {worst}, the kernel's accumulator {limit}"


def weights_and_tables(node: Node, graph: Graph, rule: Rule, channels: int) -> Tables:
    """int8 weight, bias or NULL, and the requantization tables, each of ``channels`` entries. The
    bias is int64 for int16 data, int32 for int8 data."""
    rule = _RULES.get(getattr(node.attrs, "rounding", None), rule)
    scales = scale_arguments(node, graph, rule, channels)
    weight = node.inputs[1]
    return Tables(
        *weight_and_bias(node, graph),
        KernelConstant("multiplier", "int32_t", weight, "scale", "requantize_multiplier", scales),
        KernelConstant("shift", "int8_t", weight, "scale", "requantize_shift", scales),
    )


def weights_and_real_scales(node: Node, graph: Graph, channels: int) -> tuple[KernelConstant, ...]:
    """As ``weights_and_tables``, for scales that are rounded REAL."""
    scales = scale_arguments(node, graph, "conv", channels)
    weight = node.inputs[1]
    return (
        *weight_and_bias(node, graph),
        KernelConstant("significand", "int64_t", weight, "scale", "real_significand", scales),
        KernelConstant("shift", "int8_t", weight, "scale", "real_shift", scales),
    )


def with_offset(params: Params, layer: str) -> Params:
    """The fields of kernels for weights with a zero point: ``params`` in the structure ``layer``,
    and the weights' offset."""

    def fields(node: Node, graph: Graph) -> Fields:
        nested = tuple((f"{layer}.{name}", value) for name, value in params(node, graph))
        return (*nested, ("weight_offset", -weight_zero(graph.types[node.inputs[1]])))

    return fields


def scale_arguments(node: Node, graph: Graph, rule: Rule, channels: int) -> Arguments:
    """The arguments of the transform ``requantize_multiplier``."""
    inputs, output = types(node, graph)
    return (
        ("input_scale", inputs[0].scale),
        ("output_scale", output.scale),
        ("rule", rule),
        ("channels", channels),
    )


def weight_and_bias(node: Node, graph: Graph) -> tuple[KernelConstant, KernelConstant]:
    """int8 weight, bias or NULL."""
    weight = KernelConstant("weight", "int8_t", node.inputs[1])
    return weight, _bias(node, graph.types[node.outputs[0]].dtype)


def _bias(node: Node, dtype: DType) -> KernelConstant:
    bias = node.inputs[2] if len(node.inputs) > 2 else ""
    # The models' biases for int16 data are int32 or int64, and the kernels' are int64.
    if dtype is DType.INT16:
        return KernelConstant("bias", "int64_t", bias, transform="widen")
    return KernelConstant("bias", "int32_t", bias)
