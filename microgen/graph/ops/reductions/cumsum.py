"""cumsum: the sum of all values up to each one, along one axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.reductions.running import DTYPES as DTYPES
from microgen.graph.ops.reductions.running import RunningAttrs, check, infer, results


@dataclass(frozen=True, slots=True)
class CumsumAttrs(RunningAttrs):
    """Sums, which are modulo 2**32 or 2**64 for integers."""


def reference(attrs: CumsumAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/cumsum.h, CumSum. Values are added one after another."""
    return results(attrs, operands, np.add)


def _terms(attrs: CumsumAttrs, operands: Operands) -> int:
    return operands.input_types[0].shape[attrs.axis]


def parts(_attrs: CumsumAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("cumsum",)


OP = Op("cumsum", CumsumAttrs, infer, check, reference, parts, bound=bounds.sums(reference, _terms))
