"""Networks whose layers an oracle computes in a way of its own, as ONNX models: a quantized layer
after exact steps, Fourier transforms and recurrent layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from onnx import ModelProto, helper, numpy_helper

from microgen.graph.ir.graph import Array
from tests.frontends.onnx.models import info, model

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_FUNCTIONS = {
    "RNN": (["Relu"], ["Tanh"], ["Softsign"]),
    "GRU": (["Sigmoid", "Tanh"], ["Sigmoid", "Relu"], ["HardSigmoid", "Elu"]),
    "LSTM": (["Sigmoid", "Tanh", "Tanh"], ["Sigmoid", "Relu", "Relu"], ["Sigmoid", "Relu", "Elu"]),
}
STEP = 0.02  # of the output of ``clipped``
_STEPS, _FEATURES, _CELLS = 6, 4, 5


def clipped(dtype: str = "uint8", zero: int = 0, *, has_clip: bool = True) -> ModelProto:
    """A dense layer whose bias is whole in the scale of its sums. Its data is stored with that zero
    point, and limited before unless ``has_clip`` is false."""
    stored = np.dtype(dtype).type
    constants = {
        "sx": np.float32(1),
        "zx": stored(zero),
        "w": np.array([[1, -1, 0, 1], [0, 1, 1, -1], [1, 1, -1, 0]], np.int8),
        "sw": np.float32(0.5),
        "zw": np.int8(0),
        "b": np.array([0.5, -0.5, 1], np.float32),
        "sy": np.float32(STEP),
        "zy": np.int8(0),
    }
    nodes = [helper.make_node("QuantizeLinear", ["x", "sx", "zx"], ["xq"])]
    if has_clip:
        constants |= {"lo": stored(zero), "hi": stored(zero + 3)}
        nodes.append(helper.make_node("Clip", ["xq", "lo", "hi"], ["xc"]))
    data = "xc" if has_clip else "xq"
    nodes += [
        helper.make_node("DequantizeLinear", [data, "sx", "zx"], ["xf"]),
        helper.make_node("DequantizeLinear", ["w", "sw", "zw"], ["wf"]),
        helper.make_node("Gemm", ["xf", "wf", "b"], ["g"], transB=1),
        helper.make_node("QuantizeLinear", ["g", "sy", "zy"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "sy", "zy"], ["y"]),
    ]
    return model(nodes, [info("x", (1, 4))], [info("y", (1, 3))], constants, opset=17)


def with_bias(proto: ModelProto, steps: float) -> ModelProto:
    """The model with the bias of ``clipped`` moved by some of the output's steps."""
    for tensor in proto.graph.initializer:
        if tensor.name == "b":
            values = numpy_helper.to_array(tensor) + np.float32(STEP * steps)
            tensor.CopyFrom(numpy_helper.from_array(values, "b"))
    return proto


def transformed(length: int) -> Iterator[tuple[ModelProto, Array]]:
    """DFT and STFT of that length."""
    rng = np.random.default_rng(length)
    made = length // 2 + 1
    data = rng.normal(size=(1, length, 1)).astype(np.float32)
    node = helper.make_node("DFT", ["x", "", "axis"], ["y"], onesided=1)
    x, y = info("x", data.shape), info("y", (1, made, 2))
    yield model([node], [x], [y], {"axis": np.int64(1)}, opset=20), data
    frames = rng.normal(size=(1, 3 * length, 1)).astype(np.float32)
    step = max(1, length // 2)
    constants = {
        "step": np.int64(step),
        "window": np.hanning(length).astype(np.float32),
        "length": np.int64(length),
    }
    node = helper.make_node("STFT", ["x", "step", "window", "length"], ["y"])
    count = 2 * length // step + 1
    x, y = info("x", frames.shape), info("y", (1, count, made, 2))
    yield model([node], [x], [y], constants, opset=17), frames


def recurrent(
    seeds: Iterable[int], steps: int = _STEPS
) -> Iterator[tuple[ModelProto, list[Array]]]:
    """Layers of each kind, of several functions and directions, with inputs that let some states
    grow."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        kind = list(_GATES)[seed % 3]
        functions = _FUNCTIONS[kind][seed // 3 % 3]
        direction = ("forward", "reverse", "forward", "bidirectional")[seed % 4]
        count, gates = 1 + (direction == "bidirectional"), _GATES[kind]
        constants = {
            "w": rng.normal(0, 0.3, (count, gates * _CELLS, _FEATURES)).astype(np.float32),
            "r": rng.normal(0, 0.3, (count, gates * _CELLS, _CELLS)).astype(np.float32),
        }
        is_last = seed % 5 == 4  # only the last states are an output
        node = helper.make_node(
            kind,
            ["x", "w", "r"],
            ["", "y"] if is_last else ["y"],
            hidden_size=_CELLS,
            activations=functions * count,
            direction=direction,
        )
        shape = (count, 1, _CELLS) if is_last else (steps, count, 1, _CELLS)
        data = (steps, 1, _FEATURES)
        samples = [rng.normal(0, size, data).astype(np.float32) for size in (1, 30)]
        yield model([node], [info("x", data)], [info("y", shape)], constants, opset=14), samples
