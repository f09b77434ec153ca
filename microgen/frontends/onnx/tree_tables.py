"""The tables of decision trees that a model has as lists of nodes.

Every comparison becomes one or two splits of the kind that the op ``tree_ensemble`` has, equal
subtrees become one, and a split between equal subtrees is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from microgen.base.errors import few
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.ir.graph import Array
from microgen.graph.ops.trees.tree_ensemble import STEPS, float_keys

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
MOST_NODES = 2**18
_MOST_ROUNDS = 2**16 - 1
_WORTH = 128  # bytes
_MOST_FEATURES = 2**16 - 1

Ref = int
"""A node of a list, or a leaf: -1 - its number."""


@dataclass(frozen=True, slots=True)
class TreeNodes:
    """Trees as a model lists them. Lists of nodes are of equal length."""

    modes: Sequence[int]  # places in MODES
    features: Sequence[int]
    thresholds: Array  # float32
    if_true: Sequence[Ref]
    if_false: Sequence[Ref]
    nan_is_true: Sequence[bool]
    roots: Sequence[Ref]
    leaves: Sequence[Mapping[int, float]]  # target -> value


@dataclass(frozen=True, slots=True)
class TreeTables:
    """Constants of the op ``tree_ensemble`` in its order, and the number of splits that treat NaN
    as above."""

    tables: tuple[Array, ...]
    above: int
    votes: bool


# A leaf is (-1, the number of its value), an inner node (split, key, false child, true child).
_Shape = tuple[int, ...]


@dataclass(slots=True)
class _Forest:
    """Distinct subtrees, by number."""

    shapes: list[_Shape] = field(default_factory=list)
    heights: list[int] = field(default_factory=list)
    known: dict[_Shape, int] = field(default_factory=dict)
    splits: dict[tuple[int, bool], int] = field(default_factory=dict)  # feature, NaN above

    def leaf(self, value: int) -> int:
        """The number of a leaf."""
        return self._add((-1, value), 0)

    def split(self, feature: int, above: bool, key: int, children: tuple[int, int]) -> int:
        """The number of a node that leads to the second child if the feature's key is at most
        ``key``, otherwise to the first one."""
        if children[0] == children[1]:
            return children[0]
        split = self.splits.setdefault((feature, above), len(self.splits))
        height = 1 + max(self.heights[child] for child in children)
        return self._add((split, key, *children), height)

    def _add(self, shape: _Shape, height: int) -> int:
        if shape not in self.known:
            self.known[shape] = len(self.shapes)
            self.shapes.append(shape)
            self.heights.append(height)
        return self.known[shape]


@dataclass(slots=True)
class _Builder:
    """The distinct subtrees of a model's trees."""

    node: OnnxNode
    given: TreeNodes
    leaf_numbers: Sequence[int]  # of the distinct values of leaves, by leaf
    forest: _Forest = field(default_factory=_Forest)
    done: dict[Ref, int] = field(default_factory=dict)

    def root(self, ref: Ref) -> int:
        """The number of the subtree at a node. ModelError if nodes form a cycle."""
        stack = [ref]
        path: set[Ref] = set()
        while stack:
            top = stack[-1]
            if top in self.done:
                path.discard(stack.pop())
                continue
            children = self._children(top)
            missing = [child for child in children if child not in self.done]
            if not missing:
                self.done[top] = self._made(top, children)
                continue
            if top in path or any(child in path for child in missing):
                raise self.node.invalid(f"has a tree whose node {top} is below itself")
            path.add(top)
            stack += missing
        return self.done[ref]

    def _children(self, ref: Ref) -> tuple[Ref, ...]:
        return () if ref < 0 else (self.given.if_false[ref], self.given.if_true[ref])

    def _made(self, ref: Ref, children: tuple[Ref, ...]) -> int:
        if ref < 0:
            return self.forest.leaf(self.leaf_numbers[-1 - ref])
        no, yes = (self.done[child] for child in children)
        given = self.given
        mode, feature, missing = (
            MODES[given.modes[ref]],
            given.features[ref],
            given.nan_is_true[ref],
        )
        return self._compared(mode, feature, given.thresholds[ref], missing, no, yes)

    def _compared(
        self, mode: str, feature: int, limit: np.float32, missing: bool, no: int, yes: int
    ) -> int:
        """The number of a node with this comparison. NaN compares false, except that it is not
        equal to anything; with ``missing``, it is true."""
        of_nan = yes if missing or mode == "BRANCH_NEQ" else no
        if np.isnan(limit):
            rest = yes if mode == "BRANCH_NEQ" else no
            return rest if of_nan == rest else self._at_most(feature, limit, 0, of_nan, no, no)
        if mode in ("BRANCH_LEQ", "BRANCH_GT"):
            first, second = (yes, no) if mode == "BRANCH_LEQ" else (no, yes)
            return self._at_most(feature, limit, 0, of_nan, second, first)
        if mode in ("BRANCH_LT", "BRANCH_GTE"):
            first, second = (yes, no) if mode == "BRANCH_LT" else (no, yes)
            return self._at_most(feature, limit, 1, of_nan, second, first)
        equal, other = (yes, no) if mode == "BRANCH_EQ" else (no, yes)
        below = self._at_most(feature, limit, 1, of_nan, equal, other)
        # NaN that counts as equal reaches the second comparison, too.
        outer = below if of_nan == equal else other
        return self._at_most(feature, limit, 0, outer, other, below)

    def _at_most(
        self, feature: int, limit: np.float32, less: int, of_nan: int, no: int, yes: int
    ) -> int:
        """The node that leads to ``yes`` for numbers up to the limit (below the limit if ``less``
        is 1), and to ``of_nan`` for NaN."""
        if np.isnan(limit):  # only NaN is less than the least number
            key = int(float_keys(np.float32(-np.inf), nan_above=False)) - 1
            return self.forest.split(feature, False, key, (no, of_nan))
        above = of_nan == no
        # -0 and 0 are equal: the limit is the greater of the two, or the number below the lesser
        # one.
        limit = np.float32(limit if limit else (-0.0 if less else 0.0))
        key = int(float_keys(limit, nan_above=above)) - less
        return no if key < 0 else self.forest.split(feature, above, key, (no, yes))


