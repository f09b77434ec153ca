"""Reads the attributes that list the nodes of decision trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from microgen.frontends.onnx import ml_nodes
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.tree_tables import MODES, MOST_NODES, TreeNodes
from microgen.graph.ir.graph import Array

_LISTS = ("falsenodeids", "featureids", "modes", "nodeids", "treeids", "truenodeids")
_MEMBER = 6  # the mode BRANCH_MEMBER of TreeEnsemble
_Place = tuple[int, int]  # the number of a tree, and of a node in it


def node_lists(node: OnnxNode, prefix: str) -> TreeNodes:
    """The trees of an operator that lists leaves among the nodes. ``prefix`` begins the names of
    the attributes of leaves: "class" or "target"."""
    lists = {name: node.attr(f"nodes_{name}", ()) for name in _LISTS}
    count = len(lists["nodeids"])
    _expect_few(node, count)
    for name, values in lists.items():
        ml_nodes.expect_count(node, f"nodes_{name}", len(values), count)
    values = _floats(node, "nodes_values", count)
    places = list(zip(lists["treeids"], lists["nodeids"], strict=True))
    numbers = {place: k for k, place in enumerate(places)}
    if len(numbers) != count:
        raise node.invalid("lists a node of a tree twice")
    modes = [str(mode) for mode in lists["modes"]]
    _expect_known(node, [mode for mode in modes if mode != "LEAF"])
    weights = _weights(node, prefix, numbers)
    leaves, refs = _leaves(node, modes, places, weights)
    return TreeNodes(
        [0 if mode == "LEAF" else MODES.index(mode) for mode in modes],
        [0 if mode == "LEAF" else f for mode, f in zip(modes, lists["featureids"], strict=True)],
        values,
        _children(node, lists["truenodeids"], (places, numbers, modes, refs)),
        _children(node, lists["falsenodeids"], (places, numbers, modes, refs)),
        _missing(node, count),
        [refs.get(root, root) for root in _roots(node, lists["treeids"])],
        leaves,
    )


def _expect_few(node: OnnxNode, count: int) -> None:
    """UnsupportedError for more nodes than tables can have, before anything is computed of them."""
    if count > MOST_NODES:
        raise node.unsupported(f"has {count} nodes", supported=f"up to {MOST_NODES}")
    if not count:
        raise node.invalid("has no nodes")


def _expect_known(node: OnnxNode, modes: Sequence[str]) -> None:
    for mode in modes:
        if mode not in MODES:
            raise node.unsupported(
                f"has a node of the mode {mode[:32]!r}", supported=", ".join((*MODES, "LEAF"))
            )


def _floats(node: OnnxNode, name: str, count: int) -> Array:
    """A list of floats that is an attribute, or a tensor."""
    tensor = node.attr(f"{name}_as_tensor", None)
    found = ml_nodes.numbers(node, name) if tensor is None else np.ravel(tensor)
    ml_nodes.expect_count(node, name, len(found), count)
    if found.dtype != np.float32:
        raise node.unsupported(f"has {name} of {found.dtype}", supported="float32")
    return found


def _missing(node: OnnxNode, count: int) -> list[bool]:
    """Whether NaN is true, for each node; never by default."""
    found = node.ints("nodes_missing_value_tracks_true", ())
    if len(found) not in (0, count):
        ml_nodes.expect_count(node, "nodes_missing_value_tracks_true", len(found), count)
    return [each == 1 for each in found] or [False] * count


def _weights(
    node: OnnxNode, prefix: str, numbers: Mapping[_Place, int]
) -> dict[int, dict[int, float]]:
    """By node, the values of its targets."""
    ids, nodes, trees = (node.ints(f"{prefix}_{n}", ()) for n in ("ids", "nodeids", "treeids"))
    values = _floats(node, f"{prefix}_weights", len(ids))
    for name, found in (("nodeids", nodes), ("treeids", trees)):
        ml_nodes.expect_count(node, f"{prefix}_{name}", len(found), len(ids))
    weights: dict[int, dict[int, float]] = {}
    for target, place, value in zip(ids, zip(trees, nodes, strict=True), values, strict=True):
        if place not in numbers:
            raise node.invalid(f"has a weight of node {place[1]} of tree {place[0]}, which is none")
        own = weights.setdefault(numbers[place], {})
        if target in own:
            raise node.unsupported(
                f"has two weights of target {target} in a leaf", supported="one weight of each"
            )
        own[target] = float(value)
    return weights


def _leaves(
    node: OnnxNode,
    modes: Sequence[str],
    places: Sequence[_Place],
    weights: Mapping[int, dict[int, float]],
) -> tuple[list[dict[int, float]], dict[int, int]]:
    """The leaves, and the reference of each node that is one."""
    leaves: list[dict[int, float]] = []
    refs: dict[int, int] = {}
    for k, mode in enumerate(modes):
        if mode != "LEAF":
            continue
        if k not in weights:
            raise node.invalid(f"has no weight for leaf {places[k][1]} of tree {places[k][0]}")
        refs[k] = -1 - len(leaves)
        leaves.append(weights[k])
    return leaves, refs


def _children(node: OnnxNode, ids: Sequence[int], lists: Any) -> list[int]:
    """The child of each node; 0 of leaves."""
    places, numbers, modes, refs = lists
    children = []
    for (tree, own), child, mode in zip(places, ids, modes, strict=True):
        if mode == "LEAF":
            children.append(0)
            continue
        if (tree, child) not in numbers:
            raise node.invalid(
                f"has the node {own} of tree {tree} with the child {child}, which is none"
            )
        number = numbers[tree, child]
        children.append(refs.get(number, number))
    return children


def _roots(node: OnnxNode, trees: Sequence[int]) -> list[int]:
    """The first node of each tree."""
    roots = [k for k, tree in enumerate(trees) if k == 0 or tree != trees[k - 1]]
    if len(roots) != len({*trees}):
        raise node.unsupported(
            "lists the nodes of several trees in turns", supported="one tree after the other"
        )
    return roots


def leaf_lists(node: OnnxNode) -> TreeNodes:
    """The trees of an operator that lists leaves by themselves: TreeEnsemble."""
    names = ("featureids", "truenodeids", "falsenodeids", "trueleafs", "falseleafs")
    features, true, false, true_leaf, false_leaf = (node.ints(f"nodes_{n}", ()) for n in names)
    count = len(features)
    _expect_few(node, count)
    for name, found in zip(names, (features, true, false, true_leaf, false_leaf), strict=True):
        ml_nodes.expect_count(node, f"nodes_{name}", len(found), count)
    modes, splits, weights = (
        np.ravel(node.attr(name)) for name in ("nodes_modes", "nodes_splits", "leaf_weights")
    )
    for name, array in (("nodes_modes", modes), ("nodes_splits", splits)):
        ml_nodes.expect_count(node, name, len(array), count)
    if splits.dtype != np.float32 or weights.dtype != np.float32:
        raise node.unsupported(f"has splits of {splits.dtype}", supported="float32")
    if _MEMBER in modes:
        raise node.unsupported(
            "has a node of the mode BRANCH_MEMBER, for which ONNX Runtime truncates features",
            hint="compare with each value by BRANCH_EQ",
        )
    wrong = [int(mode) for mode in modes if not 0 <= mode < len(MODES)]
    if wrong:
        raise node.invalid(f"has a node of the mode {wrong[0]}; 0 to {len(MODES) - 1} are expected")
    targets = node.ints("leaf_targetids", ())
    ml_nodes.expect_count(node, "leaf_weights", len(weights), len(targets))
    return TreeNodes(
        modes.tolist(),
        features,
        splits,
        _refs(node, true, true_leaf),
        _refs(node, false, false_leaf),
        _missing(node, count),
        list(node.ints("tree_roots", ())),
        [{target: float(value)} for target, value in zip(targets, weights, strict=True)],
    )


def _refs(node: OnnxNode, children: Sequence[int], is_leaf: Sequence[int]) -> list[int]:
    """References of nodes, and of leaves."""
    negative = [child for child in children if child < 0]
    if negative:
        raise node.invalid(f"has the child {negative[0]}")
    return [-1 - c if leaf else c for c, leaf in zip(children, is_leaf, strict=True)]
