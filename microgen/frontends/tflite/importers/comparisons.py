"""Operators that compare, that compute with bool, or that choose by a bool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tflite.BuiltinOptions import BuiltinOptions
from tflite.EqualOptions import EqualOptions
from tflite.GreaterEqualOptions import GreaterEqualOptions
from tflite.GreaterOptions import GreaterOptions
from tflite.LessEqualOptions import LessEqualOptions
from tflite.LessOptions import LessOptions
from tflite.LogicalAndOptions import LogicalAndOptions
from tflite.LogicalNotOptions import LogicalNotOptions
from tflite.LogicalOrOptions import LogicalOrOptions
from tflite.NotEqualOptions import NotEqualOptions
from tflite.SelectOptions import SelectOptions
from tflite.SelectV2Options import SelectV2Options

from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.graph.ir.graph import Attrs
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.graph.ops.comparisons.logical import LogicalAttrs
from microgen.graph.ops.elementwise.where import WhereAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs


def _elementwise(op: str, attrs: Attrs, schema: Any, code: int, n_inputs: int = 2) -> Importer:
    """The importer of an operator whose options table is empty."""

    def importer(layer: Layer) -> Tensor:
        layer.options(schema, code, required=False)
        layer.expect_inputs(n_inputs)
        return layer.emit(op, attrs, tuple(map(layer.data, range(n_inputs))), layer.output())

    return importer


def _select_v2(layer: Layer) -> Tensor:
    layer.options(SelectV2Options, BuiltinOptions.SelectV2Options, required=False)
    layer.expect_inputs(3)
    return _where(layer, layer.data(0))


def _select(layer: Layer) -> Tensor:
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


def _where(layer: Layer, condition: Tensor) -> Tensor:
    inputs = (condition, layer.data(1), layer.data(2))
    return layer.emit("where", WhereAttrs(), inputs, layer.output())


_COMPARISON, _LOGICAL = ComparisonAttrs(), LogicalAttrs()
_CODES = BuiltinOptions

IMPORTERS: Mapping[str, Importer] = {
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
