"""The values of a loop's body in the terms of recurrent layers: weighted sums of vectors, functions
of them, and their products.

``Values`` computes the term of each tensor of a graph. Two tensors are one term only if the graph
computes them as one tensor, so terms are compared by identity.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.graph.arithmetic.terms import OPEN, RELUS
from microgen.graph.ir.graph import Array, DType, Graph, Node
from microgen.graph.ops import hybrid
from microgen.graph.ops.dense.dense import DenseHybridAttrs
from microgen.graph.ops.recurrent.recurrent_steps import ActivationFormula


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """An input of the body, by its position."""

    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """The row of ``source``, an input, at the index that another input has (``counter``)."""

    source: int
    counter: int


@dataclass(frozen=True, slots=True, eq=False)
class ListWrite:
    """``target``, an input, whose row at the index ``counter`` is replaced by ``item``."""

    target: int
    counter: int
    item: Term


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """A function of each element."""

    function: ActivationFormula
    argument: Term


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """The product of elements."""

    left: Term
    right: Term

    def other(self, factor: object) -> Term | None:
        """The factor that is not ``factor``; None if neither factor is."""
        if self.left is factor:
            return self.right
        return self.left if self.right is factor else None


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Vectors joined along their axis, with their lengths."""

    parts: tuple[tuple[Term, int], ...]


class _UnknownError(Exception):
    """A tensor whose value is not a term."""


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """A matrix [n, m], float32; or int8 with the float32 ``scales`` [n] of its rows, which
    multiplies vectors that are quantized first, with a zero point if ``asymmetric``."""

    values: Array
    scales: Array | None = None
    asymmetric: bool = False

    def rows(self, part: slice) -> Matrix:
        """Some rows."""
        scales = None if self.scales is None else self.scales[part]
        return dataclasses.replace(self, values=self.values[part], scales=scales)

    def floats(self) -> Array:
        """The values of a float32 matrix. Raises _UnknownError for others, because integers must
        be multiplied as they are."""
        if self.scales is not None:
            raise _UnknownError
        return self.values


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSum:
    """``bias`` plus products of matrices [n, m] and vectors [m], plus multiples of vectors [n]."""

    bias: Array  # float32 [n], or [] if it is one number
    products: tuple[tuple[Term, Matrix], ...] = ()
    multiples: tuple[tuple[float, Term], ...] = ()


Term = Leaf | Row | ListWrite | Applied | Product | Joined | WeightedSum


@dataclass(slots=True)
class Values:
    """The terms of a body's tensors. ``rows`` is the number of rows (batches) of the states. A part
    of a graph may be given by its ``nodes`` and the terms that are ``known``; a body's inputs are
    leaves."""

    graph: Graph
    rows: int
    nodes: Sequence[Node] = ()
    known: Mapping[str, Term] = dataclasses.field(default_factory=dict)
    _made: Mapping[str, Node] = dataclasses.field(init=False)
    # None for a tensor without a term: a second search would repeat those of its operands.
    _known: dict[str, Term | None] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.nodes = self.nodes or self.graph.nodes
        self._made = {name: node for node in self.nodes for name in node.outputs}
        leaves = {name: Leaf(i) for i, name in enumerate(self.graph.inputs)}
        self._known = dict(self.known or leaves)

    def of(self, name: str) -> Term | None:
        """The term of a tensor; None if it has none."""
        try:
            return self._term(name)
        except _UnknownError:
            return None

    def _term(self, name: str) -> Term:
        if name not in self._known:
            # In execution order, so that long bodies do not need a deep recursion.
            for node in self._needed(name):
                # A node may need an operand only as a number, which has no term.
                if node.outputs[0] not in self._known:
                    self._known[node.outputs[0]] = self._of_node(node)
        term = self._known.get(name)
        if term is None:
            raise _UnknownError
        return term

    def _needed(self, name: str) -> list[Node]:
        needed, kept = {name}, list[Node]()
        for node in reversed(self.nodes):
            if not needed.isdisjoint(node.outputs):
                needed.update(node.inputs)
                kept.append(node)
        return kept[::-1]

    def _of_node(self, node: Node) -> Term | None:
        if node.op in _RULES and len(node.outputs) == 1:
            with contextlib.suppress(_UnknownError):
                return _RULES[node.op](self, node)
        return None

    def operand(self, name: str) -> Term:
        """The term of an operand; a constant is a sum without products."""
        value = self.graph.constants.get(name)
        if value is None:
            return self._term(name)
        if value.dtype != np.float32 or value.size not in (1, *value.shape[-1:]):
            raise _UnknownError
        return WeightedSum(value.reshape(-1) if value.size > 1 else value.reshape(()))

    def length(self, name: str) -> int:
        """The number of elements of one row of a tensor."""
        return self.graph.types[name].size // self.rows


