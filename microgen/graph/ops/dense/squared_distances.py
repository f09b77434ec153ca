"""Squared Euclidean distances between rows of two matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.balls import LEAST, gamma
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shapes, expect_inputs
from microgen.graph.ops.constraints import dtype_constraint, first_of
from microgen.graph.ops.cost import ReferenceCost, products


class SquaredDistancesAttrs(Attrs):
    """squared_distances: the squared Euclidean distance of each row from each vector.

    Inputs: float32 rows [rows, features] and vectors [vectors, features]. Output: float32 [rows,
    vectors]. Squares are added in float32, feature by feature.
    """


def _infer(_attrs: SquaredDistancesAttrs, inputs: Types) -> Shapes:
    """The shape [rows, vectors]."""
    expect_inputs(inputs, 2, "rows and vectors", by="squared_distances")
    rows, vectors = inputs
    if len(rows.shape) != 2 or len(vectors.shape) != 2 or rows.shape[1] != vectors.shape[1]:
        raise ValueError(f"{rows} and {vectors} must be matrices of as many columns")
    return ((rows.shape[0], vectors.shape[0]),)


def _check(_attrs: SquaredDistancesAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 only."""
    roles = zip(("rows", "vectors", "output"), (*inputs, *outputs), strict=True)
    return first_of(dtype_constraint(role, t, (DType.FLOAT32,)) for role, t in roles)


def _reference(_attrs: SquaredDistancesAttrs, operands: Operands) -> Arrays:
    # Source: ONNX Runtime, svmclassifier.h, batched_kernel_dot.
    rows, vectors = operands.inputs
    total = np.zeros((len(rows), len(vectors)), np.float32)
    with np.errstate(all="ignore"):
        for feature in range(rows.shape[1]):
            apart = rows[:, None, feature] - vectors[None, :, feature]
            total += apart * apart
    return (total,)


def _bound(_attrs: SquaredDistancesAttrs, given: Inexact) -> Arrays:
    """Each square has three roundings, and the sum one for each feature, here and in the
    implementation. No summand is negative, so they are relative to the result."""
    rows, vectors = (array.astype(np.float64) for array in given.operands.inputs)
    size, features = given.expected[0].astype(np.float64), rows.shape[1]
    grown = np.zeros(size.shape)
    if not given.is_exact:
        for feature in range(features):
            apart = np.abs(rows[:, None, feature] - vectors[None, :, feature])
            error = given.errors[0][:, None, feature] + given.errors[1][None, :, feature]
            # (d + e)**2 - d**2, for the difference d and its error e
            grown += (2 * apart + error) * error
    found = grown + 2 * gamma(features + 3) * (size + grown) + features * LEAST
    return (np.where(np.isnan(found), np.inf, found),)


def _cost(_attrs: Any, inputs: Types, outputs: Types) -> ReferenceCost:
    """A difference and a product for each feature of each pair."""
    features = inputs[0].shape[1]
    return products(inputs, outputs, 4 * outputs[0].size * features, calls=2 * features)


OP = OpDefinition(
    "squared_distances",
    SquaredDistancesAttrs,
    _infer,
    _check,
    _reference,
    cost=_cost,
    bound=bounds.of_floats("gamma(2 n + 6) of n squares", _bound),
)
