"""Kernels of nn.recurrent against the reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.ops.recurrent.recurrent import OP, RecurrentAttrs
from microgen.graph.ops.recurrent.recurrent_steps import FORMULAS
from tests.kernels.conformance import conformance as c
from tests.kernels.recurrent.recurrent_cases import function, random_case, sized


def _of_function(name: str) -> c.Case:
    attrs = RecurrentAttrs("rnn", (function(name),))
    return sized(np.random.default_rng(3), attrs, (4, 2, 3, 5), 1)


FUNCTIONS = [_of_function(name) for name in FORMULAS]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*FUNCTIONS, *map(random_case, range(90))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*map(random_case, range(12))], tmp_path)


def test_special_values_pass(tmp_path: Path) -> None:
    """NaN and infinities in the input."""
    cases = [random_case(seed) for seed in range(0, 18, 3)]
    for case in cases:
        case.inputs[0].array.flat[0] = np.nan
    c.check(cases, tmp_path)


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_one_kernel_is_for_the_usual_functions(kind: str) -> None:
    cases = [random_case(seed) for seed in range(12)]
    own = [case for case in cases if isinstance(case.attrs, RecurrentAttrs)]
    for case in own:
        if case.attrs.kind != kind:  # type: ignore[attr-defined]
            continue
        entries = kernels.registry()[OP.name]
        taken = [k.symbol for k in entries if k.refusal(case.node, case.graph) is None]
        assert f"mg_recurrent_{kind}_any_f32" in taken
        assert len(taken) in (1, 2)
