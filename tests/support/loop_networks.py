"""TFLite networks with loops (WHILE), as today's converters write recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tests.support.tflite_builder import OperatorSpec, SubgraphSpec, TensorSpec, build_model

Shape = tuple[int, ...]


@dataclass
class Part:
    """A subgraph while it is written. Methods add an operator and give its output's name."""

    prefix: str
    integers: str = ""  # of weights: those that are int8, for example "xh"
    tensors: list[TensorSpec] = field(default_factory=list)
    operators: list[OperatorSpec] = field(default_factory=list)

    def tensor(self, name: str, shape: Shape, dtype: str = "float32") -> str:
        """A tensor without data."""
        self.tensors.append(TensorSpec(name, shape, dtype))
        return name

    def constant(self, values: object, dtype: str = "float32") -> str:
        """A new constant."""
        data, name = np.array(values, dtype), f"{self.prefix}k{len(self.tensors)}"
        self.tensors.append(TensorSpec(name, data.shape, dtype, data))
        return name

    def add(
        self, code: str, inputs: Sequence[str | int], *shape: int, dtype: str = "float32"
    ) -> str:
        """An operator without options, or with the defaults of its table."""
        name = self.tensor(f"{self.prefix}{len(self.tensors)}", shape, dtype)
        if code == "SLICE":  # its sizes are computed
            self.tensors[-1] = replace(self.tensors[-1], shape_signature=(-1, *shape[1:]))
        options, values = _OPTIONS.get(code, ("", {}))
        self.operators.append(OperatorSpec(code, inputs, [name], options, values))
        return name

    def dense(self, data: str, weight: np.ndarray, role: str = "x") -> str:
        """FULLY_CONNECTED of one row, without a bias. It is hybrid if ``role`` is one of the
        integers."""
        if role not in self.integers:
            return self.add("FULLY_CONNECTED", [data, self.constant(weight), -1], 1, len(weight))
        scales = np.maximum(np.abs(weight).max(1, keepdims=True) / 127, 1e-6).astype(np.float32)
        stored = np.clip(np.round(weight / scales), -127, 127).astype(np.int8)
        name, count = f"{self.prefix}k{len(self.tensors)}", len(weight)
        quant = (tuple(map(float, scales.ravel())), (0,) * count)
        self.tensors.append(TensorSpec(name, weight.shape, "int8", stored, *quant))
        output = self.tensor(f"{self.prefix}{len(self.tensors)}", (1, count))
        options = ("FullyConnectedOptions", {"asymmetricQuantizeInputs": True})
        self.operators.append(OperatorSpec("FULLY_CONNECTED", [data, name, -1], [output], *options))
        return output

    def split(self, data: str, parts: int, size: int) -> list[str]:
        """SPLIT along the last axis of two."""
        first = len(self.tensors)
        names = [self.tensor(f"{self.prefix}{first}s{i}", (1, size)) for i in range(parts)]
        axis = self.constant(1, "int32")
        options = ("SplitOptions", {"numSplits": parts})
        self.operators.append(OperatorSpec("SPLIT", [axis, data], names, *options))
        return names


_OPTIONS = {
    "ADD": ("AddOptions", {}),
    "CONCATENATION": ("ConcatenationOptions", {"axis": -1}),
    "FULLY_CONNECTED": ("FullyConnectedOptions", {}),
    "GATHER": ("GatherOptions", {}),
    "MUL": ("MulOptions", {}),
    "SUB": ("SubOptions", {}),
}


@dataclass(frozen=True)
class LoopSpec:
    """A recurrent layer as a loop over ``steps`` rows of ``features`` values, with ``cells`` cells.

    ``kind``: see ``BODIES``. ``keeps``: the output has the hidden state of each round, otherwise
    the last one. ``reverse``: the loop counts down. ``joins``: the row and the hidden state are
    joined before one product. ``starts``: the states before the first round are inputs. ``rows``:
    the rows that the data has, by default as many as steps. ``integers``: the weights that are
    int8, of the row ("x"), of the hidden state ("h"), or both ("xh").
    """

    kind: str = "lstm"
    steps: int = 5
    features: int = 3
    cells: int = 4
    keeps: bool = False
    reverse: bool = False
    joins: bool = False
    starts: bool = False
    rows: int = 0
    seed: int = 1
    integers: str = ""


