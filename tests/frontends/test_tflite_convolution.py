"""TRANSPOSE_CONV, from the bytes of a file to the attributes of a node, and its refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen import api
from microgen.arithmetic.terms import Activation, Rounding
from microgen.comparing import stimuli
from microgen.errors import ModelError, UnsupportedError
from microgen.manifest import PortRecord
from microgen.ops.conv2d_transpose import Conv2DTransposeAttrs
from tests.frontends.tweaked import Network, activation, int8_constant, integers, refusal
from tests.ops.litert_oracle import FUSED
from tests.tflite_builder import OperatorSpec, TensorSpec


def transpose_conv(*inputs: str | int, **options: int) -> Network:
    """TRANSPOSE_CONV of int8[1,4,4,2] with 3 filters of 3x3, stride 2, SAME, to int8[1,8,7,3]."""
    defaults = {"padding": 0, "strideH": 2, "strideW": 2}
    return Network(
        (
            integers("s", [1, 8, 7, 3]),
            int8_constant("w", 3, 3, 3, 2, scale=(0.25, 0.5, 0.125)),
            activation("x", 1, 4, 4, 2),
            integers("b", [1, -2, 3]),
            activation("y", 1, 8, 7, 3),
        ),
        (
            OperatorSpec(
                "TRANSPOSE_CONV",
                inputs or ("s", "w", "x", "b"),
                ("y",),
                "TransposeConvOptions",
                {**defaults, **options},
            ),
        ),
    )


def test_transpose_conv() -> None:
    graph = transpose_conv().load()
    (node,) = graph.nodes
    assert (node.op, node.inputs, graph.inputs) == ("nn.conv2d_transpose", ("x", "w", "b"), ("x",))
    assert node.attrs == Conv2DTransposeAttrs(
        (2, 2), "SAME", (8, 7), Activation.NONE, Rounding.DOUBLE
    )


@pytest.mark.parametrize("inputs", [("s", "w", "x"), ("s", "w", "x", -1)])
def test_the_bias_is_optional(inputs: tuple[str | int, ...]) -> None:
    (node,) = transpose_conv(*inputs).load().nodes
    assert node.inputs == ("x", "w")


@pytest.mark.parametrize("fused", list(Activation))
def test_fused_activations(fused: Activation) -> None:
    (node,) = transpose_conv(fusedActivationFunction=FUSED[fused]).load().nodes
    assert isinstance(node.attrs, Conv2DTransposeAttrs)
    assert node.attrs.activation is fused


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (
            transpose_conv().with_tensor("s", data=integers("", [1, 8, 8, 3]).data),
            "asks for the shape [1, 8, 8, 3], but its output is declared int8[1,8,7,3]",
        ),
        (
            transpose_conv(padding=1),
            "a convolution of the output's (8, 7) with kernel (3, 3), strides (2, 2) and padding "
            "VALID has (3, 3)",
        ),
        (transpose_conv("s", "w"), "has 2 inputs and 1 outputs; 3 or 4 and 1 are expected"),
        (transpose_conv(strideH=0), "has StrideH 0; at least 1 is expected"),
    ],
)
def test_contradictions(network: Network, said: str) -> None:
    assert said in refusal(network, ModelError)


FED = transpose_conv().with_tensor("s", data=None, shape=(4,)).replace(inputs=("x", "s"))


def test_a_fed_output_shape_stays_an_input_that_nothing_reads() -> None:
    graph = FED.load()
    assert graph.inputs == ("x", "s")
    assert graph.fixed == {"s": (1, 8, 7, 3)}
    assert graph.uses_of()["s"] == 0
    assert transpose_conv().load().fixed == {}


def test_a_fed_output_shape_is_int32() -> None:
    said = "has an output shape of int64[4]; int32[4] is expected"
    assert said in refusal(FED.with_tensor("s", dtype="int64"), ModelError)


def test_layers_that_want_different_values_of_one_input_are_refused() -> None:
    other = OperatorSpec(
        "TRANSPOSE_CONV",
        ("s", "w", "x"),
        ("z",),
        "TransposeConvOptions",
        {"padding": 0, "strideH": 2, "strideW": 2},
    )
    two = FED.replace(
        tensors=(*FED.tensors, activation("z", 1, 7, 7, 3)),
        operators=(*FED.operators, other),
        outputs=("y", "z"),
    )
    said = 'layer "z": needs "s" to be [1, 7, 7, 3], another layer [1, 8, 7, 3]'
    assert said in refusal(two, ModelError)


def test_a_computed_output_shape_is_refused() -> None:
    computed = Network(
        (
            *(t for t in FED.tensors if t.name != "s"),
            activation("v", 4, 2),
            integers("axis", 1),
            TensorSpec("s", (4,), "int32"),
        ),
        (
            OperatorSpec("ARG_MAX", ("v", "axis"), ("s",), "ArgMaxOptions", {"outputType": 2}),
            *FED.operators,
        ),
        inputs=("x", "v"),
    )
    said = 'layer "y": needs "s" to be a constant or an input, but it is computed'
    assert said in refusal(computed, UnsupportedError)


@pytest.mark.parametrize("random", [0, 2])
def test_samples_of_a_fixed_input_are_its_value(random: int) -> None:
    port = PortRecord("s", "s", (4,), "int32", 16, 0.0, 0, (1, 8, 7, 3))
    found = stimuli.samples([port], random=random)["s"]
    assert found.tolist() == [[1, 8, 7, 3]] * (5 + random)


def test_the_header_says_that_it_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(FED.to_bytes())
    compiled = api.compile_model(tmp_path / "m.tflite", "native")
    header = compiled.files.files["model/codegen/host/include/tvmgen_default.h"]
    assert b"/* s: int32[4], always [1, 8, 7, 3]: not read */" in header
