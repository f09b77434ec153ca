"""Relay functions drawn at random: chains with branches, channels first and last."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microgen import relay
from microgen.graph.ir.graph import Array
from microgen.relay import Expr, Function, infer_type
from microgen.relay.expr import TensorType
from microgen.relay.module import IRModule

Draw = Callable[[Expr, tuple[int, ...]], Expr | None]


class Network:
    """A function as it grows. Every value is of four axes, channels second."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.inputs = [relay.var(f"x{i}", shape=(1, 3, 8, 9)) for i in range(2)]
        self.live: list[Expr] = list(self.inputs)

    def function(self, steps: int) -> Function:
        """After that many steps; the last values, and one more, are its outputs."""
        while steps:
            grown = self._step()
            if grown is not None:
                self.live.append(grown)
                steps -= 1
        extra = self.live[int(self.rng.integers(len(self.live)))]
        return Function(self.inputs, relay.Tuple([*self.live[-2:], extra]))

    def _step(self) -> Expr | None:
        kinds: list[Draw] = [
            *(self._conv, self._conv, self._depthwise, self._last, self._pool, self._norm),
            *(self._sum, self._joined, self._unary, self._scaled, self._cut, self._global),
        ]
        value = self.live[-1 - int(self.rng.integers(min(3, len(self.live))))]
        return kinds[int(self.rng.integers(len(kinds)))](value, self.shape(value))

    def shape(self, value: Expr) -> tuple[int, ...]:
        module = infer_type(IRModule.from_expr(Function(self.inputs, value)))
        assert module.types is not None
        found = module.types[value]
        assert isinstance(found, TensorType)
        return found.shape

    def constant(self, *shape: int) -> Expr:
        values: Array = self.rng.standard_normal(shape).astype(np.float32)
        return relay.const(values / np.float32(np.sqrt(max(1, np.prod(shape[1:])))))

    def pick(self, *choices: int) -> int:
        return int(self.rng.choice(choices))

    def _conv(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        filters, size = self.pick(2, 3, 4), self.pick(1, 3)
        weight = self.constant(filters, shape[1], size, size)
        found = relay.nn.conv2d(x, weight, padding=size // 2, strides=(self.pick(1, 1, 2),) * 2)
        if self.rng.integers(2):
            found = relay.nn.bias_add(found, self.constant(filters))
        return relay.nn.relu(found) if self.rng.integers(2) else found

    def _depthwise(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        weight = self.constant(shape[1], 1, 3, 3)
        return relay.nn.conv2d(x, weight, padding=(1, 1), groups=shape[1])

    def _last(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        moved = relay.transpose(x, axes=(0, 2, 3, 1))
        weight = self.constant(1, 1, shape[1], 3)
        conv = relay.nn.conv2d(moved, weight, data_layout="NHWC", kernel_layout="HWIO")
        return relay.layout_transform(conv, "NHWC", "NCHW")

    def _pool(self, x: Expr, shape: tuple[int, ...]) -> Expr | None:
        if min(shape[2:]) < 3:
            return None
        if self.rng.integers(2):
            return relay.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2), ceil_mode=True)
        return relay.nn.avg_pool2d(
            x, pool_size=(3, 3), padding=(1, 1), count_include_pad=bool(self.rng.integers(2))
        )

    def _norm(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        given = [self.constant(shape[1]) for _ in range(3)]
        variance = relay.const(self.rng.uniform(0.5, 2, shape[1]).astype(np.float32))
        return relay.nn.batch_norm(x, *given, variance)[0]

    def _sum(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        alike = [value for value in self.live if self.shape(value) == shape]
        return relay.add(x, alike[int(self.rng.integers(len(alike)))])

    def _joined(self, x: Expr, shape: tuple[int, ...]) -> Expr | None:
        alike = [v for v in self.live if self.shape(v)[2:] == shape[2:]]
        other = alike[int(self.rng.integers(len(alike)))]
        if shape[1] > 8:
            return None
        return relay.concatenate([x, other], axis=1)

    def _unary(self, x: Expr, _shape: tuple[int, ...]) -> Expr:
        return [relay.tanh, relay.sigmoid, relay.nn.relu][self.pick(0, 1, 2)](x)

    def _scaled(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        return relay.multiply(x, self.constant(shape[1], 1, 1))

    def _cut(self, x: Expr, shape: tuple[int, ...]) -> Expr | None:
        if shape[1] % 2:
            return None
        return relay.split(x, indices_or_sections=2, axis=1)[self.pick(0, 1)]

    def _global(self, x: Expr, _shape: tuple[int, ...]) -> Expr:
        return relay.multiply(x, relay.sigmoid(relay.nn.global_avg_pool2d(x)))
