"""A network in the making: real activations of a few random samples, and what a converter would
store for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from scripts.bench import matrix

if str(matrix.ROOT) not in sys.path:
    sys.path.insert(0, str(matrix.ROOT))

from tests.support.tflite_builder import OperatorSpec, OptionValue, TensorSpec, build_model

Array = npt.NDArray[Any]
SAMPLES = 2
Options = Mapping[str, OptionValue]
NO_OPTIONS: Options = {}
_BIAS = {"int8": "int32", "int16": "int64", "float32": "float32"}


def rounded(value: float) -> float:
    """Three significant digits. All machines agree on them, though not on the last bits of sums
    in floating point."""
    return float(f"{value:.3g}")


@dataclass(eq=False)
class Activation:
    """A tensor: its name, and the real values [samples, ...] that random inputs give.

    ``fixed`` is its quantization where the operator decides it. Activations that must have the
    same quantization have the same ``root``.
    """

    name: str
    reals: Array
    fixed: tuple[float, int] | None = None
    tied: Activation | None = None
    low: float = 0.0
    high: float = 0.0
    dtype: str = ""
    is_variable: bool = False

    @property
    def root(self) -> Activation:
        """The activation that decides the quantization of all that are tied to it."""
        found = self
        while found.tied is not None:
            found = found.tied
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor of one sample, with a batch of 1."""
        return (1, *self.reals.shape[1:])


Input = Activation | str | int  # a name is a constant's; -1 stands for none


