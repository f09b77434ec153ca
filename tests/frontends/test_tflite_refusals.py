"""The TFLite frontend: what it refuses, and in which words."""

from __future__ import annotations

import pytest

from microgen.errors import ModelError, UnsupportedError
from microgen.frontends.tflite import importers
from tests.frontends.tweaked import (
    Network,
    Repeat,
    activation,
    conv2d,
    dense,
    refusal,
    simple,
)
from tests.tflite_builder import OperatorSpec, TensorSpec

RELU = simple("RELU", (1, 4), (1, 4))
CONV = 'm.tflite: layer "y" (CONV_2D): '


def test_an_operator_without_importer_names_layer_need_and_alternatives() -> None:
    said = refusal(simple("COS", (1, 4), (1, 4)), UnsupportedError)
    assert said.startswith(
        'm.tflite: layer "y": operator COS is not supported: it would need an op, a kernel '
        "and an importer of its own; supported: "
    )
    listed = said.partition("supported: it")[2].partition("supported: ")[2]
    assert listed == ", ".join(importers.registry())


def test_a_custom_operator_is_called_by_its_own_name_and_others_are_listed() -> None:
    network = Network(
        (activation("x", 4), activation("t", 4), activation("y", 4)),
        (
            OperatorSpec("CUSTOM", ("x",), ("t",), custom_code="Fancy"),
            OperatorSpec("COS", ("t",), ("y",)),
        ),
    )
    assert 'layer "t": operator CUSTOM "Fancy" is not supported (nor are COS): ' in refusal(
        network, UnsupportedError
    )


def test_an_operator_newer_than_the_schema_is_called_by_its_number() -> None:
    said = refusal(RELU, UnsupportedError, OperatorCode={"BuiltinCode": 9999})
    assert 'layer "y": operator BUILTIN_9999 is not supported' in said


ACTIVATIONS = "supported: NONE, RELU, RELU6, RELU_N1_TO_1"
DTYPES = (
    "supported: int8, int16, int32, int64, float32, bool; convert the model with full-integer "
    "quantization to int8, say, inputs and outputs included"
)
FIXED = "supported: fixed shapes; convert the model with a fixed input shape"
PER_TENSOR = "supported: one scale per tensor for activations, per channel for weights only"


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (
            conv2d(fusedActivationFunction=4),
            f"has the fused activation TANH; {ACTIVATIONS}",
        ),
        (
            conv2d(fusedActivationFunction=5),
            f"has the fused activation SIGN_BIT; {ACTIVATIONS}",
        ),
        (
            conv2d(fusedActivationFunction=77),
            f"has the fused activation number 77; {ACTIVATIONS}",
        ),
        *(
            (conv2d().with_tensor("x", dtype=dtype), f'tensor "x" is {dtype}; {DTYPES}')
            for dtype in ("uint8", "string", "float64")
        ),
        (
            conv2d().with_tensor("w", dtype="int4", data=b"\0" * 27),
            f'tensor "w" is int4; {DTYPES}',
        ),
        (
            conv2d().with_tensor("x", scale=()),
            'uses "x", which has no quantization parameters; '
            "supported: int8 tensors with a scale and a zero point",
        ),
        (
            conv2d().with_tensor("x", scale=(1, 1), zero_point=(0, 0), axis=3),
            f'uses "x", which has a scale per channel; {PER_TENSOR}',
        ),
        (
            conv2d().with_tensor("w", zero_point=(0, 1, 0)),
            'has weights "w" with a zero point other than 0; supported: symmetric int8 weights, '
            "as TFLite's own quantization makes them",
        ),
        (
            conv2d().with_tensor("w", data=None).replace(inputs=("x", "w")),
            'needs "w" to be a constant, but it is computed; '
            "supported: weights and biases that are constants",
        ),
        (
            conv2d().with_tensor("x", shape=(-1, 4, 4, 2)),
            f'tensor "x" has the dynamic or empty shape [-1, 4, 4, 2]; {FIXED}',
        ),
        (
            conv2d().with_tensor("x", shape=(1, 0, 4, 2)),
            f'tensor "x" has the dynamic or empty shape [1, 0, 4, 2]; {FIXED}',
        ),
        (
            conv2d().with_tensor("x", shape=(1,) * 9),
            'tensor "x" has 9 dimensions; supported: up to 8',
        ),
    ],
)
def test_what_is_sound_but_unsupported(network: Network, said: str) -> None:
    assert refusal(network, UnsupportedError) == CONV + said


