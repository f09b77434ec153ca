"""Each operator of the C runtime of dnnl_json against numpy, for any shapes and attributes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.codegens.dnnl import serializer
from tests.codegens.dnnl.random_functions import random_function, random_inputs
from tests.crt import dnnl_json_cases as cases
from tests.crt.dnnl_json_numpy import DRAWS, drawn


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cases.compiled(tmp_path_factory.mktemp("dnnl"))


@pytest.mark.parametrize("name", DRAWS)
def test_random_nodes(driver: Path, name: str) -> None:
    count = 400 if "2d" in name and "global" not in name else 80
    examples, values = [], []
    for seed in range(count):
        node = drawn(name, seed)
        inputs = len(node.operands) - seed % (len(node.operands) + 1)
        graph = node.graph(len(node.operands) - inputs)
        examples.append(cases.Example(graph, node.operands[:inputs], node.operands[inputs:]))
        values.append([node.value])
    cases.check(driver, examples, values)


def test_composite_functions_have_every_form() -> None:
    names = {drawn(root, seed).name for root in ("nn.conv2d", "nn.dense") for seed in range(400)}
    assert len(names) == 2 * (1 + 2 * 2 * 6)


@pytest.mark.parametrize("start", range(0, 150, 50))
def test_random_functions(driver: Path, start: int) -> None:
    examples = []
    for seed in range(1000 + start, 1050 + start):
        module = random_function(seed)
        assert module.types is not None
        found = serializer.serialize("f", module["main"], module.types)
        inputs = random_inputs(module, seed)
        examples.append(cases.Example(found.graph, inputs, found.constants))
    cases.check(driver, examples, [example.wanted for example in examples])


def test_values_that_are_no_numbers(driver: Path) -> None:
    """NaN and infinities go through as in numpy."""
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
    cases.check(driver, examples, values)
