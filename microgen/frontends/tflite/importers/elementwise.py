"""Elementwise operators of two tensors: arithmetic, comparisons and logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tflite.AddOptions import AddOptions
from tflite.DivOptions import DivOptions
from tflite.EqualOptions import EqualOptions
from tflite.FloorDivOptions import FloorDivOptions
from tflite.FloorModOptions import FloorModOptions
from tflite.GreaterEqualOptions import GreaterEqualOptions
from tflite.GreaterOptions import GreaterOptions
from tflite.LessEqualOptions import LessEqualOptions
from tflite.LessOptions import LessOptions
from tflite.LogicalAndOptions import LogicalAndOptions
from tflite.LogicalNotOptions import LogicalNotOptions
from tflite.LogicalOrOptions import LogicalOrOptions
from tflite.MaximumMinimumOptions import MaximumMinimumOptions
from tflite.MulOptions import MulOptions
from tflite.NotEqualOptions import NotEqualOptions
from tflite.SelectOptions import SelectOptions
from tflite.SelectV2Options import SelectV2Options
from tflite.SquaredDifferenceOptions import SquaredDifferenceOptions
from tflite.SquareOptions import SquareOptions
from tflite.SubOptions import SubOptions

from microgen.base.errors import short
from microgen.frontends.tflite.importers.arguments import Importer, plain
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs, LogicalAttrs
from microgen.graph.ops.division.divide import DivideAttrs, divides_by_zero
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs
from microgen.graph.ops.elementwise.addition import (
    AddAttrs,
    AdditionAttrs,
    SquaredDifferenceAttrs,
    SubtractAttrs,
    power_of_two,
)
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs, WhereAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs


def _multiply(layer: FileLayer) -> BuiltTensor:
    in_double = layer.numerics.micro_scales and _is_quantized(layer)
    return layer.computed("multiply", MultiplyAttrs(layer.activation(), in_double))


def _added(op: str, attrs: type[AdditionAttrs], schema: Any) -> Importer:
    """The importer of an addition or subtraction."""
    # For int16 TFLite has two kernels. One shifts, if all scales are powers of two and the file
    # wants it, and the other multiplies.

    def importer(layer: FileLayer) -> BuiltTensor:
        in_float32 = op == "subtract" and layer.numerics.micro_scales and _is_quantized(layer)
        tensors = (layer.data(0), layer.data(1), layer.output())
        may = layer.numerics.adds_by_shifts and layer.flag("PotScaleInt16")
        by_shifts = may and all(map(_by_shift, tensors))
        return layer.computed(op, attrs(layer.activation(), by_shifts, in_float32))

    return Importer(importer, (2,), optional=schema)


def _is_quantized(layer: FileLayer) -> bool:
    return layer.output().type.quant is not None


def _by_shift(tensor: BuiltTensor) -> bool:
    """Whether a tensor is int16 with a power of two as scale."""
    # Source: TFLite add.cc, Prepare.
    kind = tensor.type
    return kind.dtype is DType.INT16 and power_of_two(kind.scale) is not None


def _divide(layer: FileLayer) -> BuiltTensor:
    # TFLite Micro shifts in a way that C leaves undefined, so its result depends on the CPU.
    attrs = DivideAttrs(layer.activation(), shifts_wrap=layer.numerics.name == "litert")
    return _quotient(layer, "divide", attrs, divides_by_zero)


def _quotient(
    layer: FileLayer, op: str, attrs: Attrs, fails: Callable[[Array, ArrayType], bool]
) -> BuiltTensor:
    """A division. ModelError if it ``fails`` for a constant divisor."""
    divisor = layer.data(1)
    # A divisor that is computed is checked at run time, by the kernel.
    if divisor.value is not None and fails(divisor.value, divisor.type):
        raise layer.invalid(f'divides by "{short(divisor.name)}", a constant with zeros')
    return layer.computed(op, attrs)


def _floored(op: str, schema: Any, fails: Callable[[Array, ArrayType], bool]) -> Importer:
    attrs = FloorDivisionAttrs()
    return Importer(lambda layer: _quotient(layer, op, attrs, fails), (2,), optional=schema)


def _square(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    layer.expect(data, DType.FLOAT32)
    return layer.emit("multiply", MultiplyAttrs(Activation.NONE), (data, data), layer.output())


def _select(layer: FileLayer) -> BuiltTensor:
    # A condition with one dimension chooses among rows. Otherwise all shapes are equal, or the
    # condition is a scalar.
    condition, lhs, rhs = map(layer.data, range(3))
    shape, chosen = lhs.type.shape, condition.type.shape
    if chosen not in ((), shape[:1], shape) or rhs.type.shape != shape:
        raise layer.invalid(
            f"chooses between {lhs.type} and {rhs.type} by {condition.type}; both must have the "
            "same shape, and the condition that shape, its first dimension or no dimension"
        )
    if chosen in ((), shape):
        return _where(layer, condition)
    layer.output()  # first, so that its own errors precede those of the broadcast
    # The condition gets dimensions of 1 after its own.
    spread = ReshapeAttrs((*chosen, *(1 for _ in shape[1:])))
    return _where(layer, layer.emit("reshape", spread, (condition,), hint=condition.name))


def _where(layer: FileLayer, condition: BuiltTensor) -> BuiltTensor:
    inputs = (condition, layer.data(1), layer.data(2))
    return layer.emit("where", WhereAttrs(), inputs, layer.output())


_COMPARISON, _LOGICAL = ComparisonAttrs(), LogicalAttrs()


IMPORTERS = {
    "ADD": _added("add", AddAttrs, AddOptions),
    "DIV": Importer(_divide, (2,), optional=DivOptions),
    "EQUAL": plain("equal", _COMPARISON, 2, EqualOptions),
    "FLOOR_DIV": _floored("floor_divide", FloorDivOptions, lambda by, _: not by.all()),
    # divides_by_zero() is false for floats, whose result is NaN then.
    "FLOOR_MOD": _floored("floor_mod", FloorModOptions, divides_by_zero),
    "GREATER": plain("greater", _COMPARISON, 2, GreaterOptions),
    "GREATER_EQUAL": plain("greater_equal", _COMPARISON, 2, GreaterEqualOptions),
    "LESS": plain("less", _COMPARISON, 2, LessOptions),
    "LESS_EQUAL": plain("less_equal", _COMPARISON, 2, LessEqualOptions),
    "LOGICAL_AND": plain("logical_and", _LOGICAL, 2, LogicalAndOptions),
    "LOGICAL_NOT": plain("logical_not", _LOGICAL, 1, LogicalNotOptions),
    "LOGICAL_OR": plain("logical_or", _LOGICAL, 2, LogicalOrOptions),
    "MAXIMUM": plain("maximum", MaximumAttrs(), 2, MaximumMinimumOptions),
    "MINIMUM": plain("minimum", MinimumAttrs(), 2, MaximumMinimumOptions),
    "MUL": Importer(_multiply, (2,), optional=MulOptions),
    "NOT_EQUAL": plain("not_equal", _COMPARISON, 2, NotEqualOptions),
    "SELECT": Importer(_select, (3,), optional=SelectOptions),
    "SELECT_V2": plain("where", WhereAttrs(), 3, SelectV2Options),
    "SQUARE": Importer(_square, (1,), optional=SquareOptions),
    "SQUARED_DIFFERENCE": plain(
        "squared_difference", SquaredDifferenceAttrs(), 2, SquaredDifferenceOptions
    ),
    "SUB": _added("subtract", SubtractAttrs, SubOptions),
}
