"""Recognises bodies of loops that compute a cell of a recurrent layer: LSTM, GRU or simple RNN.

The formulas are those of ``nn.recurrent`` (``RecurrentAttrs``). The sums of a gate may be in any
order and its weights in one matrix or several, because the result is float32 and compared within
the bound of the op. Integer products are those of the body: the same vectors are quantized, each as
a whole (``nn.recurrent_hybrid``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.frontends.cell_values import (
    Applied,
    ListWrite,
    Matrix,
    Product,
    Row,
    Term,
    Values,
    WeightedSum,
)
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ops.recurrent.recurrent_steps import ActivationFormula


@dataclass(frozen=True, slots=True)
class RecurrentCell:
    """A cell, in the terms of ``RecurrentAttrs``. ``data`` is the input of the body that has the
    steps, ``counter`` the input that counts them; ``hidden`` and ``cell`` are its states.
    """

    kind: str
    functions: tuple[ActivationFormula, ...]
    weight: tuple[Matrix, ...]  # of each gate [cells, features]
    recurrent: tuple[Matrix, ...]  # of each gate [cells, cells]
    bias: Array  # [gates, cells], or one more with resets_after
    data: int
    counter: int
    hidden: int
    cell: int | None = None
    resets_after: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """A body that is a cell: where its outputs come from. ``lists``: output -> the counter by which
    it gets the hidden state of each round; ``lasts``: outputs that are the new hidden state.
    """

    cell: RecurrentCell
    lists: dict[int, int]
    lasts: tuple[int, ...]


def recognised(graph: Graph, idle: Sequence[int]) -> Body | None:
    """The body as a cell; None if it is none. ``idle`` are the positions of its outputs that do not
    matter: counters, and values that stay what they are."""
    busy = [i for i in range(len(graph.outputs)) if i not in idle]
    states = [i for i in busy if len(graph.types[graph.inputs[i]].shape) == 2]
    for hidden in states:
        values = Values(graph, graph.types[graph.inputs[hidden]].shape[0])
        terms = {i: values.of(graph.outputs[i]) for i in busy}
        leaves = {i: values.of(graph.inputs[i]) for i in range(len(graph.inputs))}
        cell = of_terms(terms, leaves, hidden)
        if cell is not None:
            return _body(cell, terms)
    return None


def of_terms(
    terms: dict[int, Term | None], leaves: dict[int, Term | None], hidden: int
) -> RecurrentCell | None:
    """The cell whose state at the position ``hidden`` is ``leaves[hidden]`` before a step, and
    ``terms[hidden]`` after it; None if there is none."""
    return _Matching(terms, leaves, hidden).cell()


def _body(cell: RecurrentCell, terms: dict[int, Term | None]) -> Body | None:
    """The body, if its other outputs only pass the hidden state on."""
    after, lists, lasts = terms[cell.hidden], dict[int, int](), list[int]()
    for i, term in terms.items():
        if isinstance(term, ListWrite) and term.item is after and term.target == i:
            lists[i] = term.counter
        elif term is after:
            lasts.append(i)
        elif i != cell.cell:
            return None
    return Body(cell, lists, tuple(lasts))


@dataclass(frozen=True, slots=True)
class _Gate:
    """The arguments of a gate's function."""

    weight: Matrix
    recurrent: Matrix
    bias: Array
    row: Row


