from __future__ import annotations

import numpy as np
import pytest

from microgen.ops.resize2d import OP, Resize2DAttrs
from tests.ops.litert_models import Model, assert_equal
from tests.ops.litert_oracle import activation_type, int32_constant, needs_litert


def random_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    n, channels = (int(k) for k in rng.integers(1, 4, 2))
    height, width, out_height, out_width = (int(k) for k in rng.integers(1, 20, 4))
    options = ({}, {"alignCorners": True}, {"halfPixelCenters": True})[seed % 3]
    shape, output = (n, height, width, channels), (n, out_height, out_width, channels)
    size = [int32_constant("size", np.array([out_height, out_width]))]
    name = "ResizeBilinearOptions"
    return Model("RESIZE_BILINEAR", [shape], [output], size, name, options, version=3, seed=seed)


@needs_litert
def test_equals_litert() -> None:
    for seed in range(150):
        assert_equal(random_model(seed))


@pytest.mark.parametrize(
    ("attrs", "sentence"),
    [
        (Resize2DAttrs((0, 3), False, False), "must be positive"),
        (Resize2DAttrs((4, 676), False, False), "7 pixels cannot become 676"),
    ],
)
def test_impossible_sizes(attrs: Resize2DAttrs, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        OP.infer(attrs, [activation_type((1, 4, 7, 1), 1.0, 0)])


def test_the_two_options_exclude_each_other() -> None:
    data = activation_type((1, 2, 2, 1), 1.0, 0)
    sentence = OP.check(Resize2DAttrs((2, 2), True, True), [data], [data])
    assert "exclude each other" in str(sentence)
