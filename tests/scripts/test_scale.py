"""``python -m scripts.scale``: its networks, and the exit codes for growth and for failed steps."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from scripts.scale import __main__ as command
from scripts.scale import steps, unit
from scripts.scale.networks import FLOATS, NETWORKS, make
from scripts.scale.steps import Case


@pytest.mark.parametrize("name", [*NETWORKS, *FLOATS])
def test_networks_are_valid_and_always_the_same(name: str) -> None:
    number = {"mobilenet_v2": 32, "transformer": 2}.get(name, 20)
    model = make(name, number)
    onnx.checker.check_model(model, full_check=True)
    assert model.SerializeToString() == make(name, number).SerializeToString()


def test_a_step_is_measured_or_failed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project that is not there cannot be built."""
    monkeypatch.setattr(command, "scale", lambda: 1.0)
    assert command.main(["--network", "chain:2", "--board", "native", "--step", "plan"]) == 0
    assert command.main(["--network", "chain:2", "--board", "nowhere", "--step", "build"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert "plan " in first
    assert "failed" not in first
    assert "generate failed" in second
    assert command.main(["--network", "other"]) == 2


def test_the_unit_of_times_is_always_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit, "ROUNDS", 1)
    assert unit.work() == unit.work() == 406_789


def test_growth_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def calls(_folder: Path, case: Case, _step: str) -> int:
        return case.number**2 if case.network == "chain" else case.number

    monkeypatch.setattr(command, "calls", calls)
    assert command.main(["--counts", "--network", "chain", "--board", "native", "--calls", "4"])
    assert not command.main(["--counts", "--network", "wide", "--board", "native", "--calls", "4"])
    assert "4.00  more than 2.3" in capsys.readouterr().out


def test_calls_are_counted() -> None:
    case = Case("chain", 2, "native", "balanced")
    with steps.stored(case) as folder:
        assert steps.calls(folder, case, "generate") > 10_000
