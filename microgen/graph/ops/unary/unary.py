"""The common definition of ops that compute each value of one tensor by itself.

Such an op is a function of one value. For int8 it has no kernel: ``compiler/passes/tabulate.py``
turns it into a ``lookup`` in the table of all 256 results. For int16 the same happens if TFLite has
a table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.graph.arithmetic.int8 import clamp, multiply_by_quantized_multiplier, offset_and_clamp
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types, frozen
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import Bound, OpDefinition, Operands, Reference, like_input
from microgen.graph.ops.constraints import ALL_FAMILIES, activations_constraint, refused
from microgen.graph.ops.tables import tables

EVERY_INT8 = frozen(np.arange(-128, 128).astype(np.int8))

Constraint = Callable[[Any, ArrayType, ArrayType], str | None]  # of attributes, input, output
Real = Callable[[Any, Array], Array]  # of attributes and float32 values
Table = Callable[[Any, ArrayType, ArrayType], Array]  # of attributes, input, output


@dataclass(frozen=True, slots=True)
class ValueFunction:
    """The computation of a value by an op, for each dtype.

    ``real`` returns floats of any width, which are rounded to float32. For int16 there is at most
    one of ``int16`` (a reference) and ``int16_table`` (a table of ``graph.ops.tables.tables``;
    ValueError if there is none). ``constraint`` is the op's requirement for quantized types, in
    addition to a scale. ``ulps``: the largest distance of implementations of ``real`` from the
    correctly rounded result, in units in the last place. A function that is not monotonic has
    ``steepest``, its largest slope (Lipschitz constant).
    """

    real: Real
    int8: Reference
    int16: Reference | None = None
    int16_table: Table | None = None
    constraint: Constraint | None = None
    ulps: int = 0
    steepest: Callable[[Any], float] | None = None

    @property
    def bound(self) -> Bound:
        """The bound for floats."""
        if self.steepest is None:
            return bounds.function(self.real, self.ulps)
        return bounds.lipschitz(self.steepest, roundings=3)

    @property
    def accepted(self) -> tuple[DType, ...]:
        """The dtypes for which the op exists."""
        has_int16 = self.int16 is not None or self.int16_table is not None
        return ALL_FAMILIES if has_int16 else (DType.INT8, DType.FLOAT32)

    def check(self, attrs: Attrs, data: ArrayType, output: ArrayType) -> str | None:
        """The sentence of the first constraint that the types violate."""
        sentence = activations_constraint(data, output, self.accepted)
        if sentence or data.quant is None:
            return sentence
        own = self.constraint(attrs, data, output) if self.constraint else None
        return own or self._table_constraint(attrs, data, output)

    def _table_constraint(self, attrs: Attrs, data: ArrayType, output: ArrayType) -> str | None:
        if data.dtype is not DType.INT16 or self.int16_table is None:
            return None
        reason = refused(self.int16_table, attrs, data, output)
        return reason and f"with the scales {data.scale:g} and {output.scale:g} {reason}"

    def reference(self, attrs: Attrs, operands: Operands) -> Arrays:
        """The output."""
        (data,), output = operands.input_types, operands.output_types[0]
        if floats.is_float(output):
            return (floats.rounded(self.real(attrs, operands.inputs[0])),)
        if data.dtype is DType.INT8:
            return self.int8(attrs, operands)
        if self.int16 is not None:
            return self.int16(attrs, operands)
        assert self.int16_table is not None, "checked: int16 is not accepted"
        table = self.int16_table(attrs, data, output)
        return (tables.interpolated(table, operands.inputs[0]),)

    def tables(self) -> Mapping[DType, Table]:
        """The tables with which ``lookup`` computes the op, for dtypes that need no kernel."""
        by_dtype = {DType.INT8: self._every_int8}
        return by_dtype if self.int16_table is None else {**by_dtype, DType.INT16: self.int16_table}

    def _every_int8(self, attrs: Attrs, data: ArrayType, output: ArrayType) -> Array:
        # A table does not depend on the shape of the tensor.
        kinds = tuple(dataclasses.replace(kind, shape=EVERY_INT8.shape) for kind in (data, output))
        (values,) = self.int8(attrs, Operands((EVERY_INT8,), kinds[:1], kinds[1:]))
        return frozen(values)


def define(name: str, attrs: type[Attrs], function: ValueFunction) -> OpDefinition:
    """The op of that name, with one input and an output of the input's shape."""

    def check(attrs: Attrs, inputs: Types, outputs: Types) -> str | None:
        """One dtype throughout, for which TFLite has the function."""
        return function.check(attrs, inputs[0], outputs[0])

    return OpDefinition(
        name,
        attrs,
        like_input(name),
        check,
        function.reference,
        tables=function.tables(),
        bound=function.bound,
    )


def define_of_floats(
    name: str, attrs: type[Attrs], function: Callable[[Array], Array], bound: Bound, about: str
) -> OpDefinition:
    """The op of that name, which exists for float32 only."""

    def check(_attrs: Attrs, inputs: Types, outputs: Types) -> str | None:
        """float32 throughout."""
        return activations_constraint(inputs[0], outputs[0], (DType.FLOAT32,))

    def reference(_attrs: Attrs, operands: Operands) -> Arrays:
        return (floats.rounded(function(operands.inputs[0])),)

    return OpDefinition(name, attrs, like_input(name), check, reference, bound=bound, about=about)


def centred(operands: Operands) -> Array:
    """The stored values of the input minus its zero point, int64."""
    return np.asarray(operands.inputs[0].astype(np.int64) - operands.input_types[0].zero_point)


def dequantized(operands: Operands) -> Array:
    """The input's real values as in TFLite, float32."""
    with np.errstate(over="ignore"):
        return np.float32(operands.input_types[0].scale) * centred(operands).astype(np.float32)


def rounded(function: Callable[[Array], Array], x: Array) -> Array:
    """``function`` of float32 values, computed in double and rounded to float32.

    A libm that rounds correctly gives the same results. glibc's libm does, too, except for rare
    last bits.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        values: Array = function(x.astype(np.float64)).astype(np.float32)
    return values


def in_double(function: Callable[[Array], Array]) -> Real:
    """``rounded`` for a function that has no attributes."""
    return lambda _attrs, x: rounded(function, x)


def quantized(real: Array, output: ArrayType) -> Arrays:
    """float32 values as the output stores them: rounded with halves away from zero, saturated.

    Source: TFLite activations.cc, PopulateLookupTable, and common.h, LUTPopulate, which multiply
    by the float32 reciprocal of the scale.
    """
    with np.errstate(over="ignore"):
        scaled = real * (np.float32(1) / np.float32(output.scale))
    limited = np.clip(scaled, -1024, 1024)  # far outside of int8, so that halves are exact
    stored = np.copysign(np.floor(np.abs(limited).astype(np.float64) + 0.5), limited)
    return (clamp(stored.astype(np.int64) + output.zero_point, output, Activation.NONE),)


def requantized(x: Array, multiplier: int, shift: int, output: ArrayType) -> Arrays:
    """int32 values scaled with double rounding, offset and clamped."""
    scaled = multiply_by_quantized_multiplier(x, multiplier, shift, Rounding.DOUBLE)
    return (offset_and_clamp(scaled, output, Activation.NONE),)