def test_reshape_and_pad_need_constants() -> None:
    shape = TensorSpec("s", (2,), "int32")
    network = simple("RESHAPE", (2, 2), (1, 4), shape).replace(inputs=("x", "s"))
    assert refusal(network, UnsupportedError) == (
        'm.tflite: layer "y" (RESHAPE): tensor "s" is computed while the model runs; this '
        "operator needs it to be a constant; convert the model with fixed shapes"
    )


def test_shuffled_weights_are_refused() -> None:
    assert refusal(dense(2, 4, weightsFormat=1), UnsupportedError) == (
        'm.tflite: layer "y" (FULLY_CONNECTED): has shuffled weights; '
        "supported: the DEFAULT weights format"
    )


def test_custom_quantization_is_refused() -> None:
    said = refusal(RELU, UnsupportedError, QuantizationParameters={"DetailsType": 1})
    assert 'tensor "x" has custom or blockwise quantization' in said


def test_sparse_tensors_are_refused() -> None:
    said = refusal(RELU, UnsupportedError, Tensor={"Sparsity": "SparsityParameters"})
    assert '(RELU): "x" is a sparse tensor' in said


def test_buffers_outside_the_flatbuffer_are_refused() -> None:
    said = refusal(RELU, UnsupportedError, Buffer={"Offset": 4096, "Size": 16})
    assert said == (
        "m.tflite: keeps a buffer outside the flatbuffer, as models over 2 GiB do; "
        "convert the model with its buffers inside"
    )


def test_several_subgraphs_are_refused() -> None:
    assert refusal(RELU, UnsupportedError, Model={"Subgraphs": Repeat(2)}) == (
        "m.tflite: has 2 subgraphs, as control flow needs them; supported: models of one subgraph"
    )


def test_no_subgraph_at_all() -> None:
    said = refusal(RELU, ModelError, Model={"Subgraphs": Repeat(0)})
    assert said == "m.tflite: has no subgraph; get the model file again"


def test_an_unread_input_of_a_dtype_that_is_not_supported_is_refused() -> None:
    network = Network(
        (activation("x", 4), TensorSpec("unread", (4,), "uint8"), activation("y", 4)),
        (OperatorSpec("RELU", ("x",), ("y",)),),
        inputs=("x", "unread"),
    )
    assert refusal(network, UnsupportedError) == f'm.tflite: tensor "unread" is uint8; {DTYPES}'


def test_a_variable_is_no_input() -> None:
    network = conv2d().with_tensor("x", is_variable=True)
    assert "is an input of the graph, but a variable" in refusal(network, ModelError)


def test_a_variable_is_read_only_as_state() -> None:
    network = Network(
        (activation("x", 4), activation("y", 4), activation("v", 4), activation("z", 4)),
        (OperatorSpec("RELU", ("x",), ("y",)), OperatorSpec("RELU", ("v",), ("z",))),
        outputs=("y", "z"),
    ).with_tensor("v", is_variable=True)
    assert '"v" is a variable tensor; supported: variables as the state' in refusal(
        network, UnsupportedError
    )


def test_control_characters_in_names_never_reach_the_terminal() -> None:
    network = Network(
        (activation("x", 4), activation("\x1b[31mred\n*/", 4)),
        (OperatorSpec("COS", (0,), (1,)),),
        (0,),
        (1,),
    )
    assert 'layer "?[31mred?*/"' in refusal(network, UnsupportedError)
