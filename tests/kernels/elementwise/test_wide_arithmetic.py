"""add, subtract and multiply of int64."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, Attrs, DType
from microgen.graph.ops import registry
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import Case, assert_equal, needs_litert
from tests.kernels.elementwise import broadcasting

NONE = Activation.NONE
ATTRS: dict[str, Attrs] = {
    "add": AddAttrs(NONE),
    "subtract": SubtractAttrs(NONE),
    "multiply": MultiplyAttrs(NONE),
}
OPERATORS = {
    "add": ("ADD", "AddOptions"),
    "subtract": ("SUB", "SubOptions"),
    "multiply": ("MUL", "MulOptions"),
}


def _values(seed: int, shape: tuple[int, ...]) -> c.Array:
    """Values of the whole range, or small ones."""
    rng = np.random.default_rng(seed)
    return rng.integers(-(2**63), 2**63, shape) >> rng.integers(0, 2) * 40


def _litert_case(op: str, seed: int) -> Case:
    code, options = OPERATORS[op]
    case = broadcasting.litert_case(
        seed,
        op,
        code,
        options,
        lambda _: ATTRS[op],
        lambda *_: 1.0,
        has_activation=False,
        dtype=DType.INT64,
    )
    arrays = [_values(seed + k, kind.shape) for k, kind in enumerate(case.types)]
    return dataclasses.replace(case, arrays=arrays, version=4)


@needs_litert
@pytest.mark.parametrize("op", ATTRS)
def test_equals_litert(op: str) -> None:
    for seed in range(50):
        assert_equal(_litert_case(op, seed))


def _kernel_case(op: str, seed: int) -> c.Case:
    case = broadcasting.random_kernel_case(seed, op, lambda _: ATTRS[op], DType.INT64)
    inputs = [c.Tensor(t.type, _values(seed + k, t.type.shape)) for k, t in enumerate(case.inputs)]
    return dataclasses.replace(case, inputs=tuple(inputs))


CASES = [_kernel_case(op, seed) for op in ATTRS for seed in range(40)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES[::8], tmp_path)


@pytest.mark.parametrize("attrs", [AddAttrs, SubtractAttrs, MultiplyAttrs])
def test_activations_are_refused(attrs: type[AddAttrs]) -> None:
    kind = ArrayType((2,), DType.INT64)
    op = next(name for name, known in ATTRS.items() if type(known) is attrs)
    found = registry()[op].check(attrs(Activation.RELU), [kind, kind], [kind])
    assert found is not None
    assert found.endswith("int64 has none")
