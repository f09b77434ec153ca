"""A random network in the making: its tensors, its operators, and the tensors' values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.differential import stock
from tests.differential.stock import Array
from tests.support.tflite_builder import (
    OperatorSpec,
    OptionValue,
    SubgraphSpec,
    TensorSpec,
    build_model,
    packed,
)

MAX_INPUTS = 4
QUANTIZED = ("int8", "uint8", "int16")
Shape = tuple[int, ...]


class UnfitError(Exception):
    """A maker finds no input that fits, or its layer is useless for a comparison."""


@dataclass(frozen=True)
class Composite(OperatorSpec):
    """A layer of several operators, ``parts``, with tensors of their own between them. ``initial``
    are the values with which its variables begin, by name; ``<name>/handle`` is a handle."""

    parts: Sequence[OperatorSpec] = ()
    inner: Sequence[TensorSpec] = ()
    initial: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Decomposed(OperatorSpec):
    """A STABLEHLO_COMPOSITE with its decomposition."""

    part: SubgraphSpec | None = None


@dataclass
class Network:
    """A network, except for the choice of its outputs.

    ``kinds`` are the operators' rows in ``makers``, each an operator and a dtype. ``values`` has
    one array per sample for each input and computed tensor. ``shaken`` has the arrays that other
    correct implementations might compute, for floats that are not bit exact.
    """

    rng: np.random.Generator
    tensors: dict[str, TensorSpec] = field(default_factory=dict)
    operators: list[OperatorSpec] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    kinds: list[tuple[str, str]] = field(default_factory=list)
    values: dict[str, list[Array]] = field(default_factory=dict)
    shaken: dict[str, list[list[Array]]] = field(default_factory=dict)

    @property
    def computed(self) -> list[str]:
        """The outputs of all layers, in order."""
        return [str(name) for op in self.operators for name in op.outputs]

    def copy(self) -> Network:
        """A copy that grows independently, except that both draw from the same generator."""
        return Network(
            self.rng,
            dict(self.tensors),
            list(self.operators),
            list(self.inputs),
            list(self.kinds),
            dict(self.values),
            dict(self.shaken),
        )

    # Parts

    def model(self, outputs: Sequence[str]) -> bytes:
        """The bytes of the .tflite file."""
        layers = [op for op in self.operators if isinstance(op, Composite)]
        inner = [spec for op in layers for spec in op.inner]
        initial = {name: values for op in layers for name, values in op.initial.items()}
        once = [OperatorSpec("CALL_ONCE", [], [], "CallOnceOptions", {"initSubgraphIndex": 1})]
        operators, more = [handle(name) for name in initial], [_init(initial)] if initial else []
        for op in self.operators:
            if isinstance(op, Decomposed) and op.part is not None:
                more.append(op.part)
                op = replace(op, options={**op.options, "decompositionSubgraphIndex": len(more)})
            operators += op.parts if isinstance(op, Composite) else [op]
        return build_model(
            [*self.tensors.values(), *inner],
            [*(once if initial else []), *operators],
            self.inputs,
            outputs,
            more=more,
        )

    def fed(self, op: OperatorSpec) -> list[str]:
        """The tensors that an operator reads, each once, without constants and variables."""
        names = dict.fromkeys(str(ref) for ref in op.inputs if ref != -1)
        specs = [self.tensors[name] for name in names]
        return [spec.name for spec in specs if spec.data is None and not spec.is_variable]

    def alone(self, op: OperatorSpec) -> Network:
        """A network of one operator, whose inputs are fed."""
        return self._part([op], self.fed(op) or self.inputs[:1])

    def pruned(self, output: str) -> Network:
        """The part of the network on which ``output`` depends, with all inputs."""
        wanted, kept = {output}, []
        for op in reversed(self.operators):
            if wanted & set(op.outputs):
                wanted |= {str(ref) for ref in op.inputs if ref != -1}
                kept.append(op)
        return self._part(kept[::-1], self.inputs)

    def without(self, left_out: Callable[[Network, OperatorSpec], bool]) -> Network:
        """The network without some operators, whose outputs are fed instead."""
        kept = [op for op in self.operators if not left_out(self, op)]
        fed = [str(n) for op in self.operators if left_out(self, op) for n in op.outputs]
        return self._part(kept, [*self.inputs, *fed])

    def _part(self, operators: list[OperatorSpec], inputs: list[str]) -> Network:
        used = {
            str(ref)
            for op in operators
            for ref in (*op.inputs, *op.outputs, *op.intermediates)
            if ref != -1
        }
        kept = {name: spec for name, spec in self.tensors.items() if name in {*used, *inputs}}
        return Network(self.rng, kept, operators, inputs, [], self.values, self.shaken)

    # Tensors

    def new_input(
        self,
        dtype: str,
        shape: Shape,
        *,
        low: int | None = None,
        high: int | None = None,
        quantization: stock.Quantization | None = None,
    ) -> str:
        """A new input of the network.

        ``low`` and ``high`` are the least and the greatest value; for quantized inputs they are
        stored values.
        """
        if len(self.inputs) == MAX_INPUTS:
            raise UnfitError("enough inputs")
        if quantization is None and dtype in QUANTIZED:
            quantization = stock.quantization(self.rng, dtype)
        name = self._new("t", shape, dtype, quantization)
        self.inputs.append(name)
        self.values[name] = stock.samples(self.rng, dtype, shape, low, high)
        return name

    def output(
        self,
        dtype: str,
        shape: Shape,
        like: str = "",
        quantization: stock.Quantization | None = None,
    ) -> str:
        """A new tensor to be computed, with the given quantization, that of ``like``, or a random
        one."""
        if like and self.tensors[like].scale:
            spec = self.tensors[like]
            quantization = (spec.scale[0], spec.zero_point[0])
        elif quantization is None and dtype in QUANTIZED:
            quantization = stock.quantization(self.rng, dtype)
        return self._new("t", shape, dtype, quantization)

    def constant(self, array: Array, quantization: stock.Quantization | None = None) -> str:
        """A new constant."""
        return self._new("c", array.shape, array.dtype.name, quantization, array)

    def constant_like(self, name: str, shape: Shape, array: Array | None = None) -> str:
        """A constant with the dtype and quantization of another tensor."""
        spec = self.tensors[name]
        values = stock.sample(self.rng, spec.dtype, shape) if array is None else array
        return self.constant(values, self.quantization(name))

    def _new(
        self,
        prefix: str,
        shape: Shape,
        dtype: str,
        quantization: stock.Quantization | None,
        data: Array | None = None,
    ) -> str:
        name = f"{prefix}{len(self.tensors)}"
        spec = TensorSpec(name, tuple(map(int, shape)), dtype, data)
        if quantization is not None:
            scale, zero_point = quantization
            spec = replace(spec, scale=(float(np.float32(scale)),), zero_point=(int(zero_point),))
        self.tensors[name] = spec
        return name

    def weight(
        self,
        shape: Shape,
        axis: int,
        data: str,
        kind: str,
        *,
        wide: bool = False,
        each: bool = False,
    ) -> list[str]:
        """Weights and a bias: float32, int8 weights per tensor or per channel, or uint8 weights
        with any zero point.

        ``kind`` is a dtype of the makers. With ``each`` int8 weights are per channel; with ``wide``
        biases are int64.
        """
        channels = shape[axis]
        floats = [self.constant(a) for a in stock.float_weights(self.rng, shape, channels)]
        if kind == "float32":
            return floats
        count = 1 if kind == "uint8" else channels if each or self.rng.random() < 0.7 else 1
        scales = (2.0 ** self.rng.uniform(-10, -2, count)).astype(np.float32)
        values = self.rng.integers(-127, 128, shape).astype(np.int8)
        if kind == "uint8":
            zero = int(self.rng.choice([0, 128, 255, int(self.rng.integers(256))]))
            values = self.rng.integers(0, 256, shape).astype(np.uint8)
            weight = self.constant(values, (float(scales[0]), zero))
        else:
            weight = self._per_channel(values, scales, axis)
        if kind == "hybrid":
            return [weight, floats[1]]
        sums = scales * np.float32((*self.tensors[data].scale, 1.0)[0])
        biases = self.rng.integers(-5000, 5000, channels)
        return [weight, self._per_channel(biases.astype(np.int64 if wide else np.int32), sums, 0)]

    def _per_channel(self, array: Array, scales: Array, axis: int) -> str:
        name = self.constant(array)
        self.tensors[name] = replace(
            self.tensors[name],
            scale=tuple(map(float, scales.astype(np.float32))),
            zero_point=(0,) * len(scales),
            axis=axis,
        )
        return name

    def sometimes_packed(self, weight: str) -> None:
        """Makes int8 weights int4 now and then: two to a byte, with values of four bits."""
        spec = self.tensors[weight]
        if isinstance(spec.data, np.ndarray) and spec.dtype == "int8" and self.rng.random() < 0.3:
            self.tensors[weight] = replace(spec, dtype="int4", data=packed(spec.data))

    # Choices

    def shape(self, name: str) -> Shape:
        return self.tensors[name].shape

    def dtype(self, name: str) -> str:
        return self.tensors[name].dtype

    def quantization(self, name: str) -> stock.Quantization | None:
        spec = self.tensors[name]
        return (spec.scale[0], spec.zero_point[0]) if spec.scale else None

    def zero(self, name: str) -> int:
        """The stored value of 0."""
        return (*self.tensors[name].zero_point, 0)[0]

    def least(self, name: str) -> float:
        """The least stored value of all samples."""
        return float(min(np.min(value) for value in self.values[name]))

    def greatest(self, name: str) -> float:
        """The greatest stored value of all samples."""
        return float(max(np.max(value) for value in self.values[name]))

    def pick(
        self,
        dtype: str,
        rank: int | None = None,
        fits: Callable[[str], bool] = lambda _: True,
        *,
        shape: Shape | None = None,
        low: int | None = None,
        high: int | None = None,
        quantization: stock.Quantization | None = None,
    ) -> str:
        """An activation that a layer may read.

        It is a new input if none fits, and sometimes otherwise. Raises UnfitError if there may be
        no more inputs.
        """
        names = [*self.inputs, *self.computed, *self.computed[-2:]]
        fitting = [
            name
            for name in names
            if self._is(name, dtype, bool(quantization), rank, shape) and fits(name)
        ]
        if fitting and (self.rng.random() < 0.9 or len(self.inputs) == MAX_INPUTS):
            return fitting[int(self.rng.integers(len(fitting)))]
        chosen = stock.shape(self.rng, rank) if shape is None else shape
        return self.new_input(dtype, chosen, low=low, high=high, quantization=quantization)

    def graft(self, tensors: Sequence[TensorSpec], op: OperatorSpec, data: str) -> None:
        """Appends a finished operator with its tensors. ``data`` replaces its tensor ``x``."""
        number = len(self.tensors)
        names = {spec.name: f"s{number}_{spec.name}" for spec in tensors} | {"x": data}

        def renamed(refs: Sequence[str | int]) -> list[str | int]:
            return [names[ref] if isinstance(ref, str) else ref for ref in refs]

        for spec in tensors:
            if spec.name != "x":
                self.tensors[names[spec.name]] = replace(spec, name=names[spec.name])
        ends = (op.inputs, op.outputs, op.intermediates)
        inputs, outputs, inner = map(renamed, ends)
        self.operators.append(replace(op, inputs=inputs, outputs=outputs, intermediates=inner))

    def _is(
        self, name: str, dtype: str, is_scaled: bool, rank: int | None, shape: Shape | None
    ) -> bool:
        spec = self.tensors[name]
        return (
            spec.dtype == dtype
            and bool(spec.scale) == (is_scaled or dtype in QUANTIZED)
            and rank in (None, len(spec.shape))
            and shape in (None, spec.shape)
        )

    def fused(self, dtype: str = "int8") -> int:
        """A random fused activation. Integers without a scale have none."""
        return 0 if dtype in ("int32", "int64") else int(self.rng.choice(stock.ACTIVATIONS))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def add(
        self,
        code: str,
        inputs: Sequence[str | int],
        outputs: str | list[str],
        options_type: str = "",
        options: Mapping[str, OptionValue] | None = None,
    ) -> None:
        """Appends an operator."""
        made = [outputs] if isinstance(outputs, str) else outputs
        version = stock.VERSIONS.get(code, 1)
        self.operators.append(
            OperatorSpec(code, list(inputs), made, options_type, options or {}, version)
        )


def handle(name: str) -> OperatorSpec:
    """The operator that makes the handle of a variable."""
    options = {"container": "", "sharedName": name}
    return OperatorSpec("VAR_HANDLE", [], [f"{name}/handle"], "VarHandleOptions", options)


def _init(initial: Mapping[str, Array]) -> SubgraphSpec:
    """The subgraph that gives variables their first values."""
    tensors, operators = list[TensorSpec](), list[OperatorSpec]()
    for name, values in initial.items():
        tensors.append(TensorSpec(f"{name}/handle", (), "resource"))
        tensors.append(TensorSpec(name, values.shape, values.dtype.name, values))
        ends = [f"{name}/handle", name]
        assign = OperatorSpec("ASSIGN_VARIABLE", ends, [], "AssignVariableOptions")
        operators += [handle(name), assign]
    return SubgraphSpec(tensors, operators)
