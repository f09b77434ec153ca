"""Random networks of float32, and what numpy computes for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from microgen import relay
from microgen.graph.ir.graph import Array
from microgen.relay import Expr, Function, IRModule, Var
from microgen.relay.builder import build
from tests.aot.networks import convolved
from tests.tvm.codegens.ccompiler.random_functions import NUMPY, UNARY

_LARGEST = 1e3
_LEAST_DIVISOR = 0.05
_BINARY = tuple(name for name in NUMPY if name not in UNARY)
Value = tuple[Expr, Array]
_T = TypeVar("_T")


@dataclass(frozen=True)
class RandomNetwork:
    """A module, the inputs of a run and its outputs, both in the model's order."""

    module: IRModule
    inputs: list[Array]
    outputs: list[Array]


class _Maker:
    """Draws operators on NCHW images: elementwise ones and those that move elements.

    ``sums`` adds convolutions and others whose roundings differ from numpy's.
    """

    def __init__(self, seed: int, *, sums: bool) -> None:
        self.rng = np.random.default_rng(seed)
        shape = (1, *(int(n) for n in self.rng.integers((1, 3, 3), (4, 6, 6))))
        self.inputs = [self._random(shape) for _ in range(int(self.rng.integers(1, 4)))]
        self.params: list[Var] = [
            relay.var(f"x{i}", shape=shape) for i, _ in enumerate(self.inputs)
        ]
        self.live: list[Value] = list(zip(self.params, self.inputs, strict=True))
        self.read: set[Expr] = set()
        elementwise = [self._unary, self._binary, self._binary, self._binary, self._broadcast]
        moving = [self._clip, self._transpose, self._concatenate, self._slice]
        others = [self._convolution, self._convolution, self._curve, self._pool] if sums else []
        self.kinds: list[Callable[[Value], Value | None]] = [*elementwise, *moving, *others]

    def network(self) -> RandomNetwork:
        steps = len(self.params) + int(self.rng.integers(4, 13))
        while len(self.live) < steps:
            made = self._one(self.kinds)(self._value())
            if made is not None and np.abs(made[1]).max() < _LARGEST:
                self.live.append(made)
        left = [value for value in self.live[len(self.params) :] if value[0] not in self.read]
        fields = [expr for expr, _ in left]
        body = fields[0] if len(fields) == 1 else relay.Tuple(fields)
        module = IRModule.from_expr(Function(self.params, body))
        return RandomNetwork(module, self.inputs, [array for _, array in left])

    def _one(self, of: Sequence[_T]) -> _T:
        return of[int(self.rng.integers(len(of)))]

    def _random(self, shape: tuple[int, ...]) -> Array:
        return self.rng.uniform(-2, 2, shape).astype(np.float32)

    def _value(self) -> Value:
        return self._one(self.live[-4:])

    def _used(self, *values: Value) -> None:
        self.read |= {expr for expr, _ in values}

    def _unary(self, value: Value) -> Value:
        self._used(value)
        name = self._one(UNARY)
        return build(name, value[0]), NUMPY[name](value[1])

    def _binary(self, value: Value) -> Value | None:
        alike = [other for other in self.live if other[1].shape == value[1].shape]
        return self._combined(value, self._one(alike))

    def _broadcast(self, value: Value) -> Value | None:
        array = self._random((value[1].shape[1], 1, 1))
        return self._combined(value, (relay.const(array), array))

    def _combined(self, lhs: Value, rhs: Value) -> Value | None:
        name = self._one(_BINARY)
        if name == "divide" and np.abs(rhs[1]).min() < _LEAST_DIVISOR:
            return None
        self._used(lhs, rhs)
        return build(name, lhs[0], rhs[0]), NUMPY[name](lhs[1], rhs[1])

    def _clip(self, value: Value) -> Value:
        self._used(value)
        low, high = np.float32(-1.5), np.float32(1.25)
        return relay.clip(value[0], float(low), float(high)), np.clip(value[1], low, high)

    def _transpose(self, value: Value) -> Value:
        self._used(value)
        axes = (0, *(int(n) + 1 for n in self.rng.permutation(3)))
        return relay.transpose(value[0], axes), value[1].transpose(axes)

    def _concatenate(self, value: Value) -> Value | None:
        alike = [other for other in self.live if other[1].shape == value[1].shape]
        both = [value, self._one(alike)]
        if value[1].size > 300:
            return None
        self._used(*both)
        joined = relay.concatenate(relay.Tuple([expr for expr, _ in both]), 1)
        return joined, np.concatenate([array for _, array in both], 1)

    def _slice(self, value: Value) -> Value | None:
        _, _, height, width = shape = value[1].shape
        if min(height, width) < 3:
            return None
        self._used(value)
        begin, end = (0, 0, 1, 0), (*shape[:3], width - 1)
        return relay.strided_slice(value[0], begin, end), value[1][:, :, 1:, : width - 1]

    def _convolution(self, value: Value) -> Value:
        self._used(value)
        count = int(self.rng.integers(1, 4))
        weight = (self._random((count, value[1].shape[1], 3, 3)) / 4).astype(np.float32)
        bias = self._random((count,))
        expr = relay.nn.conv2d(value[0], relay.const(weight), padding=(1, 1))
        array = convolved(value[1], weight, groups=1, padding=1) + bias[:, None, None]
        return relay.nn.bias_add(expr, relay.const(bias)), array

    def _curve(self, value: Value) -> Value:
        self._used(value)
        if self.rng.random() < 0.5:
            return relay.tanh(value[0]), np.tanh(value[1])
        sigmoid = 1 / (1 + np.exp(-value[1].astype(np.float64)))
        return relay.sigmoid(value[0]), sigmoid.astype(np.float32)

    def _pool(self, value: Value) -> Value | None:
        if min(value[1].shape[2:]) < 2:
            return None
        self._used(value)
        windows = np.lib.stride_tricks.sliding_window_view(value[1], (2, 2), (2, 3))
        if self.rng.random() < 0.5:
            return relay.nn.max_pool2d(value[0], (2, 2)), windows.max((4, 5))
        return relay.nn.avg_pool2d(value[0], (2, 2)), windows.mean((4, 5), dtype=np.float32)


def random_network(seed: int, *, sums: bool) -> RandomNetwork:
    """The network of a seed."""
    return _Maker(seed, sums=sums).network()
