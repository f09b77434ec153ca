"""Against onnxruntime, on models of ONNX that are built by hand to mean the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen import relay
from microgen.graph.ir.graph import Array
from microgen.relay import Expr
from tests.frontends.relay.evaluated import close, computed, var
from tests.support.places import SEED_DEMO
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

_DTYPES = {"float32": 1, "int32": 6, "int64": 7}


def onnx_values(op: str, inputs: Mapping[str, Array], **attrs: Any) -> list[Array]:
    """What one operator of ONNX computes; the names of inputs are in its order."""
    return onnx_outputs([onnx.helper.make_node(op, list(inputs), ["y"], **attrs)], inputs, ["y"])


def onnx_outputs(nodes: list[Any], inputs: Mapping[str, Array], outputs: list[str]) -> list[Array]:
    """The outputs of a graph of ONNX."""
    helper = onnx.helper
    given = [
        helper.make_tensor_value_info(name, _DTYPES[a.dtype.name], a.shape)
        for name, a in inputs.items()
    ]
    found = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, "twin", given, found)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    values: list[Array] = session.run(outputs, dict(inputs))
    return values


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


X = drawn(2, 4, 7, 8)
POSITIVE = np.abs(drawn(2, 4, 7, 8, seed=9)) + np.float32(0.1)
Case = tuple[str, dict[str, Array], dict[str, Any], Callable[..., Expr]]

CASES: list[Case] = [
    (
        "Conv",
        {"x": X, "w": drawn(6, 4, 3, 2, seed=1), "b": drawn(6, seed=2)},
        {"strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [1, 2]},
        lambda x, w, b: relay.nn.bias_add(
            relay.nn.conv2d(x, w, strides=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2)), b
        ),
    ),
    (
        "Conv",
        {"x": X, "w": drawn(6, 2, 3, 3, seed=1)},
        {"group": 2},
        lambda x, w: relay.nn.conv2d(x, w, groups=2),
    ),
    (
        "Conv",
        {"x": X, "w": drawn(8, 1, 3, 3, seed=1)},
        {"group": 4},
        lambda x, w: relay.nn.conv2d(x, w, groups=4),
    ),
    (
        "ConvTranspose",
        {"x": X, "w": drawn(4, 3, 3, 3, seed=1)},
        {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]},
        lambda x, w: relay.nn.conv2d_transpose(
            x,
            w,
            strides=(2, 2),
            padding=(1, 1),
            output_padding=(1, 1),
            channels=3,
            kernel_size=(3, 3),
        ),
    ),
    (
        "MaxPool",
        {"x": X},
        {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1], "ceil_mode": 0},
        lambda x: relay.nn.max_pool2d(x, (3, 2), strides=(2, 2), padding=(1, 0, 1, 1)),
    ),
    (
        "MaxPool",
        {"x": X},
        {"kernel_shape": [2, 3], "strides": [2, 2], "ceil_mode": 1},
        lambda x: relay.nn.max_pool2d(x, (2, 3), strides=(2, 2), ceil_mode=True),
    ),
    (
        "AveragePool",
        {"x": X},
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 0},
        lambda x: relay.nn.avg_pool2d(x, (3, 3), padding=(1, 1)),
    ),
    (
        "AveragePool",
        {"x": X},
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
        lambda x: relay.nn.avg_pool2d(x, (3, 3), padding=(1, 1), count_include_pad=True),
    ),
    ("GlobalAveragePool", {"x": X}, {}, relay.nn.global_avg_pool2d),
    ("GlobalMaxPool", {"x": X}, {}, relay.nn.global_max_pool2d),
    (
        "BatchNormalization",
        {"x": X, **{n: drawn(4, seed=i) for i, n in enumerate("gbm")}, "v": POSITIVE[0, :, 0, 0]},
        {"epsilon": 1e-3},
        lambda *args: relay.nn.batch_norm(*args, epsilon=1e-3)[0],
    ),
    (
        "Gemm",
        {"x": drawn(3, 5), "w": drawn(4, 5, seed=1), "b": drawn(4, seed=2)},
        {"transB": 1},
        lambda x, w, b: relay.nn.bias_add(relay.nn.dense(x, w), b),
    ),
    (
        "MatMul",
        {"a": drawn(2, 3, 4), "b": drawn(2, 4, 5, seed=1)},
        {},
        lambda a, b: relay.nn.batch_matmul(a, b, transpose_b=False),
    ),
    ("Relu", {"x": X}, {}, relay.nn.relu),
    ("Sigmoid", {"x": X}, {}, relay.sigmoid),
    ("Tanh", {"x": X}, {}, relay.tanh),
    ("Exp", {"x": X}, {}, relay.exp),
    ("Log", {"x": POSITIVE}, {}, relay.log),
    ("Sqrt", {"x": POSITIVE}, {}, relay.sqrt),
    ("Softmax", {"x": X}, {"axis": 1}, lambda x: relay.nn.softmax(x, axis=1)),
    ("LogSoftmax", {"x": X}, {"axis": -1}, lambda x: relay.nn.log_softmax(x, axis=-1)),
    ("LeakyRelu", {"x": X}, {"alpha": 0.3}, lambda x: relay.nn.leaky_relu(x, alpha=0.3)),
    ("Add", {"x": X, "b": drawn(4, 1, 1)}, {}, relay.add),
    ("Sub", {"x": X, "b": drawn(7, 8)}, {}, relay.subtract),
    ("Mul", {"x": X, "b": drawn(2, 1, 1, 8)}, {}, relay.multiply),
    ("Div", {"x": X, "b": POSITIVE}, {}, relay.divide),
    ("Max", {"x": X, "b": drawn(8)}, {}, relay.maximum),
    ("Min", {"x": X, "b": drawn(8)}, {}, relay.minimum),
    (
        "Concat",
        {"x": X, "b": drawn(2, 3, 7, 8, seed=1)},
        {"axis": 1},
        lambda x, b: relay.concatenate([x, b], axis=1),
    ),
    ("Transpose", {"x": X}, {"perm": [0, 2, 3, 1]}, lambda x: relay.transpose(x, (0, 2, 3, 1))),
    (
        "ReduceMean",
        {"x": X},
        {"axes": [2, 3], "keepdims": 0},
        lambda x: relay.mean(x, axis=(2, 3)),
    ),
    ("ReduceMax", {"x": X}, {"axes": [1], "keepdims": 1}, lambda x: relay.max(x, 1, keepdims=True)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_an_operator_computes_what_onnxruntime_does(case: Case) -> None:
    op, inputs, attrs, built = case
    (expected,) = onnx_values(op, inputs, **attrs)
    params = {var(name, array): array for name, array in inputs.items()}
    (found,) = computed(built(*params), params)
    close(found, expected)


def _seed_demo_twin() -> tuple[dict[str, Array], Array]:
    """Inputs of the seed's demo, and what its twin in ONNX gives for them."""
    shapes = {"d1": (1, 32, 56, 56), "w1": (32, 32, 3, 3), "b1": (32,)}
    inputs = {name: drawn(*shape, seed=i) for i, (name, shape) in enumerate(shapes.items())}
    nodes = [
        onnx.helper.make_node("Conv", list(inputs), ["c"], pads=[1, 1, 1, 1]),
        onnx.helper.make_node("Relu", ["c"], ["y"]),
    ]
    (expected,) = onnx_outputs(nodes, inputs, ["y"])
    return inputs, expected


