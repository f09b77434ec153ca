"""ONNX networks with loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from onnx import numpy_helper as stored

from tests.frontends.onnx.models import INT64, info, model

BOOL = TensorProto.BOOL
ROWS, WIDTH, CELLS = 5, 3, 4
Weights = Mapping[str, Any]


def op(kind: str, inputs: str, outputs: str, **attributes: object) -> NodeProto:
    """A node whose inputs and outputs are words of a text; "-" is one that is left out."""
    names = ([("" if n == "-" else n) for n in side.split()] for side in (inputs, outputs))
    return helper.make_node(kind, *names, **attributes)


def graph(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    constants: Weights | None = None,
) -> GraphProto:
    """A body or a branch."""
    values = [stored.from_array(np.asarray(v), name) for name, v in (constants or {}).items()]
    return helper.make_graph(nodes, "body", inputs, outputs, values)


def values(*shapes: int, seed: int = 0) -> np.ndarray:
    """Small weights."""
    return np.random.default_rng(seed).normal(size=shapes).astype(np.float32) * 0.5


def _round(*carried: ValueInfoProto) -> list[ValueInfoProto]:
    return [info("i", (), INT64), info("c", (), BOOL), *carried]


def counted(rounds: int = 6, condition: str = "c") -> ModelProto:
    """Rounds of v = tanh(v w + x), with all values of v, and one value that no round changes."""
    nodes = [
        op("MatMul", "v w", "p"),
        op("Add", "p x", "q"),
        op("Tanh", "q", "v1"),
        op("Mul", "v1 k", "row"),
        op("Identity", "k", "k1"),
        op("Identity", condition, "d"),
    ]
    v = (1, WIDTH)
    body = graph(
        nodes,
        _round(info("v", v), info("k", ())),
        [info("d", (), BOOL), info("v1", v), info("k1", ()), info("row", v)],
    )
    loop = op("Loop", "n t x two", "y - z", body=body)
    constants = {"n": np.int64(rounds), "t": np.array(True), "f": np.array(False)}
    constants |= {"w": values(WIDTH, WIDTH), "two": np.float32(2)}
    return model([loop], [info("x", v)], [info("y", None), info("z", None)], constants)


def indexed() -> ModelProto:
    """A round adds one row, found by the number of the round, to a running sum; its end is computed
    from this number."""
    nodes = [
        op("Gather", "m i", "r", axis=0),
        op("Add", "v r", "v1"),
        op("Add", "i one", "j"),
        op("Less", "j last", "d"),
        op("Sub", "v1 r2", "s"),
    ]
    ports = [info("d", (), BOOL), info("v1", (WIDTH,)), info("s", (WIDTH,))]
    body = graph(nodes, _round(info("v", (WIDTH,))), ports)
    most = {"n": np.int64(2**62), "one": np.int64(1), "last": np.int64(ROWS), "r0": values(WIDTH)}
    around = [op("Neg", "m", "e"), op("ReduceMax", "e", "r2", keepdims=0)]
    loop = op("Loop", "n - r0", "y z", body=body)
    outputs = [info("y", None), info("z", None)]
    return model([*around, loop], [info("m", (ROWS, WIDTH))], outputs, most)


def until(limit: str = "-", first: str = "-", given: Sequence[ValueInfoProto] = ()) -> ModelProto:
    """Doubles x until its sum is 100 or more."""
    nodes = [
        op("Add", "v v", "v1"),
        op("ReduceSum", "v1", "q", keepdims=0),
        op("Less", "q hundred", "d"),
        op("Add", "steps one", "steps1"),
    ]
    carried = [info("v", (WIDTH,)), info("steps", (), INT64)]
    ports = [info("d", (), BOOL), info("v1", (WIDTH,)), info("steps1", (), INT64)]
    loop = op(
        "Loop", f"{limit} {first} x zero", "y count", body=graph(nodes, _round(*carried), ports)
    )
    constants = {"hundred": np.float32(100), "one": np.int64(1), "zero": np.int64(0)}
    constants |= {"seven": np.int64(7)}
    outputs = [info("y", None), info("count", None, INT64)]
    return model([loop], [info("x", (WIDTH,)), *given], outputs, constants)


def _scanned(
    nodes: Sequence[NodeProto],
    carried: Sequence[str],
    results: Sequence[str],
    weights: Weights,
    batch: int = 1,
    **attributes: object,
) -> ModelProto:
    """A Scan of rows [batch, WIDTH] with states [batch, CELLS]; their first values are inputs."""
    state = (batch, CELLS)
    ins = [*(info(name, state) for name in carried), info("r", (batch, WIDTH))]
    outs = [info(name, state) for name in results]
    body = graph(nodes, ins, outs)
    firsts = [f"{name}0" for name in carried]
    names = [f"{name}_last" for name in carried] + ["y"] * (len(results) > len(carried))
    scan = op(
        "Scan",
        " ".join((*firsts, "x")),
        " ".join(names),
        body=body,
        num_scan_inputs=1,
        **attributes,
    )
    axis = (attributes.get("scan_input_axes") or [0])[0]  # type: ignore[index]
    shape = [batch, WIDTH]
    shape.insert(axis, ROWS)
    inputs = [info("x", shape), *(info(name, state) for name in firsts)]
    return model([scan], inputs, [info(name, None) for name in names], weights)


def rnn(**attributes: object) -> ModelProto:
    """A simple RNN as a Scan."""
    nodes = [op("MatMul", "r W", "a"), op("MatMul", "h R", "b"), op("Add", "a b", "s")]
    nodes += [op("Add", "s B", "q"), op("Tanh", "q", "h1"), op("Identity", "h1", "o")]
    weights = {"W": values(WIDTH, CELLS), "R": values(CELLS, CELLS), "B": values(CELLS)}
    return _scanned(nodes, ["h"], ["h1", "o"], weights, **attributes)  # type: ignore[arg-type]


def lstm(*, batch: int = 1, keeps: bool = True) -> ModelProto:
    """An LSTM as a Scan, as torch writes its cell: gates i, f, g, o of one product."""
    nodes = [op("Gemm", "r W B", "a", transB=1), op("Gemm", "h R -", "b", transB=1)]
    nodes += [op("Add", "a b", "s"), op("Split", "s", "i f g o", axis=1, num_outputs=4)]
    nodes += [op("Sigmoid", name, f"{name}s") for name in ("i", "f", "o")] + [op("Tanh", "g", "gt")]
    nodes += [op("Mul", "fs c", "k"), op("Mul", "is gt", "n"), op("Add", "k n", "c1")]
    nodes += [op("Tanh", "c1", "ct"), op("Mul", "os ct", "h1"), op("Identity", "h1", "out")]
    weights = {"W": values(4 * CELLS, WIDTH), "R": values(4 * CELLS, CELLS), "B": values(4 * CELLS)}
    return _scanned(nodes, ["h", "c"], ["h1", "c1", *["out"] * keeps], weights, batch)


def gru() -> ModelProto:
    """A GRU as a Loop over steps, with the gather of a step and the bias inside of the reset."""
    nodes = [op("Gather", "x i", "r", axis=0), op("Gemm", "r W B", "a", transB=1)]
    nodes += [op("Gemm", "h R C", "b", transB=1)]
    nodes += [op("Split", "a", "a1 a2 a3", axis=1, num_outputs=3)]
    nodes += [op("Split", "b", "b1 b2 b3", axis=1, num_outputs=3)]
    nodes += [op("Add", "a1 b1", "rs"), op("Sigmoid", "rs", "reset")]
    nodes += [op("Add", "a2 b2", "zs"), op("Sigmoid", "zs", "z"), op("Mul", "reset b3", "rb")]
    nodes += [op("Add", "a3 rb", "ns"), op("Tanh", "ns", "n"), op("Sub", "h n", "hn")]
    nodes += [op("Mul", "z hn", "zh"), op("Add", "zh n", "h1"), op("Identity", "c", "d")]
    state = (1, CELLS)
    body = graph(
        nodes, _round(info("h", state)), [info("d", (), BOOL), info("h1", state), info("h1", state)]
    )
    body.output[2].name = "o"
    body.node.append(op("Identity", "h1", "o"))
    weights = {"W": values(3 * CELLS, WIDTH), "R": values(3 * CELLS, CELLS), "B": values(3 * CELLS)}
    weights |= {"C": values(3 * CELLS, seed=1), "rows": np.int64(ROWS), "h0": np.zeros(state, "f")}
    loop = op("Loop", "rows - h0", "last y", body=body)
    outputs = [info("last", None), info("y", None)]
    return model([loop], [info("x", (ROWS, 1, WIDTH))], outputs, weights)


def nested(rounds: int = 4) -> ModelProto:
    """A Scan in a Loop; the inner one reads values of both graphs around it."""
    inner = graph(
        [op("Mul", "r v", "p"), op("Add", "a p", "a1"), op("Sub", "a1 e", "o")],
        [info("a", (WIDTH,)), info("r", (WIDTH,))],
        [info("a1", (WIDTH,)), info("o", (WIDTH,))],
    )
    nodes = [
        op("Scan", "v m", "v1 rows", body=inner, num_scan_inputs=1),
        op("ReduceMean", "rows", "s", keepdims=0),
        op("Identity", "c", "d"),
        op("Tanh", "v1", "v2"),
    ]
    body = graph(
        nodes,
        _round(info("v", (WIDTH,))),
        [info("d", (), BOOL), info("v2", (WIDTH,)), info("s", ())],
    )
    around = [op("Neg", "x", "e"), op("Loop", "n - x", "y z", body=body)]
    constants = {"n": np.int64(rounds), "m": values(ROWS, WIDTH)}
    return model(around, [info("x", (WIDTH,))], [info("y", None), info("z", None)], constants)


def branching(*, is_given: bool = True) -> ModelProto:
    """An If in whose branches are captured tensors, a constant, and an input as it is."""
    then = graph(
        [op("Add", "x e", "p"), op("Identity", "x", "q"), op("Identity", "k", "o")],
        [],
        [info(name, (WIDTH,)) for name in "pqo"],
    )
    other = graph(
        [op("Mul", "x two", "p2"), op("Neg", "e", "q2"), op("Sub", "x e", "o2")],
        [],
        [info(name, (WIDTH,)) for name in ("p2", "q2", "o2")],
        {"two": np.float32(2)},
    )
    nodes = [op("Exp", "x", "e"), op("ReduceSum", "x", "s", keepdims=0), op("Less", "s zero", "b")]
    choice = op("If", "b", "y u z", then_branch=then, else_branch=other)
    outputs = [info(name, None) for name in "yuz"]
    constants = {"zero": np.float32(0), "k": values(WIDTH)}
    return model([*nodes, choice], [info("x", (WIDTH,))], outputs, constants)


def reading_little() -> ModelProto:
    """An If whose branches do not need all that their nodes read."""
    then = graph(
        [op("Add", "x e", "p"), op("Mul", "f zero", "q"), op("Add", "q x", "unread")],
        [],
        [info("p", (WIDTH,))],
    )
    then.output.append(info("unread", (WIDTH,)))
    other = graph([op("Neg", "x", "n"), op("Neg", "f", "m")], [], [info("n", (WIDTH,))])
    other.output.append(info("m", (WIDTH,)))
    nodes = [op("Exp", "x", "e"), op("Sin", "x", "f"), op("ReduceSum", "x", "s", keepdims=0)]
    nodes += [op("Less", "s zero", "b"), op("If", "b", "y -", then_branch=then, else_branch=other)]
    return model(nodes, [info("x", (WIDTH,))], [info("y", None)], {"zero": np.float32(0)})


def branch_in_loop() -> ModelProto:
    """Each round chooses by the sign of a sum."""
    then, other = (
        graph([op(kind, inputs, name)], [], [info(name, (WIDTH,))])
        for kind, inputs, name in (("Sub", "v x", "p"), ("Add", "v k", "q"))
    )
    nodes = [
        op("ReduceSum", "v", "s", keepdims=0),
        op("Greater", "s zero", "b"),
        op("If", "b", "v1", then_branch=then, else_branch=other),
        op("Identity", "c", "d"),
    ]
    body = graph(nodes, _round(info("v", (WIDTH,))), [info("d", (), BOOL), info("v1", (WIDTH,))])
    constants = {"n": np.int64(7), "zero": np.float32(0), "k": values(WIDTH)}
    return model(
        [op("Loop", "n - x", "y", body=body)], [info("x", (WIDTH,))], [info("y", None)], constants
    )


def convolving() -> ModelProto:
    """Rounds of a convolution, whose data are NCHW."""
    nodes = [
        op("Conv", "v W", "q", pads=[1, 1, 1, 1]),
        op("Relu", "q", "v1"),
        op("Identity", "c", "d"),
    ]
    shape = (1, 2, 4, 4)
    body = graph(nodes, _round(info("v", shape)), [info("d", (), BOOL), info("v1", shape)])
    constants = {"n": np.int64(9), "W": values(2, 2, 3, 3)}
    loop = op("Loop", "n - x", "y", body=body)
    return model([loop], [info("x", shape)], [info("y", None)], constants)


def quantized() -> ModelProto:
    """Rounds of a quantized dense layer between floats, and int8 values that rounds pass on."""
    nodes = [
        op("QuantizeLinear", "v s z", "vq"),
        op("DequantizeLinear", "vq s z", "vd"),
        op("DequantizeLinear", "Wq s z", "W"),
        op("MatMul", "vd W", "p"),
        op("QuantizeLinear", "p s z", "pq"),
        op("DequantizeLinear", "pq s z", "v1"),
        op("Max", "m vq", "m1"),
        op("Identity", "c", "d"),
    ]
    shape = (1, WIDTH)
    int8 = TensorProto.INT8
    body = graph(
        nodes,
        _round(info("v", shape), info("m", shape, int8)),
        [info("d", (), BOOL), info("v1", shape), info("m1", shape, int8)],
    )
    constants = {"n": np.int64(6), "s": np.float32(0.05), "z": np.int8(3)}
    constants["Wq"] = (values(WIDTH, WIDTH) * 40).astype(np.int8)
    around = [op("QuantizeLinear", "x s z", "m0"), op("Loop", "n - x m0", "y big", body=body)]
    outputs = [info("y", None), info("big", None, int8)]
    return model(around, [info("x", shape)], outputs, constants)


def growing() -> ModelProto:
    """Rounds of constants, and a value that grows, which cannot be a loop."""
    nodes = [op("Concat", "v r", "v1", axis=0), op("Identity", "c", "d")]
    nodes += [op("Mul", "k two", "k1")]
    body = graph(
        nodes,
        _round(info("v", (None,)), info("k", ())),
        [info("d", (), BOOL), info("v1", (None,)), info("k1", ())],
    )
    constants = {"n": np.int64(20), "two": np.float32(1.5), "one": np.float32(1)}
    around = [op("Neg", "x", "r"), op("Loop", "n - x one", "y k_last", body=body)]
    return model(around, [info("x", (WIDTH,))], [info("y", None), info("k_last", None)], constants)


def scanned_ways() -> ModelProto:
    """A Scan along other axes than the first, backwards, with outputs along other axes."""
    body = graph(
        [op("Add", "a r", "a1"), op("Mul", "a1 q", "o"), op("Identity", "a1", "p")],
        [info("a", (2, WIDTH)), info("r", (2, WIDTH)), info("q", (2, WIDTH))],
        [info("a1", (2, WIDTH)), info("o", (2, WIDTH)), info("p", (2, WIDTH))],
    )
    scan = op(
        "Scan",
        "a0 x x2",
        "y z u",
        body=body,
        num_scan_inputs=2,
        scan_input_axes=[1, -1],
        scan_input_directions=[1, 0],
        scan_output_axes=[1, -1],
        scan_output_directions=[0, 1],
    )
    inputs = [info("a0", (2, WIDTH)), info("x", (2, 7, WIDTH)), info("x2", (2, WIDTH, 7))]
    return model([scan], inputs, [info(name, None) for name in "yzu"])


SOUND: dict[str, tuple[Callable[[], ModelProto], tuple[str, ...]]] = {
    "counted": (counted, ()),
    "once": (lambda: counted(condition="f"), ()),
    "three": (lambda: counted(3), ()),
    "indexed": (indexed, ()),
    "until": (until, ("y=40",)),
    "limited": (lambda: until("seven"), ()),
    "less": (lambda: until("seven"), ("y=30",)),
    "limit": (lambda: until("n", given=[info("n", (), INT64)]), ("y=50",)),
    "first": (lambda: until("-", "b", [info("b", (), BOOL)]), ("y=50",)),
    "rnn": (rnn, ()),
    "rnn backwards": (lambda: rnn(scan_input_directions=[1]), ()),
    "rnn axis": (lambda: rnn(scan_input_axes=[1], scan_output_axes=[1]), ()),
    "lstm": (lstm, ()),
    "lstm batch": (lambda: lstm(batch=2), ()),
    "lstm last": (lambda: lstm(keeps=False), ()),
    "gru": (gru, ()),
    "nested": (nested, ()),
    "nested loops": (lambda: nested(12), ()),
    "branching": (branching, ()),
    "branch in loop": (branch_in_loop, ()),
    "branch that reads little": (reading_little, ()),
    "convolving": (convolving, ()),
    "quantized": (quantized, ()),
    "growing": (growing, ()),
    "ways": (scanned_ways, ()),
}
"""Networks that run, with ``--max-rounds``."""
