from pathlib import Path

import numpy as np

from microgen.codegens.base import Region
from microgen.codegens.builtin import CODEGEN
from microgen.ops.concatenate import ConcatenateAttrs
from microgen.target import board
from tests.ops import conformance as c


def _case(seed: int, name: str, axis: int, *shapes: tuple[int, ...]) -> c.Case:
    rng = np.random.default_rng(seed)
    of = c.random_quant(rng)
    inputs = tuple(c.int8(rng, shape, of) for shape in shapes)
    return c.Case(name, "concatenate", ConcatenateAttrs(axis), inputs, of)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 6)))]
    axis = int(rng.integers(len(shape)))
    sizes = rng.integers(1, 5, int(rng.integers(1, 7)))
    shapes = [(*shape[:axis], int(n), *shape[axis + 1 :]) for n in sizes]
    return _case(seed, f"random {seed}", axis, *shapes)


CORNERS = (
    _case(1, "one input", 0, (2, 3)),
    _case(2, "one element each", 0, (1,), (1,)),
    _case(3, "the first axis", 0, (1, 2, 2, 3), (2, 2, 2, 3)),
    _case(4, "channels", 3, (1, 2, 2, 3), (1, 2, 2, 1), (1, 2, 2, 5)),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_one_primitive_function_has_a_call_for_each_input() -> None:
    case = _case(5, "three inputs", 1, (2, 3), (2, 1), (2, 4))
    native = board.load("native")
    (region,) = CODEGEN.claims(case.graph, native)
    assert isinstance(region, Region)
    primitive = CODEGEN.lower(region, case.graph, native)
    assert [call.args for call in primitive.body] == [(f"in{i}", "out0") for i in range(3)]
    assert [dict(call.params)["offset"] for call in primitive.body] == [0, 3, 4]
    assert primitive.inputs == case.node.inputs
