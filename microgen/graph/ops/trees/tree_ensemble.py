"""Ensembles of decision trees, as tables that are walked in a time that does not depend on data.

A comparison of floats becomes one of uint32 keys, which have the same order: ``float_keys``. So one
kind of split is enough. A step goes from node n to the *false* child if the key of the node's
feature is greater than the node's key, and otherwise to the *true* child:

    n = child[n] - (key[n] < known[split[n]])

The children of a node are neighbours, and ``child`` is the true one, which is the second. A leaf
has the split 0, whose known key is 0, and itself as its child, so that steps from a leaf lead to
it. Each tree takes a fixed number of steps, two for each of its rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.balls import gamma
from microgen.graph.ops.base import EXACT, Inexact, OpDefinition, Operands, Shapes
from microgen.graph.ops.constraints import dtype_constraint, first_of
from microgen.graph.ops.cost import ReferenceCost

Aggregate = Literal["sum", "min", "max"]
AGGREGATES: tuple[Aggregate, ...] = ("sum", "min", "max")
STEPS = 2  # of a round
# The number of NaNs of one sign. Keys move by it, so that all NaNs are at one end.
_NAN_OFFSET = 0x007FFFFF
_INDICES = (DType.UINT8, DType.UINT16, DType.UINT32)


@dataclass(frozen=True, slots=True)
class TreeEnsembleAttrs(Attrs):
    """tree_ensemble: sums, minima or maxima of the leaves that a row reaches in decision trees.

    Inputs: float32 data [rows, features], and constants:

    - ``used``: uint16 [splits], the features that nodes compare. Split s + 1 is feature
      ``used[s]``. NaN is greater than every number for the first ``above`` of them, and less for
      the others.
    - ``key``: uint32 [nodes], what a node compares with its feature. Of a leaf, the bits of its
      value, or the number of its row in ``leaf``.
    - ``split``: uint8 or uint16 [nodes]; 0 of a leaf.
    - ``child``: uint8, uint16 or uint32 [nodes]; a leaf's is itself.
    - ``tree``: uint16 or uint32 [trees, 2], the root of each tree, and its rounds of two steps.
    - ``leaf``, if there are several targets: uint16 [trees], the target of each tree, whose leaves
      have values; or rows [leaves, targets], of float32, or uint8 or uint16 indices of ``value``.
    - ``value``: float32 [values], which the rows index.

    With ``votes``, leaves are targets, and ``leaf`` is float32 [trees + 1]: the result of a target
    that so many trees lead to.

    Output: float32 [rows, ``targets``]. Values are added to 0, tree by tree. A minimum of no value
    is infinity, a maximum -infinity.
    """

    targets: int
    above: int
    aggregate: Aggregate = "sum"
    votes: bool = False


def float_keys(values: Array | np.float32, *, nan_above: bool) -> Array:
    """uint32 keys in the order of float32 values; -0 is less than 0. NaN of either sign is greater
    than infinity, or less than -infinity, if not ``nan_above``.
    """
    bits = np.asarray(values, np.float32).view(np.uint32)
    keys = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    # Positive NaN comes after infinity and negative NaN before -infinity: moved, one wraps around.
    return keys - np.uint32(_NAN_OFFSET) if nan_above else keys + np.uint32(_NAN_OFFSET)


def _infer(attrs: TreeEnsembleAttrs, inputs: Types) -> Shapes:
    """The shape [rows, targets]."""
    if not 6 <= len(inputs) <= 8:
        raise ValueError(f"tree_ensemble has {len(inputs)} inputs; 6 to 8 are expected")
    data, used, key, split, child, tree = inputs[:6]
    if len(data.shape) != 2:
        raise ValueError(f"the data is {data}; [rows, features] is expected")
    nodes = key.size
    if any(each.shape != (nodes,) for each in (key, split, child)) or not nodes:
        raise ValueError(f"the tables of nodes are {key}, {split} and {child}")
    if len(used.shape) != 1 or tree.shape != (tree.size // 2, 2) or not tree.size:
        raise ValueError(f"the features are {used} and the trees {tree}")
    if not 0 <= attrs.above <= used.size or attrs.aggregate not in AGGREGATES:
        raise ValueError(f"{attrs} does not fit {used.size} features")
    _expect_leaves(attrs, inputs)
    return ((data.shape[0], attrs.targets),)


def _expect_leaves(attrs: TreeEnsembleAttrs, inputs: Types) -> None:
    """ValueError unless the tables of leaves have the number of targets."""
    trees, leaves = inputs[5].shape[0], inputs[6:]
    shape = leaves[0].shape if leaves else ()
    if attrs.votes:
        if len(leaves) != 1 or shape != (trees + 1,) or attrs.aggregate != "sum":
            raise ValueError(f"the votes of {trees} trees have {len(leaves)} tables of {shape}")
        return
    is_sound = attrs.targets == 1 and not leaves
    is_sound |= len(leaves) == 1 and shape == (trees,)
    is_sound |= len(shape) == 2 and shape[1] == attrs.targets
    is_sound &= attrs.targets >= 1 and (len(leaves) < 2 or len(shape) == 2)
    if not is_sound or (len(leaves) == 2 and len(leaves[1].shape) != 1):
        found = ", ".join(map(str, leaves)) or "no table"
        raise ValueError(f"the leaves of {attrs.targets} targets are {found}")


def _check(attrs: TreeEnsembleAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 data, and tables of the dtypes that the attributes list."""
    accepted: Sequence[tuple[str, tuple[DType, ...]]] = (
        ("the data", (DType.FLOAT32,)),
        ("used", (DType.UINT16,)),
        ("key", (DType.UINT32,)),
        ("split", _INDICES[:2]),
        ("child", _INDICES),
        ("tree", _INDICES[1:]),
    )
    sentences = [
        dtype_constraint(role, tensor, dtypes)
        for (role, dtypes), tensor in zip(accepted, inputs, strict=False)
    ]
    return first_of((*sentences, _leaf_constraint(attrs, inputs))) or dtype_constraint(
        "the output", outputs[0], (DType.FLOAT32,)
    )


