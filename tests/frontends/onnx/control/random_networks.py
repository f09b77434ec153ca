"""Random ONNX networks of loops, scans and branches in each other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper
from onnx import numpy_helper as stored

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
_MOST_NODES = 70
_OPSETS = (17, 19, 21)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor's name, kind and shape."""

    name: str
    kind: int
    shape: tuple[int, ...]


@dataclass(slots=True)
class _Scope:
    """The nodes and constants of a graph, and the tensors that it may read: its own and those of
    the graphs around it."""

    known: list[Tensor]
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def graph(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> GraphProto:
        ports = [
            [helper.make_tensor_value_info(t.name, t.kind, t.shape) for t in side]
            for side in (inputs, outputs)
        ]
        return helper.make_graph(self.nodes, "body", *ports, self.constants)


class RandomNetwork:
    """A network of a seed; ``inputs`` are those of ``model``."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._values = np.random.default_rng(seed)
        self._names = self._made = 0
        scope = _Scope([])
        shapes = [(3,), (2, 3), (1, 4), (4, 3)], [(), (3,), (2, 3)]
        self.inputs = [
            Tensor("x", FLOAT, self._rng.choice(shapes[0])),
            Tensor("z", FLOAT, self._rng.choice(shapes[1])),
            Tensor("n", INT64, ()),
            Tensor("b", BOOL, ()),
        ]
        scope.known += self.inputs
        for _ in range(self._rng.randint(1, 3)):
            self._fill(scope, 0, self._rng.randrange(3))
            self._control(scope, self._rng.choice((0, 1, 1, 2)))
        made = scope.known[len(self.inputs) :]
        chosen = [*self._rng.sample(made, min(len(made), 3)), made[-1]]
        graph = scope.graph(self.inputs, list(dict.fromkeys(chosen)))
        opset = helper.make_opsetid("", self._rng.choice(_OPSETS))
        self.model: ModelProto = helper.make_model(graph, opset_imports=[opset], ir_version=9)

    def sample(self) -> dict[str, np.ndarray]:
        """Random inputs."""
        kinds = {FLOAT: np.float32, INT64: np.int64, BOOL: np.bool_}
        values = self._values
        return {
            t.name: np.asarray(
                values.normal(size=t.shape) if t.kind == FLOAT else values.integers(7, size=t.shape)
            ).astype(kinds[t.kind])
            for t in self.inputs
        }

    # Nodes and tensors.

    def _name(self) -> str:
        self._names += 1
        return f"t{self._names}"

    def _constant(self, scope: _Scope, value: object) -> str:
        name = self._name()
        scope.constants.append(stored.from_array(np.asarray(value), name))
        return name

    def _op(
        self, scope: _Scope, kind: str, *inputs: str, count: int = 1, **attributes: object
    ) -> list[str]:
        names = [self._name() for _ in range(count)]
        scope.nodes.append(helper.make_node(kind, inputs, names, name=self._name(), **attributes))
        self._made += 1
        return names

    def _add(self, scope: _Scope, name: str, kind: int, shape: Sequence[int]) -> None:
        scope.known.append(Tensor(name, kind, tuple(shape)))

    def _any(self, scope: _Scope, kind: int) -> Tensor:
        """A known tensor, rather a late one, or a constant."""
        known = [t for t in scope.known if t.kind == kind]
        if known:
            return self._rng.choice(known[-6:] if self._rng.random() < 0.7 else known)
        return Tensor(self._like(scope, kind, ()), kind, ())

    def _like(self, scope: _Scope, kind: int, shape: tuple[int, ...]) -> str:
        """A known tensor of this kind and shape, or a constant."""
        known = [t for t in scope.known if (t.kind, t.shape) == (kind, shape)]
        if known and self._rng.random() < 0.9:
            return self._rng.choice(known[-5:]).name
        if kind == FLOAT:
            return self._constant(scope, self._values.normal(0, 0.7, shape).astype(np.float32))
        integers = self._values.integers(-3, 5, shape)
        return self._constant(scope, np.asarray(integers > 0 if kind == BOOL else integers))

    # Layers.

    def _fill(self, scope: _Scope, depth: int, count: int) -> None:
        for _ in range(count):
            if depth > 0 and self._rng.random() < 0.22:
                self._control(scope, depth - 1)
            else:
                self._layer(scope)

    def _layer(self, scope: _Scope) -> None:
        data = self._any(scope, FLOAT)
        makers = [self._unary, self._unary, self._binary, self._compared, self._chosen]
        makers += [self._integers, self._truth, self._number]
        if data.shape:
            makers += [self._reduced, self._joined, self._part, self._row]
        if len(data.shape) == 2:
            makers += [self._turned, self._product]
        self._rng.choice(makers)(scope, data)

    def _unary(self, scope: _Scope, data: Tensor) -> None:
        kind = self._rng.choice(("Tanh", "Sigmoid", "Relu", "Abs", "Neg", "Sin", "Floor"))
        self._add(scope, *self._op(scope, kind, data.name), FLOAT, data.shape)

    def _binary(self, scope: _Scope, data: Tensor) -> None:
        shape = self._rng.choice((data.shape, data.shape, (), (1,) * len(data.shape)))
        pair = [data.name, self._like(scope, FLOAT, shape)]
        self._rng.shuffle(pair)
        kind = self._rng.choice(("Add", "Sub", "Mul", "Max", "Min"))
        (name,) = self._op(scope, "Tanh", *self._op(scope, kind, *pair))
        self._add(scope, name, FLOAT, data.shape)

    def _compared(self, scope: _Scope, data: Tensor) -> None:
        kind = self._rng.choice(("Less", "Greater"))
        names = self._op(scope, kind, data.name, self._like(scope, FLOAT, data.shape))
        self._add(scope, *names, BOOL, data.shape)

    def _chosen(self, scope: _Scope, data: Tensor) -> None:
        which = self._like(scope, BOOL, self._rng.choice((data.shape, ())))
        names = self._op(scope, "Where", which, data.name, self._like(scope, FLOAT, data.shape))
        self._add(scope, *names, FLOAT, data.shape)

    def _integers(self, scope: _Scope, _: Tensor) -> None:
        shape = self._rng.choice(((), (), (1,)))
        pair = [self._like(scope, INT64, shape) for _ in range(2)]
        names = self._op(scope, self._rng.choice(("Add", "Sub", "Max", "Min")), *pair)
        names = self._op(scope, "Min", *names, self._constant(scope, np.int64(9)))
        names = self._op(scope, "Max", *names, self._constant(scope, np.int64(-9)))
        self._add(scope, *names, INT64, shape)

    def _truth(self, scope: _Scope, _: Tensor) -> None:
        pair = [self._like(scope, INT64, ()) for _ in range(2)]
        names = self._op(scope, self._rng.choice(("Less", "Greater", "Equal")), *pair)
        if self._rng.random() < 0.4:
            kind = self._rng.choice(("And", "Or"))
            names = self._op(scope, kind, *names, self._like(scope, BOOL, ()))
        self._add(scope, *names, BOOL, ())

    def _number(self, scope: _Scope, _: Tensor) -> None:
        names = self._op(scope, "Cast", self._like(scope, INT64, ()), to=FLOAT)
        self._add(scope, *names, FLOAT, ())

    def _reduced(self, scope: _Scope, data: Tensor) -> None:
        axis, keeps = self._rng.randrange(len(data.shape)), self._rng.randrange(2)
        axes = self._constant(scope, np.array([axis]))
        names = self._op(scope, "ReduceSum", data.name, axes, keepdims=keeps)
        kept = (1,) * keeps
        self._add(scope, *names, FLOAT, (*data.shape[:axis], *kept, *data.shape[axis + 1 :]))

    def _joined(self, scope: _Scope, data: Tensor) -> None:
        if sum(data.shape) >= 14:
            return
        axis, shape = self._rng.randrange(len(data.shape)), list(data.shape)
        shape[axis] *= 2
        pair = data.name, self._like(scope, FLOAT, data.shape)
        self._add(scope, *self._op(scope, "Concat", *pair, axis=axis), FLOAT, shape)

    def _part(self, scope: _Scope, data: Tensor) -> None:
        axis, shape = self._rng.randrange(len(data.shape)), list(data.shape)
        first = self._rng.randrange(shape[axis])
        last = self._rng.randint(first + 1, shape[axis])
        shape[axis] = last - first
        numbers = [self._constant(scope, np.array([each])) for each in (first, last, axis)]
        self._add(scope, *self._op(scope, "Slice", data.name, *numbers), FLOAT, shape)

    def _row(self, scope: _Scope, data: Tensor) -> None:
        axis = self._rng.randrange(len(data.shape))
        size = self._constant(scope, np.int64(data.shape[axis]))
        index = self._op(scope, "Abs", self._like(scope, INT64, ()))
        index = self._op(scope, "Mod", *index, size)
        names = self._op(scope, "Gather", data.name, *index, axis=axis)
        self._add(scope, *names, FLOAT, (*data.shape[:axis], *data.shape[axis + 1 :]))

    def _turned(self, scope: _Scope, data: Tensor) -> None:
        names = self._op(scope, "Transpose", data.name, perm=[1, 0])
        self._add(scope, *names, FLOAT, data.shape[::-1])

    def _product(self, scope: _Scope, data: Tensor) -> None:
        shape = (data.shape[1], self._rng.choice((data.shape[1], 2, 3)))
        names = self._op(scope, "MatMul", data.name, self._like(scope, FLOAT, shape))
        self._add(scope, *self._op(scope, "Tanh", *names), FLOAT, (data.shape[0], shape[1]))

    # Loops, scans and branches.

    def _control(self, scope: _Scope, depth: int) -> None:
        if self._made > _MOST_NODES:
            return self._layer(scope)
        return self._rng.choice((self._loop, self._loop, self._scan, self._branch))(scope, depth)

    def _ports(self, values: Sequence[Tensor]) -> list[Tensor]:
        return [Tensor(self._name(), t.kind, t.shape) for t in values]

    def _result(self, scope: _Scope, name: str, like: Tensor) -> Tensor:
        """An output of a body, which a node of its own makes."""
        return Tensor(*self._op(scope, "Identity", name), like.kind, like.shape)

    def _carried(self, body: _Scope, ports: Sequence[Tensor]) -> list[Tensor]:
        """The values of the next round; some are unchanged."""
        keeps = [self._rng.random() < 0.1 for _ in ports]
        return [
            self._result(body, t.name if keep else self._like(body, t.kind, t.shape), t)
            for t, keep in zip(ports, keeps, strict=True)
        ]

    def _loop(self, scope: _Scope, depth: int) -> None:
        rng = self._rng
        values = [self._any(scope, rng.choice((FLOAT, FLOAT, INT64, BOOL))) for _ in range(3)]
        values = values[: rng.randint(1, 3)]
        count, truth = Tensor(self._name(), INT64, ()), Tensor(self._name(), BOOL, ())
        ports, body = self._ports(values), _Scope(list(scope.known))
        body.known += [count, truth, *ports]
        self._fill(body, depth, rng.randint(1, 5))
        style = rng.choice(("constant", "constant", "counts", "data", "until", "first"))
        end = truth.name
        if style == "counts":
            last = self._constant(body, np.int64(rng.randint(0, 5)))
            (end,) = self._op(body, "Less", count.name, last)
        elif style == "until":
            end = self._like(body, BOOL, ())
        results = [self._result(body, end, truth), *self._carried(body, ports)]
        rows: list[Tensor] = []
        if style in ("constant", "counts") and rng.random() < 0.5:
            row = self._any(body, FLOAT)
            rows = [self._result(body, row.name, row)]
        graph = body.graph([count, truth, *ports], [*results, *rows])
        most = self._constant(scope, np.int64(rng.choice((0, 1, 2, 3, 5, 8))))
        limit = self._like(scope, INT64, ()) if style == "data" else most
        first = self._like(scope, BOOL, ()) if style == "first" else ""
        names = [t.name for t in values]
        size = len(values) + len(rows)
        names = self._op(scope, "Loop", limit, first, *names, count=size, body=graph)
        for name, value in zip(names, values, strict=False):
            self._add(scope, name, value.kind, value.shape)
        for name, row in zip(names[len(values) :], rows, strict=True):
            # Their number is not known here.
            axes = self._constant(scope, np.array([0]))
            summed = self._op(scope, "ReduceSum", name, axes, keepdims=0)
            self._add(scope, *summed, FLOAT, row.shape)

    def _scan(self, scope: _Scope, depth: int) -> None:
        rng, data = self._rng, self._any(scope, FLOAT)
        if not data.shape:
            values = self._values.normal(size=(4, 3)).astype(np.float32)
            data = Tensor(self._constant(scope, values), FLOAT, (4, 3))
        axis = rng.randrange(len(data.shape))
        values = [self._any(scope, rng.choice((FLOAT, INT64))) for _ in range(rng.randrange(3))]
        ports, body = self._ports(values), _Scope(list(scope.known))
        row = Tensor(self._name(), FLOAT, (*data.shape[:axis], *data.shape[axis + 1 :]))
        body.known += [*ports, row]
        self._fill(body, depth, rng.randint(1, 5))
        results, made = self._carried(body, ports), self._any(body, FLOAT)
        out = rng.randrange(len(made.shape) + 1)
        graph = body.graph([*ports, row], [*results, self._result(body, made.name, made)])
        names = self._op(
            scope,
            "Scan",
            *(t.name for t in values),
            data.name,
            count=len(values) + 1,
            body=graph,
            num_scan_inputs=1,
            scan_input_axes=[rng.choice((axis, axis - len(data.shape)))],
            scan_input_directions=[rng.randrange(2)],
            scan_output_axes=[out],
            scan_output_directions=[rng.randrange(2)],
        )
        for name, value in zip(names, values, strict=False):
            self._add(scope, name, value.kind, value.shape)
        shape = *made.shape[:out], data.shape[axis], *made.shape[out:]
        self._add(scope, names[-1], FLOAT, shape)

    def _branch(self, scope: _Scope, depth: int) -> None:
        likes = [self._any(scope, self._rng.choice((FLOAT, FLOAT, INT64)))]
        likes += [self._any(scope, FLOAT)] * self._rng.randrange(2)
        graphs = []
        for _ in range(2):
            body = _Scope(list(scope.known))
            self._fill(body, depth, self._rng.randrange(4))
            found = [self._result(body, self._like(body, t.kind, t.shape), t) for t in likes]
            graphs.append(body.graph([], found))
        then, other = graphs
        which = self._like(scope, BOOL, ())
        names = self._op(scope, "If", which, count=len(likes), then_branch=then, else_branch=other)
        for name, like in zip(names, likes, strict=True):
            self._add(scope, name, like.kind, like.shape)
