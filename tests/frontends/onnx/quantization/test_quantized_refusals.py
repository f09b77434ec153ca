"""What quantized ONNX models are refused for, and what is computed in floats, and why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Array
from tests.frontends.onnx.quantization.quantized import (
    Network,
    by_onnxruntime,
    computed,
    loaded,
    sample,
)

_ZERO = np.int8(0)
_WRONG: dict[str, tuple[Array, Array, str]] = {
    "zero": (np.float32(0), _ZERO, "has the scale 0 in"),
    "negative": (np.float32(-1), _ZERO, "has the scale -1 in"),
    "not a number": (np.float32("nan"), _ZERO, "has the scale nan in"),
    "infinite": (np.float32("inf"), _ZERO, "has the scale inf in"),
    "denormal": (np.float32(1e-40), _ZERO, "has the scale 9.99995e-41 in"),
    "too many": (np.float32([1, 2, 3]), np.int8([0, 0, 0]), r"has scales \[3\] along axis 1"),
    "of two axes": (np.ones((2, 5), np.float32), np.zeros((2, 5), np.int8), r"has scales \[2, 5\]"),
    "zero points": (np.float32([1] * 5), np.int8([0, 0]), "has 5 scales, but 2 zero points"),
}


@pytest.mark.parametrize("name", _WRONG)
@pytest.mark.parametrize("op", ["QuantizeLinear", "DequantizeLinear"])
def test_impossible_scales_are_refused(op: str, name: str, tmp_path: Path) -> None:
    scale, zero, said = _WRONG[name]
    net = Network()
    data = net.input((2, 5), "float32" if op == "QuantizeLinear" else "int8")
    found = net.add(op, [data, net.constant(scale), net.constant(zero)])
    net.outputs[found] = "int8" if op == "QuantizeLinear" else "float32"
    with pytest.raises(MicrogenError, match=said):
        loaded(net.model(), tmp_path)


def test_an_axis_that_the_tensor_lacks_is_refused(tmp_path: Path) -> None:
    net = Network()
    scale = net.constant(np.float32([1, 1]))
    net.outputs[net.add("DequantizeLinear", [net.input((2, 2), "int8"), scale], axis=2)] = "float32"
    with pytest.raises(MicrogenError, match="has the axis 2, but the tensor has 2 axes"):
        loaded(net.model(), tmp_path)


def test_other_profiles_are_refused(tmp_path: Path) -> None:
    net = Network()
    net.quantized(net.input((2, 2)))
    loaded(net.model(), tmp_path)
    path = tmp_path / "network.onnx"
    with pytest.raises(MicrogenError, match="does not round as 'tflm'"):
        frontends.load(path, numerics="tflm")
    with pytest.raises(MicrogenError, match="does not round as 'onnx'"):
        frontends.numerics_of(Path("net.tflite"), "onnx")
    assert frontends.numerics_of(path) == "onnx"
    assert frontends.numerics_of(Path("net.tflite")) == "litert"


def test_the_project_records_the_profile(tmp_path: Path) -> None:
    net = Network()
    net.quantized(net.input((2, 2)))
    loaded(net.model(), tmp_path)
    found = microgen.compile_model(tmp_path / "network.onnx", board="native")
    assert found.manifest.modules[0].options["numerics"] == "onnx"


def test_reasons_for_floats(tmp_path: Path) -> None:
    net = Network(seed=2)
    data = net.quantized(net.input((1, 4, 6, 6)))
    weight, _ = net.weight((3, 4, 1, 1))
    sums = net.add("Conv", [data, weight], output="unquantized")
    net.outputs[sums] = "float32"
    plain = net.constant(net.random.normal(0, 1, (3, 4, 1, 1)).astype(np.float32))
    net.quantized(net.add("Conv", [data, plain], output="plain"))
    net.quantized(net.add("ReduceSum", [data], output="summed"))
    shared = net.add("Conv", [data, weight], output="shared")
    net.quantized(shared)
    net.outputs[net.add("Exp", [shared], output="exp")] = "float32"
    model = net.model()
    graph = loaded(model, tmp_path)
    layers = {n.outputs[0]: n.origin.layer for n in graph.nodes}
    why = {layers[name]: reason for name, reason in graph.in_floats.items()}
    assert why["unquantized"] == "no QuantizeLinear follows it"
    assert why["plain"].startswith("reads the weight")
    assert why["summed"] == "sum has no form for integers"
    assert why["shared"] == "is read by other layers before it is quantized"
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for name in net.outputs:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-3, atol=1)


def test_recurrent_layers_are_in_floats(tmp_path: Path) -> None:
    net = Network()
    data = net.quantized(net.input((3, 1, 2)))
    weights = [net.weight((1, 4, 2))[0], net.weight((1, 4, 4))[0]]
    net.quantized(net.add("RNN", [data, *weights], output="states", hidden_size=4))
    graph = loaded(net.model(), tmp_path)
    (layer,) = (node for node in graph.nodes if node.op == "nn.recurrent")
    assert graph.in_floats[layer.outputs[0]] == "nn.recurrent has no form for integers"


def test_deep_concatenations_are_read(tmp_path: Path) -> None:
    """Chains that a file may make as long as it likes need no recursion."""
    net = Network()
    data = net.add("Conv", [net.quantized(net.input((1, 1, 2, 2))), net.weight((1, 1, 1, 1))[0]])
    for _ in range(300):
        data = net.add("Transpose", [net.add("Concat", [data], axis=1)], perm=[0, 1, 3, 2])
    net.quantized(data)
    model = net.model()
    graph = loaded(model, tmp_path)
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for name in net.outputs:
        assert abs(found[name].astype(int) - expected[name]).max() <= 1
