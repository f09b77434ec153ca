"""Elementwise operators of two tensors: arithmetic and choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tflite.AddOptions import AddOptions
from tflite.ATan2Options import ATan2Options
from tflite.BitwiseXorOptions import BitwiseXorOptions
from tflite.DivOptions import DivOptions
from tflite.FloorDivOptions import FloorDivOptions
from tflite.FloorModOptions import FloorModOptions
from tflite.MaximumMinimumOptions import MaximumMinimumOptions
from tflite.MulOptions import MulOptions
from tflite.PowOptions import PowOptions
from tflite.RightShiftOptions import RightShiftOptions
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
from microgen.graph.ops.division.divide import DivideAttrs, divides_by_zero
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs
from microgen.graph.ops.elementwise.addition import (
    AddAttrs,
    AdditionAttrs,
    SquaredDifferenceAttrs,
    SubtractAttrs,
    power_of_two,
)
from microgen.graph.ops.elementwise.angle import Atan2Attrs
from microgen.graph.ops.elementwise.bitwise import BitFunction, BitwiseAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs, WhereAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs, PowerAttrs
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


def _power(layer: FileLayer) -> BuiltTensor:
    base, exponent = layer.data(0), layer.data(1)
    layer.expect(base, DType.FLOAT32, DType.INT32)
    value = exponent.value
    if base.dtype is DType.INT32 and value is not None and value.min() < 0:
        raise layer.invalid(f"has the integer exponent {value.min()}; LiteRT accepts 0 and more")
    is_square = value is not None and value.size == 1 and value.item() == 2
    if base.dtype is DType.FLOAT32 and is_square and len(exponent.shape) <= len(base.shape):
        attrs = MultiplyAttrs(Activation.UNLIMITED)  # powers may be infinite
        return layer.emit("multiply", attrs, (base, base), layer.output())
    return layer.computed("power", PowerAttrs())


_BITS = (DType.INT8, DType.INT16, DType.INT32, DType.UINT8, DType.UINT16, DType.UINT32)


def _bitwise(function: BitFunction, schema: Any) -> Importer:
    def importer(layer: FileLayer) -> BuiltTensor:
        lhs, rhs = layer.plain(0), layer.plain(1)
        layer.expect(lhs, *_BITS)
        return layer.emit("bitwise", BitwiseAttrs(function), (lhs, rhs), layer.plain_output())

    return Importer(importer, (2,), optional=schema)


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


def _of_equal_shapes(op: str, attrs: Callable[[Activation], Attrs], *dtypes: DType) -> Importer:
    """The importer of an elementwise operator of StableHLO."""

    def importer(layer: FileLayer) -> BuiltTensor:
        # LiteRT chooses the left element if both are equal or one is NaN. The op then chooses the
        # right one, so the operands are exchanged.
        rhs, lhs = layer.data(1), layer.data(0)
        layer.expect(lhs, *dtypes)
        if lhs.shape != rhs.shape:
            raise layer.invalid(f"has {lhs.type} and {rhs.type}; equal shapes are expected")
        is_float = lhs.dtype is DType.FLOAT32
        given = attrs(Activation.UNLIMITED if is_float else Activation.NONE)
        return layer.emit(op, given, (rhs, lhs), layer.output())

    return Importer(importer, (2,))


_NUMBERS = (DType.FLOAT32, DType.INT32)


IMPORTERS = {
    "ADD": _added("add", AddAttrs, AddOptions),
    "ATAN2": plain("atan2", Atan2Attrs(), 2, ATan2Options),
    "BITWISE_XOR": _bitwise(BitFunction.XOR, BitwiseXorOptions),
    "DIV": Importer(_divide, (2,), optional=DivOptions),
    "FLOOR_DIV": _floored("floor_divide", FloorDivOptions, lambda by, _: not by.all()),
    # divides_by_zero() is false for floats, whose result is NaN then.
    "FLOOR_MOD": _floored("floor_mod", FloorModOptions, divides_by_zero),
    "MAXIMUM": plain("maximum", MaximumAttrs(), 2, MaximumMinimumOptions),
    "MINIMUM": plain("minimum", MinimumAttrs(), 2, MaximumMinimumOptions),
    "MUL": Importer(_multiply, (2,), optional=MulOptions),
    "POW": Importer(_power, (2,), optional=PowOptions),
    "RIGHT_SHIFT": _bitwise(BitFunction.RIGHT, RightShiftOptions),
    "SELECT": Importer(_select, (3,), optional=SelectOptions),
    "SELECT_V2": plain("where", WhereAttrs(), 3, SelectV2Options),
    "SQUARE": Importer(_square, (1,), optional=SquareOptions),
    "SQUARED_DIFFERENCE": plain(
        "squared_difference", SquaredDifferenceAttrs(), 2, SquaredDifferenceOptions
    ),
    "STABLEHLO_ADD": _of_equal_shapes("add", AddAttrs, *_NUMBERS, DType.INT64),
    "STABLEHLO_MAXIMUM": _of_equal_shapes("maximum", lambda _: MaximumAttrs(), *_NUMBERS),
    "STABLEHLO_MINIMUM": _of_equal_shapes("minimum", lambda _: MinimumAttrs(), *_NUMBERS),
    "STABLEHLO_MULTIPLY": _of_equal_shapes("multiply", MultiplyAttrs, *_NUMBERS, DType.INT64),
    "SUB": _added("subtract", SubtractAttrs, SubOptions),
}
