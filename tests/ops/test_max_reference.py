from __future__ import annotations

import pytest

from microgen.ops.max import OP, MaxAttrs
from tests.ops.litert_oracle import activation_type, assert_equal, needs_litert
from tests.ops.reductions import litert_case


@needs_litert
@pytest.mark.parametrize("block", range(5))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(litert_case(seed, OP.name, "REDUCE_MAX", MaxAttrs, unchanged=True))


def test_constraints() -> None:
    data, other = activation_type((2, 3), 1.0, 0), activation_type((3,), 0.5, 0)
    assert "they must be equal" in str(OP.check(MaxAttrs((0,), False), [data], [other]))
    with pytest.raises(ValueError, match="not ascending axes"):
        OP.infer(MaxAttrs((1, 0), False), [data])
