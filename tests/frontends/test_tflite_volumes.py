"""CONV_3D and CONV_3D_TRANSPOSE, against LiteRT, and what is refused of them."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.tweaked import Network, refusal
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.tflite_builder import OperatorSpec, TensorSpec

Sizes = tuple[int, int, int]


def _network(
    data: tuple[int, ...] = (1, 4, 5, 6, 2),
    kernel: Sizes = (3, 2, 3),
    strides: Sizes = (1, 1, 1),
    dilation: Sizes = (1, 1, 1),
    *,
    padding: int = 1,
    activation: int = 0,
    biased: bool = True,
) -> Network:
    rng = np.random.default_rng(sum((*data, *kernel, *strides)))
    weight = rng.normal(size=(*kernel, data[4], 3)).astype(np.float32)
    bias = rng.normal(size=3).astype(np.float32)
    covers = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    room = [n - (0 if padding == 0 else c - 1) for n, c in zip(data[1:4], covers, strict=True)]
    size = [max(0, -(-n // s)) for n, s in zip(room, strides, strict=True)]
    tensors = (
        TensorSpec("x", data, "float32"),
        TensorSpec("w", weight.shape, "float32", weight),
        TensorSpec("b", (3,), "float32", bias),
        TensorSpec("y", (data[0], *size, 3), "float32"),
    )
    options = {"padding": padding, "fusedActivationFunction": activation}
    options |= {f"stride{axis}": n for axis, n in zip("DHW", strides, strict=True)}
    options |= {f"dilation{axis}Factor": n for axis, n in zip("DHW", dilation, strict=True)}
    names = ("x", "w", "b") if biased else ("x", "w")
    return Network(tensors, (OperatorSpec("CONV_3D", names, ("y",), "Conv3DOptions", options),))


def _transposed(
    data: tuple[int, ...] = (1, 2, 3, 2, 2),
    kernel: Sizes = (3, 2, 3),
    strides: Sizes = (1, 1, 1),
    more: Sizes = (0, 0, 0),
    *,
    dilation: int = 1,
    padding: int = 0,
    activation: int = 0,
    biased: bool = True,
) -> Network:
    """The data grows to the least size whose convolution has the data's, and by ``more``."""
    rng = np.random.default_rng(sum((*data, *kernel, *strides)))
    weight = rng.normal(size=(*kernel, 3, data[4])).astype(np.float32)
    covers = [(kernel[0] - 1) * dilation + 1, *kernel[1:]]
    least = [1, 1, 1] if padding == 0 else covers
    size = [(n - 1) * s + c + m for n, s, c, m in zip(data[1:4], strides, least, more, strict=True)]
    shape = (data[0], *size, 3)
    tensors = (
        TensorSpec("s", (5,), "int32", np.array(shape)),
        TensorSpec("w", weight.shape, "float32", weight),
        TensorSpec("x", data, "float32"),
        TensorSpec("b", (3,), "float32", rng.normal(size=3).astype(np.float32)),
        TensorSpec("y", shape, "float32"),
    )
    options = {"padding": padding, "fusedActivationFunction": activation}
    options |= {f"stride{axis}": n for axis, n in zip("DHW", strides, strict=True)}
    options |= {"dilationDFactor": dilation, "dilationHFactor": 1, "dilationWFactor": 1}
    names = ("s", "w", "x", "b") if biased else ("s", "w", "x")
    operator = OperatorSpec("CONV_3D_TRANSPOSE", names, ("y",), "Conv3DOptions", options)
    return Network(tensors, (operator,))


