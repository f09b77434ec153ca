"""Layers that are computed row by row, on emulated cores of each kind: they equal the references,
and a layer that is wrong inside is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from tests.differential.generator import Case
from tests.graph.rows.forced import roll
from tests.graph.rows.networks import generate
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV

pytestmark = [NEEDS_NINJA]

# Seeds of networks with long groups: of int8, int8, float32, int16.
SEEDS = (4, 9, 10, 11)


def project(seed: int, board: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose layers are computed row by row."""
    sizes = roll(monkeypatch, seed)
    case: Case = generate(seed)
    model = folder / f"network{seed}.tflite"
    model.write_bytes(case.net.model(case.outputs))
    microgen.generate(model, board, folder / "p")
    assert max(sizes) > 1, "nothing is computed row by row"
    return folder / "p"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("board", "seed"),
    [
        *(pytest.param("mps2_an386", seed, marks=NEEDS_ARM) for seed in SEEDS),
        *(pytest.param("mps3_an547", seed, marks=NEEDS_ARM) for seed in SEEDS),
        pytest.param("microbit", SEEDS[0], marks=NEEDS_ARM),
        pytest.param("qemu_riscv32", SEEDS[1], marks=NEEDS_RISCV),
    ],
)
def test_firmware_in_rows_equals_the_references(
    board: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project(seed, board, tmp_path, monkeypatch)
    ran = microgen.run(made, compare=True)
    assert ran.checks.ok, ran.checks.to_text()
    for verdict in ran.verdicts:
        assert verdict.ok, str(verdict)
        assert verdict.layers is not None
        assert not verdict.layers.unseen
    assert ran.verdicts[0].layers is not None
    assert ran.verdicts[0].layers.compared >= sum(
        len(call.steps) for call in manifest.load(made).calls
    )
