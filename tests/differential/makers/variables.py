"""Layers that keep a state in a resource variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tests.differential import stock
from tests.differential.makers import EVERY, Maker
from tests.differential.network import Composite, Network
from tests.differential.stock import Array
from tests.support.tflite_builder import OperatorSpec, Ref, TensorSpec


class _Layer:
    """The parts of a layer with one variable, ``v``, of the data's dtype and quantization."""

    def __init__(self, net: Network, data: str, shape: Sequence[int]) -> None:
        self.net, self.data = net, data
        self.name = f"v{len(net.tensors)}"
        self.shape = tuple(shape)
        self.inner = [TensorSpec(f"{self.name}/handle", (), "resource")]
        self.parts: list[OperatorSpec] = []

    def tensor(self, what: str, shape: Sequence[int]) -> str:
        name = f"{self.name}/{what}"
        spec = self.net.tensors[self.data]
        self.inner.append(replace(spec, name=name, shape=tuple(shape), data=None))
        return name

    def constant(self, what: str, values: Array) -> str:
        self.inner.append(TensorSpec(f"{self.name}/{what}", values.shape, "int32", values))
        return f"{self.name}/{what}"

    def add(self, code: str, inputs: Sequence[Ref], output: str, kind: str, **options: int) -> str:
        outputs = [output] if output else []
        self.parts.append(OperatorSpec(code, inputs, outputs, kind, options))
        return output

    def read(self, output: str = "") -> str:
        output = output or self.tensor(f"read{len(self.parts)}", self.shape)
        return self.add("READ_VARIABLE", [self.inner[0].name], output, "ReadVariableOptions")

    def assign(self, value: str) -> None:
        self.add("ASSIGN_VARIABLE", [self.inner[0].name, value], "", "AssignVariableOptions")

    def joined(self, parts: Sequence[str], output: str, axis: int) -> str:
        return self.add("CONCATENATION", parts, output, "ConcatenationOptions", axis=axis)

    def sliced(self, data: str, whole: Sequence[int], axis: int, rows: int) -> str:
        """The last rows along an axis."""
        begin = np.zeros(len(whole), np.int32)
        begin[axis] = whole[axis] - rows
        size = np.array([*whole[:axis], rows, *whole[axis + 1 :]], np.int32)
        output = self.tensor("kept", tuple(map(int, size)))
        constants = [self.constant("begin", begin), self.constant("size", size)]
        return self.add("SLICE", [data, *constants], output, "SliceOptions")

    def finish(self, output: str) -> None:
        """Append the layer. Its variable begins with zeros or with random values."""
        spec = self.net.tensors[self.data]
        values = stock.sample(self.net.rng, spec.dtype, self.shape)
        if self.net.chance(0.5):
            values = np.full_like(values, self.net.zero(self.data))
        layer = Composite(
            "READ_VARIABLE",
            [self.data],
            [output],
            parts=self.parts,
            inner=self.inner,
            initial={self.name: values},
        )
        self.net.operators.append(layer)


def _window(net: Network, data: str) -> None:
    """Rows joined to those that the variable keeps, before or after a slice."""
    shape = net.shape(data)
    axis = int(net.rng.integers(len(shape))) if net.chance(0.4) else min(1, len(shape) - 1)
    rows = shape[axis] + int(net.rng.integers(1, 4))
    slices_first = net.chance(0.4)
    layer = _Layer(net, data, (*shape[:axis], rows, *shape[axis + 1 :]))
    count = rows if slices_first else rows + shape[axis]
    whole = (*shape[:axis], count, *shape[axis + 1 :])
    output = net.output(net.dtype(data), whole, data)
    old = layer.read()
    if slices_first:
        old = layer.sliced(old, layer.shape, axis, rows - shape[axis])
        layer.assign(layer.joined([old, data], output, axis))
    else:
        layer.joined([old, data], output, axis)
        layer.assign(layer.sliced(output, whole, axis, rows))
    layer.finish(output)


def _delay(net: Network, data: str) -> None:
    """The data of the inference before, or its own if the assignment comes first."""
    layer = _Layer(net, data, net.shape(data))
    output = net.output(net.dtype(data), net.shape(data), data)
    if net.chance(0.3):
        layer.assign(data)
        layer.read(output)
    else:
        layer.read(output)
        layer.assign(data)
    layer.finish(output)


def _reads(net: Network, data: str) -> None:
    """Two reads, with or without an assignment between or after them."""
    shape = net.shape(data)
    layer = _Layer(net, data, shape)
    when, axis = int(net.rng.integers(3)), int(net.rng.integers(len(shape)))
    first = layer.read()
    if when == 1:
        layer.assign(data)
    second = layer.read()
    if when == 2:
        layer.assign(data)
    whole = (*shape[:axis], 3 * shape[axis], *shape[axis + 1 :])
    output = net.output(net.dtype(data), whole, data)
    layer.finish(layer.joined([first, data, second], output, axis))


def _variable(net: Network, _code: str, dtype: str) -> None:
    data = net.pick(dtype, fits=lambda name: len(net.shape(name)) > 0)
    net.one_of([_window, _window, _delay, _reads])(net, data)


CODES = ("ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE")
MAKERS = (Maker(CODES, EVERY, _variable),)
