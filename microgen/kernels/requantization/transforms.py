"""How the firmware's constants are computed from the model's own parameters.

Lowering records the name of one of these functions with its arguments; ``verify`` calls it again
and compares the result with the bytes in the ELF.

Each kind of transform has its sources, arguments and result in a comment. A module of kernels may
have further kinds, as ``TRANSFORMS``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from microgen.base.errors import ProjectError
from microgen.graph.arithmetic import blocks, in_float32, int8, int16
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Quant, frozen
from microgen.kernels.identity import KEPT, Same

if TYPE_CHECKING:
    from microgen.kernels.base import KernelConstant

Arguments = Mapping[str, float | int | str]
Function = Callable[[Sequence[Array], Arguments], Array]
T = TypeVar("T")


def apply(kind: str, sources: Sequence[Array], arguments: Arguments) -> Array:
    """The constant that ``kind`` makes from the model's parameters.

    Raises ProjectError if there is no such kind, or if sources or arguments do not suit it.
    """
    kinds = known()
    if kind not in kinds:
        raise ProjectError(
            f"there is no transform {kind!r}",
            hint=f"transforms: {', '.join(kinds)}; generate the project again",
        )
    try:
        # verify passes arguments from a manifest, which may be damaged. Overflow must be an error.
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return kinds[kind](sources, arguments)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise ProjectError(
            f"cannot apply transform {kind!r} to {len(sources)} arrays and {dict(arguments)}: "
            f"{error!r}",
            hint="generate the project again",
        ) from error


def kept(kind: str, sources: Sequence[Array], arguments: tuple[tuple[str, Any], ...]) -> Array:
    """``apply``'s result, read-only. Results for read-only arrays are cached, because all
    candidates for a schedule have the same constants.
    """
    return _kept(kind, tuple(map(Same, sources)), arguments)


@functools.lru_cache(maxsize=KEPT)
def _kept(
    kind: str, sources: tuple[Same[Array], ...], arguments: tuple[tuple[str, Any], ...]
) -> Array:
    return frozen(apply(kind, [source.value for source in sources], dict(arguments)))


def remembered(
    function: Callable[[Sequence[Array], Arguments], T],
) -> Callable[[Sequence[Array], Arguments], T]:
    """A function of a transform's sources and arguments whose results for read-only arrays are
    cached, because refusals, tables and costs of many kernels need the same proof.
    """

    @functools.lru_cache(maxsize=KEPT)
    def once(sources: tuple[Same[Array], ...], arguments: tuple[tuple[str, Any], ...]) -> T:
        return function([source.value for source in sources], dict(arguments))

    def of(sources: Sequence[Array], arguments: Arguments) -> T:
        # The key of the cache is the identity of arrays, and a writable one may change.
        if any(source.flags.writeable for source in sources):
            return function(sources, arguments)
        return once(tuple(map(Same, sources)), tuple(arguments.items()))

    return of


@functools.cache
def known() -> Mapping[str, Function]:
    """All transforms by kind: the transforms above, and the ``TRANSFORMS`` of kernels' modules,
    whose layouts only their own kernels use.
    """
    # Modules of kernels import this one.
    from microgen import kernels

    own = [getattr(module, "TRANSFORMS", {}) for module in kernels.modules()]
    return MappingProxyType({k: f for kinds in (KINDS, *own) for k, f in kinds.items()})


def nbytes(constant: KernelConstant, graph: Graph) -> int:
    """The bytes of a kernel's constant in the firmware."""
    sources = constant.arrays(graph)
    if constant.transform == "identity":
        return sources[0].nbytes
    if constant.transform not in SIZED_BY_SHAPE:
        return kept(constant.transform, sources, constant.arguments).nbytes
    shapes = tuple((source.shape, source.dtype) for source in sources)
    sizes = tuple(pair for pair in constant.arguments if pair[0] not in _VALUES)
    key = constant.transform, shapes, sizes
    if key not in _sizes:
        if len(_sizes) == KEPT:
            _sizes.clear()
        _sizes[key] = kept(constant.transform, sources, constant.arguments).nbytes
    return _sizes[key]


# Transforms whose results have as many bytes for all sources of the same shapes and dtypes. To make
# the constants of all kernels of a network, only to count them, would take long.
SIZED_BY_SHAPE = frozenset(
    (
        *("clamp", "fold_zero", "requantize_multiplier", "requantize_shift"),
        *("requantize_rounding_shift", "float_scale", "upward_multiplier", "upward_shift"),
        *("linear_multiplier", "linear_bias", "high_multiplier", "high_bias", "high_float_scale"),
        *("mixed_multiplier", "mixed_bias", "mixed_shift", "pair", "fold_paired"),
        *("fold_paired_high", "interleave_4", "swar_weights", "winograd", "winograd_filters"),
        *("tiles", "filters_by_channel", "columns_3x3"),
    )
)
# Arguments on which no size depends.
_VALUES = frozenset(("input_scale", "output_scale", "zero", "input_zero", "output_zero"))
_sizes: dict[Hashable, int] = {}


# identity: one array of any dtype; no arguments. The array itself.
def _identity(sources: Sequence[Array], arguments: Arguments) -> Array:
    (array,) = sources
    if arguments:
        raise TypeError("identity takes no arguments")
    return array