def model(spec: LoopSpec) -> bytes:
    """The file: inputs x [rows, 1, features], and the states with ``starts``; output y."""
    main, rows = Part("m"), spec.rows or spec.steps
    states = ["h", "c"] if spec.kind == "lstm" else ["h"]
    x = main.tensor("x", (rows, 1, spec.features))
    zeros = np.zeros((1, spec.cells))
    given = [
        main.tensor(f"{each}0", (1, spec.cells)) if spec.starts else main.constant(zeros)
        for each in states
    ]
    first = main.constant(spec.steps - 1 if spec.reverse else 0, "int32")
    begin = main.constant(0, "int32")
    width = spec.steps if spec.keeps else 1
    listed = main.constant(np.zeros((width, 1, spec.cells)))
    shapes = [(), (), (width, 1, spec.cells), *[(1, spec.cells)] * len(states)]
    kinds = ["int32", "int32", *["float32"] * (len(states) + 1)]
    outputs = [
        main.tensor(f"w{i}", s, k) for i, (s, k) in enumerate(zip(shapes, kinds, strict=True))
    ]
    outputs.append(main.tensor("wx", (rows, 1, spec.features)))
    loop = OperatorSpec(
        *("WHILE", [begin, first, listed, *given, x], outputs, "WhileOptions"),
        {"condSubgraphIndex": 1, "bodySubgraphIndex": 2},
    )
    main.operators.append(loop)
    inputs = [x, *(given if spec.starts else [])]
    more = [_condition(spec, shapes, kinds), _body(spec, shapes, kinds, states)]
    return build_model(main.tensors, main.operators, inputs, [outputs[2]], more=more)


def unrolled(spec: LoopSpec) -> bytes:
    """The same layer without a loop: a cell for each step. Input x [rows, 1, features], and the
    states with ``starts``; outputs: the states of each step with ``keeps``, otherwise the last."""
    part = Part("m", spec.integers)
    names = ["h", "c"] if spec.kind == "lstm" else ["h"]
    x = part.tensor("x", (spec.steps, 1, spec.features))
    rows = [part.tensor(f"x{i}", (1, spec.features)) for i in range(spec.steps)]
    options = ("UnpackOptions", {"num": spec.steps, "axis": 0})
    part.operators.append(OperatorSpec("UNPACK", [x], rows, *options))
    states = [
        part.tensor(f"{n}0", (1, spec.cells))
        if spec.starts
        else part.constant(np.zeros((1, spec.cells)))
        for n in names
    ]
    inputs, outputs = [x, *(states if spec.starts else [])], list[str]()
    for row in reversed(rows) if spec.reverse else rows:
        states = BODIES[spec.kind](part, spec, row, states)
        outputs.append(states[0])
    outputs = outputs if spec.keeps else outputs[-1:]
    return build_model(part.tensors, part.operators, inputs, outputs)


def _ports(part: Part, spec: LoopSpec, shapes: Sequence[Shape], kinds: Sequence[str]) -> list[str]:
    names = [
        part.tensor(f"{part.prefix}i{i}", shape, kind)
        for i, (shape, kind) in enumerate(zip(shapes, kinds, strict=True))
    ]
    rows = spec.rows or spec.steps
    return [*names, part.tensor(f"{part.prefix}x", (rows, 1, spec.features))]


def _condition(spec: LoopSpec, shapes: Sequence[Shape], kinds: Sequence[str]) -> SubgraphSpec:
    part = Part("c")
    ports = _ports(part, spec, shapes, kinds)
    limit = part.constant(spec.steps, "int32")
    more = part.add("LESS", [ports[0], limit], dtype="bool")
    return SubgraphSpec(part.tensors, part.operators, ports, [more])


def _body(
    spec: LoopSpec, shapes: Sequence[Shape], kinds: Sequence[str], states: Sequence[str]
) -> SubgraphSpec:
    part = Part("b", spec.integers)
    ports = _ports(part, spec, shapes, kinds)
    one = part.constant(-1 if spec.reverse else 1, "int32")
    up = part.constant(1, "int32") if spec.reverse else one
    count, place = (
        part.add("ADD", [p, k], dtype="int32") for p, k in ((ports[0], up), (ports[1], one))
    )
    row = part.add("GATHER", [ports[-1], ports[1]], 1, spec.features)
    after = BODIES[spec.kind](part, spec, row, ports[3:-1])
    item = part.add(
        "RESHAPE", [after[0], part.constant([1, 1, spec.cells], "int32")], 1, 1, spec.cells
    )
    listed = _written(part, spec, ports, count, item) if spec.keeps else item
    assert len(after) == len(states)
    return SubgraphSpec(
        part.tensors, part.operators, ports, [count, place, listed, *after, ports[-1]]
    )


def _written(part: Part, spec: LoopSpec, ports: Sequence[str], count: str, item: str) -> str:
    """TensorListSetItem at the place of the first counter."""
    one = part.constant([1], "int32")
    sizes, begins = (
        part.add(
            "CONCATENATION",
            [part.add("RESHAPE", [at, one], 1, dtype="int32"), rest],
            3,
            dtype="int32",
        )
        for at, rest in (
            (ports[0], part.constant([-1, -1], "int32")),
            (count, part.constant([0, 0], "int32")),
        )
    )
    zeros, ends = part.constant([0, 0, 0], "int32"), part.constant([-1, -1, -1], "int32")
    before = part.add("SLICE", [ports[2], zeros, sizes], 1, 1, spec.cells)
    after = part.add("SLICE", [ports[2], begins, ends], 1, 1, spec.cells)
    name = part.tensor("blist", (spec.steps, 1, spec.cells))
    part.operators.append(
        OperatorSpec(
            "CONCATENATION", [before, item, after], [name], "ConcatenationOptions", {"axis": 0}
        )
    )
    return name


