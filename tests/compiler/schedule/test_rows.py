"""Schedules in files that have layers computed some rows at a time."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from microgen.base.errors import MicrogenError
from microgen.base.manifest.schedule import ChoiceRecord, FunctionChoices, ScheduleRecord
from microgen.compiler import lowering
from microgen.compiler.codegens import registry
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import choose, file
from microgen.planner.program.steps import InRows
from microgen.planner.program.types import Program
from tests.compiler.schedule.costs import M4, no_ram, parts_of
from tests.support.graphs import Builder


@functools.cache
def chain() -> Partition:
    """A convolution, a depthwise one, a 1x1 one, and a dense layer."""
    b = Builder()
    data = b.depthwise(b.conv(b.input(1, 9, 8, 4), 8))
    return parts_of(b.graph(b.dense(b.conv(data, 4, 1), 3)))


def names() -> list[str]:
    return [region.nodes[0].outputs[0] for region in chain().regions]


KERNELS = ("mg_conv2d_s8_dsp", "mg_depthwise_conv2d_s8_dsp", "mg_conv2d_1x1_s8_dsp")


def in_rows(*rows: int, kernels: tuple[str, ...] = KERNELS) -> ScheduleRecord:
    """The first layers in one function, with so many rows at a time, and the others as they are."""
    given = zip(names(), kernels, rows, strict=False)
    choices = tuple(ChoiceRecord((name,), kernel, rows=each) for name, kernel, each in given)
    usual = file.record(choose(chain(), M4.cpu, "speed", no_ram)).functions
    return ScheduleRecord(functions=(FunctionChoices("builtin", choices), *usual[len(rows) :]))


def lowered(given: ScheduleRecord) -> Program:
    made = file.applied(given, chain(), M4.cpu)
    outputs = chain().graph.outputs
    return lowering.lower(made.partition, registry(), M4, module="m", output_names=outputs)


def test_a_schedule_with_rows_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    made = file.applied(in_rows(1, 1, 3), chain(), M4.cpu)
    path = tmp_path / "s.json"
    path.write_text(file.dumps(file.record(made)))
    assert file.load(path).functions == in_rows(1, 1, 3).functions


def test_layers_in_rows_are_one_call_with_all_its_layers() -> None:
    program = lowered(in_rows(1, 1, 3))
    first = program.calls[0]
    assert [step.tensor for step in first.steps] == names()[:3]
    assert [step.place for step in first.steps] == [InRows(0, 1), InRows(1, 1), InRows(2, 3)]
    assert {buffer.tensor for buffer in program.buffers} == {names()[2]}


def test_equal_parts_are_one_function() -> None:
    b = Builder()
    data = b.input(1, 8, 8, 4)
    for _ in range(3):
        data = b.conv(data, 4)
    parts = parts_of(b.graph(data))
    names = [region.nodes[0].outputs[0] for region in parts.regions]
    choices = tuple(ChoiceRecord((name,), KERNELS[0], rows=2) for name in names)
    given = ScheduleRecord(functions=(FunctionChoices("builtin", choices),))
    made = file.applied(given, parts, M4.cpu)
    program = lowering.lower(
        made.partition, registry(), M4, module="m", output_names=parts.graph.outputs
    )
    (function,) = program.functions
    assert function.rolling is not None
    assert len({part.name for part in function.rolling.parts}) < 3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (in_rows(1, 1, 2), "2 rows at a time do not divide 9 rows"),
        (in_rows(1, 0, 1), "each choice needs one node and rows"),
        (in_rows(2, 2, 1), "is not read in the rows that it gets at a time"),
        (
            in_rows(1, 1, 1, 1, kernels=(*KERNELS, "mg_dense_s8")),
            "cannot be computed row by row",
        ),
        (
            in_rows(1, 1, 1, kernels=("mg_add_s8", *KERNELS[1:])),
            "'mg_add_s8' cannot compute 'layer0'",
        ),
    ],
)
def test_rows_that_cannot_be_are_refused(given: ScheduleRecord, words: str) -> None:
    with pytest.raises(MicrogenError) as caught:
        file.applied(given, chain(), M4.cpu)
    assert words in str(caught.value)


def test_a_result_that_is_read_elsewhere_cannot_be_inside() -> None:
    b = Builder()
    first = b.conv(b.input(1, 8, 8, 4), 4)
    second = b.conv(first, 4)
    parts = parts_of(b.graph(b.add(first, b.conv(second, 4))))
    names = [region.nodes[0].outputs[0] for region in parts.regions]
    usual = file.record(choose(parts, M4.cpu, "speed", no_ram)).functions
    both = tuple(ChoiceRecord((name,), KERNELS[0], rows=1) for name in names[:2])
    given = ScheduleRecord(functions=(FunctionChoices("builtin", both), *usual[2:]))
    with pytest.raises(MicrogenError, match=f"'{names[0]}' is read outside the function, too"):
        file.applied(given, parts, M4.cpu)


def test_negative_rows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    choice = {"computes": ["a"], "implementation": "b", "rows": -1}
    path.write_text(json.dumps({"functions": [{"codegen": "builtin", "choices": [choice]}]}))
    with pytest.raises(MicrogenError, match="is no schedule"):
        file.load(path)