@dataclass
class Drawing:
    """Tensors and operators of a network whose activations are ``kind``: int8, int16 or float32.

    Operators are added with the values that they compute in float64. ``file`` chooses scales and
    zero points from the ranges of these values, as converters do, and quantizes the constants.
    """

    kind: str
    random: np.random.RandomState
    activations: list[Activation] = field(default_factory=list)
    operators: list[OperatorSpec] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    _constants: list[Callable[[], TensorSpec]] = field(default_factory=list)

    def add(
        self,
        code: str,
        inputs: Sequence[Input],
        reals: Array,
        table: str = "",
        options: Options = NO_OPTIONS,
        *,
        tied: bool = False,
        fixed: tuple[float, int] | None = None,
    ) -> Activation:
        """An operator with one result. With ``tied`` the inputs and the result have the same
        quantization."""
        return self.several(code, inputs, [reals], table, options, tied=tied, fixed=fixed)[0]

    def several(
        self,
        code: str,
        inputs: Sequence[Input],
        reals: Sequence[Array],
        table: str = "",
        options: Options = NO_OPTIONS,
        *,
        tied: bool = False,
        fixed: tuple[float, int] | None = None,
    ) -> list[Activation]:
        """An operator with several results."""
        name = f"{code.lower()}{len(self.operators)}"
        names = [name] if len(reals) == 1 else [f"{name}_{i}" for i in range(len(reals))]
        made = [self.activation(*pair, fixed) for pair in zip(names, reals, strict=True)]
        if tied:
            self.tie([each for each in (*inputs, *made) if isinstance(each, Activation)])
        self.operator(code, inputs, made, table, options)
        return made

    def operator(
        self,
        code: str,
        inputs: Sequence[Input],
        made: Sequence[Activation],
        table: str,
        options: Options,
        intermediates: Sequence[str] = (),
    ) -> None:
        """Adds an operator whose results are there."""
        refs, names = (
            [each.name if isinstance(each, Activation) else each for each in those]
            for those in (inputs, made)
        )
        self.operators.append(
            OperatorSpec(code, refs, names, table, options, intermediates=intermediates)
        )

    def activation(
        self, name: str, reals: Array, fixed: tuple[float, int] | None = None, dtype: str = ""
    ) -> Activation:
        """A tensor that an operator writes, or an input."""
        made = Activation(name, reals, None if self.kind == "float32" else fixed)
        made.low, made.high = min(0.0, float(reals.min())), max(0.0, float(reals.max()))
        made.dtype = dtype or self.kind
        self.activations.append(made)
        return made

    def tie(self, these: Sequence[Activation]) -> None:
        """The same quantization for all of them."""
        first, *others = dict.fromkeys(each.root for each in these)
        for each in others:
            each.tied = first
            first.fixed = first.fixed or each.fixed
            first.low, first.high = min(first.low, each.low), max(first.high, each.high)

    def quantization(self, of: Activation) -> tuple[float, int]:
        """Scale and zero point of an activation, as a converter computes them from its range."""
        root = of.root
        if root.fixed is not None:
            return root.fixed
        low, high = -rounded(-root.low), rounded(root.high)
        if of.dtype == "int16":
            return float(np.float32(max(-low, high, 1e-3) / 32767)), 0
        scale = float(np.float32(max(high - low, 1e-3) / 255))
        return scale, int(np.clip(np.rint(-128 - low / scale), -128, 127))

    def numbers(self, values: Array) -> str:
        """A constant of int32: axes, a shape or an order."""
        array = np.array(values, np.int32)
        return self.constant(lambda name: TensorSpec(name, array.shape, "int32", array))

    def constant(self, make: Callable[[str], TensorSpec]) -> str:
        """A constant, which is made when all ranges are known."""
        name = f"constant{len(self._constants)}"
        self._constants.append(lambda: make(name))
        return name

    def weights(self, reals: Array, axis: int | None = 0) -> str:
        """Weights with a symmetric scale for each index of an axis, or one for all: int8."""
        if self.kind == "float32":
            return self.constant(
                lambda name: TensorSpec(name, reals.shape, "float32", reals.astype(np.float32))
            )
        scales = scales_of(reals, axis)
        shape = [1] * reals.ndim
        shape[axis or 0] = -1
        stored = np.clip(np.rint(reals / scales.reshape(shape)), -127, 127).astype(np.int8)
        zeros, each = (0,) * len(scales), tuple(map(float, scales))
        return self.constant(
            lambda name: TensorSpec(name, reals.shape, "int8", stored, each, zeros, axis or 0)
        )

    def bias(self, reals: Array, data: Activation, weights: Array, axis: int | None = 0) -> str:
        """A bias, whose scale is the product of those of the data and of the weights."""
        kind = _BIAS[self.kind]

        def make(name: str) -> TensorSpec:
            if kind == "float32":
                return TensorSpec(name, reals.shape, kind, reals.astype(np.float32))
            scale = self.quantization(data)[0]
            scales = (scales_of(weights, axis).astype(float) * scale).astype(np.float32)
            stored = np.rint(reals / scales).astype(kind)
            zeros, each = (0,) * len(scales), tuple(map(float, scales))
            return TensorSpec(name, reals.shape, kind, stored, each, zeros)

        return self.constant(make)

    def stored_constant(self, name: str, of: Activation) -> TensorSpec:
        """The tensor of a constant that is quantized like an activation."""
        if of.dtype == "float32":
            return TensorSpec(name, of.reals.shape, "float32", of.reals.astype(np.float32))
        scale, zero = self.quantization(of)
        limits = np.iinfo(of.dtype)
        stored = np.clip(np.rint(of.reals / scale) + zero, limits.min, limits.max)
        return TensorSpec(name, of.reals.shape, of.dtype, stored, (scale,), (zero,))

    def file(self, outputs: Sequence[Activation]) -> bytes:
        """The bytes of the .tflite file."""
        tensors = [self._spec(each) for each in self.activations]
        tensors += [make() for make in self._constants]
        return build_model(tensors, self.operators, self.inputs, [each.name for each in outputs])

    def _spec(self, of: Activation) -> TensorSpec:
        quantized: tuple[tuple[float, ...], tuple[int, ...]] = ((), ())
        if of.dtype != "float32":
            scale, zero = self.quantization(of)
            quantized = (scale,), (zero,)
        return TensorSpec(
            *(of.name, of.shape, of.dtype, None, *quantized), is_variable=of.is_variable
        )


def scales_of(weights: Array, axis: int | None) -> Array:
    """float32 scales of weights for int8: one for each index of an axis, or one for all."""
    others = tuple(i for i in range(weights.ndim) if i != axis or axis is None)
    largest = np.abs(weights).max(others).reshape(-1)
    scales: Array = np.maximum(largest, 1e-6) / 127
    return scales.astype(np.float32)
