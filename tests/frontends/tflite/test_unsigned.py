"""Quantized uint8 tensors: int8 inside, uint8 at the graph's inputs and outputs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Quant
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.tweaked import Network, activation, chain, integers, refusal, simple
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.tflite_builder import OperatorSpec, TensorSpec


def unsigned(name: str, *shape: int, scale: float = 0.5, zero_point: int = 131) -> TensorSpec:
    """An activation of uint8."""
    return TensorSpec(name, shape, "uint8", scale=(scale,), zero_point=(zero_point,))


def plain(name: str, dtype: str, *shape: int) -> TensorSpec:
    return TensorSpec(name, shape, dtype)


def line(*steps: tuple[str, TensorSpec], data: TensorSpec) -> Network:
    """Operators one after the other, each with its output."""
    tensors = (data, *(output for _, output in steps))
    operators = [
        OperatorSpec(code, (tensors[i].name,), (output.name,), version=2)
        for i, (code, output) in enumerate(steps)
    ]
    return Network(tensors, tuple(operators), (data.name,), (tensors[-1].name,))


def calls(graph: Graph) -> list[tuple[str, str, str]]:
    return [(node.op, node.inputs[0], node.outputs[0]) for node in graph.nodes]


def with_constant(code: str, constant: TensorSpec, options_type: str) -> Network:
    """One operator of ``x`` and a constant, all of one shape."""
    network = simple(code, constant.shape, constant.shape, constant, options_type=options_type)
    for name in ("x", "y"):
        network = network.with_tensor(name, dtype="uint8", zero_point=(131,))
    return network


BOUNDARY = line(
    ("QUANTIZE", activation("a", 2)),
    ("RELU", activation("b", 2)),
    ("QUANTIZE", unsigned("y", 2)),
    data=unsigned("x", 2),
)


def test_conversions_at_the_boundary_are_the_operators_own_nodes() -> None:
    graph = BOUNDARY.load()
    assert calls(graph) == [
        ("qnn.requantize", "x", "a"),
        ("clip", "a", "b"),
        ("qnn.requantize", "b", "y"),
    ]
    assert graph.types["x"] == ArrayType((2,), DType.UINT8, Quant((0.5,), (131,)))
    assert graph.types["y"].dtype is DType.UINT8
    assert [node.origin.layer for node in graph.nodes] == ["a", "b", "y"]


def test_floats_at_the_boundary() -> None:
    network = line(
        ("DEQUANTIZE", plain("f", "float32", 2)),
        ("ABS", plain("g", "float32", 2)),
        ("QUANTIZE", unsigned("y", 2)),
        data=unsigned("x", 2),
    )
    assert calls(network.load()) == [
        ("qnn.dequantize", "x", "f"),
        ("abs", "f", "g"),
        ("qnn.quantize", "g", "y"),
    ]


RELUS = line(("RELU", unsigned("b", 2)), ("RELU6", unsigned("y", 2)), data=unsigned("x", 2))


def test_operators_compute_in_int8() -> None:
    graph = RELUS.load()
    assert calls(graph) == [
        ("qnn.requantize", "x", "x#int8"),
        ("clip", "x#int8", "b"),
        ("clip", "b", "y#int8"),
        ("qnn.requantize", "y#int8", "y"),
    ]
    assert graph.types["b"] == ArrayType((2,), DType.INT8, Quant((0.5,), (3,)))
    assert [node.origin.layer for node in graph.nodes] == ["x", "b", "y", "y"]


def test_an_input_is_converted_once_for_all_that_need_it() -> None:
    network = Network(
        (unsigned("x", 2), unsigned("a", 2), unsigned("b", 2), plain("f", "float32", 2)),
        (
            OperatorSpec("RELU", ("x",), ("a",)),
            OperatorSpec("ADD", ("a", "x"), ("b",), "AddOptions"),
            OperatorSpec("DEQUANTIZE", ("x",), ("f",)),
        ),
        outputs=("b", "f", "x"),
    )
    found = calls(network.load())
    assert found[0] == ("qnn.requantize", "x", "x#int8")
    assert ("qnn.dequantize", "x", "f") in found
    assert len(found) == 5, found


def test_an_output_that_is_read_inside_is_converted() -> None:
    network = BOUNDARY.replace(
        tensors=(*BOUNDARY.tensors, unsigned("z", 2)),
        operators=(*BOUNDARY.operators, OperatorSpec("RELU6", ("y",), ("z",))),
        outputs=("y", "z", "y"),
    )
    graph = network.load()
    assert calls(graph)[2:] == [
        ("qnn.requantize", "b", "y#int8"),
        ("clip", "y#int8", "z#int8"),
        ("qnn.requantize", "y#int8", "y"),
        ("qnn.requantize", "z#int8", "z"),
    ]


def test_a_name_that_is_taken() -> None:
    network = line(("RELU", unsigned("x#int8", 2)), data=unsigned("x", 2))
    assert calls(network.load())[0] == ("qnn.requantize", "x", "x#int8#2")


def test_constants_are_stored_as_int8() -> None:
    values = np.array([0, 127, 128, 255], np.uint8)
    weight = dataclasses.replace(unsigned("c", 4), data=values)
    network = with_constant("ADD", weight, options_type="AddOptions")
    graph = network.load()
    np.testing.assert_array_equal(graph.constants["c"], np.array([-128, -1, 0, 127], np.int8))
    given = {"x": np.array([131, 0, 9, 255], np.uint8)}
    found = evaluate(graph, given, registry())["y"]
    assert found.dtype == np.uint8
    assert found.tolist() == [0, 0, 6, 255]


def test_an_output_that_is_constant() -> None:
    weight = dataclasses.replace(unsigned("c", 2), data=np.array([7, 200], np.uint8))
    network = line(("RELU", unsigned("y", 2)), data=unsigned("x", 2))
    network = network.replace(
        tensors=(*network.tensors, weight, unsigned("z", 2)),
        operators=(*network.operators, OperatorSpec("RELU", ("c",), ("z",))),
        outputs=("y", "c", "z"),
    )
    graph = network.load()
    found = evaluate(graph, {"x": np.zeros(2, np.uint8)}, registry())
    assert found["c"].tolist() == [7, 200]
    assert found["z"].tolist() == [131, 200]


def test_numbers_without_a_scale() -> None:
    network = line(("CAST", plain("y", "float32", 3)), data=plain("x", "uint8", 3))
    graph = network.load()
    assert calls(graph) == [("cast", "x", "y")]
    found = evaluate(graph, {"x": np.array([0, 128, 255], np.uint8)}, registry())
    assert found["y"].tolist() == [0, 128, 255]


def test_stored_values_are_cast() -> None:
    network = line(
        ("CAST", plain("a", "int32", 3)), ("CAST", unsigned("y", 3)), data=unsigned("x", 3)
    )
    given = np.array([0, 128, 255], np.uint8)
    found = evaluate(network.load(), {"x": given}, registry())
    np.testing.assert_array_equal(found["y"], given)


def test_ports_of_a_scale_without_a_zero_point() -> None:
    graph = RELUS.with_tensor("x", zero_point=()).load()
    assert (graph.types["x"].zero_point, graph.types["x#int8"].zero_point) == (0, -128)


def test_a_scalar_keeps_its_shape() -> None:
    weight = dataclasses.replace(unsigned("c"), data=np.array(200, np.uint8))
    network = simple("ADD", (2,), (2,), weight, options_type="AddOptions")
    for name in ("x", "y"):
        network = network.with_tensor(name, dtype="uint8", zero_point=(131,))
    assert network.load().constants["c"].shape == ()


# What is refused


def test_operators_that_have_no_uint8() -> None:
    network = chain("ABS", "RELU", "NEG")
    for name in ("t0", "t1", "t2", "t3"):
        if any(spec.name == name for spec in network.tensors):
            network = network.with_tensor(name, dtype="uint8", zero_point=(131,))
    said = refusal(network, UnsupportedError)
    assert "computes in uint8, which these operators lack: ABS in " in said
    assert "convert the model with int8 quantization" in said


def test_tensorflow_lite_micro_only_converts_uint8() -> None:
    assert calls(BOUNDARY.load("tflm")) == calls(BOUNDARY.load())
    said = refusal(RELUS, UnsupportedError, profile="tflm")
    assert "which these operators lack: RELU in " in said
    assert said.endswith("generate with --numerics litert")


@pytest.mark.parametrize(("dtype", "zero"), [("int8", (3,)), ("int16", (0,))])
def test_uint8_together_with_other_integers(dtype: str, zero: tuple[int, ...]) -> None:
    other = TensorSpec("c", (2,), dtype, scale=(0.5,), zero_point=zero)
    network = with_constant("ADD", other, options_type="AddOptions").replace(inputs=("x", "c"))
    assert f'ADD with {dtype} tensors, too in "y"' in refusal(network, UnsupportedError)


def test_a_zero_point_out_of_range() -> None:
    network = RELUS.with_tensor("b", zero_point=(256,))
    said = refusal(network, ModelError)
    assert 'zero point 0 of tensor "b" is 256; 0 to 255 is expected for uint8' in said


def test_a_scale_per_channel() -> None:
    network = RELUS.with_tensor("b", scale=(0.5, 0.25), zero_point=(131, 131))
    assert '"b" is uint8 with a scale per channel' in refusal(network, UnsupportedError)


def test_int8_weights_of_convolutions_have_no_zero_point() -> None:
    """LiteRT ignores it."""
    window = (unsigned("x", 1, 2, 2, 1), unsigned("y", 1, 2, 2, 1))
    weight = TensorSpec("w", (1, 1, 1, 1), "uint8", np.ones((1, 1, 1, 1)), (0.5,), (9,))
    options = {"strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
    network = Network(
        (window[0], weight, window[1]),
        (OperatorSpec("CONV_2D", ("x", "w"), ("y",), "Conv2DOptions", options),),
    )
    assert network.load().types["w"].zero_point == 9 - 128
    for name, zero in (("x", 3), ("w", 9), ("y", 3)):
        network = network.with_tensor(name, dtype="int8", zero_point=(zero,))
    said = refusal(network, UnsupportedError)
    assert 'has weights "w" with a zero point other than 0' in said


def test_transposed_convolutions_have_no_kernel_for_weights_with_a_zero_point() -> None:
    weight = TensorSpec("w", (1, 1, 1, 1), "uint8", np.ones((1, 1, 1, 1)), (0.5,), (9,))
    shape = integers("shape", [1, 2, 2, 1])
    window = {"strideH": 1, "strideW": 1}
    network = Network(
        (shape, weight, unsigned("x", 1, 2, 2, 1), unsigned("y", 1, 2, 2, 1)),
        (
            OperatorSpec(
                "TRANSPOSE_CONV", ("shape", "w", "x"), ("y",), "TransposeConvOptions", window
            ),
        ),
    )
    said = refusal(network, UnsupportedError)
    assert 'has weights "w" with a zero point other than 128' in said
    assert len(network.with_tensor("w", zero_point=(128,)).load().nodes) == 3


@needs_litert
@pytest.mark.parametrize("zero", [-128, -7, 127])
def test_int8_weights_of_dense_layers_may_have_a_zero_point(zero: int) -> None:
    rng = np.random.default_rng(zero + 128)
    values = rng.integers(-128, 128, (5, 9)).astype(np.int8)
    weight = TensorSpec("w", (5, 9), "int8", values, (0.1,), (zero,))
    network = Network(
        (activation("x", 2, 9), weight, activation("y", 2, 5, scale=30.0)),
        (OperatorSpec("FULLY_CONNECTED", ("x", "w"), ("y",), "FullyConnectedOptions", version=4),),
    )
    given = rng.integers(-128, 128, (2, 9)).astype(np.int8)
    found = evaluate(network.load(), {"x": given}, registry())["y"]
    np.testing.assert_array_equal(found, _layers(network, given)["y"])
    assert len(np.unique(found)) > 3


# LiteRT's layers


def _layers(network: Network, *inputs: Array) -> dict[str, Array]:
    (found,) = LiteRT().layers({".tflite": network.to_bytes()}, [inputs])
    return dict(found)


@needs_litert
def test_litert_gives_the_tensors_of_the_graph() -> None:
    network = RELUS.replace(
        tensors=(*RELUS.tensors, integers("shape", [1, 2]), unsigned("z", 1, 2)),
        operators=(*RELUS.operators, OperatorSpec("RESHAPE", ("y", "shape"), ("z",))),
        outputs=("z",),
    )
    given = np.array([0, 255], np.uint8)
    theirs, graph = _layers(network, given), network.load()
    assert {name for name in graph.types if name not in theirs} == set()
    known = {"x": given}
    for node in graph.nodes:
        known |= evaluate(graph.replace(outputs=node.outputs), {"x": given}, registry())
    for name, values in known.items():
        np.testing.assert_array_equal(theirs[name].reshape(values.shape), values)
        assert theirs[name].dtype == values.dtype
