"""Errors of layers that are computed a few rows at a time: compare names each of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.building import builder
from microgen.running.comparing import compare
from microgen.running.comparing.verdict import Verdict
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]

SOURCES = "model/codegen/host/src"
# Of each layer of the first function: the constant that is changed, the layer.
CONSTANTS = {
    "conv1_Relu_weight": "conv1/Relu",
    "conv1_Relu_multiplier": "conv1/Relu",
    "block_depthwise_Relu_weight": "block/depthwise/Relu",
    "block_depthwise_Relu_bias": "block/depthwise/Relu",
    "block_pointwise_BiasAdd_weight": "block/pointwise/BiasAdd",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of the demo model, whose first function has five layers in rows."""
    project = tmp_path_factory.mktemp("rows") / "p"
    done = microgen.generate(DIGITS, "mps2_an386", project, optimize="ram")
    first = done.program.functions[0]
    assert first.rolling
    assert len(first.rolling.parts) == 5
    return project


def _compared(project: Path, file: str, pattern: str, changed: str) -> Verdict:
    """The first verdict with the first text that fits the pattern changed."""
    source = project / SOURCES / file
    text = source.read_text()
    edited, count = re.subn(pattern, changed, text, count=1, flags=re.DOTALL)
    assert count == 1
    source.write_text(edited)
    try:
        elf = builder.build(project).elf
        (port,) = microgen.base.manifest.load(project).inputs
        sample = np.random.default_rng(0).integers(-128, 128, (1, *port.shape), np.int8)
        inputs = {port.tensor: sample}
        outputs = microgen.running.runner.run(project, inputs, elf=elf).outputs
        return compare.compare(project, inputs, outputs, elf)[0]
    finally:
        source.write_text(text)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_wrong_constant_is_named_by_its_layer(constant: str, sound: Path) -> None:
    pattern = rf"({constant}\[\d+\] = {{\s+)-?\d+"
    found = _compared(sound, "default_params.c", pattern, r"\g<1>100")
    assert found.difference is not None
    assert (found.difference.call, found.difference.layer) == (0, CONSTANTS[constant])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("function", "layer"),
    [
        ("fused_add_clip_rows", "block/add/Relu"),
        ("fused_nn_conv2d_nn_bias_add_rows", "block/pointwise/BiasAdd"),
    ],
)
def test_a_wrong_row_is_named_by_its_layer(function: str, layer: str, sound: Path) -> None:
    """The last value of each row is wrong."""
    pattern = rf"(void tvmgen_default_{function}\(.*?\n)}}\n"
    found = _compared(sound, "default_lib1.c", pattern, r"\g<1>    out0[127] ^= 2;\n}\n")
    assert found.difference is not None
    assert (found.difference.call, found.difference.layer) == (0, layer)
    assert found.difference.differing > 1
