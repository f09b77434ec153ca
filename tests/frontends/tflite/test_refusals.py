"""The TFLite frontend: what it refuses, and in which words."""

from __future__ import annotations

import dataclasses
import re

import pytest
import tflite

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends.tflite import importers
from tests.frontends.tweaked import (
    Network,
    Repeat,
    activation,
    chain,
    conv2d,
    dense,
    refusal,
    refused,
    simple,
)
from tests.support.tflite_builder import OperatorSpec, TensorSpec

RELU = simple("RELU", (1, 4), (1, 4))
CONV = 'm.tflite: layer "y" (CONV_2D): '


_CODES = {k: v for k, v in vars(tflite.BuiltinOperator).items() if isinstance(v, int)}
_LACKING = sorted(_CODES.keys() - importers.registry().keys() - {"UNIQUE", "RFFT2D", "MULTINOMIAL"})
OTHERS = "build the model from other operators; `microgen ops` lists them"


def test_an_operator_without_importer_names_layer_and_alternatives() -> None:
    said = refusal(simple("UNIQUE", (1, 4), (1, 4)), UnsupportedError)
    what = 'm.tflite: has operators that are not supported: UNIQUE in "y"'
    assert said == f"{what}; the shape of its output depends on its values; {OTHERS}"


def test_all_operators_without_importer_are_said_at_once() -> None:
    """In one line: the first few, and how many more; all of them in the details."""
    error = refused(
        chain("UNIQUE", "RFFT2D", "UNIQUE", "MULTINOMIAL", *_LACKING[:20]), UnsupportedError
    )
    assert 'UNIQUE in 2 layers, first "t0", RFFT2D in "t1", MULTINOMIAL in "t3"' in error.what
    assert re.search(r" and \d\d more \(-v lists all\)$", error.what)
    assert 'UNIQUE: "t2"' in error.details
    assert len(error.details) == 25
    assert error.details[-1] == f"supported: {', '.join(importers.supported())}"


@pytest.mark.parametrize("codes", [{"code": "CUSTOM"}, {"code": "ADD"}], ids=lambda c: c["code"])
def test_a_custom_code_makes_a_custom_operator(codes: dict[str, str]) -> None:
    """A writer that leaves the builtin code out says ADD, which is 0."""
    network = Network(
        (activation("x", 4), activation("t", 4), activation("y", 4)),
        (
            OperatorSpec(inputs=("x", "x"), outputs=("t",), custom_code="Fancy", **codes),
            OperatorSpec("UNIQUE", ("t",), ("y",)),
        ),
    )
    assert 'CUSTOM "Fancy" in "t", UNIQUE in "y"' in refusal(network, UnsupportedError)


@pytest.mark.parametrize(("code", "name"), [("RELU", "RELU"), ("RELU", "Fancy"), ("ADD", "ADD")])
def test_builtin_operators_may_have_a_custom_code(code: str, name: str) -> None:
    """Then LiteRT goes by the builtin code, and so does ai-edge-quantizer."""
    inputs = ("x",) if code == "RELU" else ("x", "x")
    network = RELU.with_operator(code=code, inputs=inputs, custom_code=name)
    assert [node.op for node in network.load().nodes] == ["clip" if code == "RELU" else "add"]


@pytest.mark.parametrize(("old", "new"), [(19, 0), (0, 19)])
def test_the_greater_of_both_operator_codes_counts(old: int, new: int) -> None:
    codes = {"BuiltinCode": new, "DeprecatedBuiltinCode": old}
    assert [node.op for node in RELU.load(OperatorCode=codes).nodes] == ["clip"]


def test_a_custom_operator_without_a_name() -> None:
    network = RELU.with_operator(code="CUSTOM")
    assert 'CUSTOM "" in "y"' in refusal(network, UnsupportedError)


def test_an_operator_newer_than_the_schema_is_called_by_its_number() -> None:
    said = refusal(RELU, UnsupportedError, OperatorCode={"BuiltinCode": 9999})
    assert 'BUILTIN_9999 in "y"' in said


