"""Refusals of TFLite models say what to do about the cause."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends.tflite import signature
from microgen.graph.ir.graph import DType
from tests.frontends.tweaked import Network, activation, integers, refusal, simple
from tests.kernels.recurrent import lstm_cases
from tests.support.tflite_builder import OperatorSpec, TensorSpec


def _custom(*names: str) -> Network:
    tensors = tuple(activation(f"t{k}", 4) for k in range(len(names) + 1))
    operators = tuple(
        OperatorSpec("CUSTOM", (f"t{k}",), (f"t{k + 1}",), custom_code=name)
        for k, name in enumerate(names)
    )
    return Network(tensors, operators, ("t0",), (f"t{len(names)}",))


def test_lists_of_tensors_are_of_loops_that_can_be_unrolled() -> None:
    said = refusal(_custom("FlexErf", "FlexTensorListReserve"), UnsupportedError)
    assert said.endswith(
        "fix the batch (Input(batch_shape=(1, ...))), then make the recurrent layers with "
        "unroll=True"
    )
    assert refusal(_custom("FlexErf"), UnsupportedError).endswith("without SELECT_TF_OPS")


def test_texts_are_not_to_be_quantized() -> None:
    network = simple("GATHER", (2,), (2,)).with_tensor("x", dtype="string")
    said = refusal(network.with_tensor("y", dtype="string"), UnsupportedError)
    assert "no kernel reads texts" in said
    assert "int8" not in said


def test_a_computed_start_is_not_a_matter_of_shapes() -> None:
    start = TensorSpec("s", (2,), "int32")
    network = simple("SLICE", (2, 2), (1, 2), start, integers("n", [1, 2]))
    said = refusal(network.replace(inputs=("x", "s")), UnsupportedError)
    assert "depends on what the model computes" in said
    assert "fixed shapes" not in said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x08\x08\x12\x07pytorch", "looks like an ONNX model; give the file the suffix .onnx"),
        (b"\x10\0\0\0ORTM" + bytes(20), "in ONNX Runtime's own format; give the .onnx file"),
    ],
)
def test_files_of_other_formats(data: bytes, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        signature.check(data, "m.tflite")
    assert said in str(caught.value)


def test_a_small_cell_state_is_one_of_the_other_runtime() -> None:
    layer = lstm_cases.table_layer(0, DType.INT8)
    layer = dataclasses.replace(layer, scale={**layer.scale, "cell_state": 2.0**-16})
    network = lstm_cases.network_of(layer, 0)
    assert network.load("tflm").nodes
    assert refusal(network, UnsupportedError).endswith(
        "has a cell state with the scale 2**-16, for which LiteRT's int8 LSTM has no tanh; "
        "generate with --numerics tflm: TensorFlow Lite Micro's has one for it"
    )


# Advice to choose another numerics profile.

REDUCED = OperatorSpec("SUM", ("x", "axis"), ("s",), "ReducerOptions", {"keepDims": True})


def _wide(name: str, *shape: int) -> TensorSpec:
    return TensorSpec(name, shape, "int16", None, (0.5,), (0,))


def _sum(*others: OperatorSpec) -> Network:
    """SUM of int16, followed by other operators from "s" to "y"."""
    tensors = (_wide("x", 2, 4), integers("axis", [1]), _wide("s", 2, 1), _wide("y", 2, 1))
    return Network(tensors, (REDUCED, *others), outputs=("y" if others else "s",))


def test_a_profile_that_takes_the_file_is_advised() -> None:
    said = refusal(_sum(), UnsupportedError)
    assert said.endswith("whose bytes LiteRT adds, which is useless; generate with --numerics tflm")
    _sum().load("tflm")


def test_a_profile_that_refuses_the_file_is_not_advised() -> None:
    network = _sum(OperatorSpec("SQRT", ("s",), ("y",)))
    assert "SQRT" in refusal(network, UnsupportedError, profile="tflm")
    said = refusal(network, UnsupportedError)
    assert "convert the model with another quantization, such as float32; --numerics tflm" in said
    assert "refuses it, too: has int16 operators that --numerics tflm cannot compute" in said


def test_neither_profile_is_advised_by_the_other() -> None:
    """Each of them lacks one of the two operators."""
    network = _sum(OperatorSpec("SQRT", ("s",), ("y",)))
    said = refusal(network, UnsupportedError, profile="tflm")
    assert "--numerics litert refuses it, too: sums int16" in said


def test_uint8_that_litert_lacks_does_not_lead_to_litert() -> None:
    tensors = tuple(TensorSpec(name, (4,), "uint8", None, (0.5,), (0,)) for name in ("x", "t", "y"))
    operators = (OperatorSpec("RELU", ("x",), ("t",)), OperatorSpec("ELU", ("t",), ("y",)))
    said = refusal(Network(tensors, operators), UnsupportedError, profile="tflm")
    assert "--numerics litert refuses it, too: computes in uint8" in said


def test_int8_data_are_not_to_be_quantized_to_int8() -> None:
    """The time weights and the state of an int8 SVDF are int16."""
    quantized = functools.partial(TensorSpec, scale=(0.02,), zero_point=(0,))
    network = Network(
        (
            activation("x", 1, 2),
            quantized("w", (2, 2), "int8", np.ones((2, 2))),
            quantized("t", (2, 3), "int16", np.ones((2, 3))),
            quantized("s", (1, 6), "int16", is_variable=True),
            activation("y", 1, 2),
        ),
        (OperatorSpec("SVDF", ["x", "w", "t", -1, "s"], ["y"], "SVDFOptions", {"rank": 1}),),
        ("x",),
        ("y",),
    )
    said = refusal(network, ModelError)
    assert "the activation is none; with int8 data it must be relu" in said
    assert "such as int8" not in said
