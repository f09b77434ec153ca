"""The timeline as text."""

from __future__ import annotations

from microgen.planner import plan
from microgen.planner.timeline import live_bytes, timeline
from tests.planner.builder import Builder, chain


def test_short_timeline() -> None:
    program = chain([64, 64, 32], in_place=(1,))
    made = plan(program)
    assert live_bytes(program, made) == (64, 64, 96, 32)
    assert timeline(program, made) == (
        "buffer            offset     bytes  one column per step; "
        "'#' lives, '=' takes over its input's place\n"
        "sid_0                  0        64  ##..\n"
        "sid_1                  0        64  .=#.\n"
        "sid_2                 64        32  ..##\n"
        "peak                            96    ^\n"
        "\n"
        "step      live bytes  of the peak               computes\n"
        "0                 64  ################          layer_0\n"
        "1                 64  ################          layer_1\n"
        "2                 96  ########################  <- peak layer_2\n"
        "3                 32  ########                  layer_3\n"
    )


def test_state_is_marked() -> None:
    builder = Builder().variable("state", 32).call(["input"], {"a": 64})
    program = builder.call(["a", "state"], {"b": 32}).call(["b"], ["output"]).build()
    made = plan(program)
    assert live_bytes(program, made) == (96, 128, 64)
    lines = timeline(program, made).splitlines()
    assert lines[0].endswith("'#' lives, '=' in place, '@' across runs")
    assert {line.split()[0]: line.split()[-1] for line in lines[1:4]} == {
        "state": "@@@",
        "a": "##.",
        "b": ".##",
    }


def test_two_hundred_steps_fit() -> None:
    program = chain([1000 + i for i in range(200)])
    lines = timeline(program, plan(program)).splitlines()
    assert max(map(len, lines)) <= 100
    assert "4 steps per column" in lines[0]
    assert sum("<- peak" in line for line in lines) == 1
    assert any(line.startswith("196-199") and "2397" in line and "peak" in line for line in lines)


def test_names_from_the_model_cannot_break_lines() -> None:
    builder = Builder().call(["input"], {"a": 8})
    call = builder.calls[0]
    object.__setattr__(call, "tensor", "evil\n\x1b[31m" + "x" * 200)
    program = builder.call(["a"], ["output"]).build()
    text = timeline(program, plan(program))
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 100


def test_nothing_planned() -> None:
    program = Builder().call(["input"], ["output"]).build()
    assert timeline(program, plan(program)) == (
        "no planned buffers: every result goes straight to an output\n"
    )
