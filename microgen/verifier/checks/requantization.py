"""The check of cheaper requantizations: the tables in the ELF give the specified results.

It does not repeat the searches that found the tables. A requantization is a monotone step function
of the sum. Bisection finds the sums at which the requantization with these tables steps. If the
specified one steps at the same sums, both are equal for all sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from microgen.base.errors import MicrogenError
from microgen.base.manifest import ConstantRecord
from microgen.graph.arithmetic import int8, int16
from microgen.graph.arithmetic.linear import OutputChannels, specified
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array
from microgen.kernels.requantization import paired, transforms
from microgen.kernels.requantization.linear import channels
from microgen.verifier.checks import constants
from microgen.verifier.subject import Finding, Subject, judged_by_parameters, not_applicable

Arguments = Mapping[str, Any]
Tables = Sequence[Array]
# Outputs, before the clamp, of the sums that a kernel has computed: int64 [channels, sums].
Computed = Callable[[Array, Tables, Arguments], Array]
_DTYPES = {"int32_t": "<i4", "int8_t": "<i1"}  # firmware is little-endian
_WRONG = (MicrogenError, KeyError, TypeError, ValueError, ArithmeticError, IndexError)


def requantization(subject: Subject) -> Finding:
    """Each layer that is requantized in one step, in any of the forms, gets the specified
    outputs for all sums that its weights and bias can make: bisection finds where the form
    steps with the ELF's tables, and the specification must step at the same sums. The factors
    of int16 dense layers must step at the sums around each value over the scale where the
    specification steps. The searches for the tables are not repeated; ``n/a`` if no layer has
    such tables.

    Reads: the ELF's bytes; parameters.
    """
    layers = list(_layers(subject))
    if not layers:
        return not_applicable("no layer is requantized otherwise than specified")
    expected = f"the requantization of {len(layers)} layers is exact for all their sums"
    return judged_by_parameters(
        subject,
        expected,
        layers,
        partial(_problems, subject),
        f"{len(layers)} layers proven again",
        layers=len(layers),
    )


def _layers(subject: Subject) -> Iterator[dict[str, ConstantRecord]]:
    """The tables of each layer, by kind; a table of factors by itself."""
    layers: dict[tuple[Any, ...], dict[str, ConstantRecord]] = {}
    for record in subject.manifest.constants:
        form = next((form for form, kinds in _TABLES.items() if record.transform in kinds), None)
        if record.transform == FACTORS:
            layers[record.symbol, record.pool, record.offset] = {record.transform: record}
        elif form:
            same = {k: v for k, v in record.arguments.items() if k != "channels"}
            key = (form, record.sources, *sorted(same.items()))
            layers.setdefault(key, {})[record.transform] = record
    yield from layers.values()


def _problems(
    subject: Subject, tables: Mapping[str, ConstantRecord], parameters: Mapping[str, Array]
) -> Iterator[str]:
    record = next(iter(tables.values()))
    try:
        sources = [parameters[name] for name in record.sources]
        wrong = np.flatnonzero(_wrong(subject, tables, sources))
    except _WRONG as error:
        yield f"{constants.name_of(record)}: there is no proof with its tables: {error!r}"
        return
    if wrong.size:
        yield f"{constants.name_of(record)}: channel {wrong[0]} gives other outputs for some sums"


def _wrong(
    subject: Subject, tables: Mapping[str, ConstantRecord], sources: Sequence[Array]
) -> Array:
    """The channels whose outputs differ from the specified outputs: bool [channels]."""
    record = next(iter(tables.values()))
    if record.transform == FACTORS:
        table = _table(subject, record).reshape(-1, 2)
        return factors_differ(table, sources, record.arguments)
    form = next(form for form, kinds in _TABLES.items() if record.transform in kinds)
    layer = _channels(form, sources, record.arguments)
    arrays = [_table(subject, tables[kind]) for kind in _TABLES[form]]
    return differs(layer, form, arrays, record.arguments)


def _channels(form: str, sources: Sequence[Array], arguments: Arguments) -> OutputChannels:
    """The specified channels. ``folded`` is the true sums minus the kernel's."""
    entries = {**arguments, "channels": sources[1].shape[int(arguments["axis"])]}
    is_paired = form in ("high", "mixed") and "run" in arguments
    missing = paired.missing(sources[1], arguments) if is_paired else 0
    found = channels(sources, entries, missing)
    # Before these multipliers, kernels have added the whole bias.
    return replace(found, folded=(0,) * len(found.folded)) if form == "upward" else found


