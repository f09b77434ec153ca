"""A random network in the making: its tensors, weights and operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tflite

from tests.tflite_builder import OperatorSpec, OptionValue, TensorSpec, build_model

_ACTIVATIONS = (
    tflite.ActivationFunctionType.NONE,
    tflite.ActivationFunctionType.RELU,
    tflite.ActivationFunctionType.RELU6,
    tflite.ActivationFunctionType.RELU_N1_TO_1,
)


@dataclass
class Network:
    """A network in the making: everything but which tensors are its outputs."""

    rng: np.random.Generator
    tensors: dict[str, TensorSpec] = field(default_factory=dict)
    operators: list[OperatorSpec] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)

    @property
    def computed(self) -> list[str]:
        """Tensors that layers made, in order."""
        return [str(name) for op in self.operators for name in op.outputs]

    def model(self, outputs: list[str]) -> bytes:
        """The file."""
        return build_model(tuple(self.tensors.values()), self.operators, self.inputs, outputs)

    def pruned(self, output: str) -> Network:
        """Only what ``output`` depends on, and all the inputs."""
        wanted, kept = {output, *self.inputs}, []
        for op in reversed(self.operators):
            if wanted & set(op.outputs):
                wanted |= {str(ref) for ref in op.inputs if ref != -1}
                kept.append(op)
        tensors = {name: spec for name, spec in self.tensors.items() if name in wanted}
        return Network(self.rng, tensors, kept[::-1], self.inputs)

    # Tensors

    def activation(self, shape: tuple[int, ...], like: str = "") -> str:
        """A new int8 tensor, with the quantization of ``like`` or a random one."""
        name = f"t{len(self.tensors)}"
        if like:
            scale, zero_point = self.tensors[like].scale, self.tensors[like].zero_point
        else:
            scale = (float(np.float32(2.0 ** self.rng.uniform(-9, 2))),)
            zero_point = (int(self.rng.choice([-128, 127, 0, self.rng.integers(-128, 128)])),)
        self.tensors[name] = TensorSpec(name, shape, scale=scale, zero_point=zero_point)
        return name

    def constant(self, array: np.ndarray[Any, Any], **quantization: Any) -> str:
        """A new constant."""
        name = f"c{len(self.tensors)}"
        self.tensors[name] = TensorSpec(
            name, array.shape, dtype=array.dtype.name, data=array, **quantization
        )
        return name

    def weight(self, shape: tuple[int, ...], axis: int, data: str) -> tuple[str, str]:
        """Weights, per channel or per tensor, and a bias on the accumulator's scale."""
        channels = shape[axis]
        count = channels if self.rng.random() < 0.7 else 1
        scales = (2.0 ** self.rng.uniform(-10, -2, count)).astype(np.float32)
        weight = self.constant(
            self.rng.integers(-127, 128, shape).astype(np.int8),
            scale=tuple(map(float, scales)),
            zero_point=(0,) * count,
            axis=axis,
        )
        bias_scales = scales * np.float32(self.tensors[data].scale[0])
        bias = self.constant(
            self.rng.integers(-5000, 5000, channels).astype(np.int32),
            scale=tuple(map(float, bias_scales.astype(np.float32))),
            zero_point=(0,) * count,
        )
        return weight, bias

    def pick(self, rank: int | None = None) -> str:
        """An activation that a layer may read; IndexError if there is none of that rank."""
        names = [*self.inputs, *self.computed, *self.computed[-2:]]
        fitting = [n for n in names if rank is None or len(self.tensors[n].shape) == rank]
        return fitting[int(self.rng.integers(len(fitting)))]

    def add(
        self,
        code: str,
        inputs: list[str | int],
        output: str,
        options_type: str = "",
        options: Mapping[str, OptionValue] | None = None,
    ) -> None:
        """Append an operator."""
        self.operators.append(OperatorSpec(code, inputs, [output], options_type, options or {}))

    def fused(self) -> int:
        return int(self.rng.choice(_ACTIVATIONS))
