"""Random recurrent layers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.recurrent.recurrent import OP, RecurrentAttrs
from microgen.graph.ops.recurrent.recurrent_steps import (
    FORMULAS,
    FUNCTIONS,
    GATES,
    ActivationFormula,
)
from tests.kernels.conformance import conformance as c

USUAL = {"rnn": ("tanh",), "gru": ("sigmoid", "tanh"), "lstm": ("sigmoid", "tanh", "tanh")}
KINDS = tuple(USUAL)
_NUMBERS = {  # alpha and beta, for functions that have some
    "affine": (0.25, -0.5),
    "leaky_relu": (0.125, 0.0),
    "thresholded_relu": (0.5, 0.0),
    "scaled_tanh": (0.75, 1.5),
    "hard_sigmoid": (0.25, 0.5),
    "elu": (0.5, 0.0),
}


def function(name: str) -> ActivationFormula:
    """The function with numbers that are exact."""
    return ActivationFormula(name, *_NUMBERS.get(name, (0.0, 0.0)))


def random_functions(
    rng: np.random.Generator, kind: str, *, usual: bool
) -> tuple[ActivationFormula, ...]:
    """The usual functions, or some."""
    if usual:
        return tuple(map(function, USUAL[kind]))
    return tuple(function(str(name)) for name in rng.choice(list(FORMULAS), FUNCTIONS[kind]))


def sized(
    rng: np.random.Generator, attrs: RecurrentAttrs, sizes: tuple[int, int, int, int], extras: int
) -> c.Case:
    """A layer of steps, batches, features and cells. ``extras``: how many of the inputs it has that
    may be left out."""
    steps, batches, features, cells = sizes
    gates, scale = GATES[attrs.kind], 1 / math.sqrt(cells)
    lengths = (
        rng.integers(0, steps + 2, batches) - 1 if rng.random() < 0.4 else np.full(batches, steps)
    )
    inputs = (
        c.float32(rng, (steps, batches, features)),
        c.float32(rng, (gates, cells, features)),
        c.float32(rng, (gates, cells, cells), scale),
        c.float32(rng, (gates + attrs.resets_after, cells)),
        c.Tensor(ArrayType((batches,), DType.INT32), lengths.astype(np.int32)),
        c.float32(rng, (batches, cells)),
        c.float32(rng, (batches, cells)),
        c.float32(rng, (3, cells)),
    )
    name = f"{attrs.kind} {sizes} {extras}"
    return c.Case(name, OP.name, attrs, inputs[: 5 + extras], None, DType.FLOAT32)


def random_case(seed: int) -> c.Case:
    """A small layer of any kind, with any attributes."""
    rng = np.random.default_rng(700 + seed)
    kind = KINDS[seed % 3]
    flags = [bool(b) for b in rng.random(4) < 0.5]
    attrs = RecurrentAttrs(
        kind,
        random_functions(rng, kind, usual=seed // 3 % 2 == 0),
        float(np.float32(rng.uniform(0.5, 2))) if rng.random() < 0.3 else math.inf,
        reverse=flags[0],
        keeps=flags[1],
        resets_after=flags[2] and kind == "gru",
        couples=flags[3] and kind == "lstm",
    )
    sizes = tuple(int(n) for n in rng.integers(1, (6, 4, 7, 7)))
    most = 3 if kind == "lstm" else 1
    return sized(rng, attrs, sizes, int(rng.integers(0, most + 1)))  # type: ignore[arg-type]


def constant_case(seed: int) -> c.Case:
    """A random layer for kernels with vectors."""
    return _for_vectors(random_case(seed))


def _for_vectors(case: c.Case) -> c.Case:
    """The layer with constant weights and biases, without a clip, peepholes and coupled gates."""
    assert isinstance(case.attrs, RecurrentAttrs)
    attrs = replace(case.attrs, clip=math.inf, couples=False)
    inputs = (
        replace(t, is_constant=True) if 1 <= i <= 3 else t for i, t in enumerate(case.inputs[:7])
    )
    return replace(case, attrs=attrs, inputs=tuple(inputs))


def real() -> Iterator[c.Case]:
    """Layers of the sizes that networks have: for each kind the usual functions and others."""
    rng = np.random.default_rng(5)
    for kind in KINDS:
        other = tuple(map(function, ("hard_sigmoid", "softsign", "elu")))[: FUNCTIONS[kind]]
        for functions in (random_functions(rng, kind, usual=True), other):
            attrs = RecurrentAttrs(kind, functions, resets_after=kind == "gru")
            yield sized(rng, attrs, (28, 1, 27, 128), 2 if kind == "lstm" else 1)
            yield _for_vectors(sized(rng, attrs, (9, 1, 27, 33), 2 if kind == "lstm" else 1))
