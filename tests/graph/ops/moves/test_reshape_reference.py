from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ops.moves.views import RESHAPE, ReshapeAttrs
from tests.kernels.conformance.every_dtype import dtype_of, random_array, random_type
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    int32_constant,
    needs_litert,
)


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    dims = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 6)))]
    data = random_type(rng, tuple(dims), dtype_of(seed))
    shape = tuple(int(n) for n in rng.permutation([1, *dims]))
    return Case(
        RESHAPE.name,
        ReshapeAttrs(shape),
        [data],
        [random_array(rng, data.shape, data.dtype)],
        data.quant,
        "RESHAPE",
        "ReshapeOptions",
        {"newShape": shape},
        extra=[int32_constant("shape", np.array(shape))],
        output_dtype=data.dtype,
    )


@needs_litert
def test_equals_litert() -> None:
    for seed in range(60):
        assert_equal(random_case(seed))


@pytest.mark.parametrize("shape", [(7,), (2, -3), (2, 0)])
def test_the_number_of_elements_is_kept(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"int8\[2,3\] has 6 elements"):
        RESHAPE.infer(ReshapeAttrs(shape), [activation_type((2, 3), 1.0, 0)])


def test_it_is_a_view() -> None:
    assert RESHAPE.is_view
