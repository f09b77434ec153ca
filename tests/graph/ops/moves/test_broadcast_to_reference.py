"""BROADCAST_TO, and FILL with a computed value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from microgen.graph.ops.moves.layouts import BROADCAST_TO, BroadcastToAttrs
from tests.kernels.conformance.litert_models import Model, assert_equal, in_every_dtype
from tests.kernels.conformance.litert_oracle import activation_type, int32_constant, needs_litert
from tests.kernels.moves.test_broadcast_to import random_shapes


def broadcast_model(seed: int) -> Model:
    shape, own = random_shapes(np.random.default_rng(seed), 5)
    stated = [int32_constant("shape", np.array(shape))]
    return Model("BROADCAST_TO", [own], [shape], stated, "BroadcastToOptions", version=3, seed=seed)


def fill_model(seed: int) -> Model:
    shape, _ = random_shapes(np.random.default_rng(seed), 5)
    stated = [int32_constant("dims", np.array(shape))]
    return Model("FILL", [()], [shape], stated, "FillOptions", {}, True, version=3, seed=seed)


@needs_litert
@pytest.mark.parametrize("random_model", [broadcast_model, fill_model])
def test_equals_litert(random_model: Callable[[int], Model]) -> None:
    for model in in_every_dtype(random_model, 12):
        assert_equal(model)


@pytest.mark.parametrize(
    ("shape", "own"), [((2, 3), (2,)), ((2, 3), (1, 2, 3)), ((2, 1), (2, 3)), ((), (1,))]
)
def test_impossible_shapes(shape: tuple[int, ...], own: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="does not broadcast to"):
        BROADCAST_TO.infer(BroadcastToAttrs(shape), [activation_type(own, 1.0, 0)])
