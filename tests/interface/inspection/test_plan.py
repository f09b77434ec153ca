"""A memory plan as tables."""

from __future__ import annotations

from microgen.base.output.text_layout import lines
from microgen.interface.inspection.plan import of_program
from microgen.planner import plan
from microgen.planner.program.types import Program
from tests.planner.builder import Builder, chain


def _shown(program: Program) -> list[str]:
    return list(lines(of_program(program, plan(program)).parts(), 80))


def test_a_short_plan() -> None:
    assert _shown(chain([64, 64, 32], in_place=(1,))) == [
        "one column per call: # is live, = in its input's place, @ kept across runs",
        "buffer        offset  bytes  calls",
        "sid_0              0     64  ##..",
        "sid_1              0     64  .=#.",
        "sid_2             64     32  ..##",
        "most at once             96  ..^.",
        "",
        "call  live bytes  of the most               computes",
        "   1          64  ################          layer_0",
        "   2          64  ################          layer_1",
        "   3          96  ########################  layer_2",
        "   4          32  ########                  layer_3",
        "",
        "workspace peak 96 bytes, lower bound 96, gap 0 (optimal for this schedule)",
    ]


def test_an_output_that_begins_before_its_input_is_marked() -> None:
    builder = Builder().call(["input"], {"a": 64}).call(["a"], {"b": 48}, in_place=[(0, 0, 16)])
    shown = _shown(builder.call(["b"], ["output"]).build())
    assert shown[1] == "< is in its input's place, too, but begins before it"
    assert [line.split() for line in shown[3:5]] == [
        ["a", "16", "64", "##."],
        ["b", "0", "48", ".<#"],
    ]


def test_state_is_marked() -> None:
    builder = Builder().variable("state", 32).call(["input"], {"a": 64})
    program = builder.call(["a", "state"], {"b": 32}).call(["b"], ["output"]).build()
    rows = {line.split()[0]: line.split()[-1] for line in _shown(program)[2:5]}
    assert rows == {"state": "@@@", "a": "##.", "b": ".##"}


def test_two_hundred_calls_fit() -> None:
    shown = _shown(chain([1000 + i for i in range(200)]))
    assert max(map(len, shown)) <= 80
    assert shown[0].startswith("6 calls per column: ")
    assert any(line.split()[:2] == ["199-201", "2,397"] for line in shown)


def test_names_from_the_model_cannot_break_lines() -> None:
    builder = Builder().call(["input"], {"a": 8})
    object.__setattr__(builder.calls[0].steps[0], "tensor", "evil\n\x1b[31m" + "x" * 200)
    shown = _shown(builder.call(["a"], ["output"]).build())
    assert all(line.isprintable() and len(line) <= 80 for line in shown)


def test_nothing_planned() -> None:
    shown = _shown(Builder().call(["input"], ["output"]).build())
    assert shown[0] == "no planned buffers: every result goes straight to an output"
