from __future__ import annotations

import numpy as np
import pytest

from microgen.ir.graph import DType, TensorType
from microgen.ops.base import Activation, Padding
from microgen.ops.max_pool2d import OP, MaxPool2DAttrs
from tests.ops.litert_oracle import (
    FUSED,
    PADDING,
    Case,
    activation_type,
    assert_equal,
    by_reference,
    needs_litert,
    random_activation,
    random_activation_function,
    random_values,
)


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    pool = tuple(int(n) for n in rng.integers(1, 7, 2))
    strides = tuple(int(n) for n in rng.integers(1, 5, 2))
    padding = str(rng.choice(["SAME", "VALID"]))
    height, width = (int(n) for n in rng.integers(1, 12, 2))
    if padding == "VALID":
        height, width = height + pool[0] - 1, width + pool[1] - 1
    batches, channels = int(rng.integers(1, 3)), int(rng.integers(1, 20))
    data = random_activation(rng, (batches, height, width, channels))
    activation = random_activation_function(rng)
    options = {
        "padding": PADDING[padding],
        "strideH": strides[0],
        "strideW": strides[1],
        "filterHeight": pool[0],
        "filterWidth": pool[1],
        "fusedActivationFunction": FUSED[activation],
    }
    assert data.quant is not None
    return Case(
        OP.name,
        MaxPool2DAttrs((pool[0], pool[1]), (strides[0], strides[1]), padding, activation),
        [data],
        [random_values(rng, data.shape)],
        data.quant,
        "MAX_POOL_2D",
        "Pool2DOptions",
        options,
        version=2,
    )


@needs_litert
@pytest.mark.parametrize("block", range(6))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        assert_equal(random_case(seed))


def test_padding_does_not_count() -> None:
    data = activation_type((1, 2, 2, 1), 1, 5)
    assert data.quant is not None
    attrs = MaxPool2DAttrs((2, 2), (1, 1), (1, 1, 0, 0), Activation.NONE)
    array = np.array([-9, -4, -5, -6], np.int8).reshape(data.shape)
    found = by_reference(Case(OP.name, attrs, [data], [array], data.quant, "", ""))
    assert found[0, :, :, 0].tolist() == [[-9, -4], [-5, -4]]


@pytest.mark.parametrize(
    ("padding", "sentence"),
    [("VALID", "covers 3x3, but the padded input is only 2x2"), ((3, 0, 0, 0), "smaller than the")],
)
def test_impossible_shapes(padding: Padding, sentence: str) -> None:
    attrs = MaxPool2DAttrs((3, 3 if padding == "VALID" else 1), (1, 1), padding, Activation.NONE)
    with pytest.raises(ValueError, match=sentence):
        OP.infer(attrs, [TensorType((1, 2, 2, 1), DType.INT8)])


def test_quantization_must_not_change() -> None:
    attrs = MaxPool2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE)
    data, other = (activation_type((1, 1, 1, 1), scale, 0) for scale in (1.0, 2.0))
    assert OP.check(attrs, [data], [data]) is None
    assert "they must be equal" in str(OP.check(attrs, [data], [other]))
