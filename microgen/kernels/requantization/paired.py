"""The layout of paired weights, which ``crt/include/microgen/requantization/paired_s8.h``
describes.

All kinds of transforms here take ``rows`` and ``run``, the rows of a filter and the weights in
each. The weight's first axis is the axis of output channels. If windows are copied tap by tap, a
row is a tap, and there are two more arguments, those of ``taps.whole``.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from microgen.base.errors import MicrogenError
from microgen.graph.arithmetic import blocks, high
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Graph, Node, frozen
from microgen.kernels import base, taps
from microgen.kernels.constant import Arguments, Tables, WeightLayout
from microgen.kernels.requantization import by_fpu, linear, transforms
from microgen.kernels.requantization.recipe import (
    OutputScales,
    Recipe,
    WeightedSums,
    replaced,
    without,
)

_SUBTRACTED = 127  # kernels subtract it from the values of first weights
STACK = 4 * 320  # bytes: MG_PAIRED_STACK
_STEP = 4  # weights
_COLUMN = 4 * 8  # bytes of a step of four pixels: MG_PAIRED_COLUMN words
_SINGLE = 4 * 2  # bytes of a step of one row of data
_LARGE = 2**26  # bias
_UNITS = 2 * 255 * 32640  # of a word of weights, before its second half is added
# A tap of a merged group is a whole step at least, and there are two channels at a time.
MERGED = taps.Merged(depth=_STEP, outputs=2)
_SIZES = ("rows", "run", "merged", "outputs")


@functools.cache
def order(rows: int, run: int) -> Array:
    """The indices of a filter's weights in their layout, -1 for a weight of 0: whole steps of each
    row, then the remainders of rows, as soon as they make a step together.
    """
    indices: list[int] = []
    left: list[int] = []
    for row in range(0, rows * run, run):
        # The data of a row of a window is contiguous, so its whole steps are copied as words.
        whole = row + run - run % _STEP
        indices += range(row, whole)
        left += range(whole, row + run)
        ready = len(left) - len(left) % _STEP
        indices, left = indices + left[:ready], left[ready:]
    indices += left + [-1] * (-len(left) % _STEP)
    return frozen(np.array(indices))


@functools.cache
def _tap_order(taps: int, run: int) -> Array:
    """The same if each tap is copied on its own. Its remainder is in a step of its last weights, in
    which those that another step has are weights of 0.
    """
    # The kernel reads four values at a time, and must not read beyond the tap: there the input may
    # end.
    steps = -(-run // _STEP)
    last = [*[-1] * (-run % _STEP), *range(run - run % _STEP, run)]
    tap = np.array([*range(_STEP * (run // _STEP)), *last][: _STEP * steps])
    places = np.arange(taps)[:, None] * run + tap
    return frozen(np.where(tap < 0, -1, places).ravel())


def _order_of(arguments: transforms.Arguments) -> Array:
    rows, run = int(arguments["rows"]), int(arguments["run"])
    return _tap_order(rows, run) if "merged" in arguments else order(rows, run)


def _sizes(node: Node, graph: Graph) -> Arguments:
    shape = graph.types[node.inputs[1]].shape
    if taps.are_copied(node, graph):
        sizes = (("rows", shape[1] * shape[2]), ("run", MERGED.run(node, graph)))
        return (*sizes, *MERGED.arguments(node, graph))
    rows = shape[1] if len(shape) == 4 else 1
    return (("rows", rows), ("run", int(np.prod(shape[1:])) // rows))


def _pair_arguments(node: Node, graph: Graph, *, group: int) -> Arguments:
    return (*_sizes(node, graph), ("group", group))


SUMS = WeightedSums("fold_paired", _sizes)


def layout(group: int) -> WeightLayout:
    """The weight in pairs, in groups of ``group`` channels."""
    return WeightLayout("pair", "int32_t", functools.partial(_pair_arguments, group=group))


def high_scales(shift: int, has_clamp: bool) -> OutputScales:
    """The tables of ``arithmetic.high``, for kernels with or without a clamp."""
    return OutputScales(
        functools.partial(high_tables, shift=shift),
        functools.partial(_high_refusal, shift=shift, has_clamp=has_clamp),
    )


def high_tables(recipe: Recipe, node: Node, graph: Graph, *, shift: int) -> Tables:
    """The tables of one product for each channel, by 2**-shift."""
    specified, sizes = linear.tables(recipe, node, graph), dict(_sizes(node, graph))
    single = int(linear.has_one_multiplier(node, graph))
    multiplier = replaced(
        specified.multiplier, "high_multiplier", **sizes, shift=shift, single=single
    )
    return specified._replace(bias=linear.as_bias(multiplier, "high_bias"), multiplier=multiplier)


def _high_refusal(
    recipe: Recipe, node: Node, graph: Graph, *, shift: int, has_clamp: bool
) -> str | None:
    """Refusal unless the outputs of all channels are high words of products, and unless the kernel
    ``has_clamp`` if outputs are clamped to less than int8."""
    multiplier = high_tables(recipe, node, graph, shift=shift).multiplier
    arguments = dict(multiplier.arguments)
    refusal = clamp_refusal((arguments["low"], arguments["high"]), has_clamp)
    return refusal or _PROOF.refusal(multiplier, graph)


def float_scales(has_clamp: bool) -> OutputScales:
    """The scales as float32 for sums times 256, for kernels with or without a clamp."""
    return OutputScales(_float_tables, functools.partial(_float_refusal, has_clamp=has_clamp))


def _float_tables(recipe: Recipe, node: Node, graph: Graph) -> Tables:
    specified = recipe.folded(recipe.specified(node, graph), node, graph)
    weight, bias = specified.weight, specified.bias
    scale = dataclasses.replace(
        specified.multiplier,
        transform="high_float_scale",
        more=((weight.tensor, weight.what), *bias.more),
    )
    bias = replaced(bias, "fold_paired_high")
    return Tables(weight, bias, scale, without(specified.shift))


def _float_refusal(recipe: Recipe, node: Node, graph: Graph, *, has_clamp: bool) -> str | None:
    """Refusal unless sums times 256, with their bias, fit int32, and unless the kernel
    ``has_clamp`` if outputs are clamped to less than int8."""
    bias = _float_tables(recipe, node, graph).bias
    try:
        _fold_paired_high(bias.arrays(graph), dict(bias.arguments))
    except (MicrogenError, ValueError) as error:
        return str(error)
    activation = getattr(node.attrs, "activation", Activation.NONE)
    (_, least), (_, most) = base.activation_fields(activation, graph.types[node.outputs[0]])
    return clamp_refusal((least, most), has_clamp) or by_fpu.refusal(recipe, node, graph)


def clamp_refusal(limits: tuple[object, object], has_clamp: bool) -> str | None:
    """Refusal unless the kernel ``has_clamp`` if outputs are clamped to less than int8."""
    is_clamped = limits != (-128, 127)
    if is_clamped is has_clamp:
        return None
    return "outputs are clamped" if is_clamped else "outputs are not clamped"


def steps(node: Node, graph: Graph) -> int:
    """Steps of four weights of a filter."""
    return len(_order_of(dict(_sizes(node, graph)))) // _STEP


def columns(node: Node, graph: Graph) -> int:
    """Bytes of the values of four pixels."""
    return _COLUMN * steps(node, graph)


def values(node: Node, graph: Graph) -> int:
    """Bytes of the values of a row of data."""
    return _SINGLE * steps(node, graph)


def refusal(node: Node, graph: Graph, group: int) -> str | None:
    """Refusal unless there are ``group`` channels, all weights can be paired, and all sums times
    256 fit int32."""
    why = refuses_weights(node, graph, group)
    if why:
        return why
    sizes = dict(_sizes(node, graph))
    worst = int(reached(0, graph.constants[node.inputs[1]], sizes).max())
    if worst < 2**31:
        return None
    return f"sums times 256 may reach {worst}, the kernel's accumulator 2147483647"


def refuses_weights(node: Node, graph: Graph, group: int) -> str | None:
    """Refusal unless there are ``group`` channels and all weights can be paired."""
    weight = graph.constants[node.inputs[1]]
    if len(weight) < group:
        return f"there are {len(weight)} output channels, the kernel computes {group} at a time"
    # The weights are those of the model, or 0, in another order.
    if weight.size and weight.min() >= -_SUBTRACTED:
        return None
    sizes = dict(_sizes(node, graph))
    # 256 * -128 is the least int16, and a negative second weight would be added to it.
    if _measured(weight, sizes, lambda ordered: ordered[:, ::2].min(axis=1)).min() < -_SUBTRACTED:
        return "a weight is -128: two weights may leave int16"
    return None


def _measured(
    weight: Array, arguments: transforms.Arguments, measure: Callable[[Array], Array]
) -> Array:
    """A measure of each channel's ordered weights, int64 [channels, 4 * steps]."""
    at = _order_of(arguments)
    if "merged" in arguments:
        weight = taps.whole(weight, int(arguments["merged"]), int(arguments["outputs"]))
    return blocks.by_channels(weight, 0, lambda x: measure(np.where(at < 0, 0, x[:, at])))


