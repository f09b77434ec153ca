"""Elementwise operators of two tensors: arithmetic, comparisons and logic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tflite.AddNOptions import AddNOptions
from tflite.AddOptions import AddOptions
from tflite.BuiltinOptions import BuiltinOptions
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

from microgen.base.errors import ModelError, short
from microgen.frontends.tflite import micro
from microgen.frontends.tflite.layers import FileLayer, Importer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType
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
    options = layer.options(MulOptions, BuiltinOptions.MulOptions, required=False)
    in_double = layer.numerics.micro_scales and _is_quantized(layer)
    return _two_tensors(layer, "multiply", MultiplyAttrs(layer.activation(options), in_double))


def _added(op: str, attrs: type[AdditionAttrs], schema: Any, code: int) -> Importer:
    """The importer of an addition or subtraction. For int16 there are two kinds."""

    def importer(layer: FileLayer) -> BuiltTensor:
        layer.expect_inputs(2)
        options = layer.options(schema, code, required=False)
        in_float32 = op == "subtract" and layer.numerics.micro_scales and _is_quantized(layer)
        tensors = (layer.data(0), layer.data(1), layer.output())
        may = layer.numerics.adds_by_shifts and bool(options.number("PotScaleInt16"))
        by_shifts = may and all(map(_by_shift, tensors))
        return _two_tensors(layer, op, attrs(layer.activation(options), by_shifts, in_float32))

    return importer


def _is_quantized(layer: FileLayer) -> bool:
    return layer.output().type.quant is not None


def _by_shift(tensor: BuiltTensor) -> bool:
    """Whether a tensor is int16 with a power of two as scale. Source: TFLite add.cc, Prepare."""
    kind = tensor.type
    return kind.dtype is DType.INT16 and power_of_two(kind.scale) is not None


def _plain(op: str, attrs: Attrs, schema: Any, code: int) -> Importer:
    """The importer of an operator of two tensors whose options table is empty."""

    def importer(layer: FileLayer) -> BuiltTensor:
        layer.options(schema, code, required=False)
        return _two_tensors(layer, op, attrs)

    return importer


def _two_tensors(layer: FileLayer, op: str, attrs: Attrs) -> BuiltTensor:
    layer.expect_inputs(2)
    return layer.emit(op, attrs, (layer.data(0), layer.data(1)), layer.output())


def _divide(layer: FileLayer) -> BuiltTensor:
    activation = layer.activation(
        layer.options(DivOptions, BuiltinOptions.DivOptions, required=False)
    )
    # TFLite Micro shifts in a way that C leaves undefined, so its result depends on the CPU.
    attrs = DivideAttrs(activation, shifts_wrap=layer.numerics.name == "litert")
    layer.expect_inputs(2)
    inputs, output = (layer.data(0), layer.data(1)), layer.output()
    divisor = inputs[1]
    if divisor.value is not None and divides_by_zero(divisor.value, divisor.type):
        raise _division_by_zero(layer, divisor)
    return layer.emit("divide", attrs, inputs, output)


def _division_by_zero(layer: FileLayer, divisor: BuiltTensor) -> ModelError:
    return layer.invalid(f'divides by "{short(divisor.name)}", a constant with zeros')


def _floor_div(layer: FileLayer) -> BuiltTensor:
    layer.options(FloorDivOptions, BuiltinOptions.FloorDivOptions, required=False)
    layer.expect_inputs(2)
    divisor = layer.data(1)
    if divisor.value is not None and not divisor.value.all():
        raise _division_by_zero(layer, divisor)
    return _two_tensors(layer, "floor_divide", FloorDivisionAttrs())


def _floor_mod(layer: FileLayer) -> BuiltTensor:
    layer.options(FloorModOptions, BuiltinOptions.FloorModOptions, required=False)
    layer.expect_inputs(2)
    divisor = layer.data(1)
    # divides_by_zero() is false for floats, whose result is NaN then.
    if divisor.value is not None and divides_by_zero(divisor.value, divisor.type):
        raise _division_by_zero(layer, divisor)
    return _two_tensors(layer, "floor_mod", FloorDivisionAttrs())


def _add_n(layer: FileLayer) -> BuiltTensor:
    """Additions one after another, in TFLite's order."""
    count = layer.expect_any_inputs()
    layer.options(AddNOptions, BuiltinOptions.AddNOptions, required=False)
    first, *others = [layer.data(position) for position in range(count)]
    is_micro = micro.has_own(layer, first)
    layer.expect(first, DType.FLOAT32, DType.INT32, *[DType.INT8] * is_micro)
    if not others or any(other.shape != first.shape for other in others):
        raise layer.invalid(
            f"adds {count} tensors, the first of which is {first.type}; two or more of the same "
            "shape are expected"
        )
    if is_micro:
        return _micro_sum(layer, (first, *others))
    total, attrs, output = first, AddAttrs(Activation.NONE), layer.output()
    for other in others[:-1]:
        total = layer.emit("add", attrs, (total, other), hint=f"{output.name}/sum")
    return layer.emit("add", attrs, (total, others[-1]), output)


