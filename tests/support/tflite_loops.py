"""Small .tflite files with loops and branches."""

from __future__ import annotations

import numpy as np

from tests.support.tflite_builder import OperatorSpec, Ref, SubgraphSpec, TensorSpec, build_model

ROWS, WIDTH = 4, 3
X = (ROWS, 1, WIDTH)
H = (1, WIDTH)
SCALE = {"scale": (0.05,), "zero_point": (3,)}


def real(name: str, shape: tuple[int, ...], data: object = None) -> TensorSpec:
    values = None if data is None else np.asarray(data, np.float32)
    return TensorSpec(name, shape, "float32", values)


def number(name: str, value: int | None = None) -> TensorSpec:
    return TensorSpec(name, (), "int32", None if value is None else np.array(value, np.int32))


def op(
    code: str, inputs: list[Ref], output: Ref, options: str = "", **fields: object
) -> OperatorSpec:
    return OperatorSpec(code, inputs, [output], options, fields)  # type: ignore[arg-type]


def while_(inputs: list[Ref], outputs: list[Ref], condition: int, body: int) -> OperatorSpec:
    options = {"condSubgraphIndex": condition, "bodySubgraphIndex": body}
    return OperatorSpec("WHILE", inputs, outputs, "WhileOptions", options)


def if_(inputs: list[Ref], outputs: list[Ref], then: int, otherwise: int) -> OperatorSpec:
    options = {"thenSubgraphIndex": then, "elseSubgraphIndex": otherwise}
    return OperatorSpec("IF", inputs, outputs, "IfOptions", options)


def below(limit: int, *, h: tuple[int, ...] = H) -> SubgraphSpec:
    """The condition n < limit of a loop that carries n, h and x."""
    tensors = [number("n"), real("h", h), real("x", X), number("limit", limit)]
    tensors.append(TensorSpec("goes", (), "bool"))
    less = op("LESS", ["n", "limit"], "goes", "LessOptions")
    return SubgraphSpec(tensors, [less], ["n", "h", "x"], ["goes"])


def cell() -> SubgraphSpec:
    """A recurrent cell: h = tanh(x[n] + W h), n = n + 1."""
    weights = np.random.default_rng(0).normal(size=(WIDTH, WIDTH)).astype(np.float32)
    tensors = [number("n"), real("h", H), real("x", X), number("one", 1), number("next")]
    tensors += [real(name, H) for name in ("row", "mixed", "sum", "new")]
    tensors.append(real("w", (WIDTH, WIDTH), weights))
    dense = OperatorSpec("FULLY_CONNECTED", ["h", "w", -1], ["mixed"], "FullyConnectedOptions")
    operators = [
        op("ADD", ["n", "one"], "next", "AddOptions"),
        op("GATHER", ["x", "n"], "row", "GatherOptions"),
        dense,
        op("ADD", ["row", "mixed"], "sum", "AddOptions"),
        op("TANH", ["sum"], "new"),
    ]
    return SubgraphSpec(tensors, operators, ["n", "h", "x"], ["next", "new", "x"])


def recurrent(rounds: int = ROWS, *, first: float = 0.25) -> bytes:
    """A recurrent layer over the rows of x."""
    tensors = [real("x", X), number("n0", 0), real("h0", H, np.full(H, first))]
    tensors += [number("n1"), real("h1", H), real("x1", X)]
    loop = while_(["n0", "h0", "x"], ["n1", "h1", "x1"], 1, 2)
    return build_model(tensors, [loop], ["x"], ["h1"], more=[below(rounds), cell()])


def counted_by_input() -> bytes:
    """The same, but the number of rounds is an input."""
    tensors = [real("x", X), number("n0", 0), real("h0", H, np.zeros(H)), number("limit")]
    tensors += [number("n1"), real("h1", H), real("x1", X), number("limit1")]
    loop = while_(["n0", "h0", "x", "limit"], ["n1", "h1", "x1", "limit1"], 1, 2)
    own = below(0)
    condition = SubgraphSpec(
        [*own.tensors[:3], number("limit"), own.tensors[4]],
        own.operators,
        ["n", "h", "x", "limit"],
        ["goes"],
    )
    body = cell()
    body = SubgraphSpec(
        [*body.tensors, number("limit")],
        body.operators,
        [*body.inputs, "limit"],
        [*body.outputs, "limit"],
    )
    return build_model(tensors, [loop], ["x", "limit"], ["h1", "n1"], more=[condition, body])


def nested(rounds: int = 2) -> bytes:
    """A loop around the recurrent layer: h of one pass over the rows begins the next."""
    tensors = [real("x", X), number("m0", 0), real("h0", H, np.zeros(H))]
    tensors += [number("m1"), real("h1", H), real("x1", X)]
    loop = while_(["m0", "h0", "x"], ["m1", "h1", "x1"], 1, 2)
    inner = [number("n"), real("h", H), real("x", X), number("one", 1), number("next")]
    inner += [number("zero", 0), number("last"), real("new", H), real("same", X)]
    operators = [
        op("ADD", ["n", "one"], "next", "AddOptions"),
        while_(["zero", "h", "x"], ["last", "new", "same"], 3, 4),
    ]
    body = SubgraphSpec(inner, operators, ["n", "h", "x"], ["next", "new", "x"])
    return build_model(
        tensors, [loop], ["x"], ["h1"], more=[below(rounds), body, below(ROWS), cell()]
    )