def _least(ordered: Array) -> Array:
    """The least partial sum of a channel that begins with 0, times 256 as in the kernel. The first
    of two values is then between -255 and 0, the second between -128 and 127. Each product may be
    0, so no sum of some of them is less than the sum of the least ones."""
    first, second = ordered[:, ::2].astype(np.int64), ordered[:, 1::2].astype(np.int64)
    firsts = 255 * np.maximum(first, 0).sum(axis=1)
    least: Array = firsts + np.maximum(128 * second, -127 * second).sum(axis=1)
    return -high.UNIT * least - _UNITS


def _most(ordered: Array) -> Array:
    """The greatest partial sum of such a channel."""
    first, second = ordered[:, ::2].astype(np.int64), ordered[:, 1::2].astype(np.int64)
    firsts = 255 * np.maximum(-first, 0).sum(axis=1)
    most: Array = firsts + np.maximum(127 * second, -128 * second).sum(axis=1)
    return high.UNIT * most + _UNITS


def reached(starts: Array | int, weight: Array, arguments: transforms.Arguments) -> Array:
    """The largest magnitude of each channel's partial sums in the kernel, times 256. ``starts``
    are the numbers that the sums begin with, times 256: int64 [channels], or one for all. The
    magnitudes are int64 [channels]."""
    least = np.abs(starts + _measured(weight, arguments, _least))
    most = np.abs(starts + _measured(weight, arguments, _most))
    magnitudes: Array = np.maximum(least, most)
    return magnitudes


