"""Small models for one firmware."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import Array, DType
from tests.kernels.recurrent import svdf_cases
from tests.support.places import SMALL
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

SAMPLES = 3

RELAY = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 6), float32], %y: Tensor[(1, 6), float32]) -> Tensor[(1, 6), float32] {
  %0 = add(%x, %y);
  nn.relu(%0)
}
"""


EXTERNAL = """
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = @part(%x);
  add(%0, %x)
}
def @part(%a: Tensor[(2, 3), float32], Compiler="npu", global_symbol="npu_0") {
  nn.relu(%a)
}
"""
DEVICE = """
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = tanh(%x);
  %1 = on_device(%0, device_type=12);
  add(%1, %x)
}
"""


def dense(features: int = 6, *, tensor: str = "x") -> bytes:
    """FULLY_CONNECTED and SOFTMAX, int8 [1, 16] -> [1, features]."""
    weights = np.random.default_rng(features).integers(-127, 128, (features, 16)).astype(np.int8)
    tensors = [
        TensorSpec(tensor, (1, 16), "int8", None, (0.1,), (3,)),
        TensorSpec("w", (features, 16), "int8", weights, (0.01,), (0,)),
        TensorSpec("h", (1, features), "int8", None, (0.2,), (-4,)),
        TensorSpec("y", (1, features), "int8", None, (1 / 256,), (-128,)),
    ]
    operators = [
        OperatorSpec("FULLY_CONNECTED", [tensor, "w", -1], ["h"], "FullyConnectedOptions", {}, 4),
        OperatorSpec("SOFTMAX", ["h"], ["y"], "SoftmaxOptions", {"beta": 1.0}),
    ]
    return build_model(tensors, operators, [tensor], ["y"])


def stateful() -> bytes:
    """One operator with a variable, int8 ``x`` -> ``y``."""
    return svdf_cases.network(0, DType.INT8).to_bytes()


def written(directory: Path) -> dict[str, Path]:
    """The models' files, keyed by the models' names."""
    files = {
        "kws.tflite": dense(),
        "wide.tflite": dense(40),
        "state.tflite": stateful(),
        "sum.relay": RELAY.encode(),
        "device.relay": DEVICE.encode(),
    }
    for name, data in files.items():
        (directory / name).write_bytes(data)
    return {"small": SMALL, **{Path(name).stem: directory / name for name in files}}


def int8(shape: tuple[int, ...], seed: int) -> Array:
    """Random samples."""
    return np.random.default_rng(seed).integers(-128, 128, (SAMPLES, *shape)).astype(np.int8)