# widen: one array of int32 or int64; no arguments. Its values in int64.
def _widen(sources: Sequence[Array], arguments: Arguments) -> Array:
    array = _identity(sources, arguments)
    if array.dtype.name not in ("int32", "int64"):
        raise TypeError(f"cannot widen {array.dtype.name}")
    return array.astype(np.int64)


# pack_int4: one array of int8 with values from -8 to 7; no arguments. uint8 [rows, bytes]: two
# values to a byte, the first in the lower half. Rows are slices along the array's first axis. A row
# with an odd number of values ends with half a byte of 0.
def _pack_int4(sources: Sequence[Array], arguments: Arguments) -> Array:
    array = _identity(sources, arguments)
    if array.dtype.name != "int8" or array.min() < -8 or array.max() > 7:
        raise ValueError("the values are not those of int4")
    # & 15 keeps the lower half of a byte in two's complement, also of negative values.
    rows = array.reshape(len(array), -1).view(np.uint8) & 15
    if rows.shape[1] % 2:
        rows = np.pad(rows, ((0, 0), (0, 1)))
    packed: Array = rows[:, ::2] | rows[:, 1::2] << 4
    return packed


# clamp: one array of integers; ``low``, ``high``. Values outside the range become the nearer limit.
def _clamp(sources: Sequence[Array], arguments: Arguments) -> Array:
    (array,) = sources
    clamped: Array = np.clip(array, int(arguments["low"]), int(arguments["high"]))
    return clamped.astype(array.dtype)


# fold_zero: a weight of int8, and its bias if there is one; ``axis``, the weight's axis of output
# channels, ``zero``, and the bias's limits ``low`` and ``high``. int32 [channels]: the bias minus
# the zero point of the data times the sum of the channel's weights.
def _fold_zero(sources: Sequence[Array], arguments: Arguments) -> Array:
    weight, *bias = sources
    axis = int(arguments["axis"])
    sums = blocks.by_channels(weight, axis, lambda values: np.asarray(values.sum(axis=1)))
    start = np.clip(bias[0], int(arguments["low"]), int(arguments["high"])) if bias else 0
    folded: Array = start - int(arguments["zero"]) * sums
    if folded.size and np.abs(folded).max() >= 2**31:
        raise ValueError("a folded bias leaves int32")
    return folded.astype(np.int32)


# requantize_multiplier: weight scales float32 [n]; ``input_scale``, ``output_scale``, ``rule`` (a
# key of RULES), ``channels`` (n, or the length of the table if one scale is repeated for all).
# Multipliers int32 [channels], Q31.
#
# requantize_shift: the same sources and arguments. Shifts int8 [channels], positive to the left.
#
# real_significand: the same. The scales' significands, int64 [channels], as ``int16.real_parts``
# returns them.
#
# real_shift: the same. Right shifts, int8 [channels].
def _part(split: Callable[[Array], tuple[Array, Array]], part: int) -> Function:
    """A transform: the first or second part of each scale, as ``split`` returns them."""

    def transform(sources: Sequence[Array], arguments: Arguments) -> Array:
        return split(effective_scales(sources, arguments))[part]

    return transform


# requantize_rounding_shift: the same, for scales below 1/2. Right shifts minus one, int8
# [channels], 0 if the multiplier is 0.
def _requantize_rounding_shift(sources: Sequence[Array], arguments: Arguments) -> Array:
    multipliers, shifts = int8.per_channel_multipliers(effective_scales(sources, arguments))
    if np.any((shifts >= 0) & (multipliers != 0)):
        raise ValueError("a scale is 1/2 or more")
    rounding_shifts: Array = np.where(multipliers == 0, 0, -1 - shifts).astype(np.int8)
    return rounding_shifts


def effective_scales(sources: Sequence[Array], arguments: Arguments) -> Array:
    """Scales of sums divided by scales of outputs, float64 [channels], from the weight's scales
    float32 [n] and the arguments of ``requantize_multiplier``.
    """
    (scales,) = sources
    if scales.ndim != 1 or scales.dtype.name != "float32":
        raise ValueError(f"the weight scales are {scales.dtype.name}{list(scales.shape)}")
    axis = None if scales.size == 1 else 0
    weight = Quant(tuple(map(float, scales)), (0,) * scales.size, axis)
    effective = RULES[str(arguments["rule"])](
        _scaled(float(arguments["input_scale"])),
        ArrayType(scales.shape, DType.INT8, weight),
        _scaled(float(arguments["output_scale"])),
    )
    return np.broadcast_to(effective, int(arguments["channels"]))


def _scaled(scale: float) -> ArrayType:
    return ArrayType((), DType.INT8, Quant((scale,), (0,)))


RULES: Mapping[str, Callable[[ArrayType, ArrayType, ArrayType], Array]] = {
    "conv": int8.conv_scales,
    "dense": int8.dense_scales,
    "sums": int8.sum_scales,
    "float32": in_float32.scale_of_sums,
}

KINDS: Mapping[str, Function] = {
    "identity": _identity,
    "widen": _widen,
    "pack_int4": _pack_int4,
    "clamp": _clamp,
    "fold_zero": _fold_zero,
    "requantize_multiplier": _part(int8.per_channel_multipliers, 0),
    "requantize_shift": _part(int8.per_channel_multipliers, 1),
    "requantize_rounding_shift": _requantize_rounding_shift,
    "real_significand": _part(int16.real_parts, 0),
    "real_shift": _part(int16.real_parts, 1),
}