@dataclass(slots=True)
class _Matching:
    """One choice of the hidden state."""

    terms: dict[int, Term | None]
    leaves: dict[int, Term | None]
    hidden: int

    def cell(self) -> RecurrentCell | None:
        after = self.terms[self.hidden]
        if isinstance(after, Applied):
            return self._rnn(after)
        if isinstance(after, Product):
            return self._lstm(after)
        return self._gru(after) if isinstance(after, WeightedSum) else None

    @property
    def _state(self) -> Term | None:
        return self.leaves[self.hidden]

    def _rnn(self, after: Applied) -> RecurrentCell | None:
        return self._made("rnn", (after.function,), [self._gate(after.argument, self._state)])

    def _lstm(self, after: Product) -> RecurrentCell | None:
        for place, term in self.terms.items():
            if place == self.hidden or not isinstance(term, WeightedSum):
                continue
            for output, shown in ((after.left, after.right), (after.right, after.left)):
                is_shown = isinstance(shown, Applied) and shown.argument is term
                if is_shown and isinstance(shown, Applied) and isinstance(output, Applied):
                    return self._with_cell(place, term, output, shown.function)
        return None

    def _with_cell(
        self, place: int, after: WeightedSum, output: Applied, shown: ActivationFormula
    ) -> RecurrentCell | None:
        products = [term for count, term in after.multiples if count == 1]
        if len(products) != 2 or len(after.multiples) != 2 or not _is_alone(after):
            return None
        for kept, taken in (products, products[::-1]):
            forget = kept.other(self.leaves[place]) if isinstance(kept, Product) else None
            if isinstance(forget, Applied) and isinstance(taken, Product):
                gates = [output, forget, *_ordered(taken, forget.function)]
                break
        else:
            return None
        if not all(isinstance(gate, Applied) for gate in gates):
            return None
        out, forget, take, change = (gate for gate in gates if isinstance(gate, Applied))
        if not out.function == forget.function == take.function:
            return None
        sums = [self._gate(each.argument, self._state) for each in (take, out, forget, change)]
        return self._made("lstm", (out.function, change.function, shown), sums, cell=place)

    def _gru(self, after: WeightedSum) -> RecurrentCell | None:
        found = _interpolated(after, self._state)
        if found is None:
            return None
        update, change = found
        argument = change.argument
        if not isinstance(argument, WeightedSum):
            return None
        reset, last, second = self._reset(argument)
        if not isinstance(reset, Applied) or reset.function != update.function:
            return None
        gates = [self._gate(each.argument, self._state) for each in (update, reset)]
        functions = (update.function, change.function)
        return self._made("gru", functions, [*gates, last], second=second)

    def _reset(self, argument: WeightedSum) -> tuple[Term | None, _Gate | None, Array | None]:
        """The reset gate, the sums of the change, and, if the gate applies to the product of the
        hidden state, this product's bias."""
        for base, _ in argument.products:
            if isinstance(base, Product) and not argument.multiples:
                return base.other(self._state), self._gate(argument, base), None
        if len(argument.multiples) != 1:
            return None, None, None
        ((count, product),) = argument.multiples
        if count != 1 or not isinstance(product, Product):
            return None, None, None
        for reset, inner in ((product.left, product.right), (product.right, product.left)):
            if isinstance(inner, WeightedSum) and not inner.multiples:
                own = WeightedSum(argument.bias, argument.products + inner.products)
                return reset, self._gate(own, self._state), inner.bias
        return None, None, None

    def _gate(self, argument: Term | None, state: Term | None) -> _Gate | None:
        """The weights of a row of the data and of ``state``."""
        if not isinstance(argument, WeightedSum) or argument.multiples:
            return None
        rows = [(base, weight) for base, weight in argument.products if isinstance(base, Row)]
        states = [weight for base, weight in argument.products if base is state]
        if len(rows) != 1 or len(states) != 1 or len(argument.products) != 2:
            return None
        (row, weight), (recurrent,) = rows[0], states
        cells = weight.values.shape[0]
        if recurrent.values.shape != (cells, cells):
            return None
        return _Gate(weight, recurrent, np.broadcast_to(argument.bias, (cells,)), row)

    def _made(
        self,
        kind: str,
        functions: tuple[ActivationFormula, ...],
        gates: Sequence[_Gate | None],
        *,
        cell: int | None = None,
        second: Array | None = None,
    ) -> RecurrentCell | None:
        known = [gate for gate in gates if gate is not None]
        places = {(gate.row.source, gate.row.counter) for gate in known}
        if len(known) != len(gates) or len(places) != 1:
            return None
        ((data, counter),) = places
        weights = tuple(gate.weight for gate in known)
        recurrent = tuple(gate.recurrent for gate in known)
        if not _are_alike(weights, recurrent):
            return None
        biases = [gate.bias for gate in known]
        if second is not None:
            biases.append(np.broadcast_to(second, biases[0].shape))
        return RecurrentCell(
            kind,
            functions,
            weights,
            recurrent,
            np.stack(biases),
            data,
            counter,
            self.hidden,
            cell,
            second is not None,
        )


def _are_alike(*sides: Sequence[Matrix]) -> bool:
    """Whether the matrices of each side are all floats, or all integers, and whether all integers
    multiply vectors that are quantized in one way."""
    ways = {each.asymmetric for side in sides for each in side if each.scales is not None}
    return len(ways) <= 1 and all(len({m.scales is None for m in side}) == 1 for side in sides)


def _is_alone(total: WeightedSum) -> bool:
    return not total.products and not total.bias.any()


def _ordered(taken: Product, function: ActivationFormula) -> tuple[Term, Term]:
    """The input gate, which has the forget gate's function, and the change."""
    left, right = taken.left, taken.right
    is_left = isinstance(left, Applied) and left.function == function
    return (left, right) if is_left else (right, left)


def _interpolated(after: WeightedSum, state: Term | None) -> tuple[Applied, Applied] | None:
    """Z and n of z * state + (1 - z) * n, or of n + z * (state - n)."""
    if not _is_alone(after) or len(after.multiples) != 2:
        return None
    for (count, kept), (other_count, other) in (after.multiples, after.multiples[::-1]):
        if (count, other_count) != (1, 1) or not isinstance(kept, Product):
            continue
        update = kept.other(state)
        if isinstance(update, Applied) and isinstance(other, Product):
            change = _complement(other, update)
        elif isinstance(other, Applied):
            update, change = _toward(kept, state, other), other
        else:
            continue
        if isinstance(update, Applied) and isinstance(change, Applied):
            return update, change
    return None


def _complement(product: Product, update: Applied) -> Term | None:
    """N of (1 - update) * n."""
    for rest, change in ((product.left, product.right), (product.right, product.left)):
        if not isinstance(rest, WeightedSum) or rest.products or np.any(rest.bias != 1):
            continue
        if list(rest.multiples) == [(-1.0, update)]:
            return change
    return None


def _toward(product: Product, state: Term | None, change: Applied) -> Term | None:
    """Z of z * (state - change)."""
    for update, distance in ((product.left, product.right), (product.right, product.left)):
        if isinstance(distance, WeightedSum) and _is_alone(distance):
            found = {id(term): count for count, term in distance.multiples}
            if found == {id(state): 1.0, id(change): -1.0}:
                return update
    return None


def are_equal(one: RecurrentCell, other: RecurrentCell) -> bool:
    """Whether two cells have the same formulas and numbers."""
    plain = [(each.kind, each.functions, each.resets_after) for each in (one, other)]
    if plain[0] != plain[1] or not np.array_equal(one.bias, other.bias):
        return False
    pairs = [*zip(one.weight, other.weight, strict=True)]
    pairs += zip(one.recurrent, other.recurrent, strict=True)
    return all(
        a.asymmetric == b.asymmetric
        and same(a.values, b.values)
        and (a.scales is None) == (b.scales is None)
        and (a.scales is None or b.scales is None or same(a.scales, b.scales))
        for a, b in pairs
    )


def same(one: Array, other: Array) -> bool:
    """Whether two arrays have the same dtype, shape and values."""
    return one is other or (one.dtype == other.dtype and np.array_equal(one, other))
