"""Schedules in files: read back as they were, and refused with the place that is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from microgen.base.errors import MicrogenError
from microgen.base.manifest.schedule import ChoiceRecord, FunctionChoices, ScheduleRecord
from microgen.compiler.schedule import choose, file
from tests.compiler.schedule.costs import M4, no_ram, parts_of, separable, two_convolutions

PARTS = parts_of(two_convolutions())
RECORD = file.record(choose(PARTS, M4.cpu, "speed", no_ram))


def one(*computes: str, implementation: str = "mg_conv2d_s8_dsp") -> FunctionChoices:
    return FunctionChoices("builtin", (ChoiceRecord(computes, implementation),))


def of(*functions: FunctionChoices) -> ScheduleRecord:
    return ScheduleRecord(functions=functions)


def test_a_schedule_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(file.dumps(RECORD))
    assert file.load(path) == RECORD
    made = file.applied(file.load(path), PARTS, M4.cpu)
    assert file.record(made).functions == RECORD.functions
    assert made.goal == "file"


def test_forms_and_places_are_taken_from_the_file() -> None:
    (first, *rest) = RECORD.functions
    (choice,) = first.choices
    changed = replace(choice, implementation="mg_conv2d_s8", form="shared", in_place=False)
    made = file.applied(of(replace(first, choices=(changed,)), *rest), PARTS, M4.cpu)
    (found,) = made.partition.regions[0].choices
    assert (found.symbol, found.is_shared, found.in_place) == ("mg_conv2d_s8", True, False)


def test_layers_of_several_functions_can_share_one() -> None:
    parts = parts_of(separable())
    depthwise = ChoiceRecord(("layer0",), "mg_depthwise_conv2d_s8_dsp")
    pointwise = ChoiceRecord(("layer1",), "mg_conv2d_1x1_s8_dsp")
    made = file.applied(of(FunctionChoices("builtin", (depthwise, pointwise))), parts, M4.cpu)
    (region,) = made.partition.regions
    assert [node.outputs[0] for node in region.nodes] == ["layer0", "layer1"]


def _misplaced(change: Callable[[list[FunctionChoices]], object]) -> ScheduleRecord:
    functions = list(RECORD.functions)
    change(functions)
    return of(*functions)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (_misplaced(lambda f: f.pop()), "nothing computes 'layer2'"),
        (_misplaced(lambda f: f.append(f[0])), "'layer0' is computed twice"),
        (_misplaced(lambda f: f.reverse()), "'layer2' is computed before 'layer1', which it reads"),
        (_misplaced(lambda f: f.append(one("x"))), "no node computes 'x'"),
        (
            _misplaced(lambda f: f.__setitem__(0, one("layer0", implementation="mg_add_s8"))),
            "'mg_add_s8' cannot compute 'layer0': there is no such implementation",
        ),
        (
            _misplaced(
                lambda f: f.__setitem__(0, one("layer0", implementation="mg_conv2d_1x1_s8_dsp"))
            ),
            "'mg_conv2d_1x1_s8_dsp' cannot compute 'layer0': the kernel must be 1x1",
        ),
        (
            _misplaced(lambda f: f.__setitem__(0, replace(f[0], codegen="cmsis-nn"))),
            "'layer0' belongs to builtin, not to cmsis-nn",
        ),
        (
            of(RECORD.functions[0], one("layer2", "layer1")),
            "the nodes before 'layer1' are no chain that ends with it",
        ),
        (_misplaced(lambda f: f.append(FunctionChoices("builtin", ()))), "computes nothing"),
    ],
)
def test_what_does_not_fit_is_refused(given: ScheduleRecord, words: str) -> None:
    with pytest.raises(MicrogenError) as caught:
        file.applied(given, PARTS, M4.cpu)
    assert words in str(caught.value)
    assert "--schedule" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not valid JSON"),
        ("[]", "is no schedule"),
        ("{}", "is no schedule: required field missing @ functions"),
        (json.dumps({"functions": [{"codegen": "builtin"}]}), "is no schedule"),
        (
            json.dumps({"functions": [{"codegen": "builtin", "choices": [{"computes": []}]}]}),
            "is no schedule: invalid value @ functions.choices",
        ),
        ("[" * 100000, "nested too deeply"),
        (
            json.dumps(
                {
                    "functions": [
                        {"codegen": "builtin", "choices": [{"computes": ["a"], "form": "odd"}]}
                    ]
                }
            ),
            "is no schedule",
        ),
    ],
)
def test_files_that_are_none_are_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(MicrogenError) as caught:
        file.load(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_is_missing_or_none(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(MicrogenError):
            file.load(path)
