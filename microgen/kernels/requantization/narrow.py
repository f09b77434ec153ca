"""The narrow requantizations of ``crt/include/microgen/requantization/scaling_s8.h``, which need
scales below 1/2 and sums below 2**30."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.base.errors import MicrogenError
from microgen.graph.arithmetic import blocks, int8
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import base
from microgen.kernels.constant import KernelConstant, Tables
from microgen.kernels.requantization import linear, transforms
from microgen.kernels.requantization.recipe import OutputScales, Recipe, replaced
from microgen.kernels.requantization.sums import largest_sums

FLOAT_SHIFT = 13  # of MG_ROUND_FLOAT_NARROW: to the right, besides the bits of a fraction
SUM_LIMIT = 2**30 - 1  # of accumulators, so that they can be doubled
_LARGEST = 2**31 - 1  # multiplier


def _refusal(recipe: Recipe, node: Node, graph: Graph) -> str | None:
    """Refusal unless every scale is below 1/2, and every sum below 2**30."""
    scaled = _scaled(node, graph)
    # A multiplier is at least 2**30, so a shift of 0 or more is a scale of 1/2 or more.
    if scaled[1].max() >= 0:
        largest = _scales(node, graph).max()
        return f"its largest scale is {largest:.3g}, the kernel takes less than 0.5"
    sums = largest_sums(node, graph, recipe.axis)
    if _rounding_of(node) is Rounding.FLOAT and not _is_seen(node, graph, scaled, sums[0]):
        return f"a scale is below 2**-{FLOAT_SHIFT}, the kernel takes no such scale"
    over = sums.sum(axis=0) > SUM_LIMIT
    if over.any() and not _are_constant(node, graph, scaled, sums[0])[over].all():
        worst = int(sums.sum(axis=0).max())
        return f"sums with its weights and bias may reach {worst}, the kernel takes {SUM_LIMIT}"
    return None


def _scales(node: Node, graph: Graph) -> Array:
    (data, weight, *_), output = base.types(node, graph)
    scales = int8.scales_of_sums(data, weight, output, _rounding_of(node))
    return np.broadcast_to(scales, output.shape[-1:])


def _rounding_of(node: Node) -> Rounding:
    rounding = getattr(node.attrs, "rounding", Rounding.DOUBLE)
    assert isinstance(rounding, Rounding)
    return rounding


def _scaled(node: Node, graph: Graph) -> tuple[Array, Array]:
    """Multipliers and shifts of every output channel; -1 is the shift of a scale of 0."""
    multipliers, shifts = int8.per_channel_multipliers(_scales(node, graph))
    return multipliers, np.where(multipliers == 0, -1, shifts)


def _is_seen(node: Node, graph: Graph, scaled: tuple[Array, Array], products: Array) -> bool:
    """Whether MG_ROUND_FLOAT_NARROW sees all ties."""
    is_small = scaled[1] < -FLOAT_SHIFT
    if not is_small.any() or (products[is_small] > 0).any() or len(node.inputs) < 3:
        return not is_small.any()
    bias = graph.constants[node.inputs[2]].astype(np.int64)
    clamped = np.clip(bias, -SUM_LIMIT, SUM_LIMIT)
    results = [
        int8.multiply_by_quantized_multiplier(sums, *scaled, rounding)
        for sums, rounding in (
            (bias, Rounding.FLOAT),
            (clamped, Rounding.FLOAT),
            (clamped, Rounding.UPWARD),
        )
    ]
    # It need not see ties in a channel whose sum is constant and not near a tie.
    same: Array = (results[0] == results[1]) & (results[0] == results[2])
    return bool(same[is_small].all())


def _are_constant(node: Node, graph: Graph, scaled: tuple[Array, Array], products: Array) -> Array:
    """The channels without weights whose output does not change when their bias is clamped."""
    if len(node.inputs) < 3:
        return np.zeros(products.shape, bool)
    bias = graph.constants[node.inputs[2]].astype(np.int64)
    as_it_is, clamped = (
        int8.multiply_by_quantized_multiplier(sums, *scaled, _rounding_of(node))
        for sums in (bias, np.clip(bias, -SUM_LIMIT, SUM_LIMIT))
    )
    # Converters give such channels tiny scales, and biases of about 2**30.
    constant: Array = (products == 0) & (as_it_is == clamped)
    return constant


def _tables(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    specified = recipe.specified(node, graph)
    tables = specified._replace(
        bias=_clamped(specified.bias, graph),
        shift=replaced(specified.shift, "requantize_rounding_shift"),
    )
    return recipe.folded(tables, node, graph)


def _clamped(bias: KernelConstant, graph: Graph) -> KernelConstant:
    if bias.is_absent or np.abs(graph.constants[bias.tensor].astype(np.int64)).max() <= SUM_LIMIT:
        return bias
    limits = (("low", -SUM_LIMIT), ("high", SUM_LIMIT))
    return dataclasses.replace(bias, transform="clamp", arguments=limits)


def _upward_tables(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    tables = _tables(recipe, node, graph)
    if _rounding_of(node) is Rounding.UPWARD:
        return tables
    multiplier = replaced(linear.tables(recipe, node, graph).multiplier, "upward_multiplier")
    shift = dataclasses.replace(multiplier, name="shift", ctype="int8_t")
    return tables._replace(multiplier=multiplier, shift=replaced(shift, "upward_shift"))


def _upward_refusal(recipe: Recipe, node: Node, graph: Graph) -> str | None:
    """Refusal unless scales and sums are suitable and sums are rounded as by their multipliers."""
    why = _refusal(recipe, node, graph)
    if why or _rounding_of(node) is Rounding.UPWARD:
        return why
    multiplier = _upward_tables(recipe, node, graph).multiplier
    try:
        _upward_multiplier(multiplier.arrays(graph), dict(multiplier.arguments))
    except (MicrogenError, ValueError) as error:
        return str(error)
    return None


# upward_multiplier: sources and arguments of linear_multiplier. Multipliers int32 [channels] with
# which rounding ties upwards gives the same as rounding them away from zero with the multipliers of
# requantize_multiplier.
#
# upward_shift: the same. The shifts of requantize_rounding_shift, int8 [channels].
#
# A product of a sum x and a multiplier m is a multiple of 2^v, the largest power of two that m is a
# multiple of, and so is a tie. If no x reaches a tie, m suits. If x is less than 2^v, m + 1 suits:
# the product moves by x, so that negative ties fall below and nothing else reaches or leaves a tie.
def _upward_multiplier(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    scales, weight, *bias = sources
    multipliers = transforms.apply("requantize_multiplier", [scales], arguments).astype(np.int64)
    shifts = _upward_shift(sources, arguments).astype(np.int64)
    axis, zero = int(arguments["axis"]), int(arguments["input_zero"])
    sums = largest(weight, bias[0] if bias else None, axis, zero)
    # One multiplier for all channels serves the sums of all of them.
    bound = sums if len(multipliers) == len(sums) else sums.max()
    return upward(multipliers, 32 + shifts, bound).astype(np.int32)


def _upward_shift(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    return transforms.apply("requantize_rounding_shift", sources[:1], arguments)


def largest(weight: Array, bias: Array | None, axis: int, zero: int) -> Array:
    """The largest magnitude of each channel's sums with their bias, which is clamped to
    ``SUM_LIMIT``: int64 [channels]. ``axis`` is the weight's axis of output channels, ``zero`` the
    data's zero point."""
    farthest = max(127 - zero, zero + 128)
    sums = blocks.by_channels(weight, axis, lambda x: farthest * np.abs(x).sum(axis=1))
    starts = 0 if bias is None else np.minimum(np.abs(bias.astype(np.int64)), SUM_LIMIT)
    return np.asarray(sums + starts)


def upward(multipliers: Array, rights: Array, bound: Array) -> Array:
    """``upward_multiplier`` for products that are shifted to the right by ``rights``, int64. Raises
    ValueError if a sum of up to ``bound`` may be at a tie that no multiplier rounds."""
    unit = np.where(multipliers == 0, 1, multipliers & -multipliers)
    has_tie = (multipliers != 0) & (bound >= (np.int64(1) << (rights - 1)) // unit)
    if np.any(has_tie & ((bound >= unit) | (multipliers == _LARGEST))):
        raise ValueError("a sum may be at a tie, which the kernel rounds upwards")
    return np.asarray(multipliers + has_tie)


NARROW = OutputScales(_tables, _refusal)
# For MG_ROUND_UPWARD_NARROW, which also serves nodes whose ties are rounded away from zero.
UPWARD = OutputScales(_upward_tables, _upward_refusal)
TRANSFORMS: Mapping[str, transforms.Function] = {
    "upward_multiplier": _upward_multiplier,
    "upward_shift": _upward_shift,
}
