"""Shared by the int16 kernels that sum in int32 and scale sums by one multiplication."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microgen.base.errors import MicrogenError
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, DType, Graph, Node
from microgen.kernels import base, window
from microgen.kernels.requantization import transforms
from microgen.kernels.requantization.sums import largest_sums
from microgen.kernels.requantization.transforms import Arguments
from microgen.kernels.work import Work, work
from microgen.target.cpu import Feature

FOUR = 4  # weights of a word
VECTOR = 8  # values of an MVE vector
_INT32 = 2**31


def refusal(node: Node, graph: Graph, axis: int) -> str | None:
    """Refusal unless no sum can exceed int32, and mg_folded_s16 can scale the sums. ``axis`` is the
    weight's axis of output channels."""
    why = base.constant_weights(
        node, graph, axis=axis, dtype=DType.INT16, roundings=(Rounding.REDUCED,)
    )
    return why or sums(node, graph, axis) or _unfit(node, graph, axis)


def sums(node: Node, graph: Graph, axis: int) -> str | None:
    """Refusal if a sum of products and bias may exceed int32."""
    worst = int(largest_sums(node, graph, axis).sum(axis=0).max())
    if worst < _INT32:
        return None
    return f"sums with its bias may reach {worst}, the kernel's accumulator {_INT32 - 1}"


def _unfit(node: Node, graph: Graph, axis: int) -> str | None:
    factor = _folded(node, graph, axis)
    try:
        transforms.apply(factor.transform, factor.arrays(graph), dict(factor.arguments))
    except MicrogenError:
        return "a scale is not from 2^-17 to 1, the kernel cannot fold it"
    return None


def _folded(node: Node, graph: Graph, axis: int) -> base.KernelConstant:
    """The factors of mg_folded_s16."""
    weight = node.inputs[1]
    arguments = base.scale_arguments(node, graph, "conv", graph.types[weight].shape[axis])
    return base.KernelConstant("factor", "int32_t", weight, "scale", "folded_factor", arguments)


def narrow_bias(node: Node, graph: Graph, axis: int) -> base.KernelConstant:
    """The bias in int32, or zeros."""
    weight, *bias = node.inputs[1:]
    channels = graph.types[weight].shape[axis]
    return base.KernelConstant(
        "bias",
        "int32_t",
        weight,
        "scale",
        "narrow_bias",
        (("channels", channels),),
        more=tuple((name, "data") for name in bias),
    )


def plain(node: Node) -> base.KernelConstant:
    """The weight in its own order."""
    return base.KernelConstant("weight", "int8_t", node.inputs[1])


def pairs(node: Node) -> base.KernelConstant:
    """The weight in the order of microgen/blocks/blocks_s16.h."""
    return base.KernelConstant("weight", "int32_t", node.inputs[1], transform="pairs_of_filters")


def vectors(node: Node) -> base.KernelConstant:
    """The weight in the order of microgen/convolution/s16/tiles_s16_mve.h."""
    return base.KernelConstant("weight", "int8_t", node.inputs[1], transform="vectors_of_filters")


def swapped(node: Node) -> base.KernelConstant:
    """The weight with each four channels in the order 0, 2, 1, 3."""
    return base.KernelConstant("weight", "int8_t", node.inputs[1], transform="swapped_fours")


def convolution(
    symbol: str,
    refuses: base.Refuse,
    *,
    needs: frozenset[Feature],
    axis: int,
    weight: Callable[[Node], base.KernelConstant],
    scratch: Callable[[Node, Graph], int] = base.no_scratch,
    in_place: base.InPlace = base.not_in_place,
    cores: tuple[str, ...] = (),
    counts: Callable[[Node, Graph], Work] = work,
) -> base.Implementation:
    """A kernel that takes ``weight`` and the tables of mg_folded_s16."""

    def constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
        return weight(node), narrow_bias(node, graph, axis), _folded(node, graph, axis)

    return base.Implementation(
        symbol=symbol,
        needs=needs,
        refusal=refuses,
        params=window.shaped_fields,
        constants=constants,
        scratch=scratch,
        in_place=in_place,
        cores=cores,
        work=counts,
    )


