"""Activations whose bounds are beyond int32 on the output's scale: where TFLite gives up, or is not
defined."""

from __future__ import annotations

import pytest

from microgen.base.errors import ModelError
from tests.frontends.tweaked import Network, refusal
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.tflite_builder import OperatorSpec, TensorSpec

FUSED = {"RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}  # ActivationFunctionType
# The activation, and the exponent of the least power of two that an output's scale may be.
LEAST = (("RELU6", -28), ("RELU_N1_TO_1", -30))


def tensor(name: str, dtype: str, exponent: int) -> TensorSpec:
    return TensorSpec(name, (1, 4), dtype, scale=(2.0**exponent,), zero_point=(0,))


def added(activation: str, dtype: str, exponent: int) -> Network:
    options = {"fusedActivationFunction": FUSED[activation]}
    return Network(
        tuple(tensor(name, dtype, exponent) for name in "xzy"),
        (OperatorSpec("ADD", ("x", "z"), ("y",), "AddOptions", options, 2),),
        inputs=("x", "z"),
    )


def alone(dtype: str, exponent: int) -> Network:
    tensors = (tensor("x", dtype, exponent), tensor("y", dtype, exponent))
    return Network(tensors, (OperatorSpec("RELU6", ("x",), ("y",), version=2),))


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize(("activation", "least"), LEAST)
def test_bounds_within_int32_only(activation: str, least: int, dtype: str) -> None:
    added(activation, dtype, least).load()
    for exponent in (least - 1, -60, -126):
        said = refusal(added(activation, dtype, exponent), ModelError)
        assert "the activation's bound" in said
        assert said.endswith("leave the bound out")


def test_an_activation_of_its_own_has_the_same_bounds() -> None:
    alone("int16", -28).load()
    assert "the activation's bound 6 is out of the range of int32" in refusal(
        alone("int16", -31), ModelError
    )


def test_no_bound_above_is_never_out_of_reach() -> None:
    added("RELU", "int16", -60).load()


@needs_litert
@pytest.mark.parametrize(("exponent", "is_taken"), [(-28, True), (-29, False), (-31, False)])
def test_litert_refuses_the_same_relu6(exponent: int, is_taken: bool) -> None:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model_content=added("RELU6", "int16", exponent).to_bytes(),
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
    )
    if is_taken:
        interpreter.allocate_tensors()
        return
    with pytest.raises(RuntimeError, match="no_integer_overflow_from_quantization"):
        interpreter.allocate_tensors()