def _leaf_constraint(attrs: TreeEnsembleAttrs, inputs: Types) -> str | None:
    if len(inputs) == 6:
        return None
    if attrs.votes:
        return dtype_constraint("leaf", inputs[6], (DType.FLOAT32,))
    if len(inputs) == 8:
        index = dtype_constraint("leaf", inputs[6], _INDICES[:2])
        return index or dtype_constraint("value", inputs[7], (DType.FLOAT32,))
    is_target = len(inputs[6].shape) == 1
    return dtype_constraint("leaf", inputs[6], (DType.UINT16 if is_target else DType.FLOAT32,))


def known_keys(attrs: TreeEnsembleAttrs, data: Array, used: Array) -> Array:
    """The keys that splits compare, uint32 [rows, splits + 1]; the first is 0."""
    picked = data[:, used]
    above = float_keys(picked[:, : attrs.above], nan_above=True)
    below = float_keys(picked[:, attrs.above :], nan_above=False)
    return np.concatenate([np.zeros((len(data), 1), np.uint32), above, below], 1)


def leaf_values(attrs: TreeEnsembleAttrs, operands: Arrays) -> tuple[Array, Array]:
    """The values of nodes as leaves, float32 [nodes, width], and the first target of each tree,
    int64 [trees]. ``width`` is 1, or the number of targets. The values of inner nodes mean nothing.
    Votes are values of 1."""
    key, trees, leaves = operands[2], len(operands[5]), operands[6:]
    if attrs.votes:
        ones = np.eye(attrs.targets, dtype=np.float32)
        return ones[np.where(operands[3] == 0, key, 0)], np.zeros(trees, np.int64)
    nothing = np.zeros(trees, np.int64)
    if not leaves or leaves[0].ndim == 1:
        return key.view(np.float32)[:, None], leaves[0].astype(np.int64) if leaves else nothing
    rows = leaves[1][leaves[0]] if len(leaves) == 2 else leaves[0]
    return rows[np.where(operands[3] == 0, key, 0)], nothing


def _start(aggregate: str) -> np.float32:
    return np.float32({"sum": 0, "min": np.inf, "max": -np.inf}[aggregate])


def _combined(aggregate: str, total: Array, value: Array) -> Array:
    if aggregate == "sum":
        return np.asarray(total + value)
    is_better = value < total if aggregate == "min" else value > total
    return np.where(is_better, value, total)


