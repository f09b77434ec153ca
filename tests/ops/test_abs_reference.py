from __future__ import annotations

import pytest

from microgen.ops.abs import OP, AbsAttrs
from tests.ops.litert_oracle import needs_litert
from tests.ops.unary_cases import check_random, types


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    check_random("abs", AbsAttrs(), "ABS", block)


def test_a_ratio_of_scales_out_of_range_is_refused() -> None:
    found = OP.check(AbsAttrs(), *([kind] for kind in types(1, 2.0**-40)))
    assert "output's scale is too small for the input's" in str(found)
