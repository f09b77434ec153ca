"""Random decision trees as nodes of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from microgen.graph.ir.graph import Array
from tests.frontends.onnx.models import info

DOMAIN = "ai.onnx.ml"
MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ")
# Limits that data often equals.
LIMITS = np.array([-np.inf, -2, -1, -0.0, 0.0, 0.5, 1, 2, np.inf], np.float32)


@dataclass(frozen=True)
class RandomTree:
    """Nodes in the order of their numbers: mode ("" of a leaf), feature, limit, children, whether
    NaN is true."""

    nodes: tuple[tuple[str, int, float, int, int, int], ...]

    @property
    def leaves(self) -> list[int]:
        return [k for k, node in enumerate(self.nodes) if not node[0]]


def tree(
    rng: Generator, features: int, depth: int, modes: Sequence[str] = MODES, missing: float = 0.3
) -> RandomTree:
    """A tree of up to so many levels."""
    nodes: list[tuple[str, int, float, int, int, int]] = []

    def grow(level: int) -> int:
        own = len(nodes)
        nodes.append(("", 0, 0.0, 0, 0, 0))
        if level and (rng.random() < 0.8 or level == depth):
            true, false = grow(level - 1), grow(level - 1)
            mode, limit = str(rng.choice(modes)), float(rng.choice(LIMITS))
            is_nan_true = int(rng.random() < missing)
            nodes[own] = (mode, int(rng.integers(features)), limit, true, false, is_nan_true)
        return own

    grow(depth)
    return RandomTree(tuple(nodes))


def data(rng: Generator, rows: int, features: int) -> Array:
    """Rows that often equal limits, with infinities and NaN of both signs."""
    values = rng.choice(LIMITS, (rows, features))
    values = np.where(rng.random(values.shape) < 0.3, rng.normal(size=values.shape), values)
    values = values.astype(np.float32)
    nan = np.array([0x7FC00000, 0xFFC00000, 0x7F800001], np.uint32).view(np.float32)
    return np.where(rng.random(values.shape) < 0.15, rng.choice(nan, values.shape), values)


def listed(trees: Sequence[RandomTree], *, tracks_missing: bool = True) -> dict[str, Any]:
    """The attributes of nodes of TreeEnsembleRegressor and TreeEnsembleClassifier."""
    rows = [(t, k, *node) for t, each in enumerate(trees) for k, node in enumerate(each.nodes)]
    columns = list(zip(*rows, strict=True))
    found: dict[str, Any] = {
        "nodes_treeids": columns[0],
        "nodes_nodeids": columns[1],
        "nodes_modes": [f"BRANCH_{mode}" if mode else "LEAF" for mode in columns[2]],
        "nodes_featureids": columns[3],
        "nodes_values": columns[4],
        "nodes_truenodeids": columns[5],
        "nodes_falsenodeids": columns[6],
    }
    if tracks_missing:
        found["nodes_missing_value_tracks_true"] = columns[7]
    return found


def weighted(
    rng: Generator,
    trees: Sequence[RandomTree],
    prefix: str,
    targets: Sequence[Sequence[int]],
    *,
    positive: bool = False,
) -> dict[str, Any]:
    """The attributes of leaves; ``targets`` are those of each tree's leaves."""
    rows = [
        (target, leaf, t, _value(rng, positive))
        for t, each in enumerate(trees)
        for leaf in each.leaves
        for target in targets[t]
    ]
    names = ("ids", "nodeids", "treeids", "weights")
    return {
        f"{prefix}_{name}": list(column)
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


def _value(rng: Generator, positive: bool) -> float:
    value = float(np.float32(rng.choice([0.125, 0.3, 0.7, rng.normal()])))
    return abs(value) if positive else value * float(rng.choice([-1, 1]))


def leaf_lists(rng: Generator, trees: Sequence[RandomTree], targets: int) -> dict[str, Any]:
    """The attributes of TreeEnsemble of opset 5. Each tree has two leaves or more."""
    places: dict[tuple[int, int], int] = {}
    inner, leaves = [], []
    for t, each in enumerate(trees):
        for k, node in enumerate(each.nodes):
            places[t, k] = len(inner) if node[0] else len(leaves)
            (inner if node[0] else leaves).append((t, node))
    modes = [MODES.index(node[0]) for _, node in inner]
    found: dict[str, Any] = {
        "n_targets": targets,
        "tree_roots": [places[t, 0] for t in range(len(trees))],
        "nodes_modes": _tensor(np.array(modes, np.uint8)),
        "nodes_splits": _tensor(np.array([node[2] for _, node in inner], np.float32)),
        "nodes_featureids": [node[1] for _, node in inner],
        "nodes_missing_value_tracks_true": [node[5] for _, node in inner],
        "leaf_targetids": [int(rng.integers(targets)) for _ in leaves],
        "leaf_weights": _tensor(np.array([_value(rng, False) for _ in leaves], np.float32)),
    }
    for name, position in (("true", 3), ("false", 4)):
        children = [(t, node[position]) for t, node in inner]
        found[f"nodes_{name}nodeids"] = [places[t, int(child)] for t, child in children]
        is_leaf = [int(not trees[t].nodes[int(child)][0]) for t, child in children]
        found[f"nodes_{name}leafs"] = is_leaf
    return found


def _tensor(array: Array) -> TensorProto:
    return numpy_helper.from_array(array, "t")


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    """A node of ai.onnx.ml; names are separated by blanks."""
    return helper.make_node(op, inputs.split(), outputs.split(), domain=DOMAIN, **attributes)


def one(proto: NodeProto, shape: Sequence[int], version: int = 3, kind: int = 1) -> ModelProto:
    """A model of one node whose input has that shape."""
    outputs = [helper.make_empty_tensor_value_info(name) for name in proto.output]
    graph = helper.make_graph([proto], "g", [info("x", shape, kind)], outputs)
    imports = [helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, version)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)
