"""TRANSPOSE_CONV, from the bytes of a file to the attributes of a node, and its refusals."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.base.manifest import PortRecord
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir import interpreter
from microgen.graph.ops import registry
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.interface import api
from microgen.running.comparing import stimuli
from tests.frontends.tweaked import Network, activation, int8_constant, integers, refusal
from tests.kernels.conformance.litert_oracle import FUSED
from tests.support.tflite_builder import OperatorSpec, TensorSpec


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


@pytest.mark.parametrize("fused", list(FUSED))
def test_fused_activations(fused: Activation) -> None:
    (node,) = transpose_conv(fusedActivationFunction=FUSED[fused]).load().nodes
    assert isinstance(node.attrs, Conv2DTransposeAttrs)
    assert node.attrs.activation is fused


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (
            transpose_conv().with_tensor("s", data=integers("", [1, 8, 7, 4]).data),
            "asks for the shape [1, 8, 7, 4], but computes int8[1,8,7,3]",
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


def transpose_conv_bias(
    size: tuple[int, int], kernel: tuple[int, int], strides: tuple[int, int], padding: int
) -> Network:
    """MediaPipe's custom operator: float32[1,*size,2] with 3 filters, padding SAME (1) or VALID."""
    rng = np.random.default_rng([*size, *kernel, *strides, padding])
    height, width = (
        stride * (length - 1)
        + taps
        - (max(0, taps - (length - 1) % stride - 1) if padding == 1 else 0)
        for length, taps, stride in zip(size, kernel, strides, strict=True)
    )
    weights, bias = rng.normal(size=(3, *kernel, 2)), rng.normal(size=3)
    return Network(
        (
            TensorSpec("x", (1, *size, 2), "float32"),
            TensorSpec("w", weights.shape, "float32", weights),
            TensorSpec("b", (3,), "float32", bias),
            TensorSpec("y", (1, height, width, 3), "float32"),
        ),
        (
            OperatorSpec(
                "CUSTOM",
                ("x", "w", "b"),
                ("y",),
                custom_code="Convolution2DTransposeBias",
                custom_options=struct.pack("<iii", padding, strides[1], strides[0]),
            ),
        ),
    )


@pytest.mark.parametrize("padding", [1, 2])
@pytest.mark.parametrize(
    ("size", "kernel", "strides"),
    [
        ((4, 5), (2, 2), (2, 2)),
        ((4, 5), (3, 4), (2, 2)),
        ((5, 3), (1, 5), (3, 2)),
        ((3, 4), (2, 3), (3, 4)),
        ((1, 6), (4, 4), (4, 1)),
    ],
)
def test_the_custom_transposed_convolution(
    size: tuple[int, int], kernel: tuple[int, int], strides: tuple[int, int], padding: int
) -> None:
    """Each tap is added where MediaPipe adds it: ``stride * pixel + tap - padding // 2``."""
    graph = transpose_conv_bias(size, kernel, strides, padding).load()
    x = np.random.default_rng(1).normal(size=(1, *size, 2)).astype(np.float32)
    weights, bias = graph.constants["w"], graph.constants["b"]
    shape = graph.types["y"].shape
    found = np.zeros(shape) + bias
    for pixel in np.ndindex(size):
        for tap in np.ndindex(kernel):
            padded = [
                max(0, k - (n - 1) % s - 1) for k, n, s in zip(kernel, size, strides, strict=True)
            ]
            place = [
                s * p + t - (pad // 2 if padding == 1 else 0)
                for s, p, t, pad in zip(strides, pixel, tap, padded, strict=True)
            ]
            if all(0 <= at < length for at, length in zip(place, shape[1:3], strict=True)):
                found[0, place[0], place[1]] += (
                    weights[:, tap[0], tap[1]] @ x[0, pixel[0], pixel[1]]
                )
    y = interpreter.evaluate(graph, {"x": x}, registry())["y"]
    np.testing.assert_allclose(y, found, rtol=0, atol=1e-5)


CUSTOM = transpose_conv_bias((4, 5), (3, 3), (2, 2), 1)


@pytest.mark.parametrize(
    ("network", "kind", "said"),
    [
        (CUSTOM.with_operator(custom_options=b""), ModelError, "has 0 bytes of custom options"),
        (CUSTOM.with_operator(custom_options=bytes(11)), ModelError, "has 11 bytes of custom"),
        (
            CUSTOM.with_operator(custom_options=struct.pack("<iii", 0, 2, 2)),
            ModelError,
            "has the padding number 0 and strides of 2 and 2",
        ),
        (
            CUSTOM.with_operator(custom_options=struct.pack("<iii", 1, 2, -1)),
            ModelError,
            "has the padding number 1 and strides of -1 and 2",
        ),
        (
            CUSTOM.with_operator(custom_options=struct.pack("<iii", 2, 2**31 - 1, 2**31 - 1)),
            ModelError,
            "must be at most 32767",
        ),
        (CUSTOM.with_operator(inputs=("x", "w")), ModelError, "has 2 inputs and 1 outputs"),
        (
            CUSTOM.with_operator(custom_code="Convolution3D"),
            UnsupportedError,
            'CUSTOM "Convolution3D"',
        ),
        (CUSTOM.with_tensor("x", dtype="int32"), UnsupportedError, "supported: float32"),
    ],
)
def test_impossible_custom_transposed_convolutions(
    network: Network, kind: type[MicrogenError], said: str
) -> None:
    assert said in refusal(network, kind)
