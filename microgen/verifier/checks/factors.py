"""Factors of 64 bits, of int16 layers, that give other outputs than specified.

The proof that found them is not repeated. Both the specified output and the factor's output grow
with the sum. So they are equal for all sums if they reach each value at the same sum. This sum is
near the value divided by the scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from microgen.graph.arithmetic import int8, int16
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array
from microgen.kernels.requantization import transforms

KIND = "wide_factors"  # the transform
_VALUES = np.arange(-(2**15) + 1, 2**15, dtype=np.int64)  # all but the least, which needs no step
_AROUND = np.arange(-3, 4, dtype=np.int64)  # sums around the one at which a value is expected
_LARGEST = 2**31 - 1  # sum


def differs(table: Array, sources: Sequence[Array], arguments: Mapping[str, Any]) -> Array:
    """The factors with which a sum of int32 gives another output than specified: bool [factors].
    ``table`` is int64 [factors, 2]; the other arguments are the transform's."""
    rounding = Rounding(arguments["rounding"])
    scales = transforms.effective_scales(
        sources, {name: value for name, value in arguments.items() if name != "rounding"}
    )
    rows = list(zip(scales.tolist(), *table.T.tolist(), strict=True))
    differences = {(s, low, high): _differs(s, low, high, rounding) for s, low, high in set(rows)}
    return np.array([differences[row] for row in rows])


def _differs(scale: float, low: int, high: int, rounding: Rounding) -> bool:
    effective, specified = _specified(scale, rounding)
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


def _specified(scale: float, rounding: Rounding) -> tuple[float, Callable[[Array], Array]]:
    """The scale as the rounding has it, and the function of sums."""
    if rounding is Rounding.REAL:
        return scale, lambda sums: int16.multiply_real(sums, scale)
    (multiplier,), (shift,) = int8.per_channel_multipliers(np.array([scale]))
    reduced = min((int(multiplier) + (1 << 15)) >> 16, 0x7FFF)
    effective = reduced * 2.0 ** (int(shift) - 15)
    return effective, lambda sums: int16.multiply_reduced(sums, int(multiplier), int(shift))
