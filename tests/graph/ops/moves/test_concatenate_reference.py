from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import UnsupportedError
from microgen.graph.ops.moves.layouts import CONCATENATE, ConcatenateAttrs
from tests.kernels.conformance.litert_models import Model, assert_equal, in_every_dtype
from tests.kernels.conformance.litert_oracle import activation_type, needs_litert


def random_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5)))]
    axis = int(rng.integers(len(shape)))
    sizes = rng.integers(1, 5, int(rng.integers(1, 8)))
    shapes = [(*shape[:axis], int(n), *shape[axis + 1 :]) for n in sizes]
    return Model(
        "CONCATENATION",
        shapes,
        [(*shape[:axis], int(sizes.sum()), *shape[axis + 1 :])],
        options_type="ConcatenationOptions",
        options={"axis": axis - int(rng.choice([0, len(shape)]))},
        seed=seed,
    )


@needs_litert
def test_equals_litert() -> None:
    for model in in_every_dtype(random_model, 20):
        assert_equal(model)


def test_a_fused_activation_is_refused() -> None:
    model = Model(
        "CONCATENATION",
        [(2,), (2,)],
        [(4,)],
        options_type="ConcatenationOptions",
        options={"axis": 0, "fusedActivationFunction": 1},
    )
    with pytest.raises(UnsupportedError, match="fused activation"):
        model.load()


@pytest.mark.parametrize(
    ("axis", "shapes", "sentence"),
    [
        (0, [], "has no input"),
        (2, [(2, 3)], "the axis is 2; the first input is int8"),
        (1, [(2, 3), (1, 3)], "differ in more than their axis 1"),
        (1, [(2, 3), (2,)], "differ in more than their axis 1"),
    ],
)
def test_impossible_shapes(axis: int, shapes: list[tuple[int, ...]], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        CONCATENATE.infer(ConcatenateAttrs(axis), [activation_type(s, 1.0, 0) for s in shapes])


def test_all_must_have_one_quantization() -> None:
    one, other = activation_type((2,), 1.0, 0), activation_type((2,), 1.0, 1)
    output = activation_type((4,), 1.0, 0)
    assert "must be equal" in str(CONCATENATE.check(ConcatenateAttrs(0), [one, other], [output]))
