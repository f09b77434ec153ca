"""Random functions of the generator's operators, and what numpy computes for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from microgen import relay
from microgen.compiler.codegens.external import ExternalFunction
from microgen.graph.ir.graph import Array
from microgen.relay.expr import Call, Constant, Expr, Let, Op, Tuple, TupleGetItem, Var
from tests.compiler.codegens import functions

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, -3e38], np.float32)

NUMPY: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": lambda a, b: np.where(a > b, a, b),
    "minimum": lambda a, b: np.where(a < b, a, b),
    "negative": np.negative,
    "abs": np.abs,
    "nn.relu": lambda x: np.where(x < 0, x.dtype.type(0), x),
}
UNARY = ("negative", "abs", "nn.relu")


@dataclass
class Made:
    """A function, the arrays to call it with, and its outputs."""

    function: ExternalFunction
    inputs: list[Array]
    outputs: list[Array]


def array(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Numbers of all magnitudes; some floats are infinite or NaN."""
    if dtype == "int32":
        bound = int(rng.choice([10, 2**31]))
        return rng.integers(-bound, bound, shape, np.int32)
    values = (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4)).astype(np.float32)
    where = rng.random(shape) < 0.05
    return np.where(where, rng.choice(SPECIAL, shape), values).astype(np.float32)


@dataclass
class Group:
    """Values of one dtype and shape, which operators combine."""

    rng: np.random.Generator
    dtype: str
    shape: tuple[int, ...]
    values: list[tuple[Expr, Array]] = field(default_factory=list)

    def pick(self) -> tuple[Expr, Array]:
        if self.rng.random() < 0.1:
            data = array(self.rng, self.dtype, self.shape)
            self.values.append((Constant(data), data))
        return self.values[int(self.rng.integers(len(self.values)))]

    def grow(self) -> None:
        names = [n for n in NUMPY if n != "divide" or self.dtype == "float32"]
        name = str(self.rng.choice(names))
        operands = [self.pick() for _ in range(1 if name in UNARY else 2)]
        call: Expr = Call(Op(name), [e for e, _ in operands])
        with np.errstate(all="ignore"):
            result = np.asarray(NUMPY[name](*(a for _, a in operands)), self.dtype)
        if self.rng.random() < 0.1:
            call = TupleGetItem(Tuple([operands[0][0], call]), 1)
        self.values.append((call, result))


def _shape(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(d) for d in rng.integers(1, 6, int(rng.integers(0, 5))))


def _result(rng: np.random.Generator, groups: list[Group]) -> tuple[Expr, list[Array]]:
    """The last value, or a tuple of random values of all groups, which may have one twice."""
    if rng.random() < 0.5:
        last, value = groups[-1].values[-1]
        return last, [value]
    every = [value for group in groups for value in group.values]
    chosen = [every[i] for i in rng.integers(len(every), size=int(rng.integers(1, 5)))]
    return Tuple([e for e, _ in chosen]), [a for _, a in chosen]


def made(symbol: str, seed: int) -> Made:
    """A function of one or two groups of values, with up to twelve operators."""
    rng = np.random.default_rng(seed)
    params: list[Var] = []
    inputs: list[Array] = []
    groups = []
    for _ in range(int(rng.integers(1, 3))):
        group = Group(rng, str(rng.choice(["float32", "int32"])), _shape(rng))
        for _ in range(int(rng.integers(1, 4))):
            param = relay.var(f"p{len(params)}", shape=group.shape, dtype=group.dtype)
            data = array(rng, group.dtype, group.shape)
            params.append(param)
            inputs.append(data)
            group.values.append((param, data))
        for _ in range(int(rng.integers(1, 7))):
            group.grow()
        groups.append(group)
    body, outputs = _result(rng, groups)
    if rng.random() < 0.2 and isinstance(body, Call):
        bound = Var("x")
        body = Let(bound, body, Tuple([bound, bound]))
        outputs = [*outputs, *outputs]
    return Made(functions.of(symbol, params, body), inputs, outputs)