def _reference(attrs: TreeEnsembleAttrs, operands: Operands) -> Arrays:
    # Source: ONNX, TreeEnsemble; the order of additions is ONNX Runtime's on one thread.
    data, used, key, split, child, tree, *_ = operands.inputs
    known, rows = known_keys(attrs, data, used), np.arange(len(data))
    values, targets = leaf_values(attrs, operands.inputs)
    width = values.shape[1]
    total = np.full((len(data), attrs.targets), _start(attrs.aggregate))
    with np.errstate(all="ignore"):
        for (root, rounds), target in zip(tree.tolist(), targets.tolist(), strict=True):
            node = np.full(len(data), root, np.int64)
            for _ in range(STEPS * rounds):
                node = child[node].astype(np.int64) - (key[node] < known[rows, split[node]])
            part = total[:, target : target + width]
            part[:] = _combined(attrs.aggregate, part, values[node])
    return (_of_votes(attrs, operands.inputs, total),)


def _of_votes(attrs: TreeEnsembleAttrs, operands: Arrays, total: Array) -> Array:
    """The results of votes, or the totals as they are."""
    return np.asarray(operands[6][total.astype(np.int64)]) if attrs.votes else total


def _cost(attrs: TreeEnsembleAttrs, inputs: Types, _outputs: Types) -> ReferenceCost:
    """Each row walks through each tree; the rounds are bounded by the nodes of all trees."""
    rows, nodes, trees = inputs[0].shape[0], inputs[2].size, inputs[5].shape[0]
    nbytes = 64 * (inputs[0].size + rows * (inputs[1].size + attrs.targets)) + 8 * nodes
    return ReferenceCost(nbytes + 8 * nodes * attrs.targets, 64 * rows * (nodes + 4 * trees))


def _bound(attrs: TreeEnsembleAttrs, given: Inexact) -> Arrays:
    """Equal for equal data. Otherwise, an element is between the aggregates of the least and of the
    greatest leaves that data within the errors reaches."""
    if given.is_exact:
        return EXACT.of(attrs, given)
    errors, operands = given.errors[0], given.operands
    data = operands.inputs[0].astype(np.float64)
    ends = [bounds.outward(data + sign * errors, sign) for sign in (-1, 1)]
    # Without errors, the data keeps its bits; with an unlimited error, it may be NaN.
    ends = [np.where(errors > 0, end, operands.inputs[0]) for end in ends]
    known = [known_keys(attrs, end, operands.inputs[1]) for end in ends]
    unknown = ~np.isfinite(errors)[:, operands.inputs[1]]
    known[0][:, 1:][unknown], known[1][:, 1:][unknown] = 0, np.uint32(0xFFFFFFFF)
    found = np.stack(
        [_row_bound(attrs, operands.inputs, *pair) for pair in zip(*known, strict=True)]
    )
    expected = given.expected[0].astype(np.float64)[..., None]
    # Both may be the same infinity.
    apart = np.where(expected == found, 0.0, np.abs(expected - found))
    return (apart.max(-1),)


def _row_bound(attrs: TreeEnsembleAttrs, operands: Arrays, low: Array, high: Array) -> Array:
    """The least and the greatest result of a row whose keys are from ``low`` to ``high``, float64
    [targets, 2]."""
    key, split, child, tree = operands[2:6]
    values, targets = leaf_values(attrs, operands)
    width = values.shape[1]
    total = np.full((attrs.targets, 2), _start(attrs.aggregate), np.float64)
    sizes = np.zeros((attrs.targets, 1))
    for (root, rounds), target in zip(tree.tolist(), targets.tolist(), strict=True):
        nodes = np.array([root])
        for _ in range(STEPS * rounds):
            splits, ends = split[nodes], child[nodes].astype(np.int64)
            is_true, is_false = key[nodes] >= low[splits], key[nodes] < high[splits]
            nodes = np.unique(np.concatenate([ends[is_true], ends[is_false] - 1]))
        reached = values[nodes].astype(np.float64)
        both = np.stack([reached.min(0), reached.max(0)], -1)
        part = slice(target, target + width)
        total[part] = _combined(attrs.aggregate, total[part], both)
        sizes[part] += np.abs(both).max(-1, keepdims=True)
    if attrs.votes:  # values increase or decrease with votes
        ends = _of_votes(attrs, operands, total).astype(np.float64)
        return np.stack([ends.min(-1), ends.max(-1)], -1)
    if attrs.aggregate != "sum":
        return total
    slack = 2 * gamma(len(tree)) * sizes
    return np.asarray(total + slack * [-1, 1])


OP = OpDefinition(
    "tree_ensemble",
    TreeEnsembleAttrs,
    _infer,
    _check,
    _reference,
    cost=_cost,
    bound=bounds.of_floats("equal; leaves that inexact data may reach", _bound),
)
