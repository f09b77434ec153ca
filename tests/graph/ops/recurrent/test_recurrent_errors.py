"""The errors of an LSTM's steps at once are those of one step after another, or little greater; and
values without errors are those of balls."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.graph.ir.graph import Array
from microgen.graph.ops import floats
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Operands
from microgen.graph.ops.recurrent import recurrent, recurrent_errors
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs
from microgen.graph.ops.recurrent.recurrent_steps import GATES, ActivationFormula

_FUNCTIONS = {
    "rnn": ("tanh",),
    "gru": ("sigmoid", "tanh"),
    "lstm": ("sigmoid", "tanh", "tanh"),
}


def _case(seed: int, kind: str, steps: int) -> tuple[RecurrentAttrs, list[Array]]:
    rng = np.random.default_rng(seed)
    batches, features, cells = (int(each) for each in rng.integers(1, 6, 3))
    gates, spread = GATES[kind], float(rng.choice([0.1, 0.3, 1.0]))
    arrays = [
        rng.normal(0, 2, (steps, batches, features)),
        rng.normal(0, spread, (gates, cells, features)),
        rng.normal(0, spread, (gates, cells, cells)),
        rng.normal(0, 1, (gates, cells)),
        np.full(batches, steps),
        rng.normal(0, 1, (batches, cells)),
    ]
    if kind == "lstm":
        arrays.append(rng.normal(0, 3, (batches, cells)))
    if seed % 3 == 0:
        del arrays[5:]
    functions = tuple(map(ActivationFormula, _FUNCTIONS[kind]))
    attrs = RecurrentAttrs(kind, functions, reverse=seed % 2 == 1)
    if seed % 5 == 4:
        attrs = dataclasses.replace(attrs, clip=1.5)
    made = [each.astype(np.int32 if k == 4 else np.float32) for k, each in enumerate(arrays)]
    return attrs, made


def _balls(arrays: list[Array], error: float) -> tuple[Ball, ...]:
    return tuple(Ball.of(each, error if k in (0, 5, 6) else 0.0) for k, each in enumerate(arrays))


@pytest.mark.parametrize("kind", sorted(GATES))
@pytest.mark.parametrize("seed", range(6))
def test_a_reference_has_the_values_of_balls(kind: str, seed: int) -> None:
    attrs, arrays = _case(seed, kind, 9)
    arrays[4] = np.minimum(arrays[4], np.arange(len(arrays[4])) + 7).astype(np.int32)
    (found,) = recurrent.reference(attrs, Operands(tuple(arrays), (), ()))
    wanted = recurrent._balls(attrs, _balls(arrays, 0.0), None)
    assert found.tobytes() == floats.rounded(wanted.value).tobytes()


@pytest.mark.parametrize("error", [0.0, 1e-5, 1e-2])
@pytest.mark.parametrize("seed", range(12))
def test_errors_at_once_are_not_smaller(
    seed: int, error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    attrs, arrays = _case(seed, "lstm", 40)
    (known,) = recurrent.reference(attrs, Operands(tuple(arrays), (), ()))
    found = recurrent._balls(attrs, _balls(arrays, error), None, expected=known)
    monkeypatch.setattr(recurrent_errors, "all_steps", lambda *_: None)
    wanted = recurrent._balls(attrs, _balls(arrays, error), None, expected=known)
    np.testing.assert_allclose(found.value, wanted.value, rtol=1e-6, atol=1e-30)
    assert (found.error >= wanted.error * (1 - 1e-9)).all()
    if error < 1e-3:
        assert (found.error <= wanted.error * 1.2).all()


def test_it_finds_errors() -> None:
    """So that the test above says something."""
    counts = []
    for seed in range(12):
        attrs, arrays = _case(seed, "lstm", 40)
        (known,) = recurrent.reference(attrs, Operands(tuple(arrays), (), ()))
        calls: list[object] = []
        own = recurrent_errors.all_steps
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                recurrent_errors, "all_steps", lambda *a, c=calls, o=own: c.append(o(*a)) or c[-1]
            )
            recurrent._balls(attrs, _balls(arrays, 0.0), None, expected=known)
        counts.append(calls[0] is not None)
    assert sum(counts) >= 9
