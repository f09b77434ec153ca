"""CONV_3D, against LiteRT, and what is refused of it."""

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


@needs_litert
@pytest.mark.parametrize(
    "network",
    [
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
    data = np.random.default_rng(7).normal(size=network.tensors[0].shape).astype(np.float32)
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
