"""Orders of weights that several kernels have in common.

The transforms take no arguments. Unless a comment says otherwise, their source is an int8 weight
whose first axis is output channels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.kernels.constant import WeightLayout
from microgen.kernels.requantization.transforms import Arguments, Function

WORD = 4  # weights
VECTOR = 8  # values of int16

INTERLEAVED = WeightLayout("interleave_4")
PAIRS = WeightLayout("pairs_of_filters", "int32_t")
WIDE_PAIRS = WeightLayout("wide_pairs_of_filters", "int32_t")
WIDE_FOURS = WeightLayout("wide_fours_of_filters", "int32_t")
VECTORS = WeightLayout("vectors_of_filters")
SWAPPED = WeightLayout("sxtb16_order")


def interleaved(weight: Array) -> Array:
    """The weight in this layout, int8 [weights]."""
    rows = weight.reshape(len(weight), -1)
    whole = len(rows) - len(rows) % 4
    blocks = rows[:whole].reshape(-1, 4, rows.shape[1]).transpose(0, 2, 1)
    found = np.empty(rows.size, rows.dtype)
    # Each weight is copied once: a large one takes much memory.
    found[: blocks.size].reshape(blocks.shape)[...] = blocks
    found[blocks.size :] = rows[whole:].ravel()
    return found


# interleave_4: for loops that compute four output channels at a time. int8 [weights]: for each four
# channels, the weights of all products, [products][4]; then the weights of the remaining channels,
# [products] each.
def _interleave_4(sources: Sequence[Array], arguments: Arguments) -> Array:
    (weight,) = sources
    if arguments:
        raise TypeError("interleave_4 takes no arguments")
    return interleaved(weight)


# pairs_of_filters: int32 words in the order of microgen/blocks/blocks_s16.h.
def _pairs_of_filters(sources: Sequence[Array], arguments: Arguments) -> Array:
    (weight,) = sources
    if arguments or weight.dtype != np.int8:
        raise TypeError("int8 weights are laid out in pairs of filters, without arguments")
    filters = weight.reshape(len(weight), -1)
    rows, size = filters.shape
    # Zeros for a filter and for weights that do not exist.
    filters = np.pad(filters, ((0, rows % 2), (0, -size % WORD)))
    words = filters.reshape(-1, 2, filters.shape[1] // WORD, WORD)[..., [0, 2, 1, 3]]
    ordered = np.ascontiguousarray(words.transpose(0, 2, 1, 3))
    return ordered.reshape(-1).view("<i4").astype(np.int32)


# wide_pairs_of_filters: the same weights as int16, in the order of MG_TILE_WORDS in
# microgen/convolution/s16/tiles_s16_dsp.h. wide_fours_of_filters: in that of
# microgen/dense/dense_words_s16.h.
def _wide_pairs_of_filters(sources: Sequence[Array], arguments: Arguments) -> Array:
    return _words_of_two(sources, arguments, filters=2, multiple=WORD)


def _wide_fours_of_filters(sources: Sequence[Array], arguments: Arguments) -> Array:
    return _words_of_two(sources, arguments, filters=4, multiple=2)


def _words_of_two(
    sources: Sequence[Array], arguments: Arguments, *, filters: int, multiple: int
) -> Array:
    """int32 words of two int16, [groups of filters][pairs of a filter][filters], with zeros for
    filters and weights that do not exist."""
    (weight,) = sources
    if arguments or weight.dtype != np.int8:
        raise TypeError("int8 weights are widened without arguments")
    rows = weight.reshape(len(weight), -1).astype("<i2")
    rows = np.pad(rows, ((0, -len(rows) % filters), (0, -rows.shape[1] % multiple)))
    ordered = rows.reshape(len(rows) // filters, filters, -1, 2).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(ordered).reshape(-1).view("<i4").astype(np.int32)


# vectors_of_filters: two or more filters; int8, in the order of
# microgen/convolution/s16/tiles_s16_mve.h.
def _vectors_of_filters(sources: Sequence[Array], arguments: Arguments) -> Array:
    (weight,) = sources
    if arguments or weight.dtype != np.int8 or len(weight) < 2:
        raise TypeError("two or more filters of int8 are laid out in vectors, without arguments")
    filters = weight.reshape(len(weight), -1)
    filters = np.pad(filters, ((0, 0), (0, -filters.shape[1] % VECTOR)))
    # If the number of filters is odd, the last pair overlaps the one before it.
    first = np.minimum(np.arange(0, len(filters), 2), len(filters) - 2)
    pairs = np.stack([filters[first], filters[first + 1]], axis=1)
    ordered: Array = pairs.reshape(len(first), 2, -1, VECTOR).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(ordered.reshape(-1))


# sxtb16_order: the weight [..., channels], with each four channels in the order 0, 2, 1, 3.
def _swapped(sources: Sequence[Array], arguments: Arguments) -> Array:
    (weight,) = sources
    if arguments or weight.dtype != np.int8 or weight.shape[-1] % WORD:
        raise TypeError("int8 weights of a multiple of four channels, without arguments")
    swapped: Array = weight.reshape(*weight.shape[:-1], -1, WORD)[..., [0, 2, 1, 3]]
    return np.ascontiguousarray(swapped.reshape(weight.shape))


TRANSFORMS: Mapping[str, Function] = {
    "interleave_4": _interleave_4,
    "pairs_of_filters": _pairs_of_filters,
    "wide_pairs_of_filters": _wide_pairs_of_filters,
    "wide_fours_of_filters": _wide_fours_of_filters,
    "vectors_of_filters": _vectors_of_filters,
    "sxtb16_order": _swapped,
}
