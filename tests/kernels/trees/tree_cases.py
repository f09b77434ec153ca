"""Cases of tree_ensemble: the tables that random trees of ONNX become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from onnx import NodeProto

from microgen.frontends.onnx import convert
from microgen.graph.ir.graph import Array, DType
from tests.frontends.onnx.ml import forests
from tests.kernels.conformance import conformance as c

FORMS = ("value", "target", "row", "vote")


def node_of(
    rng: Generator, trees: Sequence[forests.RandomTree], form: str, aggregate: str
) -> NodeProto:
    """A TreeEnsembleRegressor whose leaves have the form: one target, a target for each tree, rows
    of several targets, or equal values of one of them."""
    targets = 1 if form == "value" else 3
    of_trees = [[t % 3] if form == "target" else list(range(targets)) for t in range(len(trees))]
    attributes: Mapping[str, Any] = {
        **forests.listed(trees),
        **forests.weighted(rng, trees, "target", of_trees),
        "n_targets": targets,
        "aggregate_function": aggregate,
    }
    if form == "vote":
        weights, ids = attributes["target_weights"], attributes["target_ids"]
        weights[:] = [0.1 if k // 3 * 7 % 3 == t else 0.0 for k, t in enumerate(ids)]
    return forests.node("TreeEnsembleRegressor", "x", "y", **attributes)


def case(proto: NodeProto, data: Array, name: str = "") -> c.Case:
    """The op's case of an operator's node."""
    graph = convert.graph_of(forests.one(proto, data.shape), file="m.onnx")
    (node,) = (each for each in graph.nodes if each.op == "tree_ensemble")
    arrays = [data, *(graph.constants[each] for each in node.inputs[1:])]
    inputs = tuple(
        c.Tensor(graph.types[each], array, is_constant=k > 0)
        for k, (each, array) in enumerate(zip(node.inputs, arrays, strict=True))
    )
    return c.Case(name or str(node.attrs), node.op, node.attrs, inputs, None, DType.FLOAT32)


def random_trees(rng: Generator, features: int, depth: int = 6) -> list[forests.RandomTree]:
    return [
        forests.tree(rng, features, int(rng.integers(depth))) for _ in range(rng.integers(1, 6))
    ]


def random_case(seed: int) -> c.Case:
    """Trees of all comparisons, with data that often equals limits or is NaN."""
    rng = np.random.default_rng(seed)
    features, form = int(rng.integers(1, 7)), FORMS[seed % 4]
    aggregate = ("SUM", "MIN", "MAX")[seed // 4 % 3]
    proto = node_of(rng, random_trees(rng, features), form, aggregate)
    return case(proto, forests.data(rng, int(rng.integers(1, 9)), features), f"seed {seed}")


def small_case(seed: int) -> c.Case:
    """Many small trees of 1 to 8 features, with data that often equals limits or is NaN."""
    rng = np.random.default_rng(seed)
    features, form = (1, 2, 3, 4, 4, 2, 3, 8)[seed % 8], FORMS[seed // 2 % 4]
    # NaN above and below makes two splits of a feature; eight are the most that cells have.
    modes, missing = (
        (("LEQ",), 0.0) if features in (1, 8) else (("LEQ", "GTE"), 0.3 * (seed % 3 == 0))
    )
    aggregate = "SUM" if form == "vote" else ("SUM", "MIN", "MAX")[seed // 3 % 3]
    trees = [
        forests.tree(rng, features, 2 + seed % 3, modes, missing) for _ in range(4 + 4 * (seed % 4))
    ]
    chain = forests.tree(rng, 1, 5, ("LEQ",), missing)  # deep, with few cells
    proto = node_of(rng, [*trees, chain], form, aggregate)
    return case(proto, forests.data(rng, 9, features), f"small {seed}")


def wide_case(features: int, depth: int, trees: int, form: str = "row", digits: int = 9) -> c.Case:
    """Trees of many nodes or features, whose tables have wider numbers. Limits are rounded to so
    many decimal digits."""
    rng = np.random.default_rng(features + depth)
    made = [_deep(rng, features, depth, digits) for _ in range(trees)]
    proto = node_of(rng, made, form, "SUM")
    return case(proto, forests.data(rng, 3, features), f"{features} features, depth {depth}")


def _deep(rng: Generator, features: int, depth: int, digits: int) -> forests.RandomTree:
    """A tree with all nodes of its levels, and random limits."""
    inner = 2**depth - 1
    limits = rng.normal(size=inner).round(digits).astype(np.float32).tolist()
    nodes = [("LEQ", k % features, limits[k], 2 * k + 1, 2 * k + 2, k % 2) for k in range(inner)]
    return forests.RandomTree((*nodes, *[("", 0, 0.0, 0, 0, 0)] * (inner + 1)))