def _table(subject: Subject, record: ConstantRecord) -> Array:
    for address in constants.addresses(subject, record):
        data = subject.elf.read(address, record.nbytes)
        if data:
            return np.frombuffer(data, _DTYPES[record.ctype]).astype(np.int64)
    raise ValueError(f"the ELF has no {record.nbytes} bytes of it")


def differs(layer: OutputChannels, form: str, tables: Tables, arguments: Arguments) -> Array:
    """The channels whose outputs with these tables differ from the specified outputs for a
    reachable sum: bool [channels]. ``form`` is a key of ``_FORMS``."""
    least, most, folded = (
        np.array(sums, np.int64)[:, None] for sums in (layer.least, layer.most, layer.folded)
    )
    values = np.arange(layer.low + 1, layer.high + 1, dtype=np.int64)[None, :]
    shape = np.broadcast_shapes(least.shape, values.shape)
    # The bisection keeps `missed` below the step, and `reached` at it or past the last sum.
    missed, reached = np.broadcast_to(least - 1, shape), np.broadcast_to(most + 1, shape)
    while (reached - missed > 1).any():
        middle = (reached + missed) >> 1
        is_reached = _FORMS[form](middle - folded, tables, arguments) >= values
        is_open = reached - missed > 1
        reached = np.where(is_open & is_reached, middle, reached)
        missed = np.where(is_open & ~is_reached, middle, missed)
    # The form steps before the specification does, or after it.
    is_early = (reached <= most) & (specified(np.minimum(reached, most), layer) < values)
    is_late = (reached > least) & (specified(np.maximum(reached - 1, least), layer) >= values)
    # A sign bit is a mark in the form that has marks, and the remaining factor is positive.
    is_monotone = form == "mixed" or bool((tables[0] >= 0).all())
    return np.asarray((is_early | is_late).any(axis=1) | (not is_monotone))


def _linear(sums: Array, tables: Tables, _arguments: Arguments) -> Array:
    """MG_LINEAR of ``crt/include/microgen/requantization/scaling_s8.h``."""
    multipliers, biases = (table[:, None] for table in tables)
    outputs: Array = (sums * multipliers + biases * 2**16) >> 34
    return outputs


def _high(sums: Array, tables: Tables, arguments: Arguments) -> Array:
    """MG_HIGH and MG_HIGH_WIDE, whose sums are times 256 and begin with the bias."""
    multipliers, biases = (table[:, None] for table in tables)
    begun = 256 * sums + biases
    if np.abs(begun).max() >= 2**31:
        raise ValueError("sums may exceed int32")
    outputs: Array = (begun * multipliers) >> int(arguments["shift"])
    return outputs


def _mixed(sums: Array, tables: Tables, arguments: Arguments) -> Array:
    """MG_HIGH_MIXED if sums are paired, otherwise MG_LINEAR_MIXED."""
    multipliers, biases, shifts = (table[:, None] for table in tables)
    is_marked = multipliers < 0
    begun = 256 * sums + biases
    if np.abs(np.where(is_marked, begun, 0)).max() >= 2**31:
        raise ValueError("sums may exceed int32")
    plain = np.where(is_marked, 0, tables[0][:, None])[:, 0], np.where(is_marked, 0, biases)[:, 0]
    usual = _high if "run" in arguments else _linear
    return np.where(
        is_marked, _marked(begun, multipliers, shifts, arguments), usual(sums, plain, arguments)
    )


def _marked(begun: Array, multipliers: Array, shifts: Array, arguments: Arguments) -> Array:
    """MG_MARKED: the specified roundings of sums that are times 256."""
    first, bits = shifts & 64, shifts & 63
    high = (np.clip(begun, -(2**31), 2**31) * (multipliers & (2**31 - 1))) >> 32
    half = (1 + 2 * int(arguments["output_zero"])) << bits
    # int64 has lost the bits of a half that is shifted further than this.
    if bits.max() > 31 or np.abs(half).max() + 2**30 + 64 >= 2**31:
        raise ValueError("outputs may exceed int32 before they are shifted")
    rounded: Array = (high + np.where(begun < 0, -first, first) + half) >> (bits + 1)
    return rounded


