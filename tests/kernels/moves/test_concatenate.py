import dataclasses
from pathlib import Path

import numpy as np

from microgen.compiler.codegens.base import Region
from microgen.compiler.codegens.builtin import CODEGEN
from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.target import board
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, random_array, random_type


def _case(dtype: DType, seed: int, name: str, axis: int, *shapes: tuple[int, ...]) -> c.Case:
    rng = np.random.default_rng(seed)
    kind = random_type(rng, (), dtype)
    inputs = tuple(
        c.Tensor(dataclasses.replace(kind, shape=shape), random_array(rng, shape, dtype))
        for shape in shapes
    )
    return c.Case(name, "concatenate", ConcatenateAttrs(axis), inputs, kind.quant, dtype)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 6)))]
    axis = int(rng.integers(len(shape)))
    sizes = rng.integers(1, 5, int(rng.integers(1, 7)))
    shapes = [(*shape[:axis], int(n), *shape[axis + 1 :]) for n in sizes]
    return _case(dtype_of(seed), seed, f"random {seed}", axis, *shapes)


def _corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _case(dtype, 1, "one input", 0, (2, 3)),
        _case(dtype, 2, "one element each", 0, (1,), (1,)),
        _case(dtype, 3, "the first axis", 0, (1, 2, 2, 3), (2, 2, 2, 3)),
        _case(dtype, 4, "channels", 3, (1, 2, 2, 3), (1, 2, 2, 1), (1, 2, 2, 5)),
    )


CORNERS = [case for dtype in DTYPES for case in _corners(dtype)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_one_primitive_function_has_a_call_for_each_input() -> None:
    case = _case(DType.INT16, 5, "three inputs", 1, (2, 3), (2, 1), (2, 4))
    native = board.load("native")
    (region,) = CODEGEN.claims(case.graph, native)
    assert isinstance(region, Region)
    (primitive,) = CODEGEN.lower([region], case.graph, native)
    assert [call.args for call in primitive.body] == [(f"in{i}", "out0") for i in range(3)]
    assert [dict(call.params)["offset"] for call in primitive.body] == [0, 6, 8]
    assert primitive.inputs == case.node.inputs
