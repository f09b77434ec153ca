"""An output that begins too late before its input, so that the layer reads what it wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.graph.ir.graph import Array
from microgen.graph.rows import overlap as rows
from microgen.kernels import by_shape, lags
from microgen.running.comparing.verdict import Verdict
from tests.graph.rows import forced, networks
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_GDBSERVER, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_GDBSERVER]

FIRST = "conv1/Relu"
IN_ROWS = 76  # the seed of a random network whose first function has a lag
OPTIONS = {"workspace_io": True, "alignment": 4}


def _generated(folder: Path) -> int:
    """The lag of the first layer, whose input is in the workspace, too."""
    done = microgen.generate(DIGITS, "native", folder, **OPTIONS)
    pair = done.manifest.plan.in_place[0]
    places = {buffer.name: buffer.offset for buffer in done.manifest.plan.buffers}
    assert places[pair.input] - places[pair.output] == -(-pair.lag // 4) * 4
    return pair.lag


def test_a_lag_that_is_too_small_by_four_is_a_wrong_layer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    furthest = lags.furthest

    def short(written: Array, read: Array) -> int:
        return max(0, furthest(written, read) - 4)

    stated = _generated(tmp_path / "right")
    found = microgen.run(tmp_path / "right", compare=True)
    assert found.verdicts[0].ok
    monkeypatch.setattr(lags, "furthest", short)
    monkeypatch.setattr(by_shape, "results", {})
    assert _generated(tmp_path / "wrong") == stated - 4
    wrong = microgen.run(tmp_path / "wrong", compare=True).verdicts[0]
    assert not wrong.ok
    assert FIRST in str(wrong)


def test_a_lag_of_rows_that_is_too_small_is_a_wrong_layer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    of, case = rows.of, networks.generate(IN_ROWS)
    model = tmp_path / "m.tflite"
    model.write_bytes(case.net.model(case.outputs))

    def ran(folder: Path) -> tuple[Verdict, int]:
        with monkeypatch.context() as patch:
            forced.roll(patch, IN_ROWS)
            done = microgen.generate(model, "native", folder, **OPTIONS)
        (first, *_) = done.manifest.calls
        assert len(first.steps) > 1, "the first call computes no rows"
        verdict = microgen.run(folder, compare=True).verdicts[0]
        return verdict, done.manifest.plan.in_place[0].lag

    right, lag = ran(tmp_path / "right")
    monkeypatch.setattr(rows, "of", lambda *a: {n: max(0, k - 4) for n, k in of(*a).items()})
    wrong, short = ran(tmp_path / "wrong")
    assert (right.ok, wrong.ok) == (True, False)
    assert short == lag - 4
    assert "call 0, layer" in str(wrong)


def test_lags_are_of_the_accesses_that_follow() -> None:
    assert lags.furthest(np.array([0, 8, 16]), np.array([0, 4, 2])) == 14
    assert lags.furthest(np.array([0, 8]), np.array([0, 9])) == 0
