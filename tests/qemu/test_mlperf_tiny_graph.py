"""MLPerf Tiny's networks by the graph executor: LiteRT's outputs, and the cost."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.frontends.tflite.litert import LiteRT
from microgen.running.comparing import stimuli
from tests.qemu.test_mlperf_tiny import ALL_FILES, HELD, SMALL_BOARDS
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]
USUAL = [("kws", "mps2_an386"), ("ad", "mps3_an547"), ("strww", "microbit")]
# Their graphs' pools are too large.
AOT_ONLY = {
    ("vww", "qemu_cortex_m3"),
    ("kws", "stm32vldiscovery"),
    ("strww", "stm32vldiscovery"),
}
SLOW_BOARDS = ("mps2_an386", "mps3_an547", "native")
CASES = [
    *USUAL,
    *(
        pytest.param(model, board, marks=pytest.mark.slow)
        for board in SLOW_BOARDS
        for model in ALL_FILES
        if (model, board) not in USUAL
    ),
]


@pytest.mark.sampled(1)
@pytest.mark.skipif(bool(LiteRT().lacking()), reason="ai-edge-litert is not installed")
@pytest.mark.parametrize(("model", "board"), CASES)
def test_outputs_are_litert_s_and_the_executor_costs_little(
    model: str, board: str, mlperf_models: Path, tmp_path: Path
) -> None:
    is_host = board == "native"
    path = mlperf_models / ALL_FILES[model]
    made = microgen.generate(path, board, tmp_path / "p", executor="graph")
    inputs = stimuli.samples(made.manifest.inputs, random=1)
    given = {name: arrays[-2:] for name, arrays in inputs.items()}
    found = microgen.run(tmp_path / "p", given, compare=True, profile=not is_host)
    assert len(found.verdicts) == 2
    assert all(verdict.ok for verdict in found.verdicts)
    if not is_host:
        assert found.instructions is not None
        assert found.per_call is not None
        own = found.instructions[1] - sum(found.per_call[1])
        limit = 1700 if board == "microbit" else 1000  # docs/guides/executors.md states it
        assert own / len(made.program.calls) < limit


def _holds(model: str, board: str) -> bool:
    return model in HELD[board] and (model, board) not in AOT_ONLY


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("model", "board"),
    [
        # What the other executor refuses, too, is no news.
        pytest.param(model, board, marks=() if model in HELD[board] else pytest.mark.slow)
        for board in SMALL_BOARDS
        for model in ALL_FILES
    ],
)
def test_what_small_boards_hold(model: str, board: str, mlperf_models: Path) -> None:
    path = mlperf_models / ALL_FILES[model]
    if _holds(model, board):
        microgen.compile_model(path, board, executor="graph")
    else:
        with pytest.raises(
            microgen.MicrogenError, match=r"needs at least [\d,]+ bytes of (RAM|flash)"
        ):
            microgen.compile_model(path, board, executor="graph")
