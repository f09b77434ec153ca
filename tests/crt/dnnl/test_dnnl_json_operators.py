"""Each operator of the C runtime of dnnl_json, compared with numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.tvm.codegens.dnnl import codegen, runtime
from microgen.tvm.codegens.json_graph import JSONGraph, JSONNode
from tests.crt.dnnl import dnnl_json_cases as cases
from tests.crt.dnnl.dnnl_json_numpy import DRAWS, drawn
from tests.tvm.codegens.dnnl.random_functions import random_function, random_inputs


@pytest.mark.parametrize("name", DRAWS)
def test_random_nodes(dnnl_driver: Path, name: str) -> None:
    count = 400 if "2d" in name and "global" not in name else 80
    examples, values = [], []
    for seed in range(count):
        node = drawn(name, seed)
        inputs = len(node.operands) - seed % (len(node.operands) + 1)
        graph = node.graph(len(node.operands) - inputs)
        examples.append(cases.Example(graph, node.operands[:inputs], node.operands[inputs:]))
        values.append([node.value])
    cases.check(dnnl_driver, examples, values)


def test_composite_functions_have_every_form() -> None:
    names = {drawn(root, seed).name for root in ("nn.conv2d", "nn.dense") for seed in range(400)}
    assert len(names) == 2 * (1 + 2 * 2 * 6)


@pytest.mark.parametrize("start", range(0, 150, 50))
def test_random_functions(dnnl_driver: Path, start: int) -> None:
    examples = []
    for seed in range(1000 + start, 1050 + start):
        module = random_function(seed)
        assert module.types is not None
        found = codegen.serialize("f", module["main"], module.types)
        inputs = random_inputs(module, seed)
        examples.append(cases.Example(found.graph, inputs, found.constants))
    cases.check(dnnl_driver, examples, [example.wanted for example in examples])


def test_values_that_are_no_numbers(dnnl_driver: Path) -> None:
    """NaN and infinities have the same effect as in numpy."""
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e38], np.float32)
    examples, values = [], []
    for name, value in {
        "nn.relu": np.maximum(odd, 0),
        "abs": np.abs(odd),
        "exp": np.array([np.nan, np.inf, 0, 1, np.exp(-1), np.inf]),
        "sqrt": np.array([np.nan, np.inf, np.nan, 0, np.nan, 1e19]),
        "add": odd + odd,
    }.items():
        node = drawn(name, 0)
        operands = [odd] * len(node.operands)
        graph = type(node)(name, operands, node.attrs, odd).graph()
        examples.append(cases.Example(graph, operands))
        values.append([value])
    cases.check(dnnl_driver, examples, values)


def _tangle(seed: int) -> cases.Example:
    """A graph of vectors of several lengths, which random later nodes read."""
    rng = np.random.default_rng(seed)
    lengths = [1, *(int(n) for n in rng.integers(2, 30, 3))]
    inputs = [rng.standard_normal(n).astype(np.float32) for n in lengths]
    nodes = [JSONNode("input", f"i{n}", ((n,),), ("float32",)) for n in lengths]
    for _ in range(60):
        first = int(rng.integers(max(0, len(nodes) - 12), len(nodes)))
        (length,) = nodes[first].shapes[0]
        others = [i for i, node in enumerate(nodes) if node.shapes[0] in ((1,), (length,))]
        second = others[int(rng.integers(len(others)))]
        entries = ((first, 0, 0), (second, 0, 0))
        if rng.integers(2):
            nodes.append(JSONNode("kernel", "tanh", ((length,),), ("float32",), entries[:1]))
        else:
            nodes.append(JSONNode("kernel", "add", ((length,),), ("float32",), entries))
    heads = tuple((int(i), 0, 0) for i in rng.integers(4, len(nodes), 3))
    return cases.Example(JSONGraph("dnnl_f", tuple(nodes), heads), inputs)


def test_intermediates_share_the_workspace(dnnl_driver: Path) -> None:
    """Places are chosen by lifetime and leave gaps. The workspace ends where Python says it
    does."""
    examples = [_tangle(seed) for seed in range(100)]
    cases.check(dnnl_driver, examples, [example.wanted for example in examples])
    sizes = [runtime.workspace_bytes(example.graph) for example in examples]
    assert min(sizes) > 100
    assert len(set(sizes)) > 20
