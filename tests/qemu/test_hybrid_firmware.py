"""Hybrid layers end to end. They round floats, so every bit of their inputs matters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import Array
from tests.frontends.tweaked import Network, int8_constant
from tests.kernels.conformance.within import far
from tests.support.tflite_builder import OperatorSpec, TensorSpec
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

needs_litert = pytest.mark.skipif(
    bool(LiteRT().lacking()), reason="ai-edge-litert is not installed"
)
KWS = "kws_ref_model_float32.tflite"  # hybrid convolutions between float depthwise ones


def _assert_outputs_equal_litert(
    path: Path, board: str, project: Path, inputs: dict[str, Array]
) -> None:
    microgen.generate(path, board, project)
    microgen.build(project)
    result = microgen.run(project, inputs)  # verifies before it runs
    samples = [list(arrays) for arrays in zip(*inputs.values(), strict=True)]
    expected = list(LiteRT().layers(microgen.frontends.files(path), samples))
    for name, found in result.outputs.items():
        for sample, layers in zip(found, expected, strict=True):
            assert not far(sample, layers[name].reshape(sample.shape))


@pytest.mark.sampled(1)
@NEEDS_NINJA
@NEEDS_ARM
@needs_litert
@pytest.mark.parametrize("board", ["mps2_an386", "native"])
def test_the_keyword_spotter_equals_litert(board: str, mlperf_models: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    scales = 10.0 ** rng.uniform(-1, 2, (12, 1, 1, 1, 1))
    inputs = {"input_1": rng.normal(rng.normal(0, scales), scales, (12, 1, 49, 10, 1))}
    floats = {name: array.astype(np.float32) for name, array in inputs.items()}
    _assert_outputs_equal_litert(mlperf_models / KWS, board, tmp_path / "p", floats)


@NEEDS_NINJA
@NEEDS_ARM
@needs_litert
def test_zero_points_need_double_which_verify_accepts(tmp_path: Path) -> None:
    network = Network(
        (
            TensorSpec("x", (1, 4), "float32"),
            int8_constant("w", 3, 4, scale=(0.5, 0.25, 0.125)),
            TensorSpec("y", (1, 3), "float32"),
        ),
        (
            OperatorSpec(
                "FULLY_CONNECTED",
                ("x", "w"),
                ("y",),
                "FullyConnectedOptions",
                {"asymmetricQuantizeInputs": True},
                9,
            ),
        ),
    )
    path = tmp_path / "m.tflite"
    path.write_bytes(network.to_bytes())
    inputs = {"x": np.random.default_rng(2).normal(0, 1, (8, 1, 4)).astype(np.float32)}
    _assert_outputs_equal_litert(path, "mps2_an386", tmp_path / "p", inputs)
    report = microgen.verify(tmp_path / "p")
    assert report.failed == ()
    assert report.check("soft_float").status == "n/a"