def missing(weight: Array, arguments: transforms.Arguments) -> Array:
    """The sums of raw values minus the kernel's sums, int64 [channels]."""
    firsts = _measured(weight, arguments, lambda ordered: ordered[:, ::2].sum(axis=1))
    return np.asarray(_SUBTRACTED * firsts)


@transforms.remembered
def fitted(sources: Sequence[Array], arguments: transforms.Arguments) -> high.High:
    """The search for one product for each channel, from the sources and arguments of
    high_multiplier."""
    weight = sources[1]
    channels = linear.channels(sources, arguments, missing(weight, arguments))
    fit = high.fit_equal if arguments["single"] else high.fit
    found = fit(channels, int(arguments["shift"]))
    is_inside = reached(found.biases, weight, arguments) < 2**31
    return dataclasses.replace(found, is_exact=found.is_exact & is_inside)


_PROOF = linear.Proof(fitted, "the requantization by one product")


# fold_paired: sources and arguments of fold_zero. The bias that fold_zero makes, plus 127 times the
# sum of the weights that are first in their halfwords.
def _fold_paired(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    own = {name: value for name, value in arguments.items() if name not in _SIZES}
    folded = transforms.apply("fold_zero", sources, own).astype(np.int64)
    bias = folded + missing(sources[0], arguments)
    if np.abs(bias).max() >= 2**31:
        raise ValueError("a folded bias leaves int32")
    return bias.astype(np.int32)


# fold_paired_high: the same, times 256, as the first value of a sum. Large biases of channels
# without weights are rounded to float32 and divided by 4 instead.
def _fold_paired_high(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    starts = high.UNIT * _fold_paired(sources, arguments).astype(np.int64)
    if len(sources) > 1:
        # Times 256, such a bias would leave int32. Its channel has a scale times 4 instead.
        quarters = sources[1].astype(np.float32).astype(np.int64) >> 2
        starts = np.where(_are_large(*sources), quarters, starts)
    worst = int(reached(starts, sources[0], arguments).max())
    if worst >= 2**31:
        raise ValueError(f"sums times 256 may reach {worst}, the accumulator holds {2**31 - 1}")
    return starts.astype(np.int32)


def _are_large(weight: Array, bias: Array) -> Array:
    """Which channels have no weights and a large bias: bool [channels]."""
    is_constant = ~weight.reshape(len(weight), -1).any(axis=1)
    # Converters give such channels tiny scales, and biases of about 2**30. As float32, such a bias
    # is a multiple of 4.
    large: Array = is_constant & (np.abs(bias.astype(np.int64)) >= _LARGE)
    return large


# high_float_scale: sources and arguments of linear_multiplier. The bits of the scales as float32
# for such sums: divided by 256, or times 4. int32 [channels].
def _high_float_scale(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    scales = transforms.effective_scales(sources[:1], arguments).astype(np.float32)
    of = scales / np.float32(high.UNIT)
    if len(sources) > 2:
        of = np.where(_are_large(*sources[1:]), scales * np.float32(4), of)
    return np.ascontiguousarray(of, np.float32).view(np.int32)


# pair: an int8 weight, and ``group``, a number of channels. int32 [groups, steps, group]: for each
# step of four weights a word of each channel of a group. A word has the halfwords ``w[1] + 256 *
# w[0]`` and ``w[3] + 256 * w[2]``. The weights of a filter are in the order of ``order``. The last
# group has the last channels; of ``outputs`` channels if windows are copied tap by tap.
def _pair(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    group = int(arguments["group"])
    if weight.dtype.name != "int8" or len(weight) < group:
        raise ValueError(f"cannot pair {weight.dtype.name}{list(weight.shape)}")
    words = _measured(weight, arguments, _words).T
    # The last group overlaps the one before it, so that every group is whole.
    outputs = int(arguments.get("outputs", len(words)))
    own = np.minimum(np.arange(0, outputs, group), outputs - group)
    first = (np.arange(0, len(words), outputs)[:, None] + own).ravel()
    paired: Array = np.stack([words[first + k] for k in range(group)], axis=2)
    return paired.astype(np.int32)


def _words(ordered: Array) -> Array:
    """int32 [steps of two pairs, channels]."""
    halves = 256 * ordered[:, ::2] + ordered[:, 1::2]
    if np.abs(halves).max() >= 2**15:
        raise ValueError("two weights leave int16")
    return np.ascontiguousarray(halves.astype("<i2")).view("<i4").T


TRANSFORMS: Mapping[str, transforms.Function] = {
    "pair": _pair,
    "fold_paired": _fold_paired,
    "fold_paired_high": _fold_paired_high,
    "high_float_scale": _high_float_scale,
    # Sources and arguments of linear_multiplier, and ``shift``. int32 [channels]: the tables of
    # arithmetic.high. If ``single`` is 1, there is one multiplier for all channels, and
    # ``channels`` is 1.
    "high_multiplier": _PROOF.transform(linear.multipliers),
    "high_bias": _PROOF.transform(linear.biases),
}
