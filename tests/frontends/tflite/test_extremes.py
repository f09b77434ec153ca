"""Attributes of any size: a sentence refuses them, or what kernels are told of them fits int32."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from microgen import kernels
from microgen.base.errors import MicrogenError
from microgen.compiler.passes.padding import canonical_padding
from microgen.graph.ir.graph import Array, Graph
from tests.frontends.tweaked import Network, integers
from tests.support.tflite_builder import OperatorSpec, TensorSpec

ENDS = (0, 1, -1, 32767, 32768, 65536, 2**30, 715_827_883, 2**31 - 1, -(2**31), -(2**31) + 1)
IMAGE = (1, 4, 4, 2)
EACH = 60  # networks of each kind


def _drawn(rng: np.random.Generator, *shape: int) -> Array:
    """Small numbers, and every third any."""
    return np.where(rng.random(shape) < 0.65, rng.integers(1, 4, shape), rng.choice(ENDS, shape))


def _floats(name: str, *shape: int) -> TensorSpec:
    sizes = tuple(int(np.clip(n, 1, 2**31 - 1)) for n in shape)
    return TensorSpec(name, sizes, "float32")


def _weight(*shape: int) -> TensorSpec:
    return TensorSpec("w", shape, "float32", np.ones(shape, np.float32))


def _pad(rng: np.random.Generator) -> Network:
    pads = _drawn(rng, 4, 2) * (rng.random((4, 2)) < 0.3)
    output = _floats("y", *(n + sum(map(int, p)) for n, p in zip(IMAGE, pads, strict=True)))
    operator = OperatorSpec("PAD", ("x", "p"), ("y",), "PadOptions")
    if rng.integers(2):
        options = {"mode": int(rng.integers(2))}
        operator = OperatorSpec("MIRROR_PAD", ("x", "p"), ("y",), "MirrorPadOptions", options)
    return Network((_floats("x", *IMAGE), integers("p", pads), output), (operator,))


def _slice(rng: np.random.Generator) -> Network:
    begin, stride = (_drawn(rng, 4) * (rng.random(4) < 0.3)).tolist(), _drawn(rng, 4).tolist()
    end = np.where(rng.random(4) < 0.6, IMAGE, rng.choice(ENDS[6:9], 4)).tolist()
    parts = zip(begin, end, stride, IMAGE, strict=True)
    counts = [len(range(n)[slice(b, e, s or 1)]) for b, e, s, n in parts]
    parameters = [integers(name, v) for name, v in zip("bes", (begin, end, stride), strict=True)]
    operator = OperatorSpec("STRIDED_SLICE", ("x", "b", "e", "s"), ("y",), "StridedSliceOptions")
    return Network((_floats("x", *IMAGE), *parameters, _floats("y", *counts)), (operator,))


def _to_batches(rng: np.random.Generator) -> Network:
    (high, wide), pads = map(int, _drawn(rng, 2)), _drawn(rng, 2, 2) * (rng.random((2, 2)) < 0.5)
    rows, columns = (4 + sum(map(int, p)) for p in pads)
    output = _floats("y", high * wide, rows // (high or 1), columns // (wide or 1), 2)
    operator = OperatorSpec("SPACE_TO_BATCH_ND", ("x", "b", "p"), ("y",), "SpaceToBatchNDOptions")
    parameters = integers("b", [high, wide]), integers("p", pads)
    return Network((_floats("x", *IMAGE), *parameters, output), (operator,))


def _convolution(rng: np.random.Generator) -> Network:
    size, (down, across), (rows, columns) = int(rng.integers(1, 6)), *_drawn(rng, 2, 2).tolist()
    output = _floats("y", 1, -(-4 // (down or 1)), -(-4 // (across or 1)), 3)
    options = {"strideH": down, "strideW": across, "padding": 0}
    options |= {"dilationHFactor": rows, "dilationWFactor": columns}
    operator = OperatorSpec("CONV_2D", ("x", "w"), ("y",), "Conv2DOptions", options)
    return Network((_floats("x", *IMAGE), _weight(3, size, size, 2), output), (operator,))


def _pool(rng: np.random.Generator) -> Network:
    (down, across), (height, width) = _drawn(rng, 2, 2).tolist()
    output = _floats("y", 1, -(-4 // (down or 1)), -(-4 // (across or 1)), 2)
    options = {"strideH": down, "strideW": across, "padding": 0}
    options |= {"filterHeight": height, "filterWidth": width}
    code = ("MAX_POOL_2D", "AVERAGE_POOL_2D")[int(rng.integers(2))]
    operator = OperatorSpec(code, ("x",), ("y",), "Pool2DOptions", options)
    return Network((_floats("x", *IMAGE), output), (operator,))


def _transposed(rng: np.random.Generator) -> Network:
    down, across = _drawn(rng, 2).tolist()
    size = [1, *(int(np.clip(3 * n + 3, 1, 2**31 - 1)) for n in (down, across)), 3]
    options = {"strideH": down, "strideW": across, "padding": int(rng.integers(2))}
    operator = OperatorSpec(
        "TRANSPOSE_CONV", ("o", "w", "x"), ("y",), "TransposeConvOptions", options
    )
    tensors = (_floats("x", *IMAGE), _weight(3, 3, 3, 2), integers("o", size), _floats("y", *size))
    return Network(tensors, (operator,))


def _check_fields(graph: Graph) -> None:
    graph = canonical_padding(graph)
    for node in graph.nodes:
        for kernel in kernels.registry().get(node.op, ()):
            if kernel.refusal(node, graph) is None:
                for _, fields in kernel.calls(node, graph):
                    for name, value in fields:
                        numbers = np.atleast_1d(np.array(value)).tolist()
                        fits = all(-(2**31) <= n < 2**31 for n in numbers if isinstance(n, int))
                        assert fits, (node.op, kernel.symbol, name, value)


@pytest.mark.parametrize("make", [_pad, _slice, _to_batches, _convolution, _pool, _transposed])
def test_huge_attributes(make: Callable[[np.random.Generator], Network]) -> None:
    found = [_loaded(make(np.random.default_rng(seed))) for seed in range(EACH)]
    graphs = [graph for graph in found if isinstance(graph, Graph)]
    assert 0 < len(graphs) < EACH
    assert max(len(said) for said in found if isinstance(said, str)) <= 300
    for graph in graphs:
        _check_fields(graph)


def _loaded(network: Network) -> Graph | str:
    try:
        return network.load()
    except MicrogenError as error:
        return str(error)