def _sum(term: Term) -> WeightedSum:
    """A term as a sum."""
    if isinstance(term, WeightedSum):
        return term
    return WeightedSum(np.zeros((), np.float32), (), ((1.0, term),))


def _scaled(total: WeightedSum, factor: Array) -> WeightedSum:
    if total.multiples and factor.size > 1:
        raise _UnknownError
    column = factor.reshape(-1, 1)
    return WeightedSum(
        (total.bias * factor).astype(np.float32),
        tuple(
            (base, Matrix((w.floats() * column).astype(np.float32))) for base, w in total.products
        ),
        tuple((count * float(factor.item()), base) for count, base in total.multiples),
    )


def _unlimited(node: Node) -> None:
    """Raise unless the node has no activation."""
    attrs: Any = node.attrs
    if attrs.activation not in OPEN:
        raise _UnknownError


def _added(values: Values, node: Node) -> Term:
    left, right = (_sum(values.operand(name)) for name in node.inputs)
    return _activated(
        WeightedSum(
            left.bias + right.bias, left.products + right.products, left.multiples + right.multiples
        ),
        node,
    )


def _activated(total: WeightedSum, node: Node) -> Term:
    """The sum after the node's activation."""
    attrs: Any = node.attrs
    if attrs.activation in OPEN:
        return total
    if attrs.activation in RELUS:
        return Applied(ActivationFormula("relu"), total)
    raise _UnknownError


def _subtracted(values: Values, node: Node) -> Term:
    _unlimited(node)
    left, right = (_sum(values.operand(name)) for name in node.inputs)
    minus = _scaled(right, np.array(-1, np.float32))
    return WeightedSum(
        left.bias + minus.bias, left.products + minus.products, left.multiples + minus.multiples
    )


_LIMITED = (ActivationFormula("sigmoid"), ActivationFormula("tanh"))


def _multiplied(values: Values, node: Node) -> Term:
    _unlimited(node)
    left, right = (values.operand(name) for name in node.inputs)
    for one, other in ((left, right), (right, left)):
        total = _sum(other)
        is_number = isinstance(one, WeightedSum) and not one.products and not one.multiples
        # Only a product with one number is a multiple.
        if is_number and isinstance(one, WeightedSum):
            if not one.bias.any() and isinstance(other, Applied) and other.function in _LIMITED:
                return one  # 0 times a number, which is finite
            is_product = total.multiples and one.bias.size > 1
            return Product(left, right) if is_product else _scaled(total, one.bias)
    return Product(left, right)


def _dense(values: Values, node: Node) -> Term:
    name, own, *biases = node.inputs
    bias = [values.graph.constants.get(each) for each in biases]
    matrix = _matrix(values, node, own)
    outputs, inputs = matrix.values.shape
    if values.graph.types[name].size != values.rows * inputs:
        raise _UnknownError
    added = np.zeros(outputs, np.float32) if not bias else bias[0]
    if added is None:
        raise _UnknownError
    total = WeightedSum(added, tuple(_split(values.operand(name), matrix)))
    return _activated(total, node)


def _matrix(values: Values, node: Node, name: str) -> Matrix:
    graph = values.graph
    # Weights that the model stores as integers or in 4 bits would be larger as a recurrent layer's.
    if name not in graph.constants or name in graph.int4 or name in graph.stored:
        raise _UnknownError
    weight, kind = graph.constants[name], graph.types[name]
    if not isinstance(node.attrs, DenseHybridAttrs):
        if weight.dtype != np.float32:
            raise _UnknownError
        return Matrix(weight)
    scales = np.broadcast_to(hybrid.scales(kind), weight.shape[:1])
    return Matrix(weight, scales, node.attrs.asymmetric)


