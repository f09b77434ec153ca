"""Random graphs for partitioning: shared values, tuples, lets, constants, other functions."""

from __future__ import annotations

import numpy as np

from microgen import relay
from microgen.relay.expr import TensorType
from microgen.relay.pattern import is_constant, is_op, wildcard
from microgen.relay.transform import CompositePattern, Match, OperatorCall, Support

_TYPE = TensorType((4, 4), "float32")
_UNARY = ("nn.relu", "exp", "tanh", "sigmoid", "sqrt")
_BINARY = ("add", "multiply", "subtract", "maximum")
OPS = (*_UNARY, *_BINARY, "concatenate", "split", "nn.batch_norm", "zeros")


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def module(self) -> relay.IRModule:
        params = [relay.Var(f"x{i}", _TYPE) for i in range(int(self.rng.integers(1, 4)))]
        steps = int(self.rng.integers(1, 30))
        main = relay.Function(params, self._body([*params], steps))
        p = relay.Var("p", _TYPE)
        helper = relay.Function([p], self._body([p], 3))
        return relay.infer_type(relay.IRModule({"main": main, "helper": helper}))

    def _body(self, values: list[relay.Expr], steps: int) -> relay.Expr:
        values = list(values)
        for step in range(steps):
            if self.rng.random() < 0.05:
                var = relay.Var(f"v{step}")
                rest = self._body([*values, var], steps - step)
                return relay.Let(var, self._step(values), rest)
            values.append(self._step(values))
        if len(values) > 3 and self.rng.random() < 0.5:
            return relay.Tuple(values[-int(self.rng.integers(1, 4)) :])
        return values[-1]

    def _pick(self, values: list[relay.Expr]) -> relay.Expr:
        near = values[-6:] if self.rng.random() < 0.8 else values
        return near[int(self.rng.integers(len(near)))]

    def _step(self, values: list[relay.Expr]) -> relay.Expr:
        a, b = self._pick(values), self._pick(values)
        match int(self.rng.integers(12)):
            case 0 | 1 | 2:
                return relay.Call(relay.Op(str(self.rng.choice(_UNARY))), [a])
            case 3 | 4 | 5:
                return relay.Call(relay.Op(str(self.rng.choice(_BINARY))), [a, b])
            case 6:
                return relay.split(relay.concatenate([a, b], axis=0), 2, axis=0)[1]
            case 7:
                return relay.add(a, relay.const(self.rng.standard_normal((4,)), "float32"))
            case 8:
                return self._normalised(a)
            case 9:
                return relay.TupleGetItem(relay.Tuple([a, relay.Tuple([b])]), 0)
            case 10:
                return relay.add(relay.zeros((4, 4), "float32"), a)
            case _:
                parts = relay.split(a, 2, axis=1).astuple()
                return relay.concatenate(parts, axis=1)

    def _normalised(self, a: relay.Expr) -> relay.Expr:
        statistics = [relay.const(self.rng.random(4), "float32") for _ in range(4)]
        found = relay.nn.batch_norm(a, *statistics, axis=1)
        return relay.add(found[0], found[int(self.rng.integers(1, 3))])

    def supports(self) -> list[Support]:
        names = ("a", "b.c", "d-e")[: int(self.rng.integers(1, 4))]
        return [Support(name, {op: self._predicate() for op in self._ops()}) for name in names]

    def _ops(self) -> list[str]:
        return [op for op in OPS if self.rng.random() < 0.6]

    def _predicate(self) -> object:
        refuses = self.rng.random() < 0.2

        def predicate(call: OperatorCall) -> str | None:
            return f"{call.op} is not for us" if refuses and len(call.args) > 1 else None

        return predicate

    def patterns(self) -> list[CompositePattern]:
        def rarely(found: Match) -> str | None:
            return "enough" if len(found.calls) == 2 else None

        sum_ = is_op("add")(wildcard(), is_constant() | wildcard())
        ends = sum_.optional(lambda x: is_op("nn.relu")(x)).optional(lambda x: is_op("tanh")(x))
        twice = wildcard()
        return [
            CompositePattern("a.sum", ends, rarely),
            CompositePattern("d-e.chain", is_op("exp")(is_op("nn.relu")(wildcard()))),
            CompositePattern("a.square", is_op("multiply")(twice, twice)),
        ][: int(self.rng.integers(4))]


def random_case(seed: int) -> tuple[relay.IRModule, list[Support], list[CompositePattern]]:
    """A module of @main and @helper, codegens, and composite patterns."""
    maker = _Maker(seed)
    return maker.module(), maker.supports(), maker.patterns()
