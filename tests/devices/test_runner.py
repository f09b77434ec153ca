"""The generated runner on the host: every sequence of hooks and operators, whatever fails."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from microgen import planner
from microgen.options import Options
from microgen.planner.program.types import Program
from microgen.project.emit.model import emit
from microgen.project.emit.unit import EmitOptions, Unit
from tests.devices import sequences, stubs
from tests.devices.networks import BOTH, NPU, chain
from tests.devices.sequences import Operator
from tests.support.compiling import program_of
from tests.support.tools import NEEDS_CC

pytestmark = NEEDS_CC

PLAIN_BETWEEN = ("npu0:device-api", "dsp", "npu1:device-api")
THREE = ("a-1:device-api", "b:device-api:device-type=1", "c_3:device-api")
NETWORKS = {
    "one operator": ((NPU,), ("npu0",)),
    "host around it": ((NPU,), ("", "npu0", "")),
    "several on one device": ((NPU,), ("npu0", "npu0", "", "npu0")),
    "two devices": (BOTH, ("npu0", "npu1")),
    "two devices and the host in turn": (BOTH, ("npu1", "", "npu0", "npu1", "", "npu0")),
    "a target without device API between": (PLAIN_BETWEEN, ("npu0", "dsp", "npu1")),
    "no device at all": (("dsp", "dsp2"), ("dsp", "", "dsp2")),
    "three devices": (THREE, ("c_3", "b", "a-1", "", "b")),
    "external functions": (BOTH, ("npu0/f", "npu0/f", "", "npu1/g", "npu0/h")),
}


def _network(name: str) -> Program:
    targets, places = NETWORKS[name]
    return program_of(chain(*places), Options(targets=targets))


def _operators(program: Program) -> list[Operator]:
    """The operators. The context that each is passed stands before its name."""
    targets = {d.name: d.target for d in program.devices}
    return [(f"{targets.get(c.device, '')}:{c.function}", c.device) for c in program.calls]


def _expected(program: Program, failing: dict[int, int]) -> tuple[list[str], int]:
    targets = {d.name: d.target for d in program.devices}
    operators = [(name, targets.get(device, "")) for name, device in _operators(program)]
    ran = sequences.run([d.target for d in program.devices], operators, failing)
    return ran.called, ran.status


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NETWORKS)
def test_each_call_made_to_fail_in_turn(name: str, tmp_path: Path) -> None:
    program = stubs.fallible(_network(name))
    built = stubs.build(program, tmp_path)
    count = len(_expected(program, {})[0])
    for failing in [{}, *({n: 100 + n} for n in range(1, count + 1))]:
        assert stubs.run(built, failing) == _expected(program, failing), failing


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NETWORKS)
def test_each_hook_made_to_fail_around_operators_that_cannot(name: str, tmp_path: Path) -> None:
    program = _network(name)
    built = stubs.build(program, tmp_path)
    called, _ = _expected(program, {})
    hooks = [n for n, what in enumerate(called, 1) if ":" not in what]
    for failing in [{}, *({n: 100 + n} for n in hooks)]:
        assert stubs.run(built, failing) == _expected(program, failing), failing


@pytest.mark.parametrize("name", ["two devices and the host in turn", "three devices"])
def test_the_first_of_several_errors_is_returned_and_everything_is_cleaned_up(
    name: str, tmp_path: Path
) -> None:
    program = stubs.fallible(_network(name))
    built = stubs.build(program, tmp_path)
    count = len(_expected(program, {})[0])
    rng = np.random.default_rng(0)
    for _ in range(60):
        numbers = rng.choice(count, int(rng.integers(2, 5)), replace=False) + 1
        failing = {int(n): int(rng.integers(-5, 5)) or 7 for n in sorted(numbers)}
        assert stubs.run(built, failing) == _expected(program, failing), failing


def test_the_model_sees_what_it_should() -> None:
    """Checks the model of these tests with one run that is written out."""
    operators = [("f", "a"), ("g", ""), ("h", "b")]
    ran = sequences.run(["a", "b"], operators)
    assert ran.called == [
        *("a Activate", "b Activate", "a Open", "f", "a Close", "g", "b Open", "h", "b Close"),
        *("b Deactivate", "a Deactivate"),
    ]
    failed = sequences.run(["a", "b"], operators, {4: 9, 5: 8})
    assert failed.called[2:] == ["a Open", "f", "a Close", "b Deactivate", "a Deactivate"]
    assert failed.status == 9


def test_devices_are_activated_in_the_order_of_their_declaration() -> None:
    assert [d.target for d in _network("three devices").devices] == ["a-1", "b", "c_3"]


def test_devices_are_the_last_parameters_in_the_order_of_the_struct() -> None:
    """TVM lets a pool and a device change places if there are two devices."""
    program = _network("two devices")
    unit = Unit(program, planner.plan(program), EmitOptions("x.tflite"))
    files = emit(unit).files
    source = files["model/codegen/host/src/default_lib0.c"].decode()
    (declared,) = set(re.findall(r"___tvm_main__\((void .*)\)", source))
    assert declared.endswith("void *device_context_npu0, void *device_context_npu1")
    assert "devices->npu0, devices->npu1);" in source
    header = files["model/codegen/host/include/tvmgen_default.h"].decode()
    assert re.findall(r"void \*(npu\d);", header) == ["npu0", "npu1"]


def test_a_declared_device_that_nothing_needs_is_not_there() -> None:
    program = program_of(chain("npu0", ""), Options(targets=BOTH))
    assert [d.name for d in program.devices] == ["npu0"]
