from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.tables import tables
from microgen.graph.ops.tables.tables import LookupAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

QUANT = c.quant(0.1, -3)


def _case(seed: int, shape: tuple[int, ...]) -> c.Case:
    rng = np.random.default_rng(seed)
    table = c.Tensor(c.int8(rng, (256,), QUANT).type, rng.permutation(256).astype(np.int8), True)
    return c.Case(
        f"seed {seed}", "lookup", LookupAttrs("tanh"), (c.int8(rng, shape, QUANT), table), QUANT
    )


def _every_value() -> c.Case:
    case = _case(0, (256,))
    data = c.Tensor(case.inputs[0].type, np.arange(-128, 128).astype(np.int8))
    return c.Case("every value", "lookup", case.attrs, (data, case.inputs[1]), QUANT)


CASES = (_every_value(), *(_case(s, (1, s, 3)) for s in range(1, 20)), _case(99, (2, 1, 3, 2, 2)))


def _int16_case(seed: int) -> c.Case:
    """A case of every value, with a random table, in which neighbours may differ by any amount."""
    of, rng = c.quant(0.1), np.random.default_rng(seed)
    every = c.Tensor(ArrayType(u.EVERY.shape, DType.INT16, of), u.EVERY)
    entries = rng.integers(-(2**15), 2**15, tables.ENTRIES).astype(np.int16)
    table = c.Tensor(ArrayType(entries.shape, DType.INT16, of), entries, True)
    return c.Case(f"int16 {seed}", "lookup", LookupAttrs("exp"), (every, table), of, DType.INT16)


INT16 = [_int16_case(seed) for seed in range(10)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CASES, *INT16], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CASES[:6], *INT16[:2]], tmp_path)


def test_a_table_that_is_computed_is_refused() -> None:
    case = CASES[0]
    graph = case.graph.replace(constants={}, inputs=("input0", "input1"))
    for kernel in kernels.registry()["lookup"]:
        assert kernel.refusal(case.node, graph) == (
            "'input1' is computed at run time, the kernel needs a constant"
        )