@pytest.mark.parametrize(
    ("custom", "npu", "compiler"),
    [
        ("DISPATCH_OP", "an NPU", "LiteRT's ahead-of-time compiler"),
        ("MTKEXT_CONV_2D", "a MediaTek NPU", "the NeuroPilot converter"),
        ("edgetpu-custom-op", "an Edge TPU", "edgetpu_compiler"),
        ("ethos-u", "an Ethos-U NPU", "vela"),
        ("NeutronGraph", "an eIQ Neutron NPU", "the Neutron converter"),
    ],
)
def test_a_network_for_an_npu(custom: str, npu: str, compiler: str) -> None:
    """Even where other operators are not supported either."""
    network = chain("UNIQUE", "CUSTOM")
    network = network.with_operator(custom_code=custom)
    assert refusal(network, UnsupportedError) == (
        f'm.tflite: was compiled for {npu}: layer "t1" is CUSTOM "{custom}", which only '
        f"that NPU runs; give the file that was the input of the NPU's compiler ({compiler})"
    )


def test_the_longest_names_leave_a_refusal_readable() -> None:
    """Each operator that is not supported, all of them, and many custom ones, in layers whose names
    are those of whole networks."""
    long = "StatefulPartitionedCall/model/efficientnet/block_17/expand_conv/Conv2D;" * 4
    for codes in (*[(code,) for code in _LACKING], tuple(_LACKING), ("CUSTOM",) * 30):
        network = chain(*codes)
        tensors = tuple(dataclasses.replace(t, name=f"{long}{t.name}") for t in network.tensors)
        operators = tuple(
            dataclasses.replace(
                op,
                inputs=[f"{long}{name}" for name in op.inputs],
                outputs=[f"{long}{name}" for name in op.outputs],
                custom_code=f"{long}{i}" if op.code == "CUSTOM" else "",
            )
            for i, op in enumerate(network.operators)
        )
        ends = (tensors[0].name,), (tensors[-1].name,)
        error = refused(Network(tensors, operators, *ends), UnsupportedError)
        assert "StatefulPartitionedC..." in error.what
        assert len(error.details) == len(codes) + 1


def test_operators_without_an_output_have_a_number_for_a_name() -> None:
    network = Network(
        (activation("x", 4), activation("y", 4)),
        (OperatorSpec("HASHTABLE_IMPORT", (), ()), OperatorSpec("RELU", ("x",), ("y",))),
    )
    assert refusal(network, UnsupportedError) == (
        "m.tflite: has operators that are not supported: HASHTABLE_IMPORT in operator 0; "
        "tables of strings or 64-bit keys; look values up outside of the model, or use GATHER; "
        "build the model from other operators; `microgen ops` lists them"
    )


@pytest.mark.parametrize("dtype", ["uint16", "float64", "complex64", "variant"])
def test_dtypes_are_refused_for_all_layers_at_once(dtype: str) -> None:
    network = conv2d().with_tensor("x", dtype=dtype)
    said = f'{dtype} in "y" (CONV_2D); {ADVICE.get(dtype, DTYPES)}'
    assert refusal(network, UnsupportedError) == (
        f"m.tflite: has dtypes that are not supported: {said}"
    )
    several = chain("RELU", "RELU6", "ABS").with_tensor("t0", dtype=dtype)
    error = refused(several.with_tensor("t1", dtype="uint64"), UnsupportedError)
    assert f'{dtype} in 2 layers, first "t0" (RELU), uint64 in ' in error.what
    assert f'{dtype}: "t1" (RELU6)' in error.details
    assert error.details[-1] == "supported: int8, uint8, int16, int32, int64, float32, bool"


def test_a_dtype_of_weights() -> None:
    network = conv2d().with_tensor("w", dtype="uint16", data=b"\0" * 108)
    assert 'uint16 in "y" (CONV_2D)' in refusal(network, UnsupportedError)


