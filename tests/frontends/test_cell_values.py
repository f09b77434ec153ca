"""Terms of the tensors of a graph, of which cells of recurrent layers consist."""

from __future__ import annotations

from microgen.frontends.cell_values import Values
from tests.support.graphs import Builder


def test_operands_without_a_term_are_searched_once() -> None:
    """Each sum has the one before it twice, so a search for each operand would take 2**60 steps."""
    build = Builder()
    last = build.softmax(build.input(1, 4))
    for _ in range(60):
        last = build.add(last, last)
    assert Values(build.graph(last), 1).of(last) is None
