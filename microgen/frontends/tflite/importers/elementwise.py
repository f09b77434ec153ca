"""Elementwise operators of two inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tflite.AddOptions import AddOptions
from tflite.BuiltinOptions import BuiltinOptions
from tflite.MaximumMinimumOptions import MaximumMinimumOptions
from tflite.MulOptions import MulOptions
from tflite.SquaredDifferenceOptions import SquaredDifferenceOptions
from tflite.SubOptions import SubOptions

from microgen.frontends.tflite.layers import Importer, Layer, Step
from microgen.frontends.tflite.tensors import Tensor
from microgen.ir.graph import Attrs, DType
from microgen.ops.add import AddAttrs
from microgen.ops.addition import AdditionAttrs, power_of_two
from microgen.ops.base import Activation
from microgen.ops.maximum import MaximumAttrs
from microgen.ops.minimum import MinimumAttrs
from microgen.ops.multiply import MultiplyAttrs
from microgen.ops.squared_difference import SquaredDifferenceAttrs
from microgen.ops.subtract import SubtractAttrs


def _activated(op: str, attrs: Callable[[Activation], Attrs], schema: Any, code: int) -> Importer:
    """The importer of an operator of two tensors whose one option is a fused activation."""

    def importer(layer: Layer) -> tuple[Step, ...]:
        options = layer.options(schema, code, required=False)
        return _two_tensors(layer, op, attrs(layer.activation(options)))

    return importer


def _added(op: str, attrs: type[AdditionAttrs], schema: Any, code: int) -> Importer:
    """The importer of an addition or subtraction, of which int16 has two kinds."""

    def importer(layer: Layer) -> tuple[Step, ...]:
        layer.expect_inputs(2)
        options = layer.options(schema, code, required=False)
        tensors = (layer.data(0), layer.data(1), layer.output())
        by_shifts = options.number("PotScaleInt16") and all(map(_by_shift, tensors))
        return _two_tensors(layer, op, attrs(layer.activation(options), bool(by_shifts)))

    return importer


def _by_shift(tensor: Tensor) -> bool:
    """Whether it is int16 of a power-of-two scale. Source: TFLite add.cc, Prepare."""
    kind = tensor.type
    return kind.dtype is DType.INT16 and power_of_two(kind.scale) is not None


def _plain(op: str, attrs: Attrs, schema: Any, code: int) -> Importer:
    """The importer of an operator of two tensors whose options table is empty."""

    def importer(layer: Layer) -> tuple[Step, ...]:
        layer.options(schema, code, required=False)
        return _two_tensors(layer, op, attrs)

    return importer


def _two_tensors(layer: Layer, op: str, attrs: Attrs) -> tuple[Step, ...]:
    layer.expect_inputs(2)
    return (Step(op, attrs, (layer.data(0), layer.data(1)), layer.output()),)


_EXTREMUM = (MaximumMinimumOptions, BuiltinOptions.MaximumMinimumOptions)

IMPORTERS: Mapping[str, Importer] = {
    "ADD": _added("add", AddAttrs, AddOptions, BuiltinOptions.AddOptions),
    "MAXIMUM": _plain("maximum", MaximumAttrs(), *_EXTREMUM),
    "MINIMUM": _plain("minimum", MinimumAttrs(), *_EXTREMUM),
    "MUL": _activated("multiply", MultiplyAttrs, MulOptions, BuiltinOptions.MulOptions),
    "SQUARED_DIFFERENCE": _plain(
        "squared_difference",
        SquaredDifferenceAttrs(),
        SquaredDifferenceOptions,
        BuiltinOptions.SquaredDifferenceOptions,
    ),
    "SUB": _added("subtract", SubtractAttrs, SubOptions, BuiltinOptions.SubOptions),
}
