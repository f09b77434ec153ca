"""The requantization that is one product for the channels for which that was proven, and the
specified one or two roundings for the others: mg_marked of
``crt/include/microgen/requantization/scaling_s8.h``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.base.errors import MicrogenError
from microgen.graph.arithmetic import high, int8
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels.constant import KernelConstant, Tables
from microgen.kernels.requantization import linear, narrow, paired, transforms
from microgen.kernels.requantization.recipe import OutputScales, Recipe, replaced

_MARK = -(2**31)  # the sign bit of a multiplier
_TWICE = 64  # in a shift: the sum is rounded twice
_BITS = 6  # of a shift for a scale from 1/2 to 1, whose result needs no shift to the right
_MOST_BITS = 22  # with more, half a unit and the output's zero point leave int32
_TWO_ROUNDINGS = (Rounding.DOUBLE, Rounding.PRODUCT)


@dataclass(frozen=True, slots=True)
class Mixed:
    """The multiplier, the initial value of the sums and the shift of every channel, int64
    [channels]. The multipliers of channels that are not one product are negative."""

    multipliers: Array
    biases: Array
    shifts: Array

    @property
    def is_marked(self) -> Array:
        """Which channels are rounded as specified: bool [channels]."""
        marked: Array = self.multipliers < 0
        return marked


@transforms.remembered
def _mixed(sources: Sequence[Array], arguments: transforms.Arguments) -> Mixed:
    fitted, folded, most = (_paired if "run" in arguments else _plain)(sources, arguments)
    rounding = Rounding(arguments["rounding"])
    multipliers, shifts = _specified(sources, rounding, arguments)
    starts = high.UNIT * folded
    bits = shifts % _TWICE
    wrong = ~fitted.is_exact & ((np.abs(starts) >= 2**31) | (most >= 2**31))
    wrong |= ~fitted.is_exact & ((bits > _MOST_BITS) | (shifts < 0))
    if wrong.any():
        raise ValueError(f"{int(wrong.sum())} channels are neither one product nor within int32")
    return Mixed(
        np.where(fitted.is_exact, fitted.multipliers, multipliers + _MARK),
        np.where(fitted.is_exact, fitted.biases, starts),
        np.where(fitted.is_exact, 0, shifts),
    )


def _paired(
    sources: Sequence[Array], arguments: transforms.Arguments
) -> tuple[linear.Fit, Array, Array]:
    """One product of paired sums for each channel, its sums' bias, and their largest magnitude
    times 256: int64 [channels]."""
    weight = sources[1]
    channels = linear.channels(sources, arguments, paired.missing(weight, arguments))
    folded = np.array(channels.folded, np.int64)
    most = paired.reached(high.UNIT * folded, weight, arguments)
    return paired.fitted(sources, arguments), folded, most


def _plain(
    sources: Sequence[Array], arguments: transforms.Arguments
) -> tuple[linear.Fit, Array, Array]:
    """The same for sums that are not paired."""
    channels = linear.channels(sources, arguments)
    ends = np.abs(np.array([channels.least, channels.most], np.int64)).max(axis=0)
    return linear.fitted(sources, arguments), np.array(channels.folded, np.int64), high.UNIT * ends


def _specified(
    sources: Sequence[Array], rounding: Rounding, arguments: transforms.Arguments
) -> tuple[Array, Array]:
    """The specified multipliers and the shifts of the kernel, int64 [channels]."""
    scales, weight, *bias = sources
    effective = transforms.effective_scales([scales], arguments)
    multipliers, shifts = (n.astype(np.int64) for n in int8.per_channel_multipliers(effective))
    if rounding in _TWO_ROUNDINGS:
        # Without a shift to the right there is one rounding, ties upwards.
        return multipliers, _BITS - shifts + np.where(shifts < 0, _TWICE, 0)
    if rounding is not Rounding.UPWARD:
        axis, zero = int(arguments["axis"]), int(arguments["input_zero"])
        bound = narrow.largest(weight, bias[0] if bias else None, axis, zero)
        multipliers = narrow.upward(multipliers, 31 - shifts, bound)
    return multipliers, _BITS - shifts


def _paired_tables(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    return _of(paired.high_tables(recipe, node, graph, shift=high.SHIFT))


def _plain_tables(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    return _of(linear.tables(recipe, node, graph))


def _of(tables: Tables) -> Tables:
    """The tables with the sources and arguments of one product for each channel."""
    multiplier = replaced(tables.multiplier, "mixed_multiplier")
    shift = dataclasses.replace(multiplier, name="shift", ctype="int8_t")
    return tables._replace(
        multiplier=multiplier,
        bias=linear.as_bias(multiplier, "mixed_bias"),
        shift=replaced(shift, "mixed_shift"),
    )


def _refusal(multiplier: KernelConstant, graph: Graph) -> str | None:
    try:
        mixed = _mixed(multiplier.arrays(graph), dict(multiplier.arguments))
    except (MicrogenError, ValueError) as error:
        return str(error)
    # One product for all channels is a kernel of its own, without code for others.
    return None if mixed.is_marked.any() else "the sums of all channels are one product"


def _plain_refusal(recipe: Recipe, node: Node, graph: Graph) -> str | None:
    return _refusal(_plain_tables(recipe, node, graph).multiplier, graph)


def paired_scales(has_clamp: bool) -> OutputScales:
    """The tables of paired sums, for kernels with or without a clamp."""

    def refusal(recipe: Recipe, node: Node, graph: Graph) -> str | None:
        multiplier = _paired_tables(recipe, node, graph).multiplier
        limits = dict(multiplier.arguments)
        why = paired.clamp_refusal((limits["low"], limits["high"]), has_clamp)
        return why or _refusal(multiplier, graph)

    return OutputScales(_paired_tables, refusal)


PLAIN = OutputScales(_plain_tables, _plain_refusal)


def _multipliers(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    return _mixed(sources, arguments).multipliers.astype(np.int32)


def _biases(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    return _mixed(sources, arguments).biases.astype(np.int32)


def _shifts(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    return _mixed(sources, arguments).shifts.astype(np.int8)


# Sources and arguments of high_multiplier or of linear_multiplier. int32 [channels], int32
# [channels] and int8 [channels]: the proof decides for each channel anew whether it has a mark.
TRANSFORMS: Mapping[str, transforms.Function] = {
    "mixed_multiplier": _multipliers,
    "mixed_bias": _biases,
    "mixed_shift": _shifts,
}