def _split(data: Term, weight: Matrix) -> list[tuple[Term, Matrix]]:
    """The products of a matrix with a vector, one for each of the parts that are joined to it."""
    if not isinstance(data, Joined):
        return [(data, weight)]
    # A quantized vector has one scale for all of its parts, so it is not split.
    whole, products, first = weight.floats(), list[tuple[Term, Matrix]](), 0
    for part, length in data.parts:
        products += _split(part, Matrix(whole[:, first : first + length]))
        first += length
    return products


def _joined(values: Values, node: Node) -> Term:
    attrs: Any = node.attrs
    if attrs.axis != len(values.graph.types[node.outputs[0]].shape) - 1:
        raise _UnknownError
    return Joined(tuple((values.operand(name), values.length(name)) for name in node.inputs))


def _reshaped(values: Values, node: Node) -> Term:
    (name,) = node.inputs
    before, after = (values.graph.types[each].shape for each in (name, node.outputs[0]))
    # Axes of one element may come and go; then rows and their elements stay what they are.
    if [n for n in before if n != 1] != [n for n in after if n != 1]:
        raise _UnknownError
    return values.operand(name)


def _sliced(values: Values, node: Node) -> Term:
    (name,) = node.inputs
    attrs: Any = node.attrs
    shape, term = values.graph.types[name].shape, values.operand(name)
    *whole, (first, stride, count) = zip(attrs.begin, attrs.strides, attrs.shape, strict=True)
    is_row = all(
        (begin, own) == (0, size) and step == 1
        for (begin, step, own), size in zip(whole, shape[:-1], strict=True)
    )
    if not is_row or stride != 1 or not isinstance(term, WeightedSum) or term.multiples:
        raise _UnknownError
    part = slice(first, first + count)
    bias = term.bias if term.bias.ndim == 0 else term.bias[part]
    return WeightedSum(bias, tuple((base, own.rows(part)) for base, own in term.products))


def _place(values: Values, node: Node) -> Term:
    """An index that may count from the end: a counter inside of the axis does not."""
    attrs: Any = node.attrs
    if len(attrs.shape) != 1:
        raise _UnknownError
    return values.operand(node.inputs[0])


def _taken(values: Values, node: Node) -> Term:
    source, index = (values.operand(name) for name in node.inputs)
    attrs: Any = node.attrs
    if not isinstance(source, Leaf) or not isinstance(index, Leaf) or attrs.axis != 0:
        raise _UnknownError
    return Row(source.position, index.position)


def _written(values: Values, node: Node) -> Term:
    target, item, index = node.inputs
    found, counter = values.operand(target), _first_index(values, index)
    shapes = [values.graph.types[name].shape for name in (target, item)]
    if not isinstance(found, Leaf) or counter is None or shapes[1] != (1, *shapes[0][1:]):
        raise _UnknownError
    return ListWrite(found.position, counter, values.operand(item))


def _first_index(values: Values, index: str) -> int | None:
    """The input that an index (i, 0, ...) has as its first number."""
    joined = values._made.get(index)
    if joined is None or joined.op != "concatenate" or len(joined.inputs) != 2:
        return None
    head, zeros = values.graph.constants.get(joined.inputs[1]), joined.inputs[0]
    term = values.of(zeros)
    is_zero = head is not None and not head.any()
    return term.position if is_zero and isinstance(term, Leaf) else None


def _function(name: str) -> Callable[[Values, Node], Term]:
    def rule(values: Values, node: Node) -> Term:
        if values.graph.types[node.inputs[0]].dtype is not DType.FLOAT32:
            raise _UnknownError
        return Applied(ActivationFormula(name), values.operand(node.inputs[0]))

    return rule


def _clipped(values: Values, node: Node) -> Term:
    attrs: Any = node.attrs
    if attrs.activation not in RELUS:
        raise _UnknownError
    return _function("relu")(values, node)


_Rules = dict[str, Callable[[Values, Node], Term]]

_ARITHMETIC: _Rules = {
    "add": _added,
    "multiply": _multiplied,
    "nn.dense": _dense,
    "nn.dense_hybrid": _dense,
    "subtract": _subtracted,
}
_MOVES: _Rules = {
    "concatenate": _joined,
    "dynamic_update_slice": _written,
    "nd_positions": _place,
    "reshape": _reshaped,
    "strided_slice": _sliced,
    "take": _taken,
}
_FUNCTIONS: _Rules = {name: _function(name) for name in ("sigmoid", "tanh")}
_RULES = {**_ARITHMETIC, **_MOVES, **_FUNCTIONS, "clip": _clipped}