def _weights(spec: LoopSpec, gates: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng, size = np.random.default_rng(spec.seed), gates * spec.cells
    shapes = ((size, spec.features), (size, spec.cells), (size,))
    wx, wh, bias = (rng.normal(scale=0.6, size=shape).astype(np.float32) for shape in shapes)
    return wx, wh, bias


def _sums(part: Part, spec: LoopSpec, row: str, state: str, gates: int) -> str:
    wx, wh, bias = _weights(spec, gates)
    size = gates * spec.cells
    if spec.joins:
        both = part.add("CONCATENATION", [row, state], 1, spec.features + spec.cells)
        total = part.dense(both, np.concatenate([wx, wh], axis=1))
    else:
        total = part.add("ADD", [part.dense(row, wx), part.dense(state, wh, "h")], 1, size)
    return part.add("ADD", [total, part.constant(bias)], 1, size)


def _lstm(part: Part, spec: LoopSpec, row: str, states: Sequence[str]) -> list[str]:
    n, (state, cell) = spec.cells, states
    sums = part.split(_sums(part, spec, row, state, 4), 4, n)
    take, keep, out = (part.add("LOGISTIC", [sums[i]], 1, n) for i in (0, 1, 3))
    change = part.add("TANH", [sums[2]], 1, n)
    left, right = part.add("MUL", [keep, cell], 1, n), part.add("MUL", [take, change], 1, n)
    after = part.add("ADD", [left, right], 1, n)
    return [part.add("MUL", [out, part.add("TANH", [after], 1, n)], 1, n), after]


def _rnn(part: Part, spec: LoopSpec, row: str, states: Sequence[str]) -> list[str]:
    return [part.add("TANH", [_sums(part, spec, row, states[0], 1)], 1, spec.cells)]


def _relu_rnn(part: Part, spec: LoopSpec, row: str, states: Sequence[str]) -> list[str]:
    return [part.add("RELU", [_sums(part, spec, row, states[0], 1)], 1, spec.cells)]


def _gru(
    part: Part, spec: LoopSpec, row: str, states: Sequence[str], *, pulls: bool = False
) -> list[str]:
    """Keras's GRU with reset_after: the reset gate applies to the product of the state. ``pulls``:
    the new state is n + z * (h - n)."""
    n, (state,) = spec.cells, states
    wx, wh, bias = _weights(spec, 3)
    inner = part.add("ADD", [part.dense(row, wx), part.constant(bias)], 1, 3 * n)
    outer = part.add("ADD", [part.dense(state, wh, "h"), part.constant(-bias / 2)], 1, 3 * n)
    ours, theirs = part.split(inner, 3, n), part.split(outer, 3, n)
    update, reset = (
        part.add("LOGISTIC", [part.add("ADD", [ours[i], theirs[i]], 1, n)], 1, n) for i in (0, 1)
    )
    old = part.add("MUL", [reset, theirs[2]], 1, n)
    change = part.add("TANH", [part.add("ADD", [ours[2], old], 1, n)], 1, n)
    if pulls:
        distance = part.add("SUB", [state, change], 1, n)
        return [part.add("ADD", [change, part.add("MUL", [update, distance], 1, n)], 1, n)]
    return [_mixed(part, n, update, state, change)]


def _mixed(part: Part, n: int, update: str, state: str, change: str) -> str:
    rest = part.add("SUB", [part.constant(1.0), update], 1, n)
    kept, new = part.add("MUL", [update, state], 1, n), part.add("MUL", [rest, change], 1, n)
    return part.add("ADD", [kept, new], 1, n)


def _pulling_gru(part: Part, spec: LoopSpec, row: str, states: Sequence[str]) -> list[str]:
    return _gru(part, spec, row, states, pulls=True)


def _early_gru(part: Part, spec: LoopSpec, row: str, states: Sequence[str]) -> list[str]:
    """The reset gate applies to the state."""
    n, (state,) = spec.cells, states
    wx, wh, bias = _weights(spec, 3)
    ours = part.split(part.add("ADD", [part.dense(row, wx), part.constant(bias)], 1, 3 * n), 3, n)
    theirs = part.split(part.dense(state, wh[: 2 * n], "h"), 2, n)
    update, reset = (
        part.add("LOGISTIC", [part.add("ADD", [ours[i], theirs[i]], 1, n)], 1, n) for i in (0, 1)
    )
    old = part.dense(part.add("MUL", [reset, state], 1, n), wh[2 * n :], "h")
    change = part.add("TANH", [part.add("ADD", [ours[2], old], 1, n)], 1, n)
    return [_mixed(part, n, update, state, change)]


BODIES = {
    "lstm": _lstm,
    "rnn": _rnn,
    "relu_rnn": _relu_rnn,
    "gru": _gru,
    "pulling_gru": _pulling_gru,
    "early_gru": _early_gru,
}
