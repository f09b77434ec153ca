"""The check ``proofs`` finds arithmetic that differs from the reference for some value."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from microgen import kernels
from microgen.base.manifest import ConstantRecord
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, Attrs, DType
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.elementwise.rescaled import RescaledAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.kernels.elementwise import affine, product
from microgen.kernels.pooling import window_mean
from microgen.verifier.checks import proofs
from microgen.verifier.subject import Finding, Subject
from tests.kernels.conformance import conformance as c

SCALES = (0.0371, 0.0519, 0.0613)
ZERO_POINTS = (-5, 11, -128)
PROVEN = ("mg_affine_sum_s8", "mg_scaled_product_s8", "mg_pool_mean_s8")


def _case(op: str, attrs: Attrs, scales: tuple[float, ...] = SCALES) -> c.Case:
    quants = [c.quant(s, z) for s, z in zip(scales, ZERO_POINTS, strict=True)]
    values = np.arange(6, dtype=np.int8)
    operands = tuple(c.Tensor(ArrayType((6,), DType.INT8, q), values) for q in quants[:2])
    return c.Case(op, op, attrs, operands, quants[2])


def _averaged(op: str, attrs: Attrs) -> c.Case:
    quant = c.quant(SCALES[0], -5)
    values = np.arange(-9, 9, dtype=np.int8).reshape(1, 3, 3, 2)
    data = c.Tensor(ArrayType(values.shape, DType.INT8, quant), values)
    output = quant if op == "nn.avg_pool2d" else c.quant(SCALES[1], -128)
    return c.Case(op, op, attrs, (data,), output)


ADDED = _case("add", AddAttrs(Activation.RELU6))
MULTIPLIED = _case("multiply", MultiplyAttrs(Activation.NONE), (0.0371, 0.0519, 0.00713))
POOLED = _averaged("nn.avg_pool2d", AvgPool2DAttrs((3, 3), (1, 1), "VALID", Activation.NONE))
CASES = (
    ADDED,
    _case("add", AddAttrs(Activation.NONE, in_float32=True)),
    _case("multiply", MultiplyAttrs(Activation.NONE, in_float32=True), (0.0371, 0.0519, 0.00713)),
    _averaged("mean", MeanAttrs((1, 2), keep_dims=False, in_float32=True)),
    _averaged(
        "nn.avg_pool2d",
        AvgPool2DAttrs((3, 3), (1, 1), "VALID", Activation.NONE, in_float32=True),
    ),
    MULTIPLIED,
    POOLED,
    _averaged("mean", MeanAttrs((1, 2), keep_dims=False)),
    _case("subtract", SubtractAttrs(Activation.NONE)),
    _case("qnn.add", RescaledAttrs(0.3, -5, 0.3, 11, 0.3, 2, Rounding.UPWARD)),
    _case("qnn.subtract", RescaledAttrs(0.3, -5, 0.6, 11, 0.3, 2, Rounding.NEAREST)),
)


def _checked(case: c.Case, **edits: Any) -> Finding:
    """The finding about the constants of the case's first proven kernel, some arguments edited."""
    node, graph = case.node, case.graph
    kernel = next(k for k in kernels.registry()[case.op] if k.symbol in PROVEN)
    assert kernel.refusal(node, graph) is None
    records, parameters = [], {}
    for i, constant in enumerate(kernel.constants(node, graph)):
        (parameters[f"p{i}"],) = constant.arrays(graph)
        arguments: Mapping[str, Any] = {**dict(constant.arguments), **edits}
        ctype, kind = constant.ctype, constant.transform
        records.append(
            ConstantRecord(f"c{i}", 12, ctype, kind, (f"p{i}",), dict(arguments), "layer")
        )
    manifest = SimpleNamespace(constants=records)
    subject = SimpleNamespace(manifest=manifest, parameters=lambda: parameters)
    return proofs.proofs(cast(Subject, subject))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_what_was_found_is_proven(case: c.Case) -> None:
    assert _checked(case).status == "ok"


@pytest.mark.parametrize(
    "edits",
    [
        {"factor_lhs": 12345},
        {"constant": 0},
        {"shift": 3},
        {"lhs_zero_point": -6},
        {"output_zero_point": 0},
        {"activation": "none"},
        {"op": "subtract"},
    ],
    ids=str,
)
def test_other_numbers_are_not(edits: dict[str, Any]) -> None:
    assert "results differ" in _checked(ADDED, **edits).found


@pytest.mark.parametrize(
    "edits",
    [{"factor": 12345}, {"constant_high": 0}, {"output_zero_point": 0}, {"low": -100}],
    ids=str,
)
def test_other_numbers_of_a_product_are_not(edits: dict[str, Any]) -> None:
    assert "results differ" in _checked(MULTIPLIED, **edits).found


@pytest.mark.parametrize(
    "edits", [{"factor": 12345}, {"constant": 0}, {"shift": 3}, {"count": 8}, {"high": 90}], ids=str
)
def test_other_numbers_of_a_mean_are_not(edits: dict[str, Any]) -> None:
    assert "results differ" in _checked(POOLED, **edits).found


@pytest.mark.parametrize(
    ("case", "edits"),
    [
        (MULTIPLIED, {"factor": 2**31}),
        (MULTIPLIED, {"constant_high": 2**25}),
        (POOLED, {"factor": 2**21}),
        (POOLED, {"count": 257}),
    ],
    ids=str,
)
def test_sums_that_may_exceed_their_type_are_not_proven(
    case: c.Case, edits: dict[str, Any]
) -> None:
    assert "exceed their type" in _checked(case, **edits).found


@pytest.mark.parametrize(
    ("edits", "word"),
    [
        ({"factor_rhs": 2**24}, "exceed int32"),
        ({"shift": -1}, "exceed int32"),
        ({"op": "nothing"}, "nothing"),
        ({"activation": 3}, "3"),
        ({"lhs_zero_point": 300}, "zero point"),
    ],
    ids=str,
)
def test_arguments_that_mean_nothing_fail(edits: dict[str, Any], word: str) -> None:
    found = _checked(ADDED, **edits)
    assert found.status == "failed"
    assert word in found.found


def test_no_constant_needs_a_proof() -> None:
    manifest = SimpleNamespace(constants=[])
    finding = proofs.proofs(cast(Subject, SimpleNamespace(manifest=manifest)))
    assert finding.status == "n/a"


def test_every_form_has_a_proof() -> None:
    forms = (affine, product, window_mean)
    assert {kind for form in forms for kind in form.TRANSFORMS} == set(proofs.PROOFS)
