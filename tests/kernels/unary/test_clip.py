from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic.int8 import multiply_by_quantized_multiplier, quantize_multiplier
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Quant
from microgen.graph.ops.unary.activations import ClipAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

FAMILY = [activation for activation in Activation if activation.clamps]


def _case(name: str, activation: Activation, data: Quant, output: Quant, size: int = 0) -> c.Case:
    """A case of all int8 values, or of ``size`` random ones."""
    rng = np.random.default_rng(size)
    x = c.int8(rng, (size or 256,), data)
    every = x if size else c.Tensor(x.type, np.arange(-128, 128).astype(np.int8))
    return c.Case(name, "clip", ClipAttrs(activation), (every,), output)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    activation = FAMILY[int(rng.integers(len(FAMILY)))]
    data, output = c.random_quant(rng), c.random_quant(rng)
    return _case(f"random {seed}", activation, data, output, size=int(rng.integers(1, 99)))


CORNERS = tuple(
    _case(f"{name}, {activation.value}", activation, data, output)
    for activation in FAMILY
    for name, data, output in (
        ("equal quantization", c.quant(0.05, -3), c.quant(0.05, -3)),
        ("only the zero point differs", c.quant(0.05, -3), c.quant(0.05, 9)),
        ("only the scale differs", c.quant(0.05, -3), c.quant(0.04, -3)),
        ("to a far smaller scale", c.quant(10, 127), c.quant(1e-6, -128)),
        ("to a far larger scale", c.quant(1e-6, -128), c.quant(10, 127)),
        ("to a scale on which all is 0", c.quant(1.0, -128), c.quant(1e10, 127)),
    )
)


SCALES = ((0.05, 0.05), (0.05, 0.04), (10.0, 1e-6), (1e-6, 10.0), (1.0, 1e10))
OTHERS = tuple(
    case
    for activation in FAMILY
    for case in (
        *u.float_cases("clip", ClipAttrs(activation)),
        *(
            u.int16_cases("clip", ClipAttrs(activation), SCALES)
            if activation in (Activation.RELU, Activation.RELU6)
            else ()
        ),
    )
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(200)), *OTHERS], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6)), *OTHERS[:3], *OTHERS[-3:]], tmp_path)


@pytest.mark.parametrize("rounding", Rounding)
def test_a_scale_of_one_changes_no_value(rounding: Rounding) -> None:
    """Therefore the kernel may leave out the multiplication for equal quantizations."""
    x = np.arange(-255, 256)
    scaled = multiply_by_quantized_multiplier(x, *quantize_multiplier(1.0), rounding)
    assert (scaled == x).all()
