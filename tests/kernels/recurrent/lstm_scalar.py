"""TFLite Micro's integer LSTM, step by step in Python's integers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microgen.graph.ops.tables import tables
from tests.kernels.recurrent.lstm_cases import GATES, Layer

TABLE = [int(entry) for entry in tables.sigmoid()]
Row = list[int]


def _fixed_point(scale: float) -> tuple[int, int]:
    """The scale as a Q31 multiplier and a shift to the left."""
    fraction, shift = math.frexp(scale)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    return (2**30, shift + 1) if multiplier == 2**31 else (multiplier, shift)


def _twice(x: int, scale: float) -> int:
    """int32 sums and products: the high half of the doubled product is rounded, ties upwards, and
    then the shift to the right, ties away from zero."""
    multiplier, shift = _fixed_point(scale)
    high = ((x << max(shift, 0)) * multiplier + 2**30) >> 31
    right = max(-shift, 0)
    rounded = (abs(high) + ((1 << right) >> 1)) >> right
    return rounded if high >= 0 else -rounded


def _once(x: int, scale: float) -> int:
    """int64 sums: a multiplier of 16 bits, one rounding, ties upwards."""
    multiplier, shift = _fixed_point(scale)
    reduced = min((multiplier + 2**15) >> 16, 0x7FFF)
    return (x * reduced + (1 << (14 - shift))) >> (15 - shift)


def _int16(x: int) -> int:
    return max(-(2**15), min(2**15 - 1, x))


def _between_entries(steps: int, bits: int, most: int) -> int:
    index, rest = steps >> bits, steps & ((1 << bits) - 1)
    if index >= 255:
        return most
    return TABLE[index] * ((1 << bits) - rest) + TABLE[index + 1] * rest


def _sigmoid(x: int) -> int:
    """Of Q3.12, as Q0.15."""
    upper = _between_entries(abs(3 * x), 9, 0x7FFF << 10)
    return (upper + 512 if x >= 0 else 2**25 - upper + 511) >> 10


def _tanh(x: int, power: int) -> int:
    """Of a value with the scale 2**power, as Q0.15."""
    shift = power + 12
    steps = 3 * x << shift if shift >= 0 else (3 * x + (1 << (-shift - 1))) >> -shift
    upper = _between_entries(abs(steps), 8, 0xFFFF << 8) - 2**23
    return (upper + 128 if steps >= 0 else -upper + 127) >> 8


class Scalar:
    """A layer with its states."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._scale = {name: float(np.float32(scale)) for name, scale in layer.scale.items()}
        self._zero = {name: layer.zero_point[name] for name in ("x", "y")}
        self._power = round(math.log2(self._scale["cell_state"]))
        self.states = [[self._zero["y"]] * layer.cells for _ in range(layer.batch)]
        self.cells = [[0] * layer.cells for _ in range(layer.batch)]

    def run(self, data: Sequence[Sequence[Row]]) -> list[list[Row]]:
        """The output of one run."""
        batches, steps = range(self._layer.batch), range(self._layer.steps)
        if self._layer.time_major:
            return [[self._step(n, data[t][n]) for n in batches] for t in steps]
        return [[self._step(n, data[n][t]) for t in steps] for n in batches]

    def _step(self, n: int, x: Row) -> Row:
        state, cells = self.states[n], self.cells[n]
        hidden = []
        for i in range(self._layer.cells):
            take, keep, change, show = (self._argument(gate, i, x, state) for gate in GATES)
            kept = _int16(_twice(_sigmoid(keep) * cells[i], 2.0**-15))
            product = _sigmoid(take) * _tanh(change, -12)
            taken = _int16(_twice(product, 2.0**-30 / self._scale["cell_state"]))
            cells[i] = self._clipped(_int16(kept + taken))
            shown = _tanh(cells[i], self._power) * _sigmoid(show)
            hidden.append(self._stored(_twice(shown, 2.0**-30 / self._scale["y"])))
        self.states[n] = hidden
        return hidden

    def _argument(self, gate: str, i: int, x: Row, state: Row) -> int:
        constants = self._layer.constants
        of_input = int(constants[f"bias_{gate}"][i])
        of_input += self._dot(x, "x", constants[f"weight_{gate}"][i].tolist())
        of_state = self._dot(state, "y", constants[f"recurrent_{gate}"][i].tolist())
        scaled = _once if self._layer.is_wide else _twice
        return _int16(
            _int16(scaled(of_input, self._of_sums("x", f"weight_{gate}")))
            + _int16(scaled(of_state, self._of_sums("y", f"recurrent_{gate}")))
        )

    def _of_sums(self, data: str, weight: str) -> float:
        product = np.float32(self._scale[data]) * np.float32(self._scale[weight])
        return float(product) * 2**12

    def _dot(self, values: Row, data: str, weight: Row) -> int:
        return sum((v - self._zero[data]) * w for v, w in zip(values, weight, strict=True))

    def _clipped(self, cell: int) -> int:
        limit = self._layer.cell_clip
        if not limit > 0:
            return cell
        stored = int(min(limit / self._scale["cell_state"], 32767))
        return max(min(stored, cell), -stored)

    def _stored(self, hidden: int) -> int:
        half = 2**15 if self._layer.is_wide else 2**7
        return max(-half, min(half - 1, hidden + self._zero["y"]))
