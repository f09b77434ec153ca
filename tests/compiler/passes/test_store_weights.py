"""Float constants that the model stores as integers stay integers where kernels read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgen.compiler import passes
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.tweaked import Network
from tests.support.tflite_builder import OperatorSpec, TensorSpec


def _network(code: str, weight: TensorSpec, output: tuple[int, ...], **options: Any) -> Network:
    """An operator of float32[5,4] and of the dequantized weight."""
    tensors = (
        TensorSpec("x", (5, 4), "float32"),
        weight,
        TensorSpec("f", weight.shape, "float32"),
        TensorSpec("y", output, "float32"),
    )
    kind = "BatchMatMulOptions" if code == "BATCH_MATMUL" else ""
    operators = (
        OperatorSpec("DEQUANTIZE", ("w",), ("f",), version=6),
        OperatorSpec(code, ("x", "f"), ("y",), kind, options),
    )
    return Network(tensors, operators)


def _weight(shape: tuple[int, ...], axis: int | None, zero: int = 0) -> TensorSpec:
    rng = np.random.default_rng(1)
    count = 1 if axis is None else shape[axis]
    scales = tuple(map(float, rng.uniform(0.01, 0.1, count).astype(np.float32)))
    data = rng.integers(-128, 128, shape).astype(np.int8)
    return TensorSpec("w", shape, "int8", data, scales, (zero,) * count, axis or 0)


def _ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize("adj_y", [False, True])
@pytest.mark.parametrize("is_per_channel", [False, True])
def test_a_product_by_a_constant_matrix_is_a_dense_layer(adj_y: bool, is_per_channel: bool) -> None:
    shape, columns = ((3, 4), 0) if adj_y else ((4, 3), 1)
    weight = _weight(shape, columns if is_per_channel else None)
    before = _network("BATCH_MATMUL", weight, (5, 3), adjY=adj_y).load()
    graph = passes.run(before)
    assert _ops(graph) == ["nn.dense_weight_only"]
    fed = {"x": np.random.default_rng(2).normal(size=(5, 4)).astype(np.float32)}
    ours, floats = (evaluate(each, fed, registry())["y"] for each in (graph, before))
    np.testing.assert_allclose(ours, floats, rtol=1e-6)


@pytest.mark.parametrize("weight", [_weight((4, 3), 0), _weight((4, 3), None, zero=3)])
def test_other_scales_and_zero_points_are_floats(weight: TensorSpec) -> None:
    graph = passes.run(_network("BATCH_MATMUL", weight, (5, 3)).load())
    assert _ops(graph) == ["nn.batch_matmul"]
    assert not graph.notes  # a few bytes are not worth a note


def test_constants_that_no_kernel_reads_as_integers_are_noted() -> None:
    graph = passes.run(_network("MUL", _weight((300, 5, 4), None), (300, 5, 4)).load())
    assert _ops(graph) == ["multiply"]
    (note,) = graph.notes
    assert note == (
        'the model stores "f" as integers, but no kernel reads them so: as float32 they take '
        "18,000 bytes more of flash"
    )
