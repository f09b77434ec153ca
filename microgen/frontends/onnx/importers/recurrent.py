"""RNN, GRU and LSTM: a node for each direction, whose results are joined."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.composing import binary
from microgen.frontends.onnx.move_nodes import joined, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs
from microgen.graph.ops.recurrent.recurrent_steps import FUNCTIONS, GATES, ActivationFormula

# ONNX's names in lower case, as ONNX Runtime reads them -> our name, and the defaults of alpha and
# beta, where None means that there is no default.
_ACTIVATIONS: dict[str, tuple[str, tuple[float | None, ...]]] = {
    "relu": ("relu", ()),
    "tanh": ("tanh", ()),
    "sigmoid": ("sigmoid", ()),
    "affine": ("affine", (None, None)),
    "leakyrelu": ("leaky_relu", (0.01,)),
    "thresholdedrelu": ("thresholded_relu", (1.0,)),
    "scaledtanh": ("scaled_tanh", (None, None)),
    "hardsigmoid": ("hard_sigmoid", (0.2, 0.5)),
    "elu": ("elu", (1.0,)),
    "softsign": ("softsign", ()),
    "softplus": ("softplus", ()),
}
_USUAL = {"rnn": ("tanh",), "gru": ("sigmoid", "tanh"), "lstm": ("sigmoid", "tanh", "tanh")}
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


@dataclass(frozen=True, slots=True)
class _Layer:
    """A node's sizes and operands in layout 0."""

    node: OnnxNode
    kind: str
    reverses: tuple[bool, ...]  # of each direction
    data: BuiltTensor  # [steps, batches, features]
    cells: int
    lengths: BuiltTensor  # int32 [batches]

    @property
    def steps(self) -> int:
        return self.data.shape[0]

    @property
    def batches(self) -> int:
        return self.data.shape[1]

    def operand(self, position: int, shape: tuple[int, ...]) -> BuiltTensor | None:
        """An optional float32 operand. ModelError if it has another shape."""
        tensor = self.node.optional(position, DType.FLOAT32)
        if tensor is not None and tensor.shape != shape:
            raise self.node.invalid(
                f"has the input {position} {tensor.type}; {list(shape)} is expected"
            )
        return tensor

    def state(self, position: int) -> BuiltTensor | None:
        """The states before the first step in layout 0."""
        directions = len(self.reverses)
        if not _is_batch_first(self.node):
            return self.operand(position, (directions, self.batches, self.cells))
        states = self.operand(position, (self.batches, directions, self.cells))
        return states and transposed(self.node, states, (1, 0, 2))

    def of_direction(self, tensor: BuiltTensor, direction: int, *shape: int) -> BuiltTensor:
        """A direction's part of an operand, under another shape."""
        part = move_nodes.cut(self.node, tensor, 0, direction, 1)
        return self.node.reshaped(part, shape)


def _importer(kind: str) -> Callable[[OnnxNode], tuple[BuiltTensor, ...]]:
    def importer(node: OnnxNode) -> tuple[BuiltTensor, ...]:
        layer = _read(node, kind)
        wants = [bool(name) for name in (*node.outputs, "", "", "")[:3]]
        functions, size = _functions(node, kind, len(layer.reverses)), FUNCTIONS[kind]
        made = [
            _direction(layer, k, functions[k * size : (k + 1) * size], keeps=wants[0])
            for k in range(len(layer.reverses))
        ]
        return tuple(_results(layer, made, wants))

    return importer


def _read(node: OnnxNode, kind: str) -> _Layer:
    data, recurrent = node.tensor(0, DType.FLOAT32), node.tensor(2)
    if len(data.shape) != 3 or len(recurrent.shape) != 3:
        raise node.invalid(f"has the inputs {data.type} and {recurrent.type}; 3 axes are expected")
    direction = str(node.attr("direction", "forward"))
    if direction not in _DIRECTIONS:
        raise node.invalid(f"has the direction {direction!r}; {', '.join(_DIRECTIONS)} exist")
    data = transposed(node, data, (1, 0, 2)) if _is_batch_first(node) else data
    cells = int(node.attr("hidden_size", recurrent.shape[2]))
    if any(node.tensor(i).stored is not None for i in (1, 2)):
        node.note(
            "its weights of a few bits are float32 in flash: no kernel reads them as integers"
        )
    return _Layer(node, kind, _DIRECTIONS[direction], data, cells, _lengths(node, data))


def _is_batch_first(node: OnnxNode) -> bool:
    return bool(node.attr("layout", 0))


def _lengths(node: OnnxNode, data: BuiltTensor) -> BuiltTensor:
    """The steps of each sequence, by default all."""
    steps, batches, _ = data.shape
    counts = node.optional(4, DType.INT32)
    if counts is None:
        return node.constant(np.full(batches, steps, np.int32), "lengths")
    if counts.shape != (batches,):
        raise node.invalid(f"has the lengths {counts.type} for {batches} sequences")
    if counts.value is not None and not ((counts.value >= 0) & (counts.value <= steps)).all():
        raise node.invalid(f"has sequences of {counts.value.tolist()[:4]} of {steps} steps")
    return counts


def _functions(node: OnnxNode, kind: str, directions: int) -> tuple[ActivationFormula, ...]:
    """The functions of all directions, which take the operator's numeric attributes in their
    order."""
    names = node.attr("activations", _USUAL[kind] * directions)
    alphas, betas = (iter(node.attr(f"activation_{n}", ())) for n in ("alpha", "beta"))
    if len(names) != FUNCTIONS[kind] * directions:
        raise node.invalid(f"has {len(names)} activations for {directions} directions")
    formulas = tuple(_function(node, str(name), alphas, betas) for name in names)
    # Numbers are assigned in the order of the functions that have any.
    if next(alphas, None) is not None or next(betas, None) is not None:
        raise node.invalid("has more alphas or betas than its activations take")
    return formulas


