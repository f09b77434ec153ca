from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import ModelError
from microgen.graph.ops.moves.pads import MIRROR_PAD, MirrorPadAttrs
from tests.kernels.conformance.litert_models import Model, assert_equal, in_every_dtype
from tests.kernels.conformance.litert_oracle import activation_type, int32_constant, needs_litert


def random_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    mode = int(rng.integers(2))
    pads = np.array([rng.integers(0, n + mode, 2) for n in shape])
    output = tuple(int(n) for n in np.array(shape) + pads.sum(axis=1))
    stated = [int32_constant("pads", pads)]
    name = "MirrorPadOptions"
    return Model("MIRROR_PAD", [shape], [output], stated, name, {"mode": mode}, seed=seed)


@needs_litert
def test_equals_litert() -> None:
    for model in in_every_dtype(random_model, 20):
        assert_equal(model)


@pytest.mark.parametrize(
    ("attrs", "sentence"),
    [
        (MirrorPadAttrs(((1, 1),), True), "pads for 1 axes"),
        (MirrorPadAttrs(((0, 0), (0, 3)), False), r"3 elements is padded by \(0, 3\); 0 to 2"),
        (MirrorPadAttrs(((0, 0), (4, 0)), True), "0 to 3 are expected"),
        (MirrorPadAttrs(((-1, 0), (0, 0)), True), "0 to 2 are expected"),
    ],
)
def test_impossible_pads(attrs: MirrorPadAttrs, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        MIRROR_PAD.infer(attrs, [activation_type((2, 3), 1.0, 0)])


def test_an_unknown_mode_is_refused() -> None:
    pads = [int32_constant("pads", np.zeros((1, 2)))]
    model = Model("MIRROR_PAD", [(2,)], [(2,)], pads, "MirrorPadOptions", {"mode": 7})
    with pytest.raises(ModelError, match="the mode 7"):
        model.load()