def _upward(sums: Array, tables: Tables, arguments: Arguments) -> Array:
    """MG_ROUND_UPWARD_NARROW, whose shift is that to the right, minus 32."""
    multipliers, shifts = (table[:, None] for table in tables)
    halves = np.int64(1) << (31 + shifts)
    outputs: Array = ((sums * multipliers + halves) >> (32 + shifts)) + int(
        arguments["output_zero"]
    )
    return outputs


def _vector(sums: Array, tables: Tables, _arguments: Arguments) -> Array:
    """MG_LINEAR_VECTOR: VQSHL, VQADD, VQRDMULH and VSHL, each saturating."""
    multipliers, biases, shifts = tables
    left, right = int(shifts[0]), -int(shifts[1])
    added = _saturated(_saturated(sums * 2**left) + biases[:, None])
    products: Array = _saturated((added * multipliers[:, None] + 2**30) >> 31)
    return products >> right


def _saturated(x: Array) -> Array:
    limited: Array = np.clip(x, -(2**31), 2**31 - 1)
    return limited


_TABLES: Mapping[str, tuple[str, ...]] = {  # kinds of transforms
    "linear": ("linear_multiplier", "linear_bias"),
    "high": ("high_multiplier", "high_bias"),
    "mixed": ("mixed_multiplier", "mixed_bias", "mixed_shift"),
    "upward": ("upward_multiplier", "upward_shift"),
    "vector": ("linear_vector_multiplier", "linear_vector_bias", "linear_vector_shift"),
}
_FORMS: Mapping[str, Computed] = dict(
    zip(_TABLES, (_linear, _high, _mixed, _upward, _vector), strict=True)
)


FACTORS = "wide_factors"  # the transform
_VALUES = np.arange(-(2**15) + 1, 2**15, dtype=np.int64)  # all but the least, which needs no step
_AROUND = np.arange(-3, 4, dtype=np.int64)  # sums around the one at which a value is expected
_LARGEST = 2**31 - 1  # sum


def factors_differ(table: Array, sources: Sequence[Array], arguments: Mapping[str, Any]) -> Array:
    """The factors of 64 bits, of int16 layers, with which a sum of int32 gives another output than
    specified: bool [factors]. ``table`` is int64 [factors, 2]; the other arguments are the
    transform's."""
    rounding = Rounding(arguments["rounding"])
    scales = transforms.effective_scales(
        sources, {name: value for name, value in arguments.items() if name != "rounding"}
    )
    rows = list(zip(scales.tolist(), *table.T.tolist(), strict=True))
    differences = {
        (s, low, high): _factor_differs(s, low, high, rounding) for s, low, high in set(rows)
    }
    return np.array([differences[row] for row in rows])


def _factor_differs(scale: float, low: int, high: int, rounding: Rounding) -> bool:
    # Both the specified output and the factor's output grow with the sum, so they are equal for all
    # sums if they reach each value at the same sum, which is near the value divided by the scale.
    effective, specified = _specified_multiple(scale, rounding)
    if effective == 0:
        return (low, high) != (0, 0)
    # Rounding reaches a value half a step below it.
    expected = np.floor((_VALUES - 0.5) / effective).clip(-(2**32), 2**32).astype(np.int64)
    sums = (expected[:, None] + _AROUND).clip(-_LARGEST, _LARGEST)
    one, other = (
        np.reshape(form(sums.reshape(-1)), sums.shape) >= _VALUES[:, None]
        # (sum * factor + 2**63) >> 64 without more than 64 bits; the factor is high * 2**32 + low.
        for form in (specified, lambda sums: (sums * high + (sums * low >> 32) + 2**31) >> 32)
    )
    # The step must be inside the window of sums, or at the end of the sums' range.
    is_stepped = ~one[:, 0] | (sums[:, 0] == -_LARGEST)
    is_stepped &= one[:, -1] | (sums[:, -1] == _LARGEST)
    return high < 0 or not np.array_equal(one, other) or not is_stepped.all()


def _specified_multiple(scale: float, rounding: Rounding) -> tuple[float, Callable[[Array], Array]]:
    """The scale in the form that the rounding uses, and the rounding's function of sums."""
    if rounding is Rounding.REAL:
        return scale, lambda sums: int16.multiply_real(sums, scale)
    (multiplier,), (shift,) = int8.per_channel_multipliers(np.array([scale]))
    reduced = min((int(multiplier) + (1 << 15)) >> 16, 0x7FFF)
    effective = reduced * 2.0 ** (int(shift) - 15)
    return effective, lambda sums: int16.multiply_reduced(sums, int(multiplier), int(shift))
