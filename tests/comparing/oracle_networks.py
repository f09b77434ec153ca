"""Networks whose layers an oracle computes in a way of its own: Fourier transforms and recurrent
layers, as ONNX models with samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from onnx import ModelProto, helper

from microgen.ir.graph import Array
from tests.frontends.onnx.models import info, model

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_FUNCTIONS = {
    "RNN": (["Relu"], ["Tanh"], ["Softsign"]),
    "GRU": (["Sigmoid", "Tanh"], ["Sigmoid", "Relu"], ["HardSigmoid", "Elu"]),
    "LSTM": (["Sigmoid", "Tanh", "Tanh"], ["Sigmoid", "Relu", "Relu"], ["Sigmoid", "Relu", "Elu"]),
}
_STEPS, _FEATURES, _CELLS = 6, 4, 5


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


def recurrent(seeds: Iterable[int]) -> Iterator[tuple[ModelProto, list[Array]]]:
    """Layers of each kind and of several functions, some with inputs that let states grow."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        kind = list(_GATES)[seed % 3]
        functions = _FUNCTIONS[kind][seed // 3 % 3]
        gates = _GATES[kind]
        constants = {
            "w": rng.normal(0, 0.3, (1, gates * _CELLS, _FEATURES)).astype(np.float32),
            "r": rng.normal(0, 0.3, (1, gates * _CELLS, _CELLS)).astype(np.float32),
        }
        node = helper.make_node(
            kind, ["x", "w", "r"], ["y"], hidden_size=_CELLS, activations=functions
        )
        x, y = info("x", (_STEPS, 1, _FEATURES)), info("y", (_STEPS, 1, 1, _CELLS))
        samples = [
            rng.normal(0, size, (_STEPS, 1, _FEATURES)).astype(np.float32) for size in (1, 30)
        ]
        yield model([node], [x], [y], constants, opset=14), samples