def _micro_sum(layer: FileLayer, terms: Sequence[BuiltTensor]) -> BuiltTensor:
    quant = terms[0].type.quant
    if any((term.dtype, term.type.quant) != (DType.INT8, quant) for term in terms):
        raise layer.invalid("adds int8 tensors of several dtypes, scales or zero points")
    total, *others = (micro.wide(layer, term) for term in terms)
    for other in others:
        total = layer.emit("add", AddAttrs(Activation.NONE), (total, other))
    # The zero point of each term, and one more for the stored 0 with which TFLite Micro begins.
    total = micro.plus(layer, total, -(len(terms) + 1) * terms[0].type.zero_point)
    return micro.rescaled(layer, total, terms[0])


def _square(layer: FileLayer) -> BuiltTensor:
    layer.expect_inputs(1)
    layer.options(SquareOptions, BuiltinOptions.SquareOptions, required=False)
    data = layer.data(0)
    layer.expect(data, DType.FLOAT32)
    return layer.emit("multiply", MultiplyAttrs(Activation.NONE), (data, data), layer.output())


_EXTREMUM = (MaximumMinimumOptions, BuiltinOptions.MaximumMinimumOptions)


def _elementwise(op: str, attrs: Attrs, schema: Any, code: int, n_inputs: int = 2) -> Importer:
    """The importer of an operator whose options table is empty."""

    def importer(layer: FileLayer) -> BuiltTensor:
        layer.options(schema, code, required=False)
        layer.expect_inputs(n_inputs)
        return layer.emit(op, attrs, tuple(map(layer.data, range(n_inputs))), layer.output())

    return importer


def _select_v2(layer: FileLayer) -> BuiltTensor:
    layer.options(SelectV2Options, BuiltinOptions.SelectV2Options, required=False)
    layer.expect_inputs(3)
    return _where(layer, layer.data(0))


def _select(layer: FileLayer) -> BuiltTensor:
    """A condition with one dimension chooses among rows. Otherwise all shapes are equal, or the
    condition is a scalar."""
    layer.options(SelectOptions, BuiltinOptions.SelectOptions, required=False)
    layer.expect_inputs(3)
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
_CODES = BuiltinOptions


IMPORTERS: Mapping[str, Importer] = {
    "ADD": _added("add", AddAttrs, AddOptions, BuiltinOptions.AddOptions),
    "ADD_N": _add_n,
    "DIV": _divide,
    "FLOOR_DIV": _floor_div,
    "FLOOR_MOD": _floor_mod,
    "MAXIMUM": _plain("maximum", MaximumAttrs(), *_EXTREMUM),
    "MINIMUM": _plain("minimum", MinimumAttrs(), *_EXTREMUM),
    "MUL": _multiply,
    "SQUARE": _square,
    "SQUARED_DIFFERENCE": _plain(
        "squared_difference",
        SquaredDifferenceAttrs(),
        SquaredDifferenceOptions,
        BuiltinOptions.SquaredDifferenceOptions,
    ),
    "SUB": _added("subtract", SubtractAttrs, SubOptions, BuiltinOptions.SubOptions),
    "EQUAL": _elementwise("equal", _COMPARISON, EqualOptions, _CODES.EqualOptions),
    "GREATER": _elementwise("greater", _COMPARISON, GreaterOptions, _CODES.GreaterOptions),
    "GREATER_EQUAL": _elementwise(
        "greater_equal", _COMPARISON, GreaterEqualOptions, _CODES.GreaterEqualOptions
    ),
    "LESS": _elementwise("less", _COMPARISON, LessOptions, _CODES.LessOptions),
    "LESS_EQUAL": _elementwise(
        "less_equal", _COMPARISON, LessEqualOptions, _CODES.LessEqualOptions
    ),
    "LOGICAL_AND": _elementwise(
        "logical_and", _LOGICAL, LogicalAndOptions, _CODES.LogicalAndOptions
    ),
    "LOGICAL_NOT": _elementwise(
        "logical_not", _LOGICAL, LogicalNotOptions, _CODES.LogicalNotOptions, n_inputs=1
    ),
    "LOGICAL_OR": _elementwise("logical_or", _LOGICAL, LogicalOrOptions, _CODES.LogicalOrOptions),
    "NOT_EQUAL": _elementwise("not_equal", _COMPARISON, NotEqualOptions, _CODES.NotEqualOptions),
    "SELECT": _select,
    "SELECT_V2": _select_v2,
}
