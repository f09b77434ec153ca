from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.ir.graph import DType, TensorType
from microgen.ops.resample import OP, ResampleAttrs
from tests.ops import conformance as c

Shape = tuple[int, ...]


def case_of(seed: int, shape: Shape, axis: int, places: int, terms: int) -> c.Case:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, shape[axis] - terms + 1, places).astype(np.int32)
    inputs = (
        c.float32(rng, shape),
        c.Tensor(TensorType((places,), DType.INT32), first, is_constant=True),
        c.float32(rng, (places, terms), is_constant=True),
    )
    name = f"{places} places of {terms} along {axis} of {shape}"
    return c.Case(name, OP.name, ResampleAttrs(axis), inputs, None, DType.FLOAT32)


def random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 8, int(rng.integers(1, 5))))
    axis = int(rng.integers(len(shape)))
    places, terms = int(rng.integers(1, 9)), int(rng.integers(1, shape[axis] + 1))
    return case_of(seed, shape, axis, places, terms)


CORNERS = [
    case_of(1, (1,), 0, 1, 1),
    case_of(2, (9, 5), 0, 3, 9),
    case_of(3, (2, 9), 1, 20, 4),
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_case, range(60))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(random_case, range(6))], tmp_path)


def test_what_is_not_known_to_be_inside_is_refused() -> None:
    case = case_of(2, (9, 5), 0, 3, 4)
    (kernel,) = kernels.registry()[OP.name]
    computed = case.graph.replace(constants={})
    assert "is computed at run time" in str(kernel.refusal(case.node, computed))
    case.inputs[1].array[0] = 6
    assert "outside of 0 to 5" in str(kernel.refusal(case.node, case.graph))
