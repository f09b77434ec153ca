from __future__ import annotations

import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.addition import ADD, AddAttrs
from tests.kernels.conformance.litert_oracle import (
    FUSED,
    Case,
    activation_type,
    assert_equal,
    needs_litert,
)
from tests.kernels.elementwise import additions, broadcasting


def random_case(seed: int, dtype: DType = DType.INT8) -> Case:
    return broadcasting.litert_case(
        seed,
        ADD.name,
        "ADD",
        "AddOptions",
        AddAttrs,
        lambda lhs, rhs: 2 * (lhs.scale if dtype is DType.INT8 else max(lhs.scale, rhs.scale)),
        dtype=dtype,
        options={"potScaleInt16": False},
    )


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT16, DType.INT32, DType.FLOAT32])
def test_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(random_case(seed, dtype))


@needs_litert
@pytest.mark.parametrize("scales", additions.BY_SHIFTS)
def test_addition_by_shifts_equals_litert(scales: tuple[float, float, float]) -> None:
    for activation in FUSED:
        attrs = AddAttrs(activation, by_shifts=True)
        assert_equal(additions.litert_case(ADD.name, "ADD", "AddOptions", attrs, scales))


@pytest.mark.parametrize("scales", additions.NOT_BY_SHIFTS)
def test_scales_that_are_not_added_by_shifts(scales: tuple[float, float, float]) -> None:
    assert "powers of two" in additions.refusal(ADD, AddAttrs(Activation.NONE, True), scales)


def test_refusals_of_additions_by_shifts() -> None:
    additions.check_refusals(ADD, AddAttrs(Activation.NONE, by_shifts=True))


def test_refusals() -> None:
    broadcasting.check_refusals(ADD.name, AddAttrs(Activation.NONE))


def test_scales_too_far_apart() -> None:
    data, output = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-19, 0)
    attrs = AddAttrs(Activation.NONE)
    assert "2**19 times the output scale" in str(ADD.check(attrs, [data, data], [output]))
