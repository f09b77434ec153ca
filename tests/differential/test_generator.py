"""The random networks are reproducible, and have every operator in all of its dtypes."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.frontends.tflite import importers
from microgen.graph.ops.base import StatusError
from tests.differential import coverage, generator, makers
from tests.differential.makers import EVERY
from tests.differential.network import Network, UnfitError

KINDS = makers.registry()
# The frontend computes DENSIFY, and LiteRT has no CIRCULAR_BUFFER. What the last one chooses jumps
# if floats differ in their last bit. So they have tests of their own only.
ALONE = {
    *("DENSIFY", "CUSTOM:CIRCULAR_BUFFER", "CUSTOM:TFLite_Detection_PostProcess"),
    *("IF", "WHILE"),  # tests/frontends/tflite/loops
    "CONV_3D_TRANSPOSE",  # tests/frontends/test_tflite_volumes.py
    # tests/graph/ops/test_windows_reference.py
    *("REDUCE_WINDOW", "STABLEHLO_PAD", "STABLEHLO_REDUCE_WINDOW"),
}
LEAST = 3  # the least number of layers of each kind in the slow sweep


def test_a_seed_gives_the_same_network_and_samples() -> None:
    first, second = generator.generate(7), generator.generate(7)
    assert first.net.model(first.outputs) == second.net.model(second.outputs)
    for name in first.net.inputs:
        np.testing.assert_array_equal(first.net.values[name], second.net.values[name])


def test_every_supported_operator_has_a_maker() -> None:
    assert {code for code, _ in KINDS} == set(importers.supported()) - ALONE


def _made(kind: tuple[str, str], maker: makers.Maker, seed: int) -> bool:
    net = Network(np.random.default_rng(seed))
    try:
        maker.make(net, *kind)
        generator.compute_last(net)
    except (UnfitError, MicrogenError, StatusError, KeyError):
        return False
    return True


@pytest.mark.parametrize("kind", KINDS, ids=":".join)
def test_every_kind_can_be_made(kind: tuple[str, str]) -> None:
    assert any(_made(kind, KINDS[kind], seed) for seed in range(40))


@pytest.mark.parametrize("code", sorted({code for code, _ in KINDS}))
def test_a_dtype_that_has_no_row_is_refused(code: str) -> None:
    """So the rows are those that operators take."""
    (maker, *_) = [row for (name, _), row in KINDS.items() if name == code]
    absent = [(code, dtype) for dtype in EVERY if (code, dtype) not in KINDS]
    assert [kind for kind in absent if any(_made(kind, maker, seed) for seed in range(10))] == []


@pytest.mark.slow
def test_the_sweep_has_every_kind() -> None:
    counts = coverage.count(range(1000, 3000))
    assert {kind: counts[kind] for kind in KINDS if counts[kind] < LEAST} == {}
