from pathlib import Path

import numpy as np

from microgen.graph.ops.unary.activations import LEAKY_RELU, LeakyReluAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

ATTRS = [LeakyReluAttrs(float(np.float32(alpha))) for alpha in (0.0, 0.1, 1.0, 2.5, -0.2, -1.7)]
CORNERS = ((0.5, 0.5), (1.0, 2.0**-15), (2.0**-30, 1.0))
FLOATS = [case for attrs in ATTRS for case in u.float_cases(LEAKY_RELU.name, attrs)]
INTEGERS = [case for attrs in ATTRS for case in u.int16_cases(LEAKY_RELU.name, attrs, CORNERS)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*FLOATS, *INTEGERS], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*FLOATS[:3], *INTEGERS[:3]], tmp_path)