def in_condition() -> bytes:
    """A loop whose condition counts its limit in a loop."""
    tensors = [real("x", X), number("n0", 0), real("h0", H, np.zeros(H))]
    tensors += [number("n1"), real("h1", H), real("x1", X)]
    loop = while_(["n0", "h0", "x"], ["n1", "h1", "x1"], 1, 2)
    own = [number("n"), real("h", H), real("x", X), number("zero", 0), number("limit")]
    own.append(TensorSpec("goes", (), "bool"))
    count = while_(["zero"], ["limit"], 3, 4)
    less = op("LESS", ["n", "limit"], "goes", "LessOptions")
    condition = SubgraphSpec(own, [count, less], ["n", "h", "x"], ["goes"])
    goes = TensorSpec("goes", (), "bool")
    three = SubgraphSpec(
        [number("k"), number("three", 3), goes],
        [op("LESS", ["k", "three"], "goes", "LessOptions")],
        ["k"],
        ["goes"],
    )
    more = SubgraphSpec(
        [number("k"), number("one", 1), number("next")],
        [op("ADD", ["k", "one"], "next", "AddOptions")],
        ["k"],
        ["next"],
    )
    return build_model(tensors, [loop], ["x"], ["h1"], more=[condition, cell(), three, more])


def swapping(rounds: int = 3, *, outputs: tuple[str, str] = ("b", "c")) -> bytes:
    """A loop of two values, a and b, for which it gives b and c = 2 a to the next round."""
    tensors = [real("a", H), real("b", H), number("n0", 0)]
    tensors += [number("n1"), real("a1", H), real("b1", H)]
    loop = while_(["n0", "a", "b"], ["n1", "a1", "b1"], 1, 2)
    goes = TensorSpec("goes", (), "bool")
    condition = SubgraphSpec(
        [number("n"), real("a", H), real("b", H), number("limit", rounds), goes],
        [op("LESS", ["n", "limit"], "goes", "LessOptions")],
        ["n", "a", "b"],
        ["goes"],
    )
    body = SubgraphSpec(
        [number("n"), real("a", H), real("b", H), number("one", 1), number("next"), real("c", H)],
        [
            op("ADD", ["n", "one"], "next", "AddOptions"),
            op("ADD", ["a", "a"], "c", "AddOptions"),
        ],
        ["n", "a", "b"],
        ["next", *outputs],
    )
    return build_model(tensors, [loop], ["a", "b"], ["a1", "b1"], more=[condition, body])


def quantized(rounds: int = 3) -> bytes:
    """A loop in int8: h = x + h."""

    def stored(name: str) -> TensorSpec:
        return TensorSpec(name, (1, 8), "int8", **SCALE)  # type: ignore[arg-type]

    tensors = [stored("x"), stored("y"), number("n0", 0), number("n1"), stored("h1"), stored("x1")]
    loop = while_(["n0", "y", "x"], ["n1", "h1", "x1"], 1, 2)
    goes = TensorSpec("goes", (), "bool")
    condition = SubgraphSpec(
        [number("n"), stored("h"), stored("x"), number("limit", rounds), goes],
        [op("LESS", ["n", "limit"], "goes", "LessOptions")],
        ["n", "h", "x"],
        ["goes"],
    )
    body = SubgraphSpec(
        [number("n"), stored("h"), stored("x"), number("one", 1), number("next"), stored("new")],
        [
            op("ADD", ["n", "one"], "next", "AddOptions"),
            op("ADD", ["x", "h"], "new", "AddOptions"),
        ],
        ["n", "h", "x"],
        ["next", "new", "x"],
    )
    return build_model(tensors, [loop], ["x", "y"], ["h1"], more=[condition, body])


def branching(condition: bool | None = None) -> bytes:
    """The network x + x if x[0, 0] > 0, or if the constant condition is true; otherwise tanh(x)."""
    known = None if condition is None else np.array(condition)
    goes = TensorSpec("goes", (), "bool", known)
    tensors = [real("x", H), goes, real("y", H), real("first", (1, 1)), real("zero", (), 0.0)]
    begin = np.array([0, 0], np.int32), np.array([1, 1], np.int32)
    tensors += [TensorSpec("begin", (2,), "int32", begin[0])]
    tensors += [TensorSpec("size", (2,), "int32", begin[1]), TensorSpec("is", (1, 1), "bool")]
    operators = [if_(["goes", "x"], ["y"], 1, 2)]
    if condition is None:
        one = TensorSpec("shape", (0,), "int32")
        tensors.append(one)
        operators = [
            op("SLICE", ["x", "begin", "size"], "first", "SliceOptions"),
            op("GREATER", ["first", "zero"], "is", "GreaterOptions"),
            op("SQUEEZE", ["is"], "goes", "SqueezeOptions"),
            *operators,
        ]
    then = SubgraphSpec(
        [real("x", H), real("y", H)], [op("ADD", ["x", "x"], "y", "AddOptions")], ["x"], ["y"]
    )
    otherwise = SubgraphSpec([real("x", H), real("y", H)], [op("TANH", ["x"], "y")], ["x"], ["y"])
    return build_model(tensors, operators, ["x"], ["y"], more=[then, otherwise])