@needs_litert
@pytest.mark.parametrize(
    "network",
    [
        _transposed(),
        _transposed(padding=1),
        _transposed((2, 3, 2, 3, 2), strides=(2, 1, 2), biased=False, activation=1),
        _transposed((2, 3, 2, 3, 2), (2, 2, 2), (2, 3, 2), (1, 2, 1), padding=1, activation=3),
        _transposed((1, 4, 2, 2, 1), (1, 1, 1), (3, 2, 2), (2, 1, 0), activation=1),
        _transposed((1, 4, 2, 2, 1), (1, 2, 2), (3, 1, 1), (2, 0, 0), biased=False, padding=1),
        _transposed((2, 3, 2, 2, 2), (3, 2, 2), (2, 1, 1), dilation=3, padding=1),
        _transposed((1, 3, 2, 2, 2), (2, 2, 2), (1, 1, 1), dilation=2),
        _network(),
        _network(padding=0),
        _network(biased=False, activation=1),
        _network((2, 5, 5, 6, 2), padding=0, activation=3),
        _network((3, 7, 6, 5, 1), strides=(2, 1, 2)),
        _network((2, 7, 6, 5, 2), (2, 2, 2), (3, 2, 1), padding=0),
        _network((1, 8, 5, 6, 2), dilation=(3, 2, 1)),
        _network((2, 5, 7, 8, 1), dilation=(2, 1, 2), padding=0),
        _network(kernel=(1, 1, 1), activation=1),
        _network((1, 2, 3, 3, 2), (4, 3, 3), padding=0),
        _network((1, 3, 3, 3, 1), (1, 2, 2), (5, 1, 1), padding=0),
    ],
)
def test_equals_litert(network: Network) -> None:
    (shape,) = (each.shape for each in network.tensors if each.name == "x")
    data = np.random.default_rng(7).normal(size=shape).astype(np.float32)
    interpreter = interpreter_of(network.to_bytes())
    (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()
    interpreter.set_tensor(given["index"], data)
    interpreter.invoke()
    expected = interpreter.get_tensor(made["index"])
    found = evaluate(network.load(), {"x": data}, registry())["y"]
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_refusals() -> None:
    flat = np.zeros((2, 3, 2, 3), np.float32)
    network = _network().with_tensor("w", shape=flat.shape, data=flat)
    assert "has weights float32[2, 3, 2, 3]" in refusal(network, ModelError)
    assert "has StrideD 0; at least 1" in refusal(_network().with_options(strideD=0), ModelError)
    assert "has an impossible depth" in refusal(_network(kernel=(5, 2, 2)), ModelError)
    deep = _network((1, 70, 2, 2, 1), (65, 1, 1))
    assert "kernel of depth 65; supported: depths up to 64" in refusal(deep, UnsupportedError)


def test_refusals_of_transposed_volumes() -> None:
    def said(network: Network, *shape: int) -> str:
        return refusal(network.with_tensor("s", data=np.array(shape)), ModelError)

    network = _transposed()
    assert "asks for the shape [1, 2, 3]; 1 volumes of 3 channels" in said(
        network.with_tensor("s", shape=(3,)), 1, 2, 3
    )
    assert "asks for the shape [1, 2, 3, 2, 4]" in said(network, 1, 2, 3, 2, 4)
    assert "has data of depth 2; a convolution of depth 9 has 9" in said(network, 1, 9, 3, 2, 3)
    assert "the input's height and width are (3, 2)" in said(network, 1, 2, 9, 2, 3)
    for depth in (0, -1, 2**31 - 1):
        assert "impossible depth" in said(network, 1, depth, 3, 2, 3)
    huge = network.with_tensor("s", data=np.array((1, 2**26, 3, 2, 3)))
    assert "computes with constants while compiling" in refusal(huge, UnsupportedError)
    flat = np.zeros((2, 3, 2, 2, 3), np.float32)
    wrong = network.with_tensor("w", shape=flat.shape, data=flat)
    assert "float32[depth, height, width, filters, 2] is expected" in refusal(wrong, ModelError)
    wide = network.with_options(dilationHFactor=2)
    assert "has the dilation (2, 1); supported: dilations of the depth alone" in refusal(
        wide, UnsupportedError
    )
