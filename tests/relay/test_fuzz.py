"""Hostile text: mutations of valid programs either parse or are refused in one line, and soon."""

from __future__ import annotations

import time

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import MicrogenError
from tests.relay import seed
from tests.relay.random_modules import random_module

# One text costs milliseconds; a second is a hang.
_SECONDS = 5.0

_PIECES = (
    *("(", ")", "[", "]", "{", "}", ",", ";", ":", "=", ".", "->", "/*", "*/", "//", "%0", "%1"),
    *("%x0", "@main", "let", "fn", "def", "if", "-1", "1e9999f", "99999999999999999999", "2f"),
    *("True", "None", '"', '"\\ud800"', "?", "Tensor[(", "meta[relay.Constant][0]", "#[metadata]"),
    *("newshape=[-4, -1]", "axis=-99", "\x00", "é", "nn.conv2d(", "split(", "\\", "inff", "-"),
)


def _texts() -> list[str]:
    extra = """def @main(%x0: Tensor[(1, 8, 8, 4), int8], %w: Tensor[(3, 3, 4, 6), int8]) {
      %0 = qnn.conv2d(%x0, %w, 0, 0, 0.5f, 0.25f, padding=[1, 1], channels=6, kernel_size=[3, 3],
        data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
      %1 = qnn.requantize(%0, 0.5f, 0, 0.1f, 3, axis=3, out_dtype="int8");
      let %y = reshape(%1, newshape=[0, -4, 2, -1, -2]);
      %2 = split(%y, indices_or_sections=[1, 3], axis=1);
      %3 = strided_slice(%2.1, begin=[0, 1], end=[9, 9], strides=[1, 2], axes=[0, 1]);
      (concatenate((%3, %3), axis=-1), mean(cast(%3, dtype="float32"), axis=[1], exclude=True))
    }"""
    return [seed.TEXT, seed.PARTITIONED, extra, *(relay.show(random_module(i)) for i in range(20))]


def _mutated(rng: np.random.Generator, text: str) -> str:
    for _ in range(int(rng.integers(1, 5))):
        at, to = sorted(int(i) for i in rng.integers(0, len(text) + 1, 2))
        piece = _PIECES[int(rng.integers(len(_PIECES)))]
        to = min(to, at + 12)
        match int(rng.integers(5)):
            case 0:
                text = text[:at] + text[to:]
            case 1:
                text = text[:at] + piece + text[at:]
            case 2:
                text = text[:at] + piece + text[to:]
            case 3:
                text = text[:at] + text[at:to] * int(rng.integers(2, 40)) + text[to:]
            case _:
                text = text[:at]
    return text


def _outcome(text: str) -> tuple[str, relay.IRModule | None]:
    try:
        return "", relay.parse(text, "net.relay")
    except MicrogenError as error:
        return str(error), None


def _fuzz(number: int, count: int) -> int:
    """How many of ``count`` mutations parsed."""
    rng = np.random.default_rng(number)
    texts, parsed = _texts(), 0
    for _ in range(count):
        text = _mutated(rng, texts[int(rng.integers(len(texts)))])
        start = time.monotonic()
        refusal, module = _outcome(text)
        if module is None:
            assert refusal.startswith("net.relay"), text
            assert "\n" not in refusal
        else:
            parsed += 1
            again = relay.parse(relay.show(module), constants=relay.printed(module)[1])
            assert relay.structural_equal(again, module), text
        assert time.monotonic() - start < _SECONDS, text
    return parsed


@pytest.mark.parametrize("number", range(4))
def test_mutations(number: int) -> None:
    parsed = _fuzz(number, 250)
    assert 0 < parsed < 250  # both outcomes are met


@pytest.mark.slow
@pytest.mark.parametrize("number", range(100, 140))
def test_many_mutations(number: int) -> None:
    _fuzz(number, 2000)
