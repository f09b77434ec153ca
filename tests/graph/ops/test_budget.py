"""The budget for computing constants: what a model creates is charged, and its file allows more."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import UnsupportedError
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops import budget, registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.moves.layouts import TransposeAttrs

_OWN = 100 * 2**20  # bytes of a file


def test_a_large_file_may_have_four_times_its_bytes_in_memory() -> None:
    cost = ReferenceCost(4 * _OWN + budget.MOST_BYTES, 1)
    with budget.of_model():
        with pytest.raises(UnsupportedError, match="onnxsim"):
            budget.spend(cost, "m: layer")
        budget.owns(_OWN)
        budget.spend(cost, "m: layer")
        with pytest.raises(UnsupportedError, match="at most 553,648,128 are supported for this"):
            budget.spend(ReferenceCost(cost.nbytes + 1, 0), "m: layer")
    # This is another model.
    with budget.of_model(), pytest.raises(UnsupportedError):
        budget.spend(cost, "m: layer")


def test_a_large_file_may_take_more_steps() -> None:
    with budget.of_model():
        budget.owns(_OWN)
        budget.spend(ReferenceCost(0, 16 * _OWN + budget.MOST_STEPS), "m: layer")
        with pytest.raises(UnsupportedError, match="steps of arithmetic"):
            budget.spend(ReferenceCost(0, 1), "m: layer")


def test_the_larger_of_two_sizes_counts_and_not_their_sum() -> None:
    with budget.of_model():
        budget.owns(2**20)
        budget.owns(2**19)
        with pytest.raises(UnsupportedError, match=f"at most {2**27 + 2**22:,} "):
            budget.spend(ReferenceCost(2**30, 0), "m: layer")


def test_a_size_outside_of_a_model_is_ignored() -> None:
    budget.owns(2**40)
    with pytest.raises(UnsupportedError):
        budget.spend(ReferenceCost(2**28, 0), "m: layer")


@pytest.mark.parametrize(("dtype", "nbytes"), [(DType.INT8, 2**20), (DType.FLOAT32, 2**22)])
def test_a_transpose_costs_its_bytes(dtype: DType, nbytes: int) -> None:
    kind = ArrayType((2**10, 2**10), dtype)
    cost = registry()["transpose"].cost(TransposeAttrs((1, 0)), (kind,), (kind,))
    assert cost.nbytes == nbytes


def test_what_is_kept_is_charged_until_the_model_ends() -> None:
    kind = ArrayType((2**11, 2**11), DType.FLOAT32)  # 16 MB
    operands = Operands((np.zeros(kind.shape, np.float32),), (kind,), (kind,))
    with budget.of_model():
        for _ in range(8):
            budget.evaluated("transpose", TransposeAttrs((1, 0)), operands, "m: layer")
        with pytest.raises(UnsupportedError):
            budget.evaluated("transpose", TransposeAttrs((1, 0)), operands, "m: layer")
