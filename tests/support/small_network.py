"""A network that takes compilers a third of the time that the digits network takes, with the same
input and output. Tests that need any network at all use its file, ``places.SMALL``.

``python -m tests.support.small_network`` writes the file.
"""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array
from tests.support.places import SMALL
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

_INPUT, _SUMS, _LOGITS, _WEIGHT = 1 / 255, 0.02, 0.05, 0.004  # scales
_HIDDEN, _CLASSES = 12, 10


def tflite() -> bytes:
    """MAX_POOL_2D, RESHAPE, FULLY_CONNECTED with RELU, FULLY_CONNECTED and SOFTMAX."""
    same = {"padding": 0, "strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
    operators = [
        OperatorSpec("MAX_POOL_2D", ["image"], ["pool/MaxPool"], "Pool2DOptions", same),
        OperatorSpec("RESHAPE", ["pool/MaxPool", "shape"], ["flatten/Reshape"]),
        _dense("flatten/Reshape", "hidden/Relu", {"fusedActivationFunction": 1}),
        _dense("hidden/Relu", "dense/BiasAdd", {}),
        OperatorSpec(
            "SOFTMAX", ["dense/BiasAdd"], ["probabilities"], "SoftmaxOptions", {"beta": 1.0}
        ),
    ]
    return build_model(_tensors(), operators, ["image"], ["probabilities"])


def _dense(data: str, output: str, options: dict[str, int]) -> OperatorSpec:
    constants = [f"{output}/weight", f"{output}/bias"]
    return OperatorSpec(
        "FULLY_CONNECTED", [data, *constants], [output], "FullyConnectedOptions", options
    )


def _tensors() -> list[TensorSpec]:
    rng = np.random.default_rng(1)
    return [
        _values("image", (1, 8, 8, 1), _INPUT),
        _values("pool/MaxPool", (1, 4, 4, 1), _INPUT),
        TensorSpec("shape", (2,), "int32", np.array([1, 16], np.int32)),
        _values("flatten/Reshape", (1, 16), _INPUT),
        *_constants("hidden/Relu", rng, (_HIDDEN, 16), _INPUT),
        _values("hidden/Relu", (1, _HIDDEN), _SUMS),
        *_constants("dense/BiasAdd", rng, (_CLASSES, _HIDDEN), _SUMS),
        _values("dense/BiasAdd", (1, _CLASSES), _LOGITS, 3),
        _values("probabilities", (1, _CLASSES), 1 / 256),
    ]


def _values(name: str, shape: tuple[int, ...], scale: float, zero_point: int = -128) -> TensorSpec:
    return TensorSpec(name, shape, scale=(scale,), zero_point=(zero_point,))


def _constants(
    output: str, rng: np.random.Generator, shape: tuple[int, int], scale: float
) -> list[TensorSpec]:
    weight: Array = rng.integers(-127, 128, shape).astype(np.int8)
    bias: Array = rng.integers(-9000, 9000, shape[0]).astype(np.int32)
    return [
        TensorSpec(f"{output}/weight", shape, "int8", weight, (_WEIGHT,), (0,)),
        TensorSpec(f"{output}/bias", bias.shape, "int32", bias, (scale * _WEIGHT,), (0,)),
    ]


if __name__ == "__main__":
    SMALL.write_bytes(tflite())