ACTIVATIONS = "supported: NONE, RELU, RELU6, RELU_N1_TO_1"
DTYPES = "convert the model with int8 quantization, inputs and outputs included"
ADVICE = {
    "complex64": "compute the spectrum outside of the model",
    "float64": 'compute in float32: cast to it before the model (in Keras: dtype="float32")',
    "uint16": "cast the numbers to int32 before the model; LiteRT only casts uint16 and uint32",
}
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
        "operator needs it to be a constant; it depends on what the model computes from its "
        "inputs, and not on shapes: make it a constant, or use GATHER, which takes computed "
        "positions"
    )


def test_shuffled_weights_are_refused() -> None:
    assert refusal(dense(2, 4, weightsFormat=1), UnsupportedError) == (
        'm.tflite: layer "y" (FULLY_CONNECTED): has shuffled weights; '
        "supported: the DEFAULT weights format"
    )


def test_custom_quantization_is_refused() -> None:
    said = refusal(RELU, UnsupportedError, QuantizationParameters={"DetailsType": 1})
    assert 'tensor "x" has custom quantization' in said


def test_blockwise_quantization_is_refused_by_its_name() -> None:
    """Its scales are in tensors of their own, so the tensor itself has none."""
    network = dense(2, 4).with_tensor("w", scale=(), zero_point=())
    said = refusal(network, UnsupportedError, QuantizationParameters={"DetailsType": 2})
    assert "has a scale for each block of values; quantize the weights with a scale per" in said


def test_dtypes_of_newer_schemas_are_refused_by_their_names() -> None:
    said = refusal(RELU, UnsupportedError, Tensor={"Type": 19})
    assert "int2 in 2 layers" in said or "int2 in" in said
    assert said.endswith(
        "quantize the weights to 4 or 8 bits (in ai-edge-quantizer: num_bits=4 or num_bits=8)"
    )


def test_sparse_tensors_without_values_are_refused() -> None:
    said = refusal(RELU, UnsupportedError, Tensor={"Sparsity": "SparsityParameters"})
    assert '(RELU): "x" is a sparse tensor without values in the file' in said


def test_buffers_outside_the_flatbuffer_are_refused() -> None:
    said = refusal(RELU, UnsupportedError, Buffer={"Offset": 4096, "Size": 16})
    assert said == (
        "m.tflite: keeps a buffer outside the flatbuffer, as models over 2 GiB do; "
        "convert the model with its buffers inside"
    )


def test_no_subgraph_at_all() -> None:
    said = refusal(RELU, ModelError, Model={"Subgraphs": Repeat(0)})
    assert said == "m.tflite: has no subgraph; get the model file again"


def test_an_unread_input_of_a_dtype_that_is_not_supported_is_refused() -> None:
    network = Network(
        (activation("x", 4), TensorSpec("unread", (4,), "float64"), activation("y", 4)),
        (OperatorSpec("RELU", ("x",), ("y",)),),
        inputs=("x", "unread"),
    )
    said = f'm.tflite: tensor "unread" is float64; {ADVICE["float64"]}'
    assert refusal(network, UnsupportedError) == said


def test_a_variable_is_no_input() -> None:
    network = conv2d().with_tensor("x", is_variable=True)
    assert "is an input of the graph, but a variable" in refusal(network, ModelError)


def test_a_variable_is_read_only_as_state() -> None:
    network = Network(
        (activation("x", 4), activation("y", 4), activation("v", 4), activation("z", 4)),
        (OperatorSpec("RELU", ("x",), ("y",)), OperatorSpec("RELU", ("v",), ("z",))),
        outputs=("y", "z"),
    ).with_tensor("v", is_variable=True)
    assert '"v" is a variable tensor; supported: variables that are the state' in refusal(
        network, UnsupportedError
    )


def test_control_characters_in_names_never_reach_the_terminal() -> None:
    network = Network(
        (activation("x", 4), activation("\x1b[31mred\n*/", 4)),
        (OperatorSpec("UNIQUE", (0,), (1,)),),
        (0,),
        (1,),
    )
    assert 'UNIQUE in "?[31mred?*/"' in refusal(network, UnsupportedError)
