from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.choices import WHERE, WhereAttrs
from microgen.kernels.elementwise.elementwise import WHERE_KERNELS
from tests.kernels.conformance import choices
from tests.kernels.conformance import conformance as c

HIGH_RANKS = (
    ((2, 2, 1, 1, 2), (2, 2, 3, 2, 2), (2, 2, 3, 2, 2)),
    ((), (2, 1, 2, 1, 3, 1), (2, 1, 2, 1, 3, 1)),
)


def _case(dtype: DType, shapes: choices.Shapes, seed: int = 0) -> c.Case:
    given = choices.operands(np.random.default_rng(seed), dtype, shapes)
    name = f"{dtype.value} {shapes}"
    return c.Case(name, WHERE.name, WhereAttrs(), given, given[1].type.quant, dtype)


def _cases(count: int) -> list[c.Case]:
    random = [choices.random_shapes(np.random.default_rng(seed)) for seed in range(count)]
    return [
        _case(dtype, shapes, seed)
        for dtype in choices.DTYPES
        for seed, shapes in enumerate((*HIGH_RANKS, *random))
    ]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(_cases(40), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(_cases(3), tmp_path)


def test_in_place_only_on_a_tensor_of_the_outputs_shape_and_not_on_the_condition() -> None:
    for shapes, expected in (
        (((2, 3), (2, 3), (2, 3)), {1: 0, 2: 0}),
        (((2, 3), (3,), (2, 3)), {2: 0}),
        (((2, 3), (3,), ()), {}),
    ):
        case = _case(DType.INT8, shapes)
        assert WHERE_KERNELS[0].in_place(case.node, case.graph) == expected


def test_more_than_four_axes_are_refused() -> None:
    case = _case(DType.INT8, ((2, 1, 2, 1, 2), (1, 2, 1, 2, 1), ()))
    assert "along 5 axes" in str(WHERE_KERNELS[0].refusal(case.node, case.graph))