def test_the_seed_demo_computes_what_onnxruntime_does() -> None:
    inputs, expected = _seed_demo_twin()
    params = {var(name, array): array for name, array in inputs.items()}
    d1, w1, b1 = params
    conv = relay.nn.conv2d(d1, w1, padding=(1, 1))
    (found,) = computed(relay.nn.relu(relay.nn.bias_add(conv, b1)), params)
    close(found, expected)


@pytest.mark.slow
@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize("options", [{"executor": "graph"}, {"interface": "packed"}])
def test_the_seed_demos_firmware_gives_what_onnxruntime_does(
    options: dict[str, str], tmp_path: Path
) -> None:
    """On a board whose memories beside its RAM hold it; layers are numpy's, too."""
    inputs, expected = _seed_demo_twin()
    microgen.generate(SEED_DEMO, "mps3_an547", tmp_path / "p", **options)
    result = microgen.run(tmp_path / "p", inputs, compare=True)
    assert result.verdicts[0].ok, str(result.verdicts[0])
    assert result.verdicts[0].layers is not None
    (found,) = result.outputs.values()
    close(found, expected)


def test_a_small_residual_network_computes_what_onnxruntime_does() -> None:
    inputs = {
        "x": drawn(1, 3, 8, 8),
        "w": drawn(3, 3, 3, 3, seed=1),
        "b": drawn(3, seed=2),
        "v": drawn(4, 6, 1, 1, seed=3),
    }
    node = onnx.helper.make_node
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        node("Add", ["c", "x"], ["s"]),
        node("Relu", ["s"], ["r"]),
        node("Concat", ["r", "x"], ["j"], axis=1),
        node("MaxPool", ["j"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p", "v"], ["d"]),
        node("GlobalAveragePool", ["d"], ["g"]),
        node("Flatten", ["g"], ["f"]),
        node("Softmax", ["f"], ["y"]),
    ]
    expected = onnx_outputs(nodes, inputs, ["r", "y"])
    params = {var(name, array): array for name, array in inputs.items()}
    x, w, b, v = params
    conv = relay.nn.bias_add(relay.nn.conv2d(x, w, padding=(1, 1)), b)
    residual = relay.nn.relu(relay.add(conv, x))
    pooled = relay.nn.max_pool2d(relay.concatenate([residual, x], axis=1), (2, 2), strides=(2, 2))
    mean = relay.nn.global_avg_pool2d(relay.nn.conv2d(pooled, v))
    result = relay.nn.softmax(relay.nn.batch_flatten(mean))
    for found, wanted in zip(
        computed(relay.Tuple([residual, result]), params), expected, strict=True
    ):
        close(found, wanted)