def packed(
    node: OnnxNode, given: TreeNodes, targets: int, features: int, absent: float = 0.0
) -> TreeTables:
    """The tables of an operator's trees. Its input has ``features`` features. Leaves have the value
    ``absent`` for the targets that they do not list. ModelError for a node that does not exist, or
    is below itself; UnsupportedError for more than the tables can have."""
    _expect_sound(node, given, targets, features)
    votes = _vote_of(given, targets) if absent == 0 else None
    if votes is None:
        payload, numbers, leaves = _leaf_tables(node, given, targets, absent)
    else:
        payload, numbers, leaves = _vote_tables(given, targets, votes)
    builder = _Builder(node, given, numbers)
    roots = [builder.root(root) for root in given.roots]
    forest = builder.forest
    rounds = [-(-forest.heights[root] // STEPS) for root in roots]
    if max(rounds) > _MOST_ROUNDS:
        raise node.unsupported(
            f"has a tree of {STEPS * max(rounds)} levels", supported=f"{STEPS * _MOST_ROUNDS}"
        )
    order = sorted(forest.splits, key=lambda split: (not split[1], split[0]))
    places = {forest.splits[split]: place + 1 for place, split in enumerate(order)}
    entries, starts = _numbered(forest, roots)
    tables = _node_tables(forest, entries, places, payload)
    trees = np.array(list(zip(starts, rounds, strict=True)))
    used = np.array([feature for feature, _ in order] or [0], np.uint16)
    above = sum(above for _, above in order) if order else 1
    tree = trees.astype(np.uint16 if trees.max() < 2**16 else np.uint32)
    return TreeTables((used, *tables, tree, *leaves), above, votes is not None)


def _expect_sound(node: OnnxNode, given: TreeNodes, targets: int, features: int) -> None:
    """Raise unless nodes and leaves that the lists name exist."""
    nodes, leaves = len(given.modes), len(given.leaves)
    if max(nodes, leaves) > MOST_NODES:
        raise node.unsupported(
            f"has {nodes} nodes and {leaves} leaves", supported=f"up to {MOST_NODES}"
        )
    if features > _MOST_FEATURES:
        raise node.unsupported(f"has {features} features", supported=f"up to {_MOST_FEATURES}")
    for what, found, low, high in (
        ("feature", given.features, 0, features),
        ("child", given.if_true, -leaves, nodes),
        ("child", given.if_false, -leaves, nodes),
        ("root", given.roots, -leaves, nodes),
        ("target", [target for leaf in given.leaves for target in leaf], 0, targets),
    ):
        wrong = [each for each in found if not low <= each < high]
        if wrong:
            raise node.invalid(f"has the {what} {few([str(each) for each in wrong])}, of {high}")
    if not given.roots or not leaves:
        raise node.invalid(f"has {len(given.roots)} trees and {leaves} leaves")
    if not all(np.isfinite(value) for leaf in given.leaves for value in leaf.values()):
        raise node.unsupported("has a leaf that is infinite or NaN", supported="finite values")


# The values of leaves.


def _leaf_tables(
    node: OnnxNode, given: TreeNodes, targets: int, absent: float
) -> tuple[Array, list[int], tuple[Array, ...]]:
    """The keys of leaves, the number of each leaf's key, and further tables."""
    of_trees = targets_of_trees(given)
    if targets == 1 or of_trees is not None:
        values = [np.float32(value) for leaf in given.leaves for value in leaf.values()]
        distinct, numbers = np.unique(np.array(values).view(np.uint32), return_inverse=True)
        own = () if targets == 1 else (np.array(of_trees, np.uint16),)
        return distinct, numbers.ravel().tolist(), own
    if len(given.leaves) * targets > MOST_NODES * 16:
        raise node.unsupported(f"has {len(given.leaves)} leaves of {targets} targets")
    rows = np.full((len(given.leaves), targets), absent, np.float32)
    for row, leaf in zip(rows, given.leaves, strict=True):
        row[list(leaf)] = list(leaf.values())
    # Bits are compared, because 0 and -0 are equal.
    distinct, numbers = np.unique(rows.view(np.uint32), axis=0, return_inverse=True)
    return (
        np.arange(len(distinct), dtype=np.uint32),
        numbers.ravel().tolist(),
        _smallest(distinct.view(np.float32)),
    )


def _vote_of(given: TreeNodes, targets: int) -> np.float32 | None:
    """The value of every leaf, if each has it for one of several targets and 0 for the others;
    otherwise None."""
    values = {value for leaf in given.leaves for value in leaf.values() if value}
    is_one = all(sum(value != 0 for value in leaf.values()) == 1 for leaf in given.leaves)
    return np.float32(values.pop()) if targets > 1 and is_one and len(values) == 1 else None


def _vote_tables(
    given: TreeNodes, targets: int, value: np.float32
) -> tuple[Array, list[int], tuple[Array, ...]]:
    """As ``_leaf_tables``: keys are targets, and the table has the sums of equal values."""
    numbers = [next(k for k, each in leaf.items() if each) for leaf in given.leaves]
    # Added like results: from 0 on, tree by tree. Zeros of other trees change nothing.
    sums = np.zeros(len(given.roots) + 1, np.float32)
    for place in range(len(given.roots)):
        sums[place + 1] = sums[place] + value
    return np.arange(targets, dtype=np.uint32), numbers, (sums,)


def _smallest(rows: Array) -> tuple[Array, ...]:
    """The rows of floats, or of indices of the distinct floats if these take far fewer bytes:
    reading them takes longer."""
    bits, places = np.unique(rows.view(np.uint32), return_inverse=True)
    if len(bits) > 2**16:
        return (rows,)
    index = places.reshape(rows.shape).astype(np.uint8 if len(bits) <= 2**8 else np.uint16)
    saved = rows.nbytes - index.nbytes - bits.nbytes
    return (index, bits.view(np.float32)) if saved > _WORTH else (rows,)


def targets_of_trees(given: TreeNodes) -> list[int] | None:
    """The target of each tree, if all leaves of each tree have the same one; otherwise None."""
    if any(len(leaf) != 1 for leaf in given.leaves):
        return None
    found = [{target for leaf in leaves_of(given, root) for target in leaf} for root in given.roots]
    return [next(iter(each)) for each in found] if all(len(each) == 1 for each in found) else None


def leaves_of(given: TreeNodes, root: Ref) -> Iterator[Mapping[int, float]]:
    """The leaves of a tree."""
    seen: set[Ref] = set()
    stack = [root]
    while stack:
        ref = stack.pop()
        if ref in seen:
            continue
        seen.add(ref)
        if ref < 0:
            yield given.leaves[-1 - ref]
        else:
            stack += (given.if_true[ref], given.if_false[ref])


# The tables of nodes.


def _numbered(forest: _Forest, roots: Sequence[int]) -> tuple[list[int], list[int]]:
    """The subtree of each entry of the tables, and the entry of each root. The two children of a
    node are neighbours; nodes with the same children share them."""
    entries: list[int] = []
    places: dict[int, int] = {}
    pairs: set[tuple[int, ...]] = set()
    pending = list(roots)
    for subtree in pending:
        children = forest.shapes[subtree][2:]
        if children and children not in pairs:
            pairs.add(children)
            for child in children:
                places.setdefault(child, len(entries))
                entries.append(child)
            pending += children
    for root in roots:
        if root not in places:
            places[root] = len(entries)
            entries.append(root)
    return entries, [places[root] for root in roots]


def _node_tables(
    forest: _Forest, entries: Sequence[int], places: Mapping[int, int], payload: Array
) -> tuple[Array, Array, Array]:
    """The keys, splits and children of all entries."""
    pairs = {
        (entries[place], entries[place + 1]): place + 1
        for place in range(len(entries) - 1, -1, -1)
        if place + 1 < len(entries)
    }
    keys, splits, children = [], [], []
    for place, subtree in enumerate(entries):
        split, key, *own = forest.shapes[subtree]
        is_leaf = not own
        keys.append(int(payload[key]) if is_leaf else key)
        splits.append(0 if is_leaf else places[split])
        children.append(place if is_leaf else pairs[own[0], own[1]])
    size = len(entries)
    child = np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.uint32
    split_type = np.uint8 if len(places) < 2**8 else np.uint16
    return np.array(keys, np.uint32), np.array(splits, split_type), np.array(children, child)
