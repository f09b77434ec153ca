"""The kernels of nn.recurrent_hybrid against the reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernels.conformance import conformance as c
from tests.kernels.recurrent.recurrent_hybrid_cases import random_case


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*map(random_case, range(120))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*map(random_case, range(15))], tmp_path)


@pytest.mark.parametrize("seed", range(6))
def test_scratch_has_the_states_and_both_rows(seed: int) -> None:
    case = random_case(seed)
    call, *_ = c.calls_of(case)
    features, cells = (case.input_types[i].shape[-1] for i in (0, 2))
    halves = 2 if case.attrs.kind == "gru" else 1  # type: ignore[attr-defined]
    found = call.kernel.scratch(call.case.node, call.case.graph)
    assert found == 4 * halves * cells + 2 * (features + cells)
