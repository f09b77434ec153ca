"""Random networks whose layers are computed together, row by row, on emulated boards: outputs equal
the reference, and bytes that no buffer has, between and around the buffers, are not changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.manifest.schedule import ScheduleRecord
from microgen.compiler.schedule import file
from microgen.pipeline import Firmware, planning
from tests.differential.generator import Case
from tests.graph.rows import guarded, planted
from tests.graph.rows.blocks import generate
from tests.graph.rows.depths import depth_of, schedules
from tests.graph.rows.test_depths import difference, inputs_of, some
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV

pytestmark = [NEEDS_NINJA]

_SHARED = 0.5
_MOST_DEPTHS = 3  # of each network
USUAL = ("mps2_an386", range(4, 5))
BOARDS = ("mps2_an385", "mps2_an386", "mps3_an547", "qemu_riscv32", "mps2_an500")
EACH = 10  # networks of each board


Given = tuple[Case, Path, ScheduleRecord]  # a network, its file, and how it is computed


def _depths(case: Case, model: Path, board: str) -> list[ScheduleRecord]:
    """Some of the network's depths: the deepest and others."""
    rng = np.random.default_rng(case.seed)
    model.write_bytes(case.net.model(case.outputs))
    made = schedules(model, board, rng, _SHARED)
    return [record for _, record in some(made, _MOST_DEPTHS)]


def _firmware(given: Sequence[Given], board: str, monkeypatch: pytest.MonkeyPatch) -> Firmware:
    """One firmware of all networks, each as its schedule says."""
    records = iter([record for _, _, record in given])

    def choose(partition: object, cpu: object, *_more: object, **_named: object) -> object:
        return file.applied(next(records), partition, cpu)  # type: ignore[arg-type]

    monkeypatch.setattr(planning.schedule, "choose", choose)
    models = [(model, f"m{k}") for k, (_, model, _) in enumerate(given)]
    return microgen.compile_models(models, board, **guarded.OPTIONS)


def _ran(
    given: Sequence[Given], board: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """What is wrong with the networks' outputs. Raises GuardedError."""
    with monkeypatch.context() as patched:
        firmware = _firmware(given, board, patched)
    cases = [case for case, _, _ in given]
    found = guarded.on_board(firmware, folder, board, [inputs_of(case) for case in cases])
    pairs = zip(cases, found, strict=True)
    return [f"{case.seed}: {what}" for case, got in pairs if (what := difference(case, got))]


def _wrong(
    seeds: Sequence[int], board: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """What is wrong with random networks at some of their depths."""
    given = []
    for case in map(generate, seeds):
        model = folder / f"n{case.seed}.tflite"
        given += [(case, model, record) for record in _depths(case, model, board)]
    assert max(depth_of(record) for _, _, record in given) > 2
    return _ran(given, board, folder, monkeypatch)


def _planted(depth: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is wrong with one network at one depth, in which an error was planted."""
    case, model = generate(planted.SEED), folder / "n.tflite"
    model.write_bytes(case.net.model(case.outputs))
    made = schedules(model, USUAL[0], np.random.default_rng(case.seed), _SHARED)
    return _ran([(case, model, made[depth])], USUAL[0], folder, monkeypatch)


@NEEDS_ARM
def test_a_small_lag_is_a_wrong_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.small_lags(monkeypatch)
    assert _planted(1, tmp_path, monkeypatch)


@NEEDS_ARM
def test_guard_zones_find_a_short_buffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.short_buffers(monkeypatch)
    with pytest.raises(guarded.GuardedError, match=f"status {guarded.STRAY}"):
        _planted(planted.TOGETHER, tmp_path, monkeypatch)


@NEEDS_ARM
def test_some_networks_in_rows_keep_to_their_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, seeds = USUAL
    assert not _wrong(seeds, board, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "first"),
    [
        pytest.param(board, 100 * k + at, marks=NEEDS_RISCV if "riscv" in board else NEEDS_ARM)
        for k, board in enumerate(BOARDS)
        for at in range(0, EACH, 5)
    ],
)
def test_many_networks_in_rows_keep_to_their_memory(
    board: str, first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not _wrong(range(first, first + 5), board, tmp_path, monkeypatch)