def _reduced(scales: Array, arguments: Arguments) -> tuple[Array, Array]:
    """Multipliers of 16 bits, and right shifts, as mg_requantize_reduced has them: int64."""
    multiplier = transforms.apply("requantize_multiplier", (scales,), arguments).astype(np.int64)
    shift = transforms.apply("requantize_shift", (scales,), arguments).astype(np.int64)
    right = 15 - shift
    if np.any((right < 16) | (right > 32)):
        raise ValueError("a scale is not from 2**-17 to 1")
    return np.minimum((multiplier + (1 << 15)) >> 16, 0x7FFF), right


def _factor(sources: Sequence[Array], arguments: Arguments) -> Array:
    (scales,) = sources
    multiplier, right = _reduced(scales, arguments)
    factor: Array = multiplier << (32 - right)
    return factor.astype(np.int32)


def _narrow_bias(sources: Sequence[Array], arguments: Arguments) -> Array:
    _, *biases = sources
    (bias,) = biases or [np.zeros(int(arguments["channels"]), np.int64)]
    if np.abs(bias.astype(np.int64)).max() >= _INT32:
        raise ValueError("a bias exceeds int32")
    return bias.astype(np.int32)


def _pairs_of_filters(sources: Sequence[Array], arguments: Arguments) -> Array:
    (weight,) = sources
    if arguments or weight.dtype != np.int8:
        raise TypeError("int8 weights are laid out in pairs of filters, without arguments")
    filters = weight.reshape(len(weight), -1)
    rows, size = filters.shape
    filters = np.pad(filters, ((0, rows % 2), (0, -size % FOUR)))
    words = filters.reshape(-1, 2, filters.shape[1] // FOUR, FOUR)[..., [0, 2, 1, 3]]
    ordered = np.ascontiguousarray(words.transpose(0, 2, 1, 3))
    return ordered.reshape(-1).view("<i4").astype(np.int32)


def _vectors_of_filters(sources: Sequence[Array], arguments: Arguments) -> Array:
    (weight,) = sources
    if arguments or weight.dtype != np.int8 or len(weight) < 2:
        raise TypeError("two or more filters of int8 are laid out in vectors, without arguments")
    filters = weight.reshape(len(weight), -1)
    filters = np.pad(filters, ((0, 0), (0, -filters.shape[1] % VECTOR)))
    first = np.minimum(np.arange(0, len(filters), 2), len(filters) - 2)
    pairs = np.stack([filters[first], filters[first + 1]], axis=1)
    ordered: Array = pairs.reshape(len(first), 2, -1, VECTOR).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(ordered.reshape(-1))


def _swapped_fours(sources: Sequence[Array], arguments: Arguments) -> Array:
    (weight,) = sources
    if arguments or weight.dtype != np.int8 or weight.shape[-1] % FOUR:
        raise TypeError("int8 weights of a multiple of four channels, without arguments")
    swapped: Array = weight.reshape(*weight.shape[:-1], -1, FOUR)[..., [0, 2, 1, 3]]
    return np.ascontiguousarray(swapped.reshape(weight.shape))


# narrow_bias: weight scales and the bias, if there is one; ``channels``. The bias in int32, or
# zeros.
# folded_factor: weight scales float32; the arguments of requantize_multiplier. Factors of
# mg_folded_s16, int32 [channels].
# pairs_of_filters: int8 weights [filters, ...], no arguments. int32 words in the order of
# microgen/blocks/blocks_s16.h.
# vectors_of_filters: int8 weights [filters, ...], two or more filters, no arguments. int8, in the
# order of microgen/convolution/s16/tiles_s16_mve.h.
# swapped_fours: int8 weights [..., channels], no arguments. Each four channels in the order
# 0, 2, 1, 3.
TRANSFORMS = {
    "narrow_bias": _narrow_bias,
    "folded_factor": _factor,
    "pairs_of_filters": _pairs_of_filters,
    "vectors_of_filters": _vectors_of_filters,
    "swapped_fours": _swapped_fours,
}
