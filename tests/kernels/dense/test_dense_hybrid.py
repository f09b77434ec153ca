from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.dense.dense import DENSE_HYBRID, DenseHybridAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import hybrids


def case(seed: int, data: tuple[int, ...] | None = None, units: int = 0) -> c.Case:
    """The case of a seed. Its shape is random unless it is given."""
    rng = np.random.default_rng(seed)
    lead = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 3))))
    data = data or (*lead, int(rng.integers(1, 70)))
    units = units or int(rng.integers(1, 20))
    options = {"per_channel": bool(rng.integers(2)), "biased": bool(rng.integers(2))}
    inputs = hybrids.inputs(rng, data, (units, data[-1]), 0, **options)
    activation = list(Activation)[int(rng.integers(4))]
    attrs = DenseHybridAttrs(activation, bool(rng.integers(2)), keep_num_dims=bool(rng.integers(2)))
    return c.Case(f"{seed}", DENSE_HYBRID.name, attrs, inputs, None, DType.FLOAT32)


def _unusual(row: list[float], *, asymmetric: bool) -> c.Case:
    """A row with NaN or infinities, by a unit matrix."""
    array = np.array([row], np.float32)
    weight = np.eye(len(row), dtype=np.int8)
    inputs = (
        c.Tensor(ArrayType(array.shape, DType.FLOAT32), array),
        c.Tensor(ArrayType(weight.shape, DType.INT8, c.quant(1.0)), weight, is_constant=True),
    )
    attrs = DenseHybridAttrs(Activation.NONE, asymmetric, keep_num_dims=False)
    return c.Case(f"{row}", DENSE_HYBRID.name, attrs, inputs, None, DType.FLOAT32)


UNUSUAL = [
    _unusual(row, asymmetric=asymmetric)
    for asymmetric in (False, True)
    for row in ([np.nan] * 3, [np.nan, 1, -2], [np.inf, 1], [-np.inf, 1], [np.inf, -np.inf, np.nan])
]
CORNERS = (case(1, (1, 1), 1), case(2, (3, 1), 4), case(3, (2, 700), 9))


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(case, range(400))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(case, range(12))], tmp_path)


def test_unusual_rows(tmp_path: Path) -> None:
    with np.errstate(invalid="ignore"):
        c.check(UNUSUAL, tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_kernels_take_one_or_two_rows_of_scratch(seed: int) -> None:
    for call in c.calls_of(case(seed)):
        rows = 2 if call.kernel.needs else 1
        units_and_row = call.case.input_types[1].shape
        assert call.kernel.scratch(call.case.node, call.case.graph) == rows * units_and_row[1]
