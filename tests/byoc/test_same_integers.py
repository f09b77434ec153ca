"""Integer outputs have the same bytes with codegens and with the kernels alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.graph.ir.graph import Array
from microgen.project.firmware.compiled import Firmware
from tests.byoc import mixed
from tests.compiler.codegens.cmsis_nn import harness
from tests.differential.generator import generate
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = NEEDS_NINJA

# Seeds of tests.differential whose networks have only integers and truth values, and something for
# both codegens.
SEEDS = (679, 12, 917, 1062)
Models = list[tuple[Path, str]]


def _models(seeds: tuple[int, ...], folder: Path) -> tuple[Models, dict[str, Array]]:
    """TFLite networks, the digits first, and two samples of each input."""
    rng = np.random.default_rng(2)
    models: Models = [(DIGITS, "digits")]
    inputs = {"digits.image": rng.integers(-128, 128, (2, 1, 8, 8, 1)).astype(np.int8)}
    for seed in seeds:
        case, name = generate(seed), f"n{seed}"
        specs = case.net.tensors.values()
        assert "float32" not in {spec.dtype for spec in specs if spec.data is None}
        models.append((folder / f"{name}.tflite", name))
        models[-1][0].write_bytes(case.net.model(case.outputs))
        values = {tensor: case.net.values[tensor][:2] for tensor in case.net.inputs}
        inputs |= {f"{name}.{tensor}": np.stack(arrays) for tensor, arrays in values.items()}
    return models, inputs


def _ran(
    models: Models, inputs: dict[str, Array], board: str, folder: Path, **options: Any
) -> tuple[Firmware, dict[str, bytes]]:
    firmware = microgen.generate_models(models, board, folder, **options)
    found = microgen.run(folder, inputs, sanitize=board == "native")
    assert found.checks.ok
    return firmware, {name: array.tobytes() for name, array in found.outputs.items()}


def _takers(firmware: Firmware) -> set[str]:
    return set().union(*map(mixed.takers, firmware.models))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "seeds"),
    [
        pytest.param("native", SEEDS[:2]),
        pytest.param("native", SEEDS, marks=pytest.mark.slow),
        pytest.param("mps2_an386", SEEDS[2:4], marks=NEEDS_ARM),
    ],
)
def test_with_codegens_or_without(board: str, seeds: tuple[int, ...], tmp_path: Path) -> None:
    models, inputs = _models(seeds, tmp_path)
    _, expected = _ran(models, inputs, board, tmp_path / "plain")
    for codegens in (("accelerator", "ccompiler"), ("ccompiler", "accelerator")):
        folder = tmp_path / codegens[0]
        merged = codegens[0] == "ccompiler"
        firmware, found = _ran(
            models, inputs, board, folder, codegen=codegens, merge_regions=merged
        )
        assert _takers(firmware) == {"", *codegens}
        assert found == expected


@harness.NEEDS_TREE
def test_with_cmsis_nn_too(tmp_path: Path) -> None:
    models, inputs = _models(SEEDS[:3], tmp_path)
    _, expected = _ran(models, inputs, "native", tmp_path / "plain", numerics="tflm")
    firmware, found = _ran(
        models,
        inputs,
        "native",
        tmp_path / "codegens",
        numerics="tflm",
        codegen=("cmsis-nn", "accelerator", "ccompiler"),
        codegen_option=(f"cmsis-nn.path={harness.TREE}",),
    )
    assert _takers(firmware) >= {"", "cmsis_nn", "ccompiler"}
    assert found == expected
