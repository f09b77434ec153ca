"""Einsum: products over named axes, composed of changes of layout, products of matrices and
sums."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microgen.frontends.onnx import composing
from microgen.frontends.onnx.move_nodes import broadcast, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.indexed import TakeAttrs

_ELLIPSIS = "..."
_FIRST_OF_ELLIPSIS = 0x2460  # characters that stand for the axes of an ellipsis, the last one first

Labels = str
Named = tuple[BuiltTensor, Labels]  # a tensor and one character per axis


def _einsum(node: OnnxNode) -> BuiltTensor:
    """Source: ONNX's specification of Einsum, numpy.einsum."""
    operands = node.tensors()
    for operand in operands:
        node.expect(operand, DType.FLOAT32, DType.INT32)
        node.expect(operand, operands[0].dtype)
    inputs, output = _parsed(node, str(node.attr("equation")), operands)
    sizes = _sizes(node, inputs)
    if not set(output) <= set(sizes) or len(set(output)) != len(output):
        raise node.invalid(f"has the equation {node.attr('equation')!r}: its output is impossible")
    named = [_without_repeats(node, _whole(node, each, sizes)) for each in inputs]
    result = _summed(node, named[0], _needed(named[1:], output))
    for i, other in enumerate(named[1:], 2):
        result = _multiplied(node, result, other, _needed(named[i:], output))
    tensor, labels = result
    return transposed(node, tensor, [labels.index(label) for label in output])


def _parsed(
    node: OnnxNode, equation: str, operands: Sequence[BuiltTensor]
) -> tuple[list[Named], Labels]:
    """The operands with labels, and the labels of the output."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise node.invalid(f"has the equation {equation!r} for {len(operands)} operands")
    inputs = [(t, _labels(node, term, t)) for term, t in zip(terms, operands, strict=True)]
    every = "".join(labels for _, labels in inputs)
    dots = "".join(sorted({c for c in every if ord(c) >= _FIRST_OF_ELLIPSIS}, reverse=True))
    if arrow:
        return inputs, right.replace(_ELLIPSIS, dots)
    # Without an arrow the output has the labels that occur once, in alphabetical order.
    once = sorted(c for c in set(every) - set(dots) if every.count(c) == 1)
    return inputs, dots + "".join(once)


def _labels(node: OnnxNode, term: str, tensor: BuiltTensor) -> Labels:
    """One character per axis."""
    count = len(tensor.shape) - len(term.replace(_ELLIPSIS, ""))
    # Counted from the last axis, at which numpy aligns the axes of ellipses.
    dots = "".join(chr(_FIRST_OF_ELLIPSIS + i) for i in reversed(range(max(count, 0))))
    # A second ellipsis remains, and is refused, because dots are no letters.
    labels = term.replace(_ELLIPSIS, dots, 1)
    letters = term.replace(_ELLIPSIS, "", 1)
    if len(labels) != len(tensor.shape) or not all(c.isascii() and c.isalpha() for c in letters):
        raise node.invalid(f"names the axes of {tensor.type} {term!r}")
    return labels


def _sizes(node: OnnxNode, inputs: Sequence[Named]) -> dict[str, int]:
    """The size of each axis. Axes of an ellipsis may have the size 1 in some operands."""
    sizes: dict[str, int] = {}
    for tensor, labels in inputs:
        for label, size in zip(labels, tensor.shape, strict=True):
            # numpy.einsum broadcasts labelled axes of size 1, too.
            known = sizes.setdefault(label, size)
            if known == size or size == 1:
                continue
            if known != 1:
                raise node.invalid(f"has axes {label!r} of {known} and {size} elements")
            sizes[label] = size
    return sizes


def _whole(node: OnnxNode, named: Named, sizes: dict[str, int]) -> Named:
    """The operand repeated along axes of size 1 that are longer in another operand."""
    tensor, labels = named
    return broadcast(node, tensor, [sizes[label] for label in labels]), labels


def _needed(others: Sequence[Named], output: Labels) -> set[str]:
    """The labels that later operands or the output name."""
    return set(output).union(*(labels for _, labels in others))


def _without_repeats(node: OnnxNode, named: Named) -> Named:
    """The operand in which axes with the same label are replaced with their diagonal."""
    tensor, labels = named
    for label in labels:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            tensor = _diagonal(node, tensor, first, second)
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
    return tensor, labels


def _diagonal(node: OnnxNode, tensor: BuiltTensor, first: int, second: int) -> BuiltTensor:
    """The elements with equal indices on two axes, which become the last axis."""
    rank, size = len(tensor.shape), tensor.shape[first]
    if tensor.shape[second] != size:
        raise node.invalid(f"takes the diagonal of {tensor.type}")
    others = [axis for axis in range(rank) if axis not in (first, second)]
    moved = transposed(node, tensor, (*others, first, second))
    # The diagonal of a flattened square is every (size + 1)-th element.
    flat = node.reshaped(moved, (*moved.shape[:-2], size * size))
    places = node.constant(np.arange(size, dtype=np.int32) * (size + 1), "diagonal")
    return node.emit("take", TakeAttrs(rank - 2), (flat, places))


def _summed(node: OnnxNode, named: Named, needed: set[str]) -> Named:
    """The tensor summed over the axes whose labels are not in ``needed``."""
    tensor, labels = named
    axes = tuple(axis for axis, label in enumerate(labels) if label not in needed)
    sums = composing.total(node, tensor, axes, keep_dims=False)
    return sums, "".join(label for label in labels if label in needed)


def _multiplied(node: OnnxNode, left: Named, right: Named, later: set[str]) -> Named:
    """The product of two operands, summed over the labels that are not needed later. It is a batch
    of matrix products, whose batch axes are the needed labels that both operands have.
    """
    lhs = _summed(node, left, later | set(right[1]))
    rhs = _summed(node, right, later | set(left[1]))
    both = "".join(label for label in lhs[1] if label in rhs[1])
    batch = "".join(label for label in both if label in later)
    depth = "".join(label for label in both if label not in later)
    rows = "".join(label for label in lhs[1] if label not in both)
    columns = "".join(label for label in rhs[1] if label not in both)
    left_matrices = _matrices(node, lhs, batch, rows, depth)
    right_matrices = _matrices(node, rhs, batch, depth, columns)
    products = composing.matrix_product(node, left_matrices, right_matrices)
    labels = batch + rows + columns
    sizes = dict(zip(lhs[1] + rhs[1], lhs[0].shape + rhs[0].shape, strict=True))
    return node.reshaped(products, [sizes[label] for label in labels]), labels


def _matrices(
    node: OnnxNode, named: Named, batch: Labels, rows: Labels, columns: Labels
) -> BuiltTensor:
    """The operand as [batch..., rows, columns]; rows and columns are one axis each."""
    tensor, labels = named
    moved = transposed(node, tensor, [labels.index(label) for label in batch + rows + columns])
    sizes = moved.shape
    start = len(batch) + len(rows)
    pair = math.prod(sizes[len(batch) : start]), math.prod(sizes[start:])
    return node.reshaped(moved, (*sizes[: len(batch)], *pair))


IMPORTERS = {"Einsum": _einsum}
