"""Random modules: shared values, tuples, lets, inner functions, constants of every dtype."""

from __future__ import annotations

import numpy as np

from microgen import relay
from microgen.relay.expr import DTYPES, Attrs, TensorType

_F32 = TensorType((2, 4), "float32")


class _Maker:
    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._pool: list[relay.Expr] = []

    def module(self) -> relay.IRModule:
        params = [relay.Var(f"x{i}", _F32) for i in range(int(self._rng.integers(1, 4)))]
        helper = self._helper()
        body = self._body(params, int(self._rng.integers(1, 14)), depth=2)
        main = relay.Function(params, body)
        return relay.infer_type(relay.IRModule({"main": main, "helper": helper}))

    def _helper(self) -> relay.Function:
        x = relay.Var("x0", _F32)
        attrs: Attrs = {"Primitive": 1, "Compiler": 'a "b" \\', "rate": 1e-5, "list": (1, (2,), ())}
        return relay.Function([x], relay.nn.relu(x), attrs=attrs)

    def _body(self, values: list[relay.Expr], steps: int, depth: int) -> relay.Expr:
        """An expression of type ``_F32`` over ``values``."""
        values = list(values)
        for step in range(steps):
            if self._rng.random() < 0.2:
                var = relay.Var(f"l-{step}")
                return relay.Let(
                    var, self._step(values, depth), self._body([*values, var], steps - step, depth)
                )
            values.append(self._step(values, depth))
        return values[-1]

    def _pick(self, values: list[relay.Expr]) -> relay.Expr:
        return values[int(self._rng.integers(len(values)))]

    def _step(self, values: list[relay.Expr], depth: int) -> relay.Expr:
        a, b = self._pick(values), self._pick(values)
        match int(self._rng.integers(9 if depth else 7)):
            case 0:
                return relay.add(a, b)
            case 1:
                return relay.Call(relay.GlobalVar("helper"), [a])
            case 2:
                return relay.TupleGetItem(relay.Tuple([a, b, relay.Tuple([a])]), 1)
            case 3:
                return relay.add(a, relay.split(b, 2, axis=0)[1])
            case 4:
                return relay.multiply(a, relay.const(self._rng.standard_normal((1, 4)), "float32"))
            case 5:
                return relay.clip(a, float(self._rng.normal()) - 9, float(self._rng.normal()) + 9)
            case 6:
                return relay.multiply(a, self._cast_scalar())
            case 7:
                x = relay.Var("x0", _F32)
                body = self._body([x, b], 2, depth - 1)
                inner = relay.Function([x], body, attrs={"Primitive": 1})
                return relay.Call(inner, [a])
            case _:
                var = relay.Var("v")
                return relay.Let(var, self._step(values, depth - 1), relay.add(var, a))

    def _cast_scalar(self) -> relay.Expr:
        dtype = DTYPES[int(self._rng.integers(len(DTYPES)))]
        value = self._rng.normal() * 10.0 ** self._rng.integers(-4, 4)
        return relay.cast(relay.const(abs(value) if dtype[0] == "u" else value, dtype), "float32")


def random_module(seed: int) -> relay.IRModule:
    """A module of a few functions that types."""
    return _Maker(seed).module()
