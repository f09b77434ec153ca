"""The memory that ops say their references need, compared with what they allocate."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.frontends.numerics import profile
from microgen.graph import ops
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Graph, Node, Origin, Quant
from microgen.graph.ir.interpreter import initial_state
from microgen.graph.ops.base import Operands, StatusError
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from tests.differential import generator

_SLACK = 2**15  # for objects, for indices, and for tables of 256 or 513 entries
_FAR = 2**15 - 1  # the limit of dilations, strides and paddings


def _allocated(node: Node, operands: Operands) -> tuple[int, tuple[Array, ...]]:
    """The most bytes that the node's reference has allocated at one time, and its results."""
    tracemalloc.start()
    found = ops.registry()[node.op].reference(node.attrs, operands)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most, found


def _networks(seeds: range) -> Iterator[tuple[generator.Case, Graph]]:
    from microgen.frontends.tflite import convert

    for seed in seeds:
        case = generator.generate(seed)
        data = case.net.model(case.outputs)
        try:
            yield case, convert.load(data, file="m.tflite", numerics=profile("litert"))
        except MicrogenError:
            continue


def test_no_reference_takes_more_bytes_than_its_op_says() -> None:
    seen = set()
    for case, graph in _networks(range(150)):
        values = dict(graph.constants) | initial_state(graph)
        values |= {n: case.net.values[n][0].reshape(graph.types[n].shape) for n in graph.inputs}
        for node in graph.nodes:
            types = graph.type_of(node.inputs), graph.type_of(node.outputs)
            operands = Operands(tuple(values[name] for name in node.inputs), *types)
            try:
                most, found = _allocated(node, operands)
            except StatusError:
                tracemalloc.stop()
                break
            op = ops.registry()[node.op]
            assert most <= op.cost(node.attrs, *types).nbytes + _SLACK, f"{node.op} of {types}"
            written = op.writes(node.attrs, len(node.inputs))
            names = (*node.outputs, *(node.inputs[i] for i in written))
            values.update(zip(names, found, strict=True))
            seen.add(node.op)
    assert len(seen) > 50


def _operands(attrs: Attrs, op: str, *inputs: ArrayType) -> tuple[Node, Operands]:
    (shape,) = ops.registry()[op].infer(attrs, inputs)
    arrays = tuple(np.ones(tensor.shape, tensor.dtype.numpy) for tensor in inputs)
    output = ArrayType(shape, inputs[0].dtype, inputs[0].quant)
    node = Node(op, ("x",), ("y",), attrs, Origin("m", "y"))
    return node, Operands(arrays, inputs, (output,))


_INT8 = Quant((1.0,), (0,))
_DATA = ArrayType((1, 1, 1, 2), DType.INT8, _INT8)
_FLAGS = (Activation.NONE, Rounding.DOUBLE)


@pytest.mark.parametrize(
    ("attrs", "op", "inputs", "expected"),
    [
        (
            Conv2DAttrs((1, 1), (_FAR, _FAR), "SAME", *_FLAGS),
            "nn.conv2d",
            (_DATA, ArrayType((3, 3, 3, 2), DType.INT8, _INT8)),
            2,
        ),
        (
            AvgPool2DAttrs((20_000, 20_000), (1, 1), "SAME", Activation.NONE),
            "nn.avg_pool2d",
            (_DATA,),
            1,
        ),
        (
            MaxPool2DAttrs((20_000, 20_000), (1, 1), "SAME", Activation.NONE),
            "nn.max_pool2d",
            (_DATA,),
            1,
        ),
        (
            Conv2DTransposeAttrs((_FAR, 1), (_FAR, 0, _FAR, 0), (1, 1), *_FLAGS),
            "nn.conv2d_transpose",
            (
                ArrayType((1, 3, 1, 2), DType.INT8, _INT8),
                ArrayType((3, 1, 1, 2), DType.INT8, _INT8),
            ),
            2,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_huge_window_takes_memory_for_its_data_only(
    attrs: Attrs, op: str, inputs: tuple[ArrayType, ...], expected: int
) -> None:
    node, operands = _operands(attrs, op, *inputs)
    most, (found,) = _allocated(node, operands)
    assert most < _SLACK
    assert ops.registry()[op].cost(attrs, inputs, operands.output_types).steps < 2**20
    assert (found == expected).all()
