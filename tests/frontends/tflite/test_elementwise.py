"""Elementwise operators of two tensors, from the bytes of a file to the attributes of a node."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Attrs
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import (
    AddAttrs,
    AdditionAttrs,
    SquaredDifferenceAttrs,
    SubtractAttrs,
)
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from tests.frontends.tweaked import Network, int8_constant, refusal, simple
from tests.kernels.conformance.litert_oracle import FUSED
from tests.support.tflite_builder import OperatorSpec, TensorSpec

PLAIN = [
    ("MAXIMUM", "MaximumMinimumOptions", "maximum", MaximumAttrs()),
    ("MINIMUM", "MaximumMinimumOptions", "minimum", MinimumAttrs()),
    (
        "SQUARED_DIFFERENCE",
        "SquaredDifferenceOptions",
        "squared_difference",
        SquaredDifferenceAttrs(),
    ),
]
ACTIVATED = [
    ("SUB", "SubOptions", "subtract", SubtractAttrs),
    ("MUL", "MulOptions", "multiply", MultiplyAttrs),
]


def with_constant(code: str, options_type: str, **options: int) -> Network:
    constant = int8_constant("c", 2, scale=(0.25,))
    return simple(code, (1, 4, 2), (1, 4, 2), constant, options_type=options_type, **options)


@pytest.mark.parametrize(("code", "options_type", "op", "attrs"), PLAIN)
def test_operators_without_options(code: str, options_type: str, op: str, attrs: Attrs) -> None:
    for given in (options_type, ""):
        graph = with_constant(code, given).load()
        (node,) = graph.nodes
        assert (node.op, node.inputs, node.attrs) == (op, ("x", "c"), attrs)
        assert graph.constants["c"].tolist() == [0, 1]


@pytest.mark.parametrize(("code", "options_type", "op", "attrs"), ACTIVATED)
@pytest.mark.parametrize("activation", list(FUSED))
def test_fused_activations(
    code: str,
    options_type: str,
    op: str,
    attrs: type[SubtractAttrs | MultiplyAttrs],
    activation: Activation,
) -> None:
    fused = FUSED[activation]
    graph = with_constant(code, options_type, fusedActivationFunction=fused).load()
    (node,) = graph.nodes
    assert (node.op, node.attrs) == (op, attrs(activation))


def test_an_activation_that_is_not_supported_is_named() -> None:
    network = with_constant("MUL", "MulOptions", fusedActivationFunction=4)
    with pytest.raises(UnsupportedError, match="the fused activation TANH"):
        network.load()


def division(first: int) -> Network:
    """By a constant of ``first`` and 1, with the zero point 0."""
    network = with_constant("DIV", "DivOptions", fusedActivationFunction=1)
    network = network.with_tensor("y", scale=(1 / 64,))
    return network.with_tensor("c", data=np.array([first, 1]))


@pytest.mark.parametrize("profile", ["litert", "tflm"])
def test_division_follows_the_profile_where_c_does_not_define_it(profile: str) -> None:
    (node,) = division(2).load(profile).nodes
    assert node.op == "divide"
    assert node.attrs == DivideAttrs(Activation.RELU, shifts_wrap=profile == "litert")


def test_a_division_by_a_constant_with_zeros_is_refused() -> None:
    said = refusal(division(0), ModelError)
    assert said == 'm.tflite: layer "y" (DIV): divides by "c", a constant with zeros'


def of_int16(code: str, scale: float, **options: bool) -> Network:
    tensors = [TensorSpec(name, (2,), "int16", None, (0.5,), (0,)) for name in ("x", "z", "y")]
    network = Network(
        tuple(tensors),
        (OperatorSpec(code, ("x", "z"), ("y",), f"{code.capitalize()}Options", options),),
        inputs=("x", "z"),
    )
    return network.with_tensor("z", scale=(scale,))


@pytest.mark.parametrize("code", ["ADD", "SUB"])
@pytest.mark.parametrize(
    ("scale", "options", "expected"),
    [
        (0.125, {}, True),
        (0.12505, {}, True),
        (0.126, {}, False),
        (0.125, {"potScaleInt16": True}, True),
        (0.125, {"potScaleInt16": False}, False),
    ],
)
def test_int16_is_added_by_shifts_if_scales_are_powers_of_two(
    code: str, scale: float, options: dict[str, bool], expected: bool
) -> None:
    (node,) = of_int16(code, scale, **options).load().nodes
    assert isinstance(node.attrs, AdditionAttrs)
    assert node.attrs.by_shifts is expected


def test_int16_without_options_is_not_added_by_shifts() -> None:
    network = of_int16("ADD", 0.125).with_operator(options_type="", options={})
    assert network.load().nodes[0].attrs == AddAttrs(Activation.NONE, by_shifts=False)


def test_int16_that_cannot_be_added_by_shifts() -> None:
    assert "powers of two" in refusal(of_int16("ADD", 1.0), ModelError)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("code", ["ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"])
def test_plain_numbers(code: str, dtype: str) -> None:
    tensors = tuple(TensorSpec(name, (2,), dtype) for name in ("x", "z", "y"))
    operator = OperatorSpec(code, ("x", "z"), ("y",))
    graph = Network(tensors, (operator,), inputs=("x", "z")).load()
    assert graph.types["y"].dtype.value == dtype


def test_bytes_without_a_scale_are_not_added() -> None:
    tensors = [TensorSpec(name, (4,), "uint8") for name in ("x", "z", "y")]
    operator = OperatorSpec("ADD", ("x", "z"), ("y",), "AddOptions")
    network = Network(tuple(tensors), (operator,), inputs=("x", "z"))
    assert "without a scale it must be int32 or int64" in refusal(network, ModelError)
