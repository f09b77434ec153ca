"""Functions of one value against LiteRT; then what each of them has of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary import roots
from microgen.graph.ops.unary.activations import EluAttrs, HardSwishAttrs, LeakyReluAttrs
from microgen.graph.ops.unary.functions import (
    AbsAttrs,
    CeilAttrs,
    CosAttrs,
    ExpAttrs,
    FloorAttrs,
    LogAttrs,
    NegativeAttrs,
    RoundAttrs,
    SinAttrs,
)
from microgen.graph.ops.unary.roots import RsqrtAttrs, SqrtAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs, TanhAttrs
from microgen.graph.ops.unary.unary import EVERY_INT8
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    by_litert,
    by_reference,
    float_type,
    needs_litert,
)
from tests.kernels.unary.unary_cases import (
    EVERY_INT16,
    Operator,
    Ranges,
    by_default_litert,
    check_floats,
    check_int16,
    check_int16_is_refused,
    check_random,
    int16_type,
    powers,
    random_cases,
    results,
    types,
    unary_case,
)
from tests.support.arrays import assert_same
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

Scales = Callable[[np.random.Generator], tuple[float, float]]


def by_optimized_litert(case: Case, resolver: str = "BUILTIN_WITHOUT_DEFAULT_DELEGATES") -> Array:
    """The results of LiteRT's default kernels, because its reference kernels lack ELU; or with the
    resolver AUTO those of XNNPACK."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    tensors = [
        _spec("input", case.types[0], case.types[0].quant),
        _spec("output", case.types[0], case.output_quant),
    ]
    model = build_model(tensors, [OperatorSpec(case.code, [0], [1])], [0], [1])
    kind = OpResolverType[resolver]
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], case.arrays[0])
    interpreter.invoke()
    result: Array = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return result


def _spec(name: str, kind: ArrayType, quant: Quant | None) -> TensorSpec:
    scale, zero_point = (quant.scale, quant.zero_point) if quant else ((), ())
    return TensorSpec(name, kind.shape, kind.dtype.value, None, scale, zero_point)


@dataclass(frozen=True)
class Row:
    """An op and its TFLite operator: where it takes int8, the ranges of random quantizations; where
    it takes int16, the scales, values and the operator's version; the least float, and who computes
    the floats."""

    op: str
    attrs: Attrs
    code: str
    int8: Ranges | None = None
    int16: Scales | None = None
    version: int = 1
    values: Array = field(default_factory=lambda: EVERY_INT16, repr=False)
    least: float = -np.inf
    litert: Callable[[Case], Array] = by_litert


# Of square roots only: LiteRT stops with an error at negative values.
POSITIVE, NOT_NEGATIVE = Ranges(zero_point=-128), EVERY_INT16[2**15 :]
OF_ONE = Ranges(output_scale=1 / 256)
ROWS = (
    Row("abs", AbsAttrs(), "ABS", Ranges(), powers(-16, -4, (-16.0, -4.0))),
    Row("ceil", CeilAttrs(), "CEIL", litert=by_default_litert),
    Row("cos", CosAttrs(), "COS"),
    Row("exp", ExpAttrs(), "EXP", Ranges(), powers(-16, -9, (-18.0, -4.0)), 2),
    Row("floor", FloorAttrs(), "FLOOR"),
    Row("log", LogAttrs(), "LOG", Ranges(), powers(-16, 0, (-18.0, -4.0)), 2, least=0.0),
    Row("negative", NegativeAttrs(), "NEG", Ranges(), powers(-16, -4, (-16.0, -4.0))),
    Row("nn.elu", EluAttrs(), "ELU", litert=by_optimized_litert),
    Row("nn.hard_swish", HardSwishAttrs(), "HARD_SWISH", Ranges()),
    Row("round", RoundAttrs(), "ROUND", litert=by_default_litert),
    Row(
        "rsqrt",
        RsqrtAttrs(),
        "RSQRT",
        POSITIVE,
        powers(-16, 0, (-18.0, -4.0)),
        3,
        values=NOT_NEGATIVE,
        least=0.0,
    ),
    Row("sigmoid", SigmoidAttrs(), "LOGISTIC", OF_ONE, powers(-30, 2, 2.0**-15), 3),
    Row("sin", SinAttrs(), "SIN"),
    Row(
        "sqrt",
        SqrtAttrs(),
        "SQRT",
        POSITIVE,
        powers(-16, 0, (-18.0, -4.0)),
        2,
        values=NOT_NEGATIVE,
    ),
    Row("tanh", TanhAttrs(), "TANH", Ranges(), powers(-30, 2, 2.0**-15), 3),
)


def _rows(*rows: Row) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.op)


