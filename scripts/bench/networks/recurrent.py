"""Recurrent layers: TFLite's LSTM, and GRUs whose steps are separate layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scripts.bench.networks.drawing import SAMPLES, Activation, rounded
from scripts.bench.networks.plain import PlainDrawing
from tests.support.tflite_builder import TensorSpec

Array = npt.NDArray[Any]
Weights = dict[str, Array]  # by gate
_GATES = ("input", "forget", "cell", "output")
_TANH = 4
_CELL_SCALE = 2.0**-12  # int16 values of a cell's state, within -8 and 8


class Net(PlainDrawing):
    """A network in the making."""

    def lstm(self, data: Activation, cells: int) -> Activation:
        """An LSTM: [steps, cells] of [steps, features]. The layer keeps its state, as TFLite's
        does; its values are those of a first inference."""
        features = data.reals.shape[2]
        size = 1.2 / np.sqrt(features * data.reals.var() + cells * 0.1)
        own = {gate: self._drawn(cells, features) * size for gate in _GATES}
        back = {gate: self._drawn(cells, cells) * size for gate in _GATES}
        bias = {gate: np.full(cells, float(gate == "forget")) for gate in _GATES}
        made = self.activation(f"lstm{len(self.operators)}", _lstm(data.reals, own, back, bias))
        state = self._state(f"{made.name}_state", cells, made)
        cell = self._cell(f"{made.name}_cell", cells)
        inputs: list[Any] = [data.name]
        inputs += [self.weights(each[gate], None) for each in (own, back) for gate in _GATES]
        inputs += [-1] * 3
        inputs += [self.bias(bias[gate], data, own[gate], None) for gate in _GATES]
        inputs += [-1, -1, state, cell, -1, -1, -1, -1]
        self.operator(
            *("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [made], "UnidirectionalSequenceLSTMOptions"),
            {"fusedActivationFunction": _TANH},
            intermediates=self._intermediates(made) if self.kind != "float32" else (),
        )
        return made

    def gru(self, data: Activation, cells: int) -> Activation:
        """A GRU of [steps, features], one step after the other: the last state, [cells]."""
        steps = self.steps(data)
        kept = [self._matrix(cells, steps[0].reals.shape[1]) for _ in range(3)]
        back = [self._matrix(cells, cells) for _ in range(3)]
        state = self._dense(steps[0], kept[2])
        state = self.one("TANH", state)
        for step in steps[1:]:
            update, reset = (
                self.one(
                    "LOGISTIC",
                    self.two("ADD", self._dense(step, kept[i]), self._dense(state, back[i])),
                )
                for i in range(2)
            )
            before = self.two("MUL", reset, self._dense(state, back[2]))
            new = self.one("TANH", self.two("ADD", self._dense(step, kept[2]), before))
            change = self.two("MUL", update, self.two("SUB", state, new))
            state = self.two("ADD", new, change)
        return state

    def _matrix(self, cells: int, features: int) -> Array:
        return self._drawn(cells, features) * rounded(1.5 / np.sqrt(features))

    def _dense(self, data: Activation, weights: Array) -> Activation:
        """A dense layer with these weights, which other layers have, too."""
        bias = np.zeros(len(weights))
        constants = self.weights(weights, None), self.bias(bias, data, weights, None)
        reals = data.reals @ weights.T
        return self.add("FULLY_CONNECTED", [data, *constants], reals, "FullyConnectedOptions")

    def _state(self, name: str, cells: int, like: Activation) -> str:
        """A variable with the quantization of another tensor."""
        made = self.activation(name, np.zeros((SAMPLES, cells)))
        made.is_variable = True
        self.tie([like, made])
        return made.name

    def _cell(self, name: str, cells: int) -> str:
        kind = "float32" if self.kind == "float32" else "int16"
        made = self.activation(name, np.zeros((SAMPLES, cells)), (_CELL_SCALE, 0), kind)
        made.is_variable = True
        return made.name

    def _intermediates(self, made: Activation) -> tuple[str, ...]:
        """The tensors that only carry quantizations: of the gates, which TFLite ignores, and of
        the hidden state."""

        def gate(name: str) -> TensorSpec:
            return TensorSpec(name, (0,), "float32")

        def hidden(name: str) -> TensorSpec:
            scale, zero = self.quantization(made)
            return TensorSpec(name, (0,), self.kind, None, (scale,), (zero,))

        return (*(self.constant(gate) for _ in _GATES), self.constant(hidden))


def _lstm(data: Array, own: Weights, back: Weights, bias: Weights) -> Array:
    """The states [samples, steps, cells] of all steps."""
    samples, steps, _ = data.shape
    state = cell = np.zeros((samples, len(bias["input"])))
    every = []
    for step in range(steps):
        sums = {g: data[:, step] @ own[g].T + state @ back[g].T + bias[g] for g in _GATES}
        ways = {g: 1 / (1 + np.exp(-sums[g])) for g in _GATES}
        cell = ways["forget"] * cell + ways["input"] * np.tanh(sums["cell"])
        state = ways["output"] * np.tanh(cell)
        every.append(state)
    return np.stack(every, 1)
