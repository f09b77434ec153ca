"""Shared by the int16 kernels that sum in int32 and scale sums by one multiplication."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from microgen.base.errors import MicrogenError
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, DType, Graph, Node
from microgen.kernels import base, weights, window
from microgen.kernels.constant import AS_IS, WeightLayout
from microgen.kernels.requantization import transforms
from microgen.kernels.requantization.sums import largest_sums
from microgen.kernels.requantization.transforms import Arguments
from microgen.kernels.work import Work, work
from microgen.target.cpu import Feature

_INT32 = 2**31


def refusal(node: Node, graph: Graph, axis: int) -> str | None:
    """Refusal unless no sum can exceed int32, and mg_folded_s16 can scale the sums. ``axis`` is the
    weight's axis of output channels."""
    why = weights.constant_weights(
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
    if is_possible(_folded(node, graph, axis), graph):
        return None
    return "a scale is not from 2^-17 to 1, the kernel cannot fold it"


def is_possible(factor: base.KernelConstant, graph: Graph) -> bool:
    """Whether its transform can make the table of factors."""
    try:
        transforms.apply(factor.transform, factor.arrays(graph), dict(factor.arguments))
    except MicrogenError:
        return False
    return True


def _folded(node: Node, graph: Graph, axis: int) -> base.KernelConstant:
    """The factors of mg_folded_s16."""
    weight = node.inputs[1]
    arguments = weights.scale_arguments(node, graph, "conv", graph.types[weight].shape[axis])
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


def weight_of(node: Node, graph: Graph, layout: WeightLayout) -> base.KernelConstant:
    """The weight in an order."""
    return layout.of(weights.weight_and_bias(node, graph)[0], node, graph)


def _constants(
    node: Node, graph: Graph, *, axis: int, layout: WeightLayout
) -> tuple[base.KernelConstant, ...]:
    weight, bias = weight_of(node, graph, layout), narrow_bias(node, graph, axis)
    return weight, bias, _folded(node, graph, axis)


def convolution(
    symbol: str,
    refuses: base.Refuse,
    *,
    needs: frozenset[Feature],
    axis: int,
    layout: WeightLayout = AS_IS,
    scratch: Callable[[Node, Graph], int] = base.no_scratch,
    in_place: base.InPlace = base.not_in_place,
    cores: tuple[str, ...] = (),
    counts: Callable[[Node, Graph], Work] = work,
) -> base.Implementation:
    """A kernel that takes the weight in an order, and the tables of mg_folded_s16."""
    return base.Implementation(
        symbol=symbol,
        needs=needs,
        refusal=refuses,
        params=window.shaped_fields,
        constants=functools.partial(_constants, axis=axis, layout=layout),
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
    # Factors have up to 16 bits more than their multipliers of 15 bits, so that they fit int32.
    if np.any((right < 16) | (right > 32)):
        raise ValueError("a scale is not from 2**-17 to 1")
    return np.minimum((multiplier + (1 << 15)) >> 16, 0x7FFF), right


def _factor(sources: Sequence[Array], arguments: Arguments) -> Array:
    (scales,) = sources
    multiplier, right = _reduced(scales, arguments)
    # With one shift of 32 for all channels, the result is the high word of a product.
    factor: Array = multiplier << (32 - right)
    return factor.astype(np.int32)


def _narrow_bias(sources: Sequence[Array], arguments: Arguments) -> Array:
    _, *biases = sources
    (bias,) = biases or [np.zeros(int(arguments["channels"]), np.int64)]
    if np.abs(bias.astype(np.int64)).max() >= _INT32:
        raise ValueError("a bias exceeds int32")
    return bias.astype(np.int32)


# narrow_bias: weight scales and the bias, if there is one; ``channels``. The bias in int32, or
# zeros.
# folded_factor: weight scales float32; the arguments of requantize_multiplier. Factors of
# mg_folded_s16, int32 [channels].
TRANSFORMS = {
    "narrow_bias": _narrow_bias,
    "folded_factor": _factor,
}