@pytest.fixture(autouse=True)
def kept_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each case of rsqrt needs the same 255 roots, and they take longer than all else."""
    monkeypatch.setattr(roots, "_reciprocal_root", functools.cache(roots._reciprocal_root))


@needs_litert
@_rows(*(row for row in ROWS if row.int8))
@pytest.mark.parametrize("block", range(4))
def test_int8_equals_litert(block: int, row: Row) -> None:
    check_random(row.op, row.attrs, row.code, block, row.int8)


@needs_litert
@_rows(*(row for row in ROWS if row.int16))
def test_int16_equals_litert(row: Row) -> None:
    assert row.int16 is not None
    operator = Operator(row.code, version=row.version)
    check_int16(row.op, row.attrs, operator, row.int16, row.values)


@needs_litert
@_rows(*ROWS)
def test_floats_equal_litert(row: Row) -> None:
    check_floats(row.op, row.attrs, Operator(row.code), row.least, row.litert)


@_rows(*(row for row in ROWS if not row.int8 and row.op != "nn.elu"))
def test_other_dtypes_than_float32_are_refused(row: Row) -> None:
    kind = ArrayType((2,), DType.INT32)
    found = registry()[row.op].check(row.attrs, [kind], [kind])
    assert found == "the input is int32[2]; it must be float32"


@_rows(*(row for row in ROWS if row.op in ("nn.elu", "nn.hard_swish")))
def test_int16_is_refused(row: Row) -> None:
    check_int16_is_refused(row.op, row.attrs)


@pytest.mark.parametrize(
    ("op", "attrs", "expected"),
    [
        ("ceil", CeilAttrs(), [-1, 0, 0, 0, 1, 1, 2, 3]),
        ("floor", FloorAttrs(), [-2, -1, -1, 0, 0, 0, 1, 2]),
        ("round", RoundAttrs(), [-2, 0, 0, 0, 0, 0, 2, 2]),
    ],
)
def test_ties_and_signs(op: str, attrs: Attrs, expected: list[int]) -> None:
    x = np.array([-1.5, -0.5, -0.2, -0.0, 0.2, 0.5, 1.5, 2.5], np.float32)
    kind = float_type(x.shape)
    (found,) = registry()[op].reference(attrs, Operands((x,), (kind,), (kind,)))
    np.testing.assert_array_equal(found, np.array(expected, np.float32))


@pytest.mark.parametrize(
    ("op", "attrs", "scales", "expected"),
    [
        ("abs", AbsAttrs(), (1, 2.0**-40), "output's scale is too small for the input's"),
        ("nn.hard_swish", HardSwishAttrs(), (128.0, 0.9), "is 128 times the output's"),
        ("nn.hard_swish", HardSwishAttrs(), (2.0**30, 1.0), "are out of range"),
        ("nn.leaky_relu", LeakyReluAttrs(0.1), (1, 2.0**-40), "output's scale is too small for"),
        ("nn.leaky_relu", LeakyReluAttrs(1e30), (1, 2.0**-20), "output's scale is too small for"),
        ("rsqrt", RsqrtAttrs(), (2.0**-40, 2.0**-40), "the scales are too small"),
        ("rsqrt", RsqrtAttrs(), (2.0**20, 2.0**8), "are too large"),
    ],
)
def test_scales_out_of_range_are_refused(
    op: str, attrs: Attrs, scales: tuple[float, float], expected: str
) -> None:
    found = registry()[op].check(attrs, *([kind] for kind in types(*scales)))
    assert expected in str(found)


def test_exp_saturates_at_the_output() -> None:
    values = results("exp", ExpAttrs(), *types(1, 1 / 64))
    assert (values[0], values[128], values[255]) == (0, 64, 127)


def test_log_of_values_that_are_not_positive_is_the_least_output() -> None:
    values = results("log", LogAttrs(), *types(1, 1 / 16, 5))
    assert values[:129] == [-128] * 129
    assert values[129] == 5


def test_negative_keeps_the_least_value() -> None:
    values = results("negative", NegativeAttrs(), *types(1, 1))
    assert (values[0], values[1], values[255]) == (-128, 127, -127)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_elu_of_int8_equals_litert(block: int) -> None:
    case = unary_case("nn.elu", EluAttrs(), "ELU", *types(1, 1))
    for found in random_cases(case, block, Ranges()):
        expected = by_optimized_litert(found)
        assert_same(by_reference(found), expected, found)


def test_elu_of_negative_values_approaches_minus_one() -> None:
    values = results("nn.elu", EluAttrs(), *types(1, 1 / 32))
    assert (values[0], values[127], values[128], values[129]) == (-32, -20, 0, 32)


ALPHAS = (0.0, 0.01, 0.1, 0.3, 1.0, 2.5, -0.2, -1.7)


@needs_litert
@pytest.mark.parametrize("alpha", ALPHAS)
def test_leaky_relu_of_int8_equals_litert(alpha: float) -> None:
    attrs = LeakyReluAttrs(float(np.float32(alpha)))
    case = unary_case("nn.leaky_relu", attrs, "LEAKY_RELU", *types(1, 1))
    case = replace(case, options_type="LeakyReluOptions", options={"alpha": attrs.alpha})
    cases = list(random_cases(case, ALPHAS.index(alpha), Ranges()))
    assert len(cases) > 25
    for found in cases:
        assert_equal(found)


@needs_litert
@pytest.mark.parametrize("alpha", ALPHAS)
def test_leaky_relu_of_int16_and_floats_equals_litert(alpha: float) -> None:
    attrs = LeakyReluAttrs(float(np.float32(alpha)))
    operator = Operator("LEAKY_RELU", 2, "LeakyReluOptions", {"alpha": attrs.alpha})
    check_int16("nn.leaky_relu", attrs, operator, powers(-16, -4, (-16.0, -4.0)), count=10)
    check_floats("nn.leaky_relu", attrs, operator)


def test_rsqrt_of_0_and_below_is_the_greatest_output() -> None:
    values = results("rsqrt", RsqrtAttrs(), *types(1, 1 / 64))
    assert values[:129] == [127] * 129
    assert values[129:133] == [64, 45, 37, 32]


def test_sigmoid_is_half_at_zero_and_saturates_at_the_ends() -> None:
    values = results("sigmoid", SigmoidAttrs(), *types(1, 1 / 256, -128))
    assert (values[0], values[128], values[255]) == (-128, 0, 127)


def test_sqrt_refuses_int16_scales_out_of_range() -> None:
    for scale in (1e-38, 1e34):
        found = registry()["sqrt"].check(SqrtAttrs(), [int16_type(scale)], [int16_type(1.0)])
        assert "it must be from 1.17549e-38 to 5.1923e+33" in str(found)


def test_sqrt_truncates_and_negative_values_count_as_0() -> None:
    values = results("sqrt", SqrtAttrs(), *types(1, 1))
    assert values[:129] == [0] * 129
    assert values[129:138] == [1, 1, 1, 2, 2, 2, 2, 2, 3]


@needs_litert
def test_tanh_with_the_usual_output_equals_litert() -> None:
    check_random("tanh", TanhAttrs(), "TANH", 9, Ranges(output_scale=1 / 128))


def test_tanh_rounds_an_exact_half_that_tanhf_gives_away_from_zero() -> None:
    # the correct tanh is -0.95703122; LiteRT has -122.5/128 and thus -123
    data, output = types(0.09546775370836258, 1 / 128)
    assert results("tanh", TanhAttrs(), data, output)[128 - 20] == -123


@needs_litert
def test_tanh_of_int16_of_the_least_scales_equals_litert() -> None:
    operator = Operator("TANH", version=3)
    check_int16("tanh", TanhAttrs(), operator, powers(-44.5, -30, 2.0**-15))


@pytest.mark.parametrize("op", ["tanh", "sigmoid"])
def test_int16_is_refused_where_tflite_shifts_out_of_int32(op: str) -> None:
    """LiteRT gives -32767 for odd values there, and TensorFlow Lite Micro has the same code."""
    attrs = registry()[op].attrs()
    output = int16_type(2.0**-15)
    assert registry()[op].check(attrs, [int16_type(3.8e-14)], [output]) is None
    found = registry()[op].check(attrs, [int16_type(3.7e-14)], [output])
    assert found == "the input's scale is 3.7e-14; it must be 3.78956e-14 or more"


def test_an_int16_sigmoid_has_one_output_scale() -> None:
    kind = ArrayType((4,), DType.INT16, Quant((0.1,), (0,)))
    found = registry()["sigmoid"].check(SigmoidAttrs(), [kind], [kind])
    assert found == "the output's scale is 0.1; it must be 1/32768"


@needs_litert
def test_sigmoids_with_other_output_scales_equal_xnnpack() -> None:
    rng = np.random.default_rng(8)
    for seed in range(60):
        # Scales that are powers of two have exact halves.
        scales = 2.0 ** (rng.integers(-9, -1, 2) if seed % 2 else rng.uniform(-9, -1, 2))
        zero_points = [int(n) for n in rng.integers(-128, 128, 2)]
        data, output = map(activation_type, ((256,), ()), map(float, scales), zero_points)
        operator = ("LOGISTIC", "")
        case = Case("sigmoid", SigmoidAttrs(), [data], [EVERY_INT8], output.quant, *operator)
        assert_same(by_reference(case), by_optimized_litert(case, "AUTO"), case)
