"""Firmware with loops inside of loops and in conditions, a state in a body, and a branch."""

from __future__ import annotations

from pathlib import Path

from microgen.interface import api
from tests.support import tflite_loops as loops
from tests.support.tools import NEEDS_ARM

NETWORKS = {
    "nested": loops.nested,
    "in_condition": loops.in_condition,
    "with_state": loops.with_state,
    "branching": loops.branching,
}


@NEEDS_ARM
def test_checks_pass_and_a_run_takes_no_more_stack_than_its_bound(tmp_path: Path) -> None:
    for name, make in NETWORKS.items():
        (tmp_path / f"{name}.tflite").write_bytes(make())
    models = [tmp_path / f"{name}.tflite" for name in NETWORKS]
    api.generate_models(models, "mps2_an386", tmp_path / "p")
    found = api.run(tmp_path / "p", compare=True)
    assert found.checks.failed == ()
    status = {one.name: one.status for one in found.checks.checks}
    assert [status[name] for name in ("stack", "runner", "layout")] == ["ok"] * 3
    assert found.stack > 0
    assert all(verdict.ok for verdict in found.verdicts)
