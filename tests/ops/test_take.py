from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.ir.graph import DType, TensorType
from microgen.ops.take import TakeAttrs
from tests.ops import conformance as c


def _case(
    seed: int, name: str, shape: tuple[int, ...], axis: int, indices_shape: tuple[int, ...]
) -> c.Case:
    rng = np.random.default_rng(seed)
    of = c.random_quant(rng)
    values = rng.integers(0, shape[axis], indices_shape).astype(np.int32)
    indices = c.Tensor(TensorType(indices_shape, DType.INT32), values, is_constant=True)
    return c.Case(name, "take", TakeAttrs(axis), (c.int8(rng, shape, of), indices), of)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    indices = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    return _case(seed, f"random {seed}", shape, int(rng.integers(len(shape))), indices)


CORNERS = (
    _case(1, "one element", (1,), 0, (1,)),
    _case(2, "a scalar index", (3, 4), 0, ()),
    _case(3, "the last axis", (2, 3, 4), 2, (7,)),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_indices_must_be_constants_inside_the_axis() -> None:
    case = CORNERS[1]
    (kernel,) = kernels.registry()["take"]
    computed = case.graph.replace(constants={})
    assert "needs a constant" in str(kernel.refusal(case.node, computed))
    outside = case.graph.replace(constants={"input1": np.array(3, np.int32)})
    assert "outside of 0 to 2" in str(kernel.refusal(case.node, outside))
