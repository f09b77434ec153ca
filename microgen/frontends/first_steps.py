"""The first step of a recurrent layer that begins with zeros: converters leave out what is 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.frontends.cell_values import Applied, Product, Row, Term, WeightedSum
from microgen.frontends.cells import RecurrentCell, same


def is_first(cell: RecurrentCell, terms: Sequence[Term | None]) -> bool:
    """Whether terms are the states after a step of the cell that begins with zeros."""
    hidden = terms[0]
    if cell.kind == "rnn":
        return _is_gate(cell, 0, 0, hidden)
    if cell.kind == "gru":
        found = _update_and_change(hidden)
        return found is not None and _is_first_gru(cell, *found)
    return isinstance(hidden, Product) and _is_first_lstm(cell, hidden, terms)


def _is_first_lstm(cell: RecurrentCell, hidden: Product, terms: Sequence[Term | None]) -> bool:
    state = terms[1]
    after = _alone(state)
    if not isinstance(after, Product):
        return False
    for output, shown in ((hidden.left, hidden.right), (hidden.right, hidden.left)):
        is_shown = isinstance(shown, Applied) and shown.argument is state
        if not is_shown or not isinstance(shown, Applied) or shown.function != cell.functions[2]:
            continue
        for take, change in ((after.left, after.right), (after.right, after.left)):
            gates = ((0, 0, take), (1, 0, output), (3, 1, change))
            if all(_is_gate(cell, *gate) for gate in gates):
                return True
    return False


def _alone(term: Term | None) -> Term | None:
    """The term without zeros that are added to it."""
    if not isinstance(term, WeightedSum) or term.products or term.bias.any():
        return term
    multiples = term.multiples
    return multiples[0][1] if len(multiples) == 1 and multiples[0][0] == 1 else term


def _update_and_change(hidden: Term | None) -> tuple[Term, Applied] | None:
    """Z and n of (1 - z) * n, or of n + z * -n."""
    if isinstance(hidden, Product):
        for rest, change in ((hidden.left, hidden.right), (hidden.right, hidden.left)):
            update = _negative(rest, 1)
            if update is not None and isinstance(change, Applied):
                return update, change
    if not isinstance(hidden, WeightedSum) or len(hidden.multiples) != 2 or hidden.products:
        return None
    for (one, product), (other, change) in (hidden.multiples, hidden.multiples[::-1]):
        if (one, other) != (1, 1) or hidden.bias.any() or not isinstance(product, Product):
            continue
        for update, minus in ((product.left, product.right), (product.right, product.left)):
            if isinstance(change, Applied) and _negative(minus, 0) is change:
                return update, change
    return None


def _negative(term: Term, number: int) -> Term | None:
    """X of ``number`` - x."""
    if not isinstance(term, WeightedSum) or term.products or np.any(term.bias != number):
        return None
    multiples = term.multiples
    return multiples[0][1] if len(multiples) == 1 and multiples[0][0] == -1 else None


def _is_first_gru(cell: RecurrentCell, update: Term, change: Applied) -> bool:
    total = change.argument
    return (
        _is_gate(cell, 0, 0, update)
        and change.function == cell.functions[1]
        and isinstance(total, WeightedSum)
        and _is_sum(cell, 2, total)
        and _is_reset(cell, total)
    )


def _is_reset(cell: RecurrentCell, total: WeightedSum) -> bool:
    """Whether a sum adds the reset gate times the bias of the hidden state's product, which is left
    out if it is 0."""
    own = cell.bias[-1] if cell.resets_after else np.zeros(())
    if not total.multiples:
        return not own.any()
    ((count, product), *others) = total.multiples
    if count != 1 or others or not isinstance(product, Product) or not cell.resets_after:
        return False
    return any(
        isinstance(fixed, WeightedSum)
        and not fixed.products
        and not fixed.multiples
        and bool(np.all(np.broadcast_to(fixed.bias, own.shape) == own))
        and _is_gate(cell, 1, 0, reset)
        for reset, fixed in ((product.left, product.right), (product.right, product.left))
    )


def _is_gate(cell: RecurrentCell, place: int, function: int, term: Term | None) -> bool:
    """Whether a term is the cell's gate without the products of the hidden state."""
    if not isinstance(term, Applied) or term.function != cell.functions[function]:
        return False
    total = term.argument
    return isinstance(total, WeightedSum) and not total.multiples and _is_sum(cell, place, total)


def _is_sum(cell: RecurrentCell, place: int, total: WeightedSum) -> bool:
    """Whether a sum has the gate's products with the row, and its bias."""
    if len(total.products) != 1:
        return False
    ((row, weight),) = total.products
    own = cell.weight[place]
    return (
        isinstance(row, Row)
        and weight.asymmetric == own.asymmetric
        and same(weight.values, own.values)
        and (weight.scales is None or own.scales is None or same(weight.scales, own.scales))
        and bool(np.all(np.broadcast_to(total.bias, cell.bias[place].shape) == cell.bias[place]))
    )
