from itertools import product
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.ops.add import AddAttrs
from microgen.ops.base import Activation
from tests.ops import conformance as c


def _case(
    seed: int,
    name: str,
    lhs: tuple[int, ...] = (2, 3, 4, 5),
    rhs: tuple[int, ...] = (2, 3, 4, 5),
    scales: tuple[float, float, float] = (0.1, 0.2, 0.25),
    activation: Activation = Activation.NONE,
) -> c.Case:
    """``scales``: of the left and right input and of the output."""
    rng = np.random.default_rng(seed)
    points = [int(rng.choice([-128, 127, 0, int(rng.integers(-128, 128))])) for _ in range(3)]
    left = c.int8(rng, lhs, c.quant(scales[0], points[0]))
    right = c.int8(rng, rhs, c.quant(scales[1], points[1]))
    return c.Case(name, "add", AddAttrs(activation), (left, right), c.quant(scales[2], points[2]))


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = [int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5)))]
    lhs, rhs = ([n if rng.integers(3) else 1 for n in shape] for _ in range(2))
    drop = int(rng.integers(0, len(shape)))
    scales = [float(10 ** rng.uniform(-3, 0)) for _ in range(3)]
    return _case(
        seed,
        f"random {seed}",
        lhs=tuple(lhs),
        rhs=tuple(rhs[drop:]),
        scales=(scales[0], scales[1], scales[2]),
        activation=list(Activation)[int(rng.integers(4))],
    )


def _broadcasts() -> list[c.Case]:
    """Either operand broadcast on every subset of axes."""
    shape = (2, 3, 4, 5)
    cases = []
    for i, kept in enumerate(product((False, True), repeat=4)):
        partial = tuple(n if keep else 1 for n, keep in zip(shape, kept, strict=True))
        cases.append(_case(i, f"right {partial}", lhs=shape, rhs=partial))
        cases.append(_case(i, f"left {partial}", lhs=partial, rhs=shape))
    return cases


CORNERS = (
    _case(1, "scalar", rhs=()),
    _case(2, "both scalars", lhs=(), rhs=()),
    _case(3, "both broadcast", lhs=(2, 1, 4, 1), rhs=(3, 1, 5)),
    _case(4, "a vector of channels", rhs=(5,)),
    _case(5, "relu6", activation=Activation.RELU6),
    _case(6, "equal scales", scales=(0.5, 0.5, 0.5)),
    _case(7, "a tiny output scale", scales=(1.0, 0.5, 2.0**-18)),
    _case(8, "a huge output scale", scales=(1e-4, 1e-3, 1e5)),
    _case(9, "a tiny right scale", scales=(1.0, 1e-12, 1.0)),
    _case(10, "a tiny left scale", scales=(1e-9, 1.0, 1.0)),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *_broadcasts(), *map(_random, range(200))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [((2, 3), (2, 3), (0, 1)), ((2, 3), (3,), (0,)), ((1,), (2, 3), (1,)), ((2, 1), (3,), ())],
)
def test_in_place_only_on_an_operand_of_the_outputs_shape(
    lhs: tuple[int, ...], rhs: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    case = _case(1, "", lhs=lhs, rhs=rhs)
    for kernel in kernels.registry()["add"]:
        assert kernel.in_place(case.node, case.graph) == expected
