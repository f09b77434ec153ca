"""The C runtime of dnnl_json against its reference in numpy, on random functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.codegens.dnnl import serializer
from tests.codegens.dnnl.random_functions import random_function, random_inputs
from tests.crt import dnnl_json_cases as cases


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cases.compiled(tmp_path_factory.mktemp("dnnl"))


def example(seed: int) -> cases.Example:
    module = random_function(seed)
    assert module.types is not None
    found = serializer.serialize("f", module["main"], module.types)
    return cases.Example(found.graph, random_inputs(module, seed), found.constants)


def test_random_functions(driver: Path) -> None:
    cases.check(driver, [example(seed) for seed in range(1000, 1150)])
