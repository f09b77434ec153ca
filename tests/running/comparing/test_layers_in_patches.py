"""Errors of layers that are computed in patches: compare names each of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.building import builder
from microgen.running.comparing import compare
from microgen.running.comparing.verdict import Verdict
from tests.graph.rows.forced import roll
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA

SOURCES = "model/codegen/host/src"
SHAPE = (1, 12, 12, 4)
_SAME, _VALID = 0, 1
LAYERS = ("wide", "filtered", "narrow")


def _model(padding: int) -> bytes:
    """A 1x1 convolution from 4 to 16 channels, a depthwise one, and one from 16 to 4 channels.
    ``padding`` is schema.fbs's, of the depthwise one."""
    rng = np.random.default_rng(0)
    tensors = [TensorSpec("image", SHAPE, scale=(0.1,), zero_point=(0,))]
    operators, data = [], "image"
    shapes = ((16, 1, 1, 4), (1, 3, 3, 16), (4, 1, 1, 16))
    for layer, shape, depth in zip(LAYERS, shapes, (16, 16, 4), strict=True):
        size = (10, 10) if padding and layer != "wide" else (12, 12)
        weights = rng.integers(-127, 128, shape).astype(np.int8)
        bias = np.zeros(depth, np.int32)
        tensors += [
            TensorSpec(f"{layer}/weights", shape, "int8", weights, (0.01,), (0,)),
            TensorSpec(f"{layer}/bias", (depth,), "int32", bias, (0.001,), (0,)),
            TensorSpec(layer, (1, *size, depth), scale=(0.1,), zero_point=(3,)),
        ]
        is_depthwise = layer == "filtered"
        options = {"padding": padding, "strideH": 1, "strideW": 1, "fusedActivationFunction": 0}
        options |= {"dilationHFactor": 1, "dilationWFactor": 1}
        options |= {"depthMultiplier": 1} if is_depthwise else {}
        kind = "DepthwiseConv2DOptions" if is_depthwise else "Conv2DOptions"
        code = "DEPTHWISE_CONV_2D" if is_depthwise else "CONV_2D"
        inputs = [data, f"{layer}/weights", f"{layer}/bias"]
        operators.append(OperatorSpec(code, inputs, [layer], kind, options))
        data = layer
    return build_model(tensors, operators, ["image"], [data])


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of one function with one patch."""
    return _project(tmp_path_factory.mktemp("patches"), _SAME)


def _project(folder: Path, padding: int) -> Path:
    (folder / "m.tflite").write_bytes(_model(padding))
    with pytest.MonkeyPatch.context() as patch:
        for seed in range(20):
            roll(patch, seed)
            done = microgen.generate(folder / "m.tflite", "native", folder / f"p{seed}")
            patch.undo()
            (first, *_) = done.program.functions
            if first.rolling and first.rolling.patches and len(first.rolling.parts) == len(LAYERS):
                return folder / f"p{seed}"
    raise AssertionError("no seed gives a patch")


def _compared(project: Path, pattern: str = "", changed: str = "") -> Verdict:
    """The first verdict with the first text of the parameters that fits the pattern changed."""
    source = project / SOURCES / "default_params.c"
    text = source.read_text()
    edited, count = re.subn(pattern, changed, text, count=1, flags=re.DOTALL)
    assert count == 1
    source.write_text(edited)
    try:
        elf = builder.build(project).elf
        (port,) = microgen.base.manifest.load(project).inputs
        inputs = {port.tensor: np.random.default_rng(0).integers(-128, 128, (1, *SHAPE), np.int8)}
        outputs = microgen.running.runner.run(project, inputs, elf=elf).outputs
        return compare.compare(project, inputs, outputs, elf)[0]
    finally:
        source.write_text(text)


def test_every_layer_of_a_patch_is_compared(sound: Path) -> None:
    assert _compared(sound).difference is None


def test_a_patch_without_padding_is_compiled_and_compared(tmp_path: Path) -> None:
    # All rows of its windows are inside, so its function does not ask for the number of the row.
    assert microgen.run(_project(tmp_path, _VALID), compare=True).verdicts[0].ok


@pytest.mark.parametrize("layer", LAYERS)
def test_a_wrong_weight_is_named_by_its_layer(layer: str, sound: Path) -> None:
    found = _compared(sound, rf"({layer}_weight\[\d+\] = {{\s+)-?\d+", r"\g<1>100")
    assert found.difference is not None
    assert found.difference.layer == layer
