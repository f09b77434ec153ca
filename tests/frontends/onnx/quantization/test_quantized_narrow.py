"""Integers of 2 to 8 bits, as Brevitas writes them (QuantizeLinear, Clip, DequantizeLinear), and
QONNX's quantizers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from microgen.base.errors import UnsupportedError
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.graph import Array
from tests.frontends.onnx.models import info, model
from tests.frontends.onnx.quantization.quantized import (
    Network,
    by_onnxruntime,
    computed,
    distance,
    loaded,
    sample,
)

QONNX = "qonnx.custom_op.general"
RNG = np.random.default_rng(4)


def _limits(bits: int, is_signed: bool) -> tuple[int, int]:
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)


def _narrow(net: Network, data: str, scale: float, limits: tuple[int, int]) -> str:
    dtype = np.int8 if limits[0] else np.uint8
    scales = [net.constant(np.float32(scale)), net.constant(dtype(0))]
    stored = net.add("QuantizeLinear", [data, *scales])
    ends = [net.constant(np.array(end, dtype)) for end in limits]
    clipped = net.add("Clip", [stored, *ends], output=net.name("q"))
    net.outputs[clipped] = np.dtype(dtype).name
    return net.add("DequantizeLinear", [clipped, *scales])


def _weight(net: Network, bits: int) -> str:
    """A weight per channel whose integers are clipped, too."""
    low, high = -(2 ** (bits - 1)) + 1, 2 ** (bits - 1) - 1
    values = net.constant(net.random.integers(low, high + 1, (4, 3, 3, 3)).astype(np.int8))
    ends = [net.constant(np.array(end, np.int8)) for end in (low, high)]
    scale = net.constant(np.full(4, 0.3 / high, np.float32))
    scales = [scale, net.constant(np.zeros(4, np.int8))]
    return net.add("DequantizeLinear", [net.add("Clip", [values, *ends]), *scales], axis=0)


@pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())
@pytest.mark.parametrize("is_signed", [True, False])
@pytest.mark.parametrize("bits", [2, 3, 4, 6, 8])
def test_narrow_integers_are_clamped_once(bits: int, is_signed: bool, tmp_path: Path) -> None:
    limits, net = _limits(bits, is_signed), Network(seed=bits)
    data = _narrow(net, net.input((1, 3, 6, 6)), 4 / limits[1], limits)
    sums = net.add("Conv", [data, _weight(net, bits)], pads=[1, 1, 1, 1])
    _narrow(net, net.add("Relu", [sums]), 3 / limits[1], limits)
    made = net.model()
    graph = loaded(made, tmp_path)
    assert not graph.in_floats
    ops = [node.op for node in graph.nodes]
    assert {"maximum", "minimum"}.isdisjoint(ops)
    assert ops.count("lookup") == (0 if bits == 8 else 2)
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(made, inputs)
    for name in net.outputs:
        assert distance(found[name], expected[name]) <= 1, name


def _quantizer(
    attrs: dict[str, Any], *, scale: Any = 0.25, zero: Any = 0.0, bits: float = 4, op: str = "Quant"
) -> onnx.ModelProto:
    names = ["s", "z", "b"] if op == "Quant" else ["s"]
    values = {"s": scale, "z": zero, "b": bits}
    constants = {name: np.asarray(values[name], np.float32) for name in names}
    node = helper.make_node(op, ["x", *names], ["y"], domain=QONNX, **attrs)
    ports = [info("x", (2, 3, 40))], [info("y", (2, 3, 40))]
    return model([node], *ports, constants, opset=17, domains=[QONNX])


def _expected(data: Array, scale: Any, zero: Any, limits: tuple[int, int]) -> Array:
    steps = data / np.asarray(scale, np.float32) + np.asarray(zero, np.float32)
    whole: Array = np.rint(np.clip(steps, *limits)) - np.asarray(zero, np.float32)
    return whole * np.asarray(scale, np.float32)


@pytest.mark.parametrize(
    ("attrs", "kinds", "limits"),
    [
        ({}, {}, (-8, 7)),
        ({"narrow": 1}, {}, (-7, 7)),
        ({"signed": 0}, {"zero": 3.0}, (0, 15)),
        ({"signed": 0, "narrow": 1}, {"bits": 2}, (0, 2)),
        ({}, {"bits": 1}, (-1, 0)),
        ({}, {"bits": 12, "scale": 0.01}, (-2048, 2047)),
        ({}, {"scale": [[[0.25], [0.5], [0.1]]]}, (-8, 7)),
        ({}, {"scale": [[[0.25], [0.5], [0.1]]], "bits": 9}, (-256, 255)),
    ],
)
def test_a_quantizer_of_qonnx(
    attrs: dict[str, Any], kinds: dict[str, Any], limits: tuple[int, int], tmp_path: Path
) -> None:
    graph = loaded(_quantizer(attrs, **kinds), tmp_path)
    data = RNG.normal(0, 2, (2, 3, 40)).astype(np.float32)
    expected = _expected(data, kinds.get("scale", 0.25), kinds.get("zero", 0.0), limits)
    np.testing.assert_allclose(computed(graph, {"x": data})["y"], expected, rtol=1e-6)


def test_a_bipolar_quantizer(tmp_path: Path) -> None:
    graph = loaded(_quantizer({}, scale=0.5, op="BipolarQuant"), tmp_path)
    data = RNG.normal(0, 2, (2, 3, 40)).astype(np.float32)
    data[0, 0, 0] = 0
    expected = np.where(data >= 0, 0.5, -0.5)
    assert np.array_equal(computed(graph, {"x": data})["y"], expected)


@pytest.mark.parametrize(
    ("attrs", "kinds", "sentence"),
    [
        ({"rounding_mode": "FLOOR"}, {}, "has the rounding_mode 'FLOOR'; supported: ROUND"),
        ({}, {"bits": 2.5}, "has the bit widths"),
        ({}, {"bits": 64}, "has the bit widths"),
        ({}, {"zero": 0.5}, "has zero points that are no integers"),
        ({}, {"scale": np.full((2, 3, 1), 0.5)}, "supported: one, or one per channel"),
    ],
)
def test_other_quantizers_are_refused(
    attrs: dict[str, Any], kinds: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedError, match=sentence.replace("[", r"\[")):
        loaded(_quantizer(attrs, **kinds), tmp_path)
