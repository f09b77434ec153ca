"""Which core's measurements stand for a CPU: one rule for all tables, and it is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from microgen.interface.cli import main
from microgen.kernels import cost, measured, stack
from microgen.options import Options
from microgen.project.firmware import code_size
from microgen.running.timing import cores, of_cpu
from microgen.target import standing
from microgen.target.cpu import CPUS, Cpu, Feature, _arm
from tests.support.compiling import program_of
from tests.support.graphs import Builder
from tests.support.places import DIGITS

DSP, FPU, MVE = Feature.DSP, Feature.FPU, Feature.MVE
M35P = _arm("m35p", "Cortex-M35P", "v8-M.mainline", "cortex-m35p", ("fpv5-sp-d16", (FPU,)), DSP)
UNKNOWN = [
    (M35P, "cortex-m33", "cortex-m33"),
    (_arm("m1", "Cortex-M1", "v6S-M", "cortex-m1"), "cortex-m0", "cortex-m0"),
    (
        _arm("m52", "Cortex-M52", "v8.1-M.mainline", "cortex-m52", ("", (MVE,))),
        "cortex-m55",
        "cortex-m55",
    ),
    (_arm("star", "STAR", "v8-M.mainline", "star-mc1"), "cortex-m3", "cortex-m33"),
    (_arm("m55-nomve", "X", "v8.1-M.mainline", "cortex-m55+nomve"), "cortex-m33", "cortex-m33"),
]


@pytest.mark.parametrize(("cpu", "costs", "timings"), UNKNOWN, ids=lambda one: str(one)[:9])
def test_an_unknown_core_gets_the_nearest_ones(cpu: Cpu, costs: str, timings: str) -> None:
    """It has no instruction that the core has not, and is of the nearest version."""
    assert cost.measured_core(cpu) == costs
    core = of_cpu(cpu)
    assert core is not None
    assert core.name == timings


def test_it_is_said_whose_costs_and_timings_stand_for_it() -> None:
    assert cost.said(M35P) == "costs of Cortex-M33 stand for Cortex-M35P"
    assert cores.remark(M35P) == "timings of Cortex-M33 stand for Cortex-M35P"
    assert cost.said(CPUS["cortex-m0plus"]) == "costs of Cortex-M0 stand for Cortex-M0+"
    plain = "costs of Cortex-M4 with FPU stand for Cortex-M4"
    assert cost.said(CPUS["cortex-m4"]) == plain
    for name in (*cost.cores(), "host"):
        assert cost.said(CPUS[name]) == ""
    assert cores.remark(CPUS["cortex-m33"]) == ""


def test_a_bound_of_an_unknown_core_is_the_most_of_its_architecture() -> None:
    table = measured.load(measured.STACK_BYTES)
    found = stack.column(M35P, "gcc").rows["shared"]
    arm = [table.column(name, "shared") for name in table.columns if not name.startswith("rv32")]
    assert found == {name: max(rows.get(name, 0) for rows in arm) for rows in arm for name in rows}
    b = Builder()
    program = program_of(b.graph(b.dense(b.input(1, 12), 7)), board="mps2_an505")
    most = {
        name: code_size.most(program, cpu, Options(), 1)
        for name, cpu in {**CPUS, "m35p": M35P}.items()
        if cpu.architecture == "arm"
    }
    assert most["m35p"] == max(n for n in most.values() if n is not None)


def test_of_equally_near_cores_the_first_stands() -> None:
    cpu = replace(CPUS["cortex-m4"], name="other", cflags=("-mcpu=other",))
    found = standing.core(cpu, ["cortex-m7", "cortex-m4"])
    assert found is CPUS["cortex-m7"]
    assert standing.core(cpu, ["rv32imac"]) is None
    assert standing.core(cpu, []) is None


def test_commands_say_whose_costs_stand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project, model = str(tmp_path / "p"), str(DIGITS)
    said = "costs of Cortex-M3 stand for Cortex-M33"
    assert main(["generate", model, "-b", "mps2_an521", "-o", project]) == 0
    assert said in capsys.readouterr().err
    for command in (
        ["plan", model, "-b", "mps2_an521"],
        ["plan", project],
        ["inspect", project],
        ["plan", model, "-b", "mps2_an521", "--explore"],
    ):
        assert main([*command]) == 0
        assert said in capsys.readouterr().out
        assert main([*command, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["stands"] == said
    assert main(["plan", model, "-b", "mps2_an505"]) == 0
    assert "stand for" not in capsys.readouterr().out
