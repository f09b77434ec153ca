"""Passes on convolutions of int16 and float32: padding and activations move into the convolutions.

Results must not change.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.compiler.passes.fuse_activation import fuse_activation
from microgen.compiler.passes.padding import canonical_padding, fold_pad
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Graph, Node, Origin
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.unary.activations import ClipAttrs
from tests.kernels.conformance import conformance
from tests.kernels.convolution import convolving
from tests.kernels.convolution.convolving import Geometry

ORDINARY = Geometry(data=(1, 7, 8, 4), padding="SAME", strides=(2, 1))
DEPTHWISE = dataclasses.replace(ORDINARY, filters=(1, 3, 3, 8), multiplier=2)
CASES = [
    make(seed, "passes", geometry)
    for make in (convolving.int16_case, convolving.float_case)
    for seed, geometry in enumerate((ORDINARY, DEPTHWISE))
]
NAMES = [f"{case.op} {case.output_dtype.value}" for case in CASES]
each_case = pytest.mark.parametrize("case", CASES, ids=NAMES)


def _outputs(graph: Graph, case: conformance.Case) -> Array:
    values = {graph.inputs[0]: _input(graph, case)}
    return evaluate(graph, values, registry())[graph.outputs[0]]


def _input(graph: Graph, case: conformance.Case) -> Array:
    _, height, width, _ = graph.types[graph.inputs[0]].shape
    return case.inputs[0].array[:, :height, :width]


def _changed(graph: Graph, node: Node, kind: ArrayType, **attrs: object) -> Graph:
    """The graph with a node in front, and with other attributes of the convolution."""
    (conv,) = graph.nodes
    changed = dataclasses.replace(conv, attrs=dataclasses.replace(conv.attrs, **attrs))
    types = {**graph.types, node.inputs[0]: kind}
    nodes = (node, dataclasses.replace(changed, inputs=("input0", *conv.inputs[1:])))
    return graph.replace(nodes=nodes, types=types, inputs=node.inputs)


def _padded(case: conformance.Case, value: int) -> Graph:
    """The case's graph with a padding in front that makes the last row and columns of the data."""
    pads = ((0, 0), (0, 1), (0, 2), (0, 0))
    kind = case.inputs[0].type
    smaller = dataclasses.replace(kind, shape=(1, 6, 6, 4))
    node = _node("nn.pad", PadAttrs(pads, value), "data", "input0")
    return _changed(case.graph, node, smaller, padding=(0, 0, 0, 0))


def _node(op: str, attrs: Attrs, data: str, output: str) -> Node:
    return Node(op, (data,), (output,), attrs, Origin("test", output))


@each_case
def test_a_pad_by_zero_becomes_the_convolutions_padding(case: conformance.Case) -> None:
    graph = _padded(case, 0)
    folded = fold_pad(graph)
    assert folded.nodes[1].inputs[0] == "data"
    assert folded.nodes[1].attrs.padding == (0, 0, 1, 2)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(_outputs(folded, case), _outputs(graph, case))


@each_case
def test_a_pad_by_another_value_stays(case: conformance.Case) -> None:
    graph = _padded(case, 1)
    assert fold_pad(graph).nodes == graph.nodes


@each_case
def test_same_padding_becomes_numbers(case: conformance.Case) -> None:
    explicit = canonical_padding(case.graph)
    assert explicit.nodes[0].attrs.padding == (1, 1, 1, 1)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(_outputs(explicit, case), _outputs(case.graph, case))


@each_case
@pytest.mark.parametrize("activation", [Activation.RELU6, Activation.RELU_N1_TO_1])
def test_a_clamp_moves_into_the_convolution(case: conformance.Case, activation: Activation) -> None:
    clip = _node("clip", ClipAttrs(activation), "output", "clipped")
    types = {**case.graph.types, "clipped": case.output_type}
    nodes = (*case.graph.nodes, clip)
    fused = fuse_activation(case.graph.replace(nodes=nodes, types=types, outputs=("clipped",)))
    (node,) = fused.nodes
    assert node.attrs.activation is activation  # type: ignore[attr-defined]
    expected = _clamped(_outputs(case.graph, case), case.output_type, activation)
    np.testing.assert_array_equal(_outputs(fused, case), expected)


def _clamped(values: Array, kind: ArrayType, activation: Activation) -> Array:
    """The activation in real numbers; halves of a stored value round away from zero."""
    low, high = (0, 6) if activation is Activation.RELU6 else (-1, 1)
    if kind.dtype is DType.FLOAT32:
        return np.clip(values, np.float32(low), np.float32(high))
    stored = [int(np.floor(limit / kind.scale + 0.5)) for limit in (low, high)]
    return np.clip(values, *stored)
