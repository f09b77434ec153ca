"""Functions, serialized and read back, compute what the graph of the same function does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from microgen.codegens import json_graph
from microgen.codegens.dnnl import reference, serializer
from microgen.frontends.relay import from_module
from microgen.ir.interpreter import evaluate
from microgen.ops import registry
from tests.codegens.dnnl.random_functions import random_function, random_inputs


@pytest.mark.parametrize("seed", range(150))
def test_random_functions(seed: int) -> None:
    module = random_function(seed)
    assert module.types is not None
    found = serializer.serialize("f", module["main"], module.types)
    text = json_graph.dumps(found.graph)
    assert json_graph.loads(text) == found.graph
    assert json_graph.dumps(json_graph.loads(text)) == text
    _check_numbering(found)
    inputs = random_inputs(module, seed)
    graph = from_module(module, file="f")
    values = evaluate(graph, dict(zip(graph.inputs, inputs, strict=True)), registry())
    results = reference.evaluate(json_graph.loads(text), inputs, found.constants)
    for name, result in zip(graph.outputs, results, strict=True):
        spread = float(np.ptp(values[name])) or 1.0
        assert result.dtype == np.float32
        assert result.shape == values[name].shape
        np.testing.assert_allclose(result, values[name], rtol=1e-5, atol=1e-5 * spread)


def _check_numbering(found: json_graph.Serialized) -> None:
    graph = found.graph
    leaves = [i for i, node in enumerate(graph.nodes) if not node.inputs]
    assert list(graph.arg_nodes) == leaves
    counts = [len(node.shapes) for node in graph.nodes]
    assert list(graph.node_row_ptr) == [0, *itertools.accumulate(counts)]
    assert graph.named("const") == found.const_names
    assert found.const_names == tuple(f"dnnl_f_const_{i}" for i in range(len(found.constants)))
    shapes = [node.shapes[0] for node in graph.nodes if node.op == "const"]
    assert shapes == [array.shape for array in found.constants]


def test_the_random_functions_have_every_operator() -> None:
    names = set()
    for seed in range(150):
        module = random_function(seed)
        assert module.types is not None
        graph = serializer.serialize("f", module["main"], module.types).graph
        names.update(graph.named("kernel"))
    composites = {name for name in names if name.startswith("dnnl.")}
    assert len(composites) > 20
    assert names - composites == reference.OPERATORS - {"nn.batch_matmul"}
