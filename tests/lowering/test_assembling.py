"""Networks with concatenations whose parts are computed in the results, as C with sanitizers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen import frontends, passes
from microgen.firmware.compiled import Compiled
from microgen.ir.graph import Array
from microgen.ir.interpreter import evaluate
from microgen.ops import registry
from tests import concat_networks
from tests.differential import program

SAMPLES = 2
OPTIONS: list[dict[str, Any]] = [
    {"optimize": "speed"},
    {"optimize": "ram"},
    {"optimize": "ram", "input_consumed": True},
    {"workspace_io": True},
    {"optimize": "flash", "output_workspace": "on"},
    {"executor": "graph"},
]


def compiled(seed: int, folder: Path, **options: Any) -> tuple[Compiled, list[list[Array]]]:
    """A random network, and inputs for it."""
    made, outputs = concat_networks.random(seed, "float32" if seed % 3 == 2 else "int8")
    model = folder / f"n{seed}.tflite"
    model.write_bytes(made.model(*outputs))
    found = microgen.compile_model(model, "native", name=f"n{seed}", **options)
    rng = np.random.default_rng(seed)
    kinds = [port.type for port in found.program.inputs]
    values = [[rng.integers(-128, 128, kind.shape) for kind in kinds] for _ in range(SAMPLES)]
    typed = [
        [array.astype(kind.dtype.numpy) for array, kind in zip(sample, kinds, strict=True)]
        for sample in values
    ]
    return found, typed


def expected(model: Path, inputs: list[list[Array]]) -> list[list[Array]]:
    """The outputs by the references, of the network in the file."""
    graph = passes.run(frontends.load(model))
    found = []
    for sample in inputs:
        values = evaluate(graph, dict(zip(graph.inputs, sample, strict=True)), registry())
        found.append([values[name] for name in graph.outputs])
    return found


def is_assembled(found: Compiled) -> bool:
    return any(argument.offset for call in found.program.calls for argument in call.args)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", range(0, 96, 8))
def test_random_networks_equal_the_references(first: int, tmp_path: Path) -> None:
    made = {
        seed: compiled(seed, tmp_path, **OPTIONS[seed % len(OPTIONS)])
        for seed in range(first, first + 8)
    }
    assert sum(is_assembled(found) for found, _ in made.values()) >= 1
    built = program.build([found for found, _ in made.values()], tmp_path, SAMPLES)
    for index, (seed, (_, inputs)) in enumerate(made.items()):
        wanted = expected(tmp_path / f"n{seed}.tflite", inputs)
        for own, other in zip(built.run(index, inputs), wanted, strict=True):
            for array, reference in zip(own, other, strict=True):
                np.testing.assert_allclose(
                    array, reference, rtol=1e-4, atol=1e-4, err_msg=str(seed)
                )
