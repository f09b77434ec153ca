"""Random ONNX networks on emulated boards: each layer equals the numpy reference, floats within
their bounds, and ONNX Runtime's layers agree with it, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from tests.frontends.onnx.graphs import float_networks, quantized_networks
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV

pytestmark = [NEEDS_NINJA, pytest.mark.slow]

_EACH = range(10)
_BOARDS = ("mps2_an385", "mps2_an386", "mps3_an547", "qemu_riscv32")
_KINDS = {"quantized": quantized_networks.generate, "float": float_networks.generate}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize(
    "board",
    [pytest.param(b, marks=NEEDS_RISCV if "riscv" in b else NEEDS_ARM) for b in _BOARDS],
)
def test_random_networks_on_a_board(board: str, kind: str, tmp_path: Path) -> None:
    """All of them are one firmware."""
    cases = [_KINDS[kind](seed) for seed in _EACH]
    paths = [tmp_path / f"n{case.seed}.onnx" for case in cases]
    given = {}
    for case, path in zip(cases, paths, strict=True):
        path.write_bytes(case.model.SerializeToString())
        for name in case.samples[0]:
            given[f"{path.stem}.{name}"] = np.stack([sample[name] for sample in case.samples])
    microgen.generate_models(list(paths), board, tmp_path / "p")
    verdicts = microgen.run(tmp_path / "p", given, compare=True, timeout=300).verdicts
    assert len(verdicts) == 2 * len(cases)
    assert not [str(one) for one in verdicts if one.is_skipped or not one.ok]
