from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.convolution.conv2d_transpose import (
    CONV2D_TRANSPOSE_HYBRID,
    Conv2DTransposeHybridAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import hybrids


def case(seed: int, *, padding: str = "", most: int = 5) -> c.Case:
    """The case of a seed. The padding is SAME or VALID, or random unless it is given."""
    rng = np.random.default_rng(seed)
    batches, height, width, depth, filters = (int(n) for n in rng.integers(1, most, 5))
    kernel, strides = rng.integers(1, 5, 2), rng.integers(1, 4, 2)
    chosen = padding or ("SAME", "VALID")[int(rng.integers(2))]
    least = (np.array([height, width]) - 1) * strides + (1 if chosen == "SAME" else kernel)
    size = tuple(int(n) for n in least + rng.integers(0, strides))
    options = {"per_channel": bool(rng.integers(2)), "biased": bool(rng.integers(2))}
    weight = (filters, int(kernel[0]), int(kernel[1]), depth)
    inputs = hybrids.inputs(rng, (batches, height, width, depth), weight, 0, **options)
    attrs = Conv2DTransposeHybridAttrs(
        strides=(int(strides[0]), int(strides[1])),
        padding="SAME" if chosen == "SAME" else "VALID",
        size=(size[0], size[1]),
        activation=list(Activation)[int(rng.integers(4))],
    )
    return c.Case(f"{seed}", CONV2D_TRANSPOSE_HYBRID.name, attrs, inputs, None, DType.FLOAT32)


CASES = tuple(map(case, range(120)))


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES[:12], tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_kernels_take_an_image_of_scratch(seed: int) -> None:
    (call,) = c.calls_of(case(seed))
    assert call.kernel.scratch(call.case.node, call.case.graph) == np.prod(
        call.case.input_types[0].shape[1:]
    )