def _numbers(name: str, values: list[int] | None, size: int = 3) -> TensorSpec:
    data = None if values is None else np.array(values, np.int32)
    return TensorSpec(name, (size,), "int32", data)


def _joining(every: tuple[int, ...]) -> tuple[list[TensorSpec], list[OperatorSpec]]:
    """The tensors and operators that write a row by joining all rows."""
    own = [real("all", every), _numbers("one_long", [1], 1), _numbers("rest", [-1, -1], 2)]
    own += [
        _numbers("origin", [0, 0], 2),
        _numbers("begin", [0, 0, 0]),
        _numbers("to_end", [-1] * 3),
    ]
    own += [_numbers("at", None, 1), _numbers("after", None, 1), _numbers("size", None)]
    own += [
        _numbers("start", None),
        _numbers("row_shape", [1, 1, WIDTH]),
        TensorSpec("above", (1, 1, 1), "float32", shape_signature=(-1, -1, -1)),
    ]
    own += [
        TensorSpec("below", (1, 1, WIDTH), "float32", shape_signature=(-1, 1, WIDTH)),
        real("row3", (1, 1, WIDTH)),
        real("written", every),
    ]
    operators = [
        op("RESHAPE", ["n", "one_long"], "at", "ReshapeOptions"),
        op("CONCATENATION", ["at", "rest"], "size", "ConcatenationOptions"),
        op("SLICE", ["all", "begin", "size"], "above", "SliceOptions"),
        op("RESHAPE", ["next", "one_long"], "after", "ReshapeOptions"),
        op("CONCATENATION", ["after", "origin"], "start", "ConcatenationOptions"),
        op("SLICE", ["all", "start", "to_end"], "below", "SliceOptions"),
        op("RESHAPE", ["new", "row_shape"], "row3", "ReshapeOptions"),
        op("CONCATENATION", ["above", "row3", "below"], "written", "ConcatenationOptions"),
    ]
    return own, operators


def writing_rows() -> bytes:
    """The recurrent layer that also writes each h to a row of a tensor, as the converter does: it
    joins the rows before, the new row and the rows after."""
    every = (ROWS, 1, WIDTH)
    tensors = [real("x", X), number("n0", 0), real("h0", H, np.zeros(H))]
    tensors += [real("all0", every, np.zeros(every)), number("n1"), real("h1", H)]
    tensors += [real("x1", X), real("all1", every)]
    loop = while_(["n0", "h0", "x", "all0"], ["n1", "h1", "x1", "all1"], 1, 2)
    condition, body = below(ROWS), cell()
    condition = SubgraphSpec(
        [*condition.tensors, real("all", every)],
        condition.operators,
        [*condition.inputs, "all"],
        condition.outputs,
    )

    own, operators = _joining(every)
    body = SubgraphSpec(
        [*body.tensors, *own],
        [*body.operators, *operators],
        [*body.inputs, "all"],
        [*body.outputs, "written"],
    )
    return build_model(tensors, [loop], ["x"], ["all1"], more=[condition, body])


def with_state() -> bytes:
    """A loop whose body has an SVDF layer, which keeps a state: h = SVDF(x) + h."""
    kind = (1, 2)
    tensors = [real("x", kind), number("n0", 0), real("h0", kind, np.zeros(kind))]
    tensors += [number("n1"), real("h1", kind), real("x1", kind)]
    loop = while_(["n0", "h0", "x"], ["n1", "h1", "x1"], 1, 2)
    goes = TensorSpec("goes", (), "bool")
    condition = SubgraphSpec(
        [number("n"), real("h", kind), real("x", kind), number("limit", 3), goes],
        [op("LESS", ["n", "limit"], "goes", "LessOptions")],
        ["n", "h", "x"],
        ["goes"],
    )
    body = SubgraphSpec(
        [
            *(number("n"), real("h", kind), real("x", kind), number("one", 1), number("next")),
            real("feature", (2, 2), [[1, 0.5], [0.25, 1]]),
            real("time", (2, 3), [[1, 2, 3], [0.5, 1, 2]]),
            TensorSpec("kept", (1, 6), "float32", is_variable=True),
            *(real("filtered", kind), real("new", kind)),
        ],
        [
            op("ADD", ["n", "one"], "next", "AddOptions"),
            op("SVDF", ["x", "feature", "time", -1, "kept"], "filtered", "SVDFOptions", rank=1),
            op("ADD", ["filtered", "h"], "new", "AddOptions"),
        ],
        ["n", "h", "x"],
        ["next", "new", "x"],
    )
    return build_model(tensors, [loop], ["x"], ["h1"], more=[condition, body])
