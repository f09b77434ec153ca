"""Cases of functions of one int8 value: always all 256 values, of random quantizations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from microgen.ir.graph import Attrs, TensorType
from microgen.ops import registry
from microgen.ops.base import Operands
from tests.ops.litert_oracle import Case, activation_type, assert_equal

EVERY = np.arange(-128, 128).astype(np.int8)


@dataclass(frozen=True)
class Ranges:
    """What random quantizations are drawn from: powers of two, or what the operator demands."""

    usual: tuple[float, float] = (-9, 2)
    extreme: tuple[float, float] = (-20, 12)
    zero_point: int | None = None
    output_scale: float | None = None


def unary_case(op: str, attrs: Attrs, code: str, data: TensorType, output: TensorType) -> Case:
    """All int8 values through the operator."""
    assert output.quant is not None
    return Case(op, attrs, [data], [EVERY], output.quant, code, "")


def quantization(
    rng: np.random.Generator, ranges: Ranges, scale: float | None, zero_point: int | None
) -> TensorType:
    """An int8[256], its scale rarely extreme, its zero point often at an end."""
    low, high = ranges.extreme if rng.random() < 0.2 else ranges.usual
    if zero_point is None:
        zero_point = int(rng.choice([-128, 127, 0, int(rng.integers(-128, 128))]))
    return activation_type((256,), scale or 2.0 ** rng.uniform(low, high), zero_point)


def random_cases(case: Case, block: int, ranges: Ranges, count: int = 50) -> Iterator[Case]:
    """The case with other quantizations; those that the op refuses are left out."""
    rng = np.random.default_rng(block)
    op = registry()[case.op]
    for _ in range(count):
        data = quantization(rng, ranges, None, ranges.zero_point)
        output = quantization(rng, ranges, ranges.output_scale, None)
        if rng.random() < 0.1 and ranges.output_scale is None:
            output = data
        assert output.quant is not None
        if op.check(case.attrs, [data], [output]) is None:
            yield replace(case, types=[data], output_quant=output.quant)


def check_random(
    op: str, attrs: Attrs, code: str, block: int, ranges: Ranges | None = None
) -> None:
    """Fifty quantizations, most of which the op takes, equal LiteRT's reference kernel."""
    some = activation_type((256,), 1, 0)
    case = unary_case(op, attrs, code, some, some)
    cases = list(random_cases(case, block, ranges or Ranges()))
    assert len(cases) > 25
    for found in cases:
        assert_equal(found)


def types(scale_in: float, scale_out: float, zero_point: int = 0) -> tuple[TensorType, TensorType]:
    """Input and output of that scale, the output with that zero point."""
    return activation_type((256,), scale_in, 0), activation_type((256,), scale_out, zero_point)


def results(op: str, attrs: Attrs, data: TensorType, output: TensorType) -> list[int]:
    """What the reference makes of each value, from -128 on."""
    (found,) = registry()[op].reference(attrs, Operands((EVERY,), (data,), (output,)))
    return [int(value) for value in found]
