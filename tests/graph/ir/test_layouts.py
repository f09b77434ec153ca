"""Tensors in recorded layouts, with and without some of their channels."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from microgen.base.errors import InternalError
from microgen.graph.ir import layouts, verify
from microgen.graph.ir.graph import ArrayType, DType, Graph, KeptChannels, TensorLayout
from microgen.graph.ir.layouts import Shown
from microgen.graph.ops import registry
from tests.support.graphs import Builder

KIND = ArrayType((2, 3, 4), DType.INT32)
LAYOUT = TensorLayout("t", (((6, 4), (1, 0)), ((2, 2, 6), (2, 0, 1))))  # the model's is [6, 2, 2]
SHOWN = {
    "plain": Shown("t", KIND),
    "channels": Shown("t", KIND, KeptChannels(4, (0, 3))),
    "layout": Shown("t", KIND, None, LAYOUT),
    "both": Shown("t", KIND, KeptChannels(4, (1, 2, 3)), LAYOUT),
}


@pytest.mark.parametrize("name", SHOWN)
def test_elements_are_where_the_model_has_them(name: str) -> None:
    show = SHOWN[name]
    whole = -1 - np.arange(24).reshape((6, 2, 2) if show.layout else (2, 3, 4))
    left = np.arange(np.prod(show.shape)).reshape(show.shape)
    found = show.filled(left, whole)
    for index in itertools.product(*map(range, show.shape)):
        assert found[show.index_in_model(index)] == left[index]
    others = found < 0
    np.testing.assert_array_equal(found[others], whole[others])
    assert np.count_nonzero(~others) == left.size


def test_a_number_has_a_layout() -> None:
    show = Shown("t", ArrayType((), DType.INT32), None, TensorLayout("t", (((1, 1), (0, 1)),)))
    assert show.index_in_model(()) == (0, 0)
    assert show.filled(np.array(5), np.zeros((1, 1))).tolist() == [[5]]


def _graph() -> Graph:
    b = Builder()
    conv = b.conv(b.input(1, 4, 4, 2), 3)
    return b.graph(b.reshape(conv, 16, 3))


def test_layouts_of_layouts_are_those_of_the_model() -> None:
    graph = _graph()
    conv, flat = (node.outputs[0] for node in graph.nodes)
    first = layouts.reshaped(graph, flat)
    assert first == TensorLayout(flat, (((16, 3), (0, 1)),))
    laid = graph.replace(laid_out={conv: first})
    second = layouts.rearranged(laid, conv, (((1, 4, 3, 4), (0, 3, 1, 2)),))
    assert second == TensorLayout(flat, (((1, 4, 3, 4), (0, 3, 1, 2)), *first.moves))


@pytest.mark.parametrize(
    "moves", [(((16, 4), (0, 1)),), (((16, 3), (0, 0)),), (((48,), (0,)), ((47, 1), (0, 1)))]
)
def test_an_impossible_layout_is_found(moves: tuple[layouts.Move, ...]) -> None:
    graph = _graph()
    conv = graph.nodes[0].outputs[0]
    verify.check(
        graph.replace(laid_out={conv: TensorLayout("t", (((16, 3), (1, 0)),))}), registry()
    )
    with pytest.raises(InternalError, match="cannot have the elements of"):
        verify.check(graph.replace(laid_out={conv: TensorLayout("t", moves)}), registry())
    with pytest.raises(InternalError, match="cannot have the elements of"):
        verify.check(dataclasses.replace(graph, laid_out={"x": TensorLayout("t", ())}), registry())
