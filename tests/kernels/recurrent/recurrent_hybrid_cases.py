"""Random recurrent layers with int8 weights."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.recurrent.recurrent_hybrid import OP, RecurrentHybridAttrs
from microgen.graph.ops.recurrent.recurrent_steps import GATES
from tests.kernels.conformance import conformance as c
from tests.kernels.recurrent.recurrent_cases import KINDS, random_functions


def _weight(rng: np.random.Generator, rows: int, columns: int, form: str) -> c.Tensor:
    """Weights of the form "float", "row" (a scale for each row) or "tensor"."""
    scale = 1 / math.sqrt(columns)
    if form == "float":
        return c.float32(rng, (rows, columns), scale, is_constant=True)
    values = rng.integers(-127, 128, (rows, columns)).astype(np.int8)
    scales = rng.uniform(0.5, 1, rows if form == "row" else 1).astype(np.float32) * scale / 60
    axis = 0 if scales.size > 1 else None
    quant = Quant(tuple(map(float, scales)), (0,) * scales.size, axis)
    return c.Tensor(ArrayType((rows, columns), DType.INT8, quant), values, is_constant=True)


def sized(
    rng: np.random.Generator,
    attrs: RecurrentHybridAttrs,
    sizes: tuple[int, int, int, int],
    forms: tuple[str, str],
    extras: int,
) -> c.Case:
    """A layer of steps, batches, features and cells, with weights of these forms. ``extras``: how
    many states before the first step it has."""
    steps, batches, features, cells = sizes
    rows = GATES[attrs.kind] * cells
    inputs = (
        c.float32(rng, (steps, batches, features)),
        *(_weight(rng, rows, n, form) for n, form in zip((features, cells), forms, strict=True)),
        c.float32(rng, (GATES[attrs.kind] + attrs.resets_after, cells), is_constant=True),
        c.float32(rng, (batches, cells)),
        c.float32(rng, (batches, cells)),
    )
    name = f"{attrs.kind} {sizes} {forms} {extras}"
    return c.Case(name, OP.name, attrs, inputs[: 4 + extras], None, DType.FLOAT32)


_FORMS = (
    *(("row", "row"), ("tensor", "tensor"), ("float", "row"), ("row", "float")),
    ("tensor", "row"),
)


def random_case(seed: int) -> c.Case:
    """A small layer of any kind."""
    rng = np.random.default_rng(900 + seed)
    kind = KINDS[seed % 3]
    flags = [bool(b) for b in rng.random(4) < 0.5]
    attrs = RecurrentHybridAttrs(
        kind,
        random_functions(rng, kind, usual=seed // 3 % 2 == 0),
        reverse=flags[0],
        keeps=flags[1],
        resets_after=flags[2] and kind == "gru",
        asymmetric=flags[3],
    )
    sizes = tuple(int(n) for n in rng.integers(1, (6, 4, 9, 9)))
    extras = int(rng.integers(0, 3 if kind == "lstm" else 2))
    return sized(rng, attrs, sizes, _FORMS[seed % len(_FORMS)], extras)  # type: ignore[arg-type]


def real() -> Iterator[c.Case]:
    """Layers of the sizes that networks have."""
    rng = np.random.default_rng(5)
    for kind in KINDS:
        functions = random_functions(rng, kind, usual=True)
        attrs = RecurrentHybridAttrs(kind, functions, resets_after=kind == "gru")
        yield sized(rng, attrs, (28, 1, 27, 128), ("row", "row"), 2 if kind == "lstm" else 1)
