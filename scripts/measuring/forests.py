"""Layers of decision trees: forms of leaves, complete trees and trees that are chains."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array, DType, Node
from microgen.graph.ops.trees.tree_ensemble import STEPS, TreeEnsembleAttrs, float_keys
from scripts.measuring.builder import Builder

SHAPES = (
    {"features": 4, "depth": 6, "trees": 10},
    {"features": 10, "depth": 3, "trees": 30},
    {"features": 30, "depth": 2, "trees": 20},
    {"features": 16, "depth": 9, "trees": 1},
    {"features": 10, "depth": 14, "trees": 6, "is_chain": True},
    {"features": 24, "depth": 8, "trees": 20, "is_chain": True},
    {"features": 4, "depth": 5, "trees": 10, "targets": 3, "form": "vote"},
    {"features": 20, "depth": 3, "trees": 24, "targets": 10, "form": "vote"},
    {"features": 40, "depth": 16, "trees": 1, "targets": 10, "form": "vote", "is_chain": True},
    {"features": 12, "depth": 12, "trees": 10, "targets": 4, "form": "vote", "is_chain": True},
    {"features": 8, "depth": 4, "trees": 12, "targets": 3, "form": "row"},
    {"features": 20, "depth": 5, "trees": 6, "targets": 10, "form": "row"},
    {"features": 6, "depth": 6, "trees": 4, "targets": 6, "form": "row"},
    {"features": 12, "depth": 10, "trees": 8, "targets": 5, "form": "row", "is_chain": True},
    {"features": 64, "depth": 5, "trees": 1},
    {"features": 50, "depth": 3, "trees": 2, "targets": 3, "form": "row", "is_chain": True},
    {"features": 30, "depth": 20, "trees": 1, "targets": 2, "form": "vote", "is_chain": True},
    {"features": 10, "depth": 3, "trees": 30, "targets": 3, "form": "target"},
    {"features": 10, "depth": 9, "trees": 9, "targets": 3, "form": "target", "is_chain": True},
)
_LIMITS = 6  # of each feature
_ROWS = 64  # distinct ones of several targets


def trees(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    features: int,
    depth: int,
    trees: int,
    targets: int = 1,
    form: str = "value",
    is_chain: bool = False,
) -> Node:
    """tree_ensemble. Trees have all nodes of their levels, or are chains, whose nodes have a leaf
    and a further node each."""
    rng = np.random.default_rng(features + depth + trees)
    inner = depth if is_chain else 2**depth - 1
    split, child = _nodes(features, inner, trees, is_chain)
    limits = float_keys(rng.normal(0, 1, (features, _LIMITS)).astype(np.float32), nan_above=True)
    chosen = limits[split - 1, rng.integers(_LIMITS, size=split.shape)]
    leaves = _leaves(rng, form, trees, targets)
    key = np.where(split > 0, chosen, _keys(rng, form, targets, split.shape)).astype(np.uint32)
    roots = np.arange(trees) * (2 * inner + 1)
    tree = np.stack([roots, np.full(trees, -(-depth // STEPS))], 1)
    tables = (
        ("used", np.arange(features, dtype=np.uint16)),
        ("key", key.ravel()),
        ("split", split.ravel().astype(np.uint8)),
        ("child", child.ravel().astype(np.uint16)),
        ("tree", tree.astype(np.uint16)),
        *leaves,
    )
    own = f"{form}_{features}_{depth}_{trees}_{targets}_{is_chain}"
    names = [b.constant(array, None, f"tree_{name}_{own}") for name, array in tables]
    attrs = TreeEnsembleAttrs(targets, above=features, votes=form == "vote")
    return b.node("tree_ensemble", attrs, b.data(dtype, 1, features), *names, dtype=dtype)


def _nodes(features: int, inner: int, trees: int, is_chain: bool) -> tuple[Array, Array]:
    """The splits and children of nodes, [trees, nodes]."""
    places = np.arange(2 * inner + 1)
    is_inner = np.isin(places, np.arange(inner) * (2 if is_chain else 1))
    every = np.arange(trees * places.size).reshape(trees, -1)
    second = every[:, :1] + (places if is_chain else 2 * places) + 2
    return np.where(is_inner, every % features + 1, 0), np.where(is_inner, second, every)


def _keys(rng: np.random.Generator, form: str, targets: int, shape: tuple[int, ...]) -> Array:
    """The keys of leaves: targets, rows, or the bits of values."""
    if form in ("vote", "row"):
        return rng.integers(targets if form == "vote" else _ROWS, size=shape)
    return rng.normal(0, 1, shape).astype(np.float32).view(np.uint32)


def _leaves(
    rng: np.random.Generator, form: str, trees: int, targets: int
) -> tuple[tuple[str, Array], ...]:
    """The tables of leaves, by name."""
    if form == "vote":
        return (("leaf", np.linspace(0, 1, trees + 1, dtype=np.float32)),)
    if form == "target":
        return (("leaf", (np.arange(trees) % targets).astype(np.uint16)),)
    if form == "row":
        index = rng.integers(200, size=(_ROWS, targets)).astype(np.uint8)
        return (("leaf", index), ("value", rng.uniform(0, 1, 200).astype(np.float32)))
    return ()
