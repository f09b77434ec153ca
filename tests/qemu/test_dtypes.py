"""Small float32, 16x8 and uint8 networks on a core of each kind, with and without FPU.

They are built, verified, run and compared layer by layer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.running.comparing import stimuli
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV

BOARDS = [
    pytest.param("microbit", marks=NEEDS_ARM),
    pytest.param("mps2_an385", marks=NEEDS_ARM),
    pytest.param("mps3_an547", marks=NEEDS_ARM),
    pytest.param("qemu_riscv32", marks=NEEDS_RISCV),
]


def _float32() -> bytes:
    """CONV_2D, ADD, DIV, TANH, MEAN, FULLY_CONNECTED, SOFTMAX.

    Soft float divides through jump tables.
    """
    rng = np.random.default_rng(0)
    weights = {
        "w": (4, 3, 3, 2),
        "b": (4,),
        "d": (4,),
        "axes": (2,),
        "w2": (5, 4),
        "b2": (5,),
    }
    arrays = {name: rng.normal(0, 1, shape).astype(np.float32) for name, shape in weights.items()}
    arrays["axes"] = np.array([1, 2], np.int32)
    arrays["d"] = np.array([1, 2, 3, 7], np.float32)
    image = (1, 6, 6, 4)
    shapes = {"x": (1, 6, 6, 2), "c": image, "a": image, "q": image, "t": image}
    shapes |= {"m": (1, 4), "f": (1, 5), "y": (1, 5)}
    tensors = [TensorSpec(name, shape, "float32") for name, shape in shapes.items()]
    tensors += [TensorSpec(n, a.shape, a.dtype.name, a) for n, a in arrays.items()]
    conv = {"padding": 0, "strideH": 1, "strideW": 1, "fusedActivationFunction": 1}
    operators = [
        OperatorSpec("CONV_2D", ["x", "w", "b"], ["c"], "Conv2DOptions", conv),
        OperatorSpec("ADD", ["c", "d"], ["a"], "AddOptions", {}),
        OperatorSpec("DIV", ["a", "d"], ["q"], "DivOptions", {}),
        OperatorSpec("TANH", ["q"], ["t"]),
        OperatorSpec("MEAN", ["t", "axes"], ["m"], "ReducerOptions", {}),
        OperatorSpec("FULLY_CONNECTED", ["m", "w2", "b2"], ["f"], "FullyConnectedOptions", {}),
        OperatorSpec("SOFTMAX", ["f"], ["y"], "SoftmaxOptions", {"beta": 1.0}),
    ]
    return build_model(tensors, operators, ["x"], ["y"])


def _int16() -> bytes:
    """DEPTHWISE_CONV_2D, CONV_2D, TANH, CONCATENATION and SOFTMAX of int16 with int8 weights."""
    rng = np.random.default_rng(1)
    image = (1, 5, 5, 3)
    scales = {"x": 1e-3, "p": 2e-3, "c": 2e-3, "t": 1 / 32768, "j": 1 / 32768, "y": 1 / 32768}
    shapes = {"x": image, "p": image, "c": image, "t": image, "j": (1, 5, 5, 6)}
    shapes["y"] = shapes["j"]
    tensors = [
        TensorSpec(name, shape, "int16", scale=(scales[name],), zero_point=(0,))
        for name, shape in shapes.items()
    ]
    for name, shape in {"w": (1, 3, 3, 3), "v": (3, 1, 1, 3)}.items():
        values = rng.integers(-127, 128, shape).astype(np.int8)
        tensors.append(TensorSpec(name, shape, "int8", values, (0.01,), (0,)))
        biases = rng.integers(-(2**20), 2**20, 3)
        tensors.append(TensorSpec(f"{name}_b", (3,), "int64", biases, (1e-5,), (0,)))
    window = {"padding": 0, "strideH": 1, "strideW": 1}
    operators = [
        OperatorSpec(
            "DEPTHWISE_CONV_2D",
            ["x", "w", "w_b"],
            ["p"],
            "DepthwiseConv2DOptions",
            {**window, "depthMultiplier": 1},
        ),
        OperatorSpec("CONV_2D", ["p", "v", "v_b"], ["c"], "Conv2DOptions", window),
        OperatorSpec("TANH", ["c"], ["t"]),
        OperatorSpec("CONCATENATION", ["t", "t"], ["j"], "ConcatenationOptions", {"axis": 3}),
        OperatorSpec("SOFTMAX", ["j"], ["y"], "SoftmaxOptions", {"beta": 1.0}),
    ]
    return build_model(tensors, operators, ["x"], ["y"])


def _uint8() -> bytes:
    """CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of weights with any zero point, QUANTIZE,
    AVERAGE_POOL_2D, RESIZE_BILINEAR and SOFTMAX."""
    rng = np.random.default_rng(2)
    shapes = {"x": (1, 6, 6, 3), "q": (1, 6, 6, 3), "c": (1, 6, 6, 4), "d": (1, 6, 6, 4)}
    shapes |= {"p": (1, 3, 3, 4), "r": (1, 4, 2, 4), "f": (1, 5)}
    zeros = {"x": 127, "q": 9, "c": 131, "d": 111, "p": 111, "r": 111, "f": 128}
    tensors = [
        TensorSpec(name, shape, "uint8", scale=(0.1,), zero_point=(zeros[name],))
        for name, shape in shapes.items()
    ]
    tensors += [
        TensorSpec("y", (1, 5), "uint8", scale=(1 / 256,), zero_point=(0,)),
        TensorSpec("size", (2,), "int32", np.array([4, 2], np.int32)),
    ]
    for name, shape, zero in (
        ("w", (4, 3, 3, 3), 117),
        ("v", (1, 3, 3, 4), 255),
        ("u", (5, 32), 3),
    ):
        values = rng.integers(0, 256, shape).astype(np.uint8)
        tensors.append(TensorSpec(name, shape, "uint8", values, (0.01,), (zero,)))
    window = {"padding": 0, "strideH": 1, "strideW": 1}
    pool = {"padding": 1, "strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
    deep = {**window, "depthMultiplier": 1}
    operators = [
        OperatorSpec("QUANTIZE", ["x"], ["q"], version=2),
        OperatorSpec("CONV_2D", ["q", "w"], ["c"], "Conv2DOptions", window),
        OperatorSpec("DEPTHWISE_CONV_2D", ["c", "v"], ["d"], "DepthwiseConv2DOptions", deep),
        OperatorSpec("AVERAGE_POOL_2D", ["d"], ["p"], "Pool2DOptions", pool),
        OperatorSpec("RESIZE_BILINEAR", ["p", "size"], ["r"], "ResizeBilinearOptions", version=3),
        OperatorSpec("FULLY_CONNECTED", ["r", "u"], ["f"], "FullyConnectedOptions"),
        OperatorSpec("SOFTMAX", ["f"], ["y"], "SoftmaxOptions", {"beta": 1.0}),
    ]
    return build_model(tensors, operators, ["x"], ["d", "y"])


MODELS = {"float32": _float32, "int16": _int16, "uint8": _uint8}
# Each dtype on two boards and each board with a dtype: one of these is in every run of the tests.
USUAL = {
    *(("float32", "microbit"), ("float32", "mps3_an547"), ("int16", "mps2_an385")),
    *(("int16", "mps3_an547"), ("uint8", "mps3_an547"), ("uint8", "qemu_riscv32")),
}


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize(
    ("model", "board"),
    [
        pytest.param(
            *(make, *board.values),
            marks=[*board.marks, *[pytest.mark.slow] * ((name, board.values[0]) not in USUAL)],
            id=f"{name}-{board.values[0]}",
        )
        for name, make in MODELS.items()
        for board in BOARDS
    ],
)
def test_a_network_equals_the_references(
    model: Callable[[], bytes], board: str, tmp_path: Path
) -> None:
    file, project = tmp_path / "m.tflite", tmp_path / "p"
    file.write_bytes(model())
    done = microgen.generate(file, board, project)
    microgen.build(project)
    inputs = stimuli.samples(done.manifest.inputs, random=3)
    result = microgen.run(project, inputs, compare=True)  # verifies before it runs
    assert result.samples == 8
    for verdict in result.verdicts:
        assert verdict.is_skipped or (verdict.ok and verdict.layers), str(verdict)