def _function(
    node: OnnxNode, name: str, alphas: Iterator[float], betas: Iterator[float]
) -> ActivationFormula:
    if name.lower() not in _ACTIVATIONS:
        raise node.unsupported(f"has the activation {name!r}", supported=", ".join(_ACTIVATIONS))
    own, defaults = _ACTIVATIONS[name.lower()]
    numbers = [next(each, d) for each, d in zip((alphas, betas), defaults, strict=False)]
    if None in numbers:
        raise node.invalid(f"has no numbers for {name}, which has no default ones")
    return ActivationFormula(own, *(float(np.float32(number)) for number in numbers))


def _direction(
    layer: _Layer, direction: int, functions: tuple[ActivationFormula, ...], *, keeps: bool
) -> BuiltTensor:
    """The states of one direction, as nn.recurrent returns them."""
    node, gates, cells = layer.node, GATES[layer.kind], layer.cells
    after = layer.kind == "gru" and bool(node.attr("linear_before_reset", 0))
    couples = layer.kind == "lstm" and bool(node.attr("input_forget", 0))
    clip, reverse = node.attr("clip", None), layer.reverses[direction]
    # An infinite limit clips nothing.
    limit = math.inf if clip is None else float(np.float32(clip))
    if not limit >= 0:
        raise node.invalid(f"has the clip {clip}; 0 or more is expected")
    attrs = RecurrentAttrs(layer.kind, functions, limit, reverse, keeps, after, couples)
    # A gate is an axis of its own: [gates * cells, n] -> [gates, cells, n].
    weights = [
        layer.of_direction(weight, direction, gates, cells, weight.shape[2])
        for weight in _weights(layer)
    ]
    bias = _bias(layer, direction, after)
    inputs = (layer.data, *weights, bias, layer.lengths, *_states(layer, direction))
    return node.emit("nn.recurrent", attrs, inputs)


def _weights(layer: _Layer) -> Iterator[BuiltTensor]:
    rows = GATES[layer.kind] * layer.cells
    for position, columns in ((1, layer.data.shape[2]), (2, layer.cells)):
        weight = layer.operand(position, (len(layer.reverses), rows, columns))
        yield weight or layer.node.tensor(position)


def _bias(layer: _Layer, direction: int, resets_after: bool) -> BuiltTensor:
    """The sums of the biases of the input and of the state. The third gate of a GRU that
    ``resets_after`` keeps both biases, one after the other.
    """
    node, gates, cells = layer.node, GATES[layer.kind], layer.cells
    biases = layer.operand(3, (len(layer.reverses), 2 * gates * cells))
    if biases is None:
        return node.constant(np.zeros((gates + resets_after, cells), np.float32), "bias")
    rows = layer.of_direction(biases, direction, 2 * gates, cells)
    both = [move_nodes.cut(node, rows, 0, first, gates) for first in (0, gates)]
    if not resets_after:
        return binary(node, "add", *both)
    # The reset gate multiplies the state's bias of the third gate, so that bias cannot be added
    # before.
    added = binary(node, "add", *(move_nodes.cut(node, each, 0, 0, 2) for each in both))
    return joined(node, [added, *(move_nodes.cut(node, each, 0, 2, 1) for each in both)], 0)


def _states(layer: _Layer, direction: int) -> list[BuiltTensor]:
    """The states before the first step and the peepholes, without zeros at the end."""
    batches, cells = layer.batches, layer.cells
    states = []
    for position in (5, 6) if layer.kind == "lstm" else (5,):
        state = layer.state(position)
        if state is None:
            state = layer.node.constant(np.zeros((batches, cells), np.float32), "state")
        else:
            state = layer.of_direction(state, direction, batches, cells)
        states.append(state)
    if layer.kind == "lstm":
        peephole = layer.operand(7, (len(layer.reverses), 3 * cells))
        if peephole is not None:
            return [*states, layer.of_direction(peephole, direction, 3, cells)]
    while states and states[-1].value is not None and not states[-1].value.any():
        states.pop()
    return states


def _results(layer: _Layer, made: list[BuiltTensor], wants: list[bool]) -> Iterator[BuiltTensor]:
    # Y, Y_h and Y_c. Any tensor takes the place of an output that is not wanted.
    kept = layer.steps if wants[0] else 0
    yield _sequence(layer, made) if wants[0] else made[0]
    for place, is_wanted in enumerate(wants[1 : 2 + (layer.kind == "lstm")]):
        yield _last(layer, made, kept + place) if is_wanted else made[0]


def _sequence(layer: _Layer, made: list[BuiltTensor]) -> BuiltTensor:
    node, shape = layer.node, (layer.steps, 1, layer.batches, layer.cells)
    rows = [node.reshaped(move_nodes.cut(node, one, 0, 0, layer.steps), shape) for one in made]
    whole = joined(node, rows, 1)
    return transposed(node, whole, (2, 0, 1, 3)) if _is_batch_first(node) else whole


def _last(layer: _Layer, made: list[BuiltTensor], row: int) -> BuiltTensor:
    node = layer.node
    whole = joined(node, [move_nodes.cut(node, one, 0, row, 1) for one in made], 0)
    return transposed(node, whole, (1, 0, 2)) if _is_batch_first(node) else whole


IMPORTERS = {"RNN": _importer("rnn"), "GRU": _importer("gru"), "LSTM": _importer("lstm")}
