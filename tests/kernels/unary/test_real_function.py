from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ops.unary.real_function import FORMULAS, OP, RealFunctionAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

NUMBERS = {
    "bounded": [(-0.5, 2.25), (0.0, np.inf), (1.0, -1.0)],
    "hard_sigmoid": [(0.2, 0.5), (-1.5, 0.25)],
    "scaled_elu": [(1.0, 1.0, 1.0), (1.7580993, 1.0, 1.050701), (0.5, 0.5, 1.0), (-2.0, 3.0, 1.0)],
    "shrink": [(0.5, 0.0), (1.5, 1.5)],
    "swish": [(1.0,), (1.702,)],
    "thresholded_relu": [(1.0,), (-2.0,)],
}
ATTRS = [
    RealFunctionAttrs(function, *(float(np.float32(n)) for n in numbers))
    for function in FORMULAS
    for numbers in NUMBERS.get(function, [()])
]


def cases(attrs: RealFunctionAttrs) -> list[c.Case]:
    """Values of every magnitude. Those of a function that is exact relative to its argument come
    with their magnitudes, which make the case's largest output."""
    found = u.float_cases(OP.name, attrs)
    if not FORMULAS[attrs.function].units:
        return found
    arrays = [case.inputs[0].array.reshape(-1) for case in found]
    pairs = (np.concatenate([array, np.abs(array)]) for array in arrays)
    return [u.float_case(f"float {i}", OP.name, attrs, array) for i, array in enumerate(pairs)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([case for attrs in ATTRS for case in cases(attrs)[::5]], tmp_path)


@pytest.mark.slow
def test_kernels_equal_the_reference_for_all_values(tmp_path: Path) -> None:
    c.check([case for attrs in ATTRS for case in cases(attrs)], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([cases(attrs)[-1] for attrs in ATTRS], tmp_path)
