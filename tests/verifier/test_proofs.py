"""The check ``proofs`` finds arithmetic that differs from the reference for some value."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from microgen import kernels
from microgen.arithmetic.terms import Activation, Rounding
from microgen.ir.graph import Attrs, DType, TensorType
from microgen.kernels import affine
from microgen.manifest import ConstantRecord
from microgen.ops.add import AddAttrs
from microgen.ops.rescaled import RescaledAttrs
from microgen.ops.subtract import SubtractAttrs
from microgen.verifier import proofs
from microgen.verifier.subject import Finding, Subject
from tests.ops import conformance as c

SCALES = (0.0371, 0.0519, 0.0613)
ZERO_POINTS = (-5, 11, -128)


def _case(op: str, attrs: Attrs) -> c.Case:
    quants = [c.quant(s, z) for s, z in zip(SCALES, ZERO_POINTS, strict=True)]
    values = np.arange(6, dtype=np.int8)
    operands = tuple(c.Tensor(TensorType((6,), DType.INT8, q), values) for q in quants[:2])
    return c.Case(op, op, attrs, operands, quants[2])


ADDED = _case("add", AddAttrs(Activation.RELU6))
CASES = (
    ADDED,
    _case("subtract", SubtractAttrs(Activation.NONE)),
    _case("qnn.add", RescaledAttrs(0.3, -5, 0.3, 11, 0.3, 2, Rounding.UPWARD)),
    _case("qnn.subtract", RescaledAttrs(0.3, -5, 0.6, 11, 0.3, 2, Rounding.NEAREST)),
)


def _checked(case: c.Case, **edits: Any) -> Finding:
    """The finding about the constants of the case's first proven kernel, some arguments edited."""
    node, graph = case.node, case.graph
    symbols = {kernel.symbol: kernel for kernel in kernels.registry()[case.op]}
    kernel = symbols["mg_affine_sum_s8"]
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
    assert set(affine.TRANSFORMS) <= set(proofs.PROOFS)
