"""Small models for the TFLite frontend's tests, and a writer that can spoil any table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, UnsupportedError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.graph import Graph
from tests.support.tflite_builder import OperatorSpec, Ref, TensorSpec, _Writer

LONGEST_REFUSAL = 300  # characters: one glance


@dataclass(frozen=True)
class Network:
    """What ``build_model`` takes, as a value from which variations are made."""

    tensors: tuple[TensorSpec, ...]
    operators: tuple[OperatorSpec, ...]
    inputs: tuple[Ref, ...] = ("x",)
    outputs: tuple[Ref, ...] = ("y",)
    signatures: tuple[str, ...] = ()

    def with_tensor(self, name: str, **changes: Any) -> Network:
        """The network with one tensor's fields changed."""
        tensors = tuple(
            dataclasses.replace(t, **changes) if t.name == name else t for t in self.tensors
        )
        return dataclasses.replace(self, tensors=tensors)

    def with_operator(self, **changes: Any) -> Network:
        """The network with its last operator's fields changed."""
        *before, last = self.operators
        return dataclasses.replace(self, operators=(*before, dataclasses.replace(last, **changes)))

    def with_options(self, **options: Any) -> Network:
        """The network with some of its last operator's options changed."""
        return self.with_operator(options={**self.operators[-1].options, **options})

    def replace(self, **changes: Any) -> Network:
        """The network with other fields changed."""
        return dataclasses.replace(self, **changes)

    def to_bytes(self, tweaks: Mapping[str, Mapping[str, Any]] | None = None) -> bytes:
        """The file. ``tweaks``: table name -> fields to set in every such table.

        A value is a number, a Repeat, or the name of the empty table to put there.
        """
        writer = _TweakedWriter(self.tensors, tweaks or {})
        return writer.model(self.operators, self.inputs, self.outputs, "", self.signatures)

    def load(self, profile: str = "litert", **tweaks: Mapping[str, Any]) -> Graph:
        """The graph, as the frontend reads it back."""
        chosen = numerics.profile(profile)
        return frontend.load(self.to_bytes(tweaks), file="m.tflite", numerics=chosen)


@dataclass(frozen=True)
class Repeat:
    """A tweak: the field's vector of tables, so many times over (the tables are shared)."""

    times: int


class _TweakedWriter(_Writer):
    def __init__(
        self, tensors: Sequence[TensorSpec], tweaks: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._tweaks = tweaks
        self._elements: dict[int, Sequence[int]] = {}
        super().__init__(tensors)

    def _table(self, name: str, fields: Mapping[str, Any]) -> int:
        tweaked = {
            field: self._tweaked(value, fields.get(field))
            for field, value in self._tweaks.get(name, {}).items()
        }
        return super()._table(name, {**fields, **tweaked})

    def _tweaked(self, tweak: Any, value: Any) -> Any:
        if isinstance(tweak, Repeat):
            return super()._vector([*self._elements[value]] * tweak.times)
        return super()._table(tweak, {}) if isinstance(tweak, str) else tweak

    def _vector(self, offsets: Sequence[int]) -> int:
        vector = super()._vector(offsets)
        self._elements[vector] = offsets
        return vector


def activation(name: str, *shape: int, scale: float = 0.5, zero_point: int = 3) -> TensorSpec:
    """An int8 tensor that is computed, or fed."""
    return TensorSpec(name, shape, scale=(scale,), zero_point=(zero_point,))


def int8_constant(name: str, *shape: int, scale: Sequence[float], axis: int = 0) -> TensorSpec:
    """Symmetric weights: 0, 1, 2, ..."""
    data = (np.arange(np.prod(shape)) % 100).reshape(shape)
    zeros = (0,) * len(scale)
    return TensorSpec(name, shape, "int8", data, tuple(scale), zeros, axis)


def integers(name: str, values: Any, dtype: str = "int32") -> TensorSpec:
    """An unquantized integer constant: a bias, a shape, paddings."""
    data = np.array(values)
    return TensorSpec(name, data.shape, dtype, data)


def conv2d(**options: Any) -> Network:
    """CONV_2D of int8[1,4,4,2] with 3 filters of 3x3, VALID, to int8[1,2,2,3]."""
    defaults = {"padding": 1, "strideH": 1, "strideW": 1}
    return Network(
        (
            activation("x", 1, 4, 4, 2),
            int8_constant("w", 3, 3, 3, 2, scale=(0.25, 0.5, 0.125)),
            integers("b", [1, -2, 3]),
            activation("y", 1, 2, 2, 3),
        ),
        (
            OperatorSpec(
                "CONV_2D", ("x", "w", "b"), ("y",), "Conv2DOptions", {**defaults, **options}
            ),
        ),
    )


def depthwise(**options: Any) -> Network:
    """DEPTHWISE_CONV_2D of int8[1,4,4,2], depth multiplier 2, SAME, to int8[1,4,4,4]."""
    defaults = {"padding": 0, "strideH": 1, "strideW": 1, "depthMultiplier": 2}
    return Network(
        (
            activation("x", 1, 4, 4, 2),
            int8_constant("w", 1, 3, 3, 4, scale=(0.25, 0.5, 0.125, 1.0), axis=3),
            activation("y", 1, 4, 4, 4),
        ),
        (
            OperatorSpec(
                "DEPTHWISE_CONV_2D",
                ("x", "w"),
                ("y",),
                "DepthwiseConv2DOptions",
                {**defaults, **options},
            ),
        ),
    )


def dense(*shape: int, output: tuple[int, ...] = (2, 3), **options: Any) -> Network:
    """FULLY_CONNECTED of ``shape`` with int8[3,4] weights."""
    return Network(
        (
            activation("x", *shape),
            int8_constant("w", 3, 4, scale=(0.25,)),
            activation("y", *output),
        ),
        (
            OperatorSpec(
                "FULLY_CONNECTED", ("x", "w", -1), ("y",), "FullyConnectedOptions", options
            ),
        ),
    )


def simple(
    code: str,
    shape: tuple[int, ...],
    output: tuple[int, ...],
    *constants: TensorSpec,
    options_type: str = "",
    **options: Any,
) -> Network:
    """One operator from ``x`` of ``shape`` and some constants to ``y`` of shape ``output``."""
    names = ("x", *(constant.name for constant in constants))
    return Network(
        (activation("x", *shape), *constants, activation("y", *output)),
        (OperatorSpec(code, names, ("y",), options_type, options),),
    )


def chain(*codes: str) -> Network:
    """Operators of one input and no options, one after another: ``x``, ``t0``, ``t1``, ..."""
    names = ["x", *(f"t{i}" for i in range(len(codes)))]
    operators = tuple(
        OperatorSpec(code, (names[i],), (names[i + 1],)) for i, code in enumerate(codes)
    )
    return Network(tuple(activation(n, 1, 4) for n in names), operators, ("x",), (names[-1],))


def refused(network: Network, kind: type[MicrogenError], **tweaks: Any) -> MicrogenError:
    """The error for a network that is refused: of exactly that class, short enough to be read, and
    with what to do where the network is sound."""
    with pytest.raises(kind) as caught:
        network.load(**tweaks)
    error = caught.value
    assert type(error) is kind
    assert len(str(error)) <= LONGEST_REFUSAL, str(error)
    assert error.hint or kind is not UnsupportedError, str(error)
    return error


def refusal(network: Network, kind: type[MicrogenError], **tweaks: Any) -> str:
    """What is said when the network is refused."""
    return str(refused(network, kind, **tweaks))
