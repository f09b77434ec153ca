"""passes.cancel_layouts: where it puts changes of layout. Results must not change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from microgen.compiler.passes.cancel_layouts import cancel_layouts
from microgen.compiler.passes.dead_code import dead_code
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Graph, Node, Origin, Quant
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.detection.sampling import ResampleAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, WhereAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs, LayoutTransformAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import MirrorPadAttrs, PadAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.pooling.pooling import MaxPool2DAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, MaxAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.graph.ops.tables.tables import LookupAttrs
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.graph.ops.unary.functions import ExpAttrs

ORIGIN = Origin("x.relay", "layer")
TO_LAST = LayoutTransformAttrs("NCHW", "NHWC")
TO_FIRST = LayoutTransformAttrs("NHWC", "NCHW")
POOL = MaxPool2DAttrs((2, 2), (1, 1), (0, 0, 0, 0), Activation.NONE)
ADD = AddAttrs(Activation.NONE)


class Builder:
    """Builds a graph node by node."""

    def __init__(self, dtype: DType = DType.FLOAT32, quant: Quant | None = None) -> None:
        self.kind = ArrayType((), dtype, quant)
        self.types: dict[str, ArrayType] = {}
        self.constants: dict[str, Array] = {}
        self.inputs: list[str] = []
        self.nodes: list[Node] = []

    def input(self, *shape: int, dtype: DType | None = None) -> str:
        name = f"in{len(self.inputs)}"
        self.inputs.append(name)
        self.types[name] = replace(self.kind, shape=shape, dtype=dtype or self.kind.dtype)
        return name

    def constant(self, *shape: int) -> str:
        name = f"c{len(self.constants)}"
        kind = replace(self.kind, shape=shape)
        self.types[name] = kind
        self.constants[name] = np.arange(kind.size).reshape(shape).astype(kind.dtype.numpy)
        return name

    def node(
        self, op: str, attrs: Attrs, *inputs: str, dtype: DType | None = None, **place: str
    ) -> str:
        name = f"t{len(self.nodes)}"
        kinds = [self.types[i] for i in inputs]
        (shape,) = registry()[op].infer(attrs, kinds)
        quant = None if dtype else self.kind.quant
        self.types[name] = ArrayType(shape, dtype or self.kind.dtype, quant)
        self.nodes.append(Node(op, inputs, (name,), attrs, ORIGIN, **place))
        return name

    def last(self, name: str, **place: str) -> str:
        return self.node("layout_transform", TO_LAST, name, **place)

    def first(self, name: str, **place: str) -> str:
        return self.node("layout_transform", TO_FIRST, name, **place)

    def pooled(self, name: str, **place: str) -> str:
        """A max pool of NCHW data."""
        pool = self.node("nn.max_pool2d", POOL, self.last(name, **place), **place)
        return self.first(pool, **place)

    def graph(self, *outputs: str) -> Graph:
        return Graph(
            "x", tuple(self.inputs), outputs, tuple(self.nodes), self.types, self.constants
        )


def after(graph: Graph, seed: int = 0) -> Graph:
    """The graph after the pass. It must compute the same bit for bit."""
    found = cancel_layouts(graph)
    verify.check(found, registry())
    rng = np.random.default_rng(seed)
    inputs = {name: drawn(rng, graph.types[name]) for name in graph.inputs}
    before, now = (evaluate(each, inputs, registry()) for each in (graph, found))
    for old, new in zip(graph.outputs, found.outputs, strict=True):
        np.testing.assert_array_equal(before[old], now[new])
    return dead_code(found)


def drawn(rng: np.random.Generator, kind: ArrayType) -> Array:
    if kind.dtype is DType.FLOAT32:
        return rng.standard_normal(kind.shape).astype(np.float32)
    low, high = (0, 2) if kind.dtype is DType.BOOL else (-100, 100)
    return rng.integers(low, high, kind.shape).astype(kind.dtype.numpy)


def ops(graph: Graph) -> list[str]:
    return [{"layout_transform": "LT"}.get(n.op, n.op) for n in graph.nodes]


def test_graphs_without_changes_of_layout_stay_as_they_are() -> None:
    b = Builder()
    graph = b.graph(b.node("exp", ExpAttrs(), b.input(1, 2, 3, 4)))
    assert cancel_layouts(graph) is graph


def test_a_change_and_its_inverse_are_none() -> None:
    b = Builder()
    graph = after(b.graph(b.first(b.last(b.input(1, 2, 3, 4)))))
    assert ops(graph) == []
    assert graph.outputs == ("in0",)


def test_a_chain_keeps_the_changes_at_its_border_only() -> None:
    b = Builder()
    x = b.pooled(b.input(1, 3, 6, 5))
    x = b.node("clip", ClipAttrs(Activation.RELU), b.node("exp", ExpAttrs(), x))
    x = b.pooled(b.node("nn.pad", PadAttrs(((0, 0), (1, 0), (2, 1), (0, 3)), 1.5), x))
    graph = after(b.graph(b.node("exp", ExpAttrs(), x)))
    assert ops(graph) == [
        "LT",
        "nn.max_pool2d",
        "exp",
        "clip",
        "nn.pad",
        "nn.max_pool2d",
        "exp",
        "LT",
    ]
    (pad,) = (n.attrs for n in graph.nodes if n.op == "nn.pad")
    assert isinstance(pad, PadAttrs)
    assert pad.pads == ((0, 0), (2, 1), (0, 3), (1, 0))


@pytest.mark.parametrize("has_both", [True, False])
def test_branches_meet_in_the_layout_that_most_of_them_have(has_both: bool) -> None:
    b = Builder()
    x = b.input(1, 3, 4, 4)
    left = b.pooled(x)
    right = b.pooled(x) if has_both else b.input(1, 3, 3, 3)
    graph = after(b.graph(b.node("add", ADD, left, right)))
    if has_both:  # one change of the data's layout is enough for both
        assert ops(graph) == ["LT", "nn.max_pool2d", "nn.max_pool2d", "add", "LT"]
    else:  # one change before the sum is as good as one after it
        assert ops(graph) == ["LT", "nn.max_pool2d", "LT", "add"]


def test_a_residual_sum_reads_what_is_laid_out_already() -> None:
    b = Builder()
    x = b.input(1, 3, 4, 4)
    attrs = MaxPool2DAttrs((1, 1), (1, 1), (0, 0, 0, 0), Activation.NONE)
    inner = b.first(b.node("nn.max_pool2d", attrs, b.last(x)))
    graph = after(b.graph(b.pooled(b.node("add", ADD, inner, x))))
    assert ops(graph) == ["LT", "nn.max_pool2d", "add", "nn.max_pool2d", "LT"]


@pytest.mark.parametrize(
    "shape", [(), (1,), (3, 1, 1), (1, 3, 1, 1), (4, 1), (5,), (4, 5), (3, 4, 5)]
)
@pytest.mark.parametrize("is_constant", [True, False])
def test_operands_of_less_than_all_axes_are_broadcast_as_before(
    is_constant: bool, shape: tuple[int, ...]
) -> None:
    b = Builder()
    x = b.pooled(b.input(2, 3, 5, 6))
    other = b.constant(*shape) if is_constant else b.input(*shape)
    graph = after(b.graph(b.node("add", ADD, x, other)))
    channels, others = (1, 1, 1, *shape)[-3], (1, 1, *shape)[-2:]
    is_free = is_constant or channels == 1 or max(others) == 1
    assert (ops(graph)[-1] == "LT") == is_free


def test_a_condition_moves_with_what_it_chooses_from() -> None:
    b = Builder()
    x = b.input(1, 3, 4, 4)
    condition = b.node(
        "greater", registry()["greater"].attrs(), b.pooled(x), b.constant(1), dtype=DType.BOOL
    )
    graph = after(b.graph(b.node("where", WhereAttrs(), condition, b.pooled(x), b.pooled(x))))
    assert ops(graph)[-2:] == ["where", "LT"]
    assert ops(graph).count("LT") == 2


def test_parts_are_joined_and_cut_along_the_axis_in_its_new_place() -> None:
    b = Builder()
    x = b.pooled(b.input(1, 3, 4, 5))
    joined = b.node("concatenate", ConcatenateAttrs(1), x, x)
    cut = b.node(
        "strided_slice", StridedSliceAttrs((0, 5, 0, 1), (1, -2, 1, 1), (1, 3, 3, 2)), joined
    )
    graph = after(
        b.graph(
            b.node("nn.mirror_pad", MirrorPadAttrs(((0, 0), (1, 0), (0, 2), (0, 0)), True), cut)
        )
    )
    assert ops(graph) == [
        "LT",
        "nn.max_pool2d",
        "concatenate",
        "strided_slice",
        "nn.mirror_pad",
        "LT",
    ]
    assert [n.attrs for n in graph.nodes if n.op == "concatenate"] == [ConcatenateAttrs(3)]


def test_tables_along_an_axis_do_not_move() -> None:
    b = Builder()
    indices, weights = b.constant(2), b.constant(2, 2)
    b.types[indices] = ArrayType((2,), DType.INT32)
    b.constants[indices] = np.array([1, 0], np.int32)
    x = b.node("take", TakeAttrs(2), b.pooled(b.input(1, 3, 4, 5)), indices)
    graph = after(b.graph(b.node("resample", ResampleAttrs(3), x, indices, weights)))
    assert ops(graph) == ["LT", "nn.max_pool2d", "take", "resample", "LT"]
    assert [n.attrs for n in graph.nodes[2:4]] == [TakeAttrs(1), ResampleAttrs(2)]


def test_indices_of_several_axes_keep_the_layout() -> None:
    b = Builder()
    indices = b.input(2, 2, dtype=DType.INT32)
    graph = b.graph(b.node("take", TakeAttrs(1), b.pooled(b.input(1, 3, 4, 5)), indices))
    assert ops(dead_code(cancel_layouts(graph))) == ["LT", "nn.max_pool2d", "LT", "take"]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(
    ("op", "axes", "moves"),
    [
        ("mean", (2, 3), True),
        ("mean", (1, 2), False),
        ("mean", (0, 2), True),
        ("max", (1, 2), True),
        ("mean", (1,), True),
    ],
)
def test_reductions_move_if_sums_keep_their_order(
    op: str, axes: tuple[int, ...], moves: bool, keep: bool
) -> None:
    b = Builder()
    x = b.pooled(b.input(2, 3, 5, 6))
    attrs = (MeanAttrs if op == "mean" else MaxAttrs)(axes, keep)
    graph = after(b.graph(b.node("exp", ExpAttrs(), b.node(op, attrs, x))))
    assert (ops(graph)[:3] == ["LT", "nn.max_pool2d", op]) == moves


def test_a_pool_of_everything_leaves_a_reshape() -> None:
    b = Builder()
    x = b.node("mean", MeanAttrs((2, 3), True), b.pooled(b.input(1, 3, 5, 6)))
    assert ops(after(b.graph(x))) == ["LT", "nn.max_pool2d", "mean", "reshape"]


def test_positions_move() -> None:
    b = Builder()
    x = b.pooled(b.input(1, 3, 5, 6))
    graph = after(b.graph(b.node("argmax", ArgMaxAttrs(1), x, dtype=DType.INT32)))
    assert ops(graph) == ["LT", "nn.max_pool2d", "argmax"]


def test_what_has_a_layout_of_its_own_does_not_move() -> None:
    b = Builder()
    x = b.node("nn.softmax", SoftmaxAttrs(1.0), b.pooled(b.input(1, 3, 5, 6)))
    assert ops(after(b.graph(x))) == ["LT", "nn.max_pool2d", "LT", "nn.softmax"]


def test_a_change_that_moves_nothing_is_a_reshape() -> None:
    b = Builder()
    assert ops(after(b.graph(b.last(b.input(1, 1, 4, 5))))) == ["reshape"]
    assert ops(after(b.graph(b.first(b.input(3, 1, 1, 5))))) == ["reshape"]
    assert ops(after(b.graph(b.last(b.input(1, 2, 4, 5))))) == ["LT"]


def test_a_transpose_cancels_too_and_stays_one_alone() -> None:
    b = Builder()
    x = b.node("transpose", TransposeAttrs((0, 3, 1, 2)), b.input(1, 4, 5, 2))
    alone = b.node("transpose", TransposeAttrs((0, 2, 1, 3)), b.input(1, 4, 5, 2))
    graph = after(b.graph(b.pooled(x), alone))
    assert ops(graph) == ["nn.max_pool2d", "LT", "transpose"]


def test_integers_with_a_scale_move() -> None:
    b = Builder(DType.INT8, Quant((0.5,), (3,)))
    x = b.pooled(b.input(1, 3, 4, 4))
    graph = after(b.graph(b.pooled(b.node("maximum", MaximumAttrs(), x, b.constant(3, 1, 1)))))
    assert ops(graph) == ["LT", "nn.max_pool2d", "reshape", "maximum", "nn.max_pool2d", "LT"]
    assert {t.quant for t in graph.types.values()} == {Quant((0.5,), (3,))}


@pytest.mark.parametrize("place", [{"target": "npu"}, {"target": "npu", "function": "npu_0"}])
def test_nothing_crosses_from_one_target_to_another(place: Mapping[str, str]) -> None:
    b = Builder()
    graph = after(b.graph(b.pooled(b.pooled(b.input(1, 3, 5, 6), **place))))
    assert [(op, n.target) for op, n in zip(ops(graph), graph.nodes, strict=True)] == [
        ("LT", "npu"),
        ("nn.max_pool2d", "npu"),
        ("LT", "npu"),
        ("LT", ""),
        ("nn.max_pool2d", ""),
        ("LT", ""),
    ]


def test_the_nodes_of_an_external_function_stay_together() -> None:
    b = Builder()
    place = {"target": "npu", "function": "npu_0"}
    x = b.input(1, 3, 5, 6)
    inside = b.pooled(x, **place)
    aside = b.node("exp", ExpAttrs(), x)
    graph = after(b.graph(b.node("exp", ExpAttrs(), inside), aside))
    assert [n.function for n in graph.nodes] == ["npu_0"] * 3 + ["", ""]


def test_a_convolution_in_the_middle_is_reached() -> None:
    b = Builder()
    attrs = Conv2DAttrs((1, 1), (1, 1), (0, 0, 0, 0), Activation.NONE, Rounding.DOUBLE)
    x = b.input(1, 3, 6, 6)
    for _ in range(3):
        weight = b.node(
            "layout_transform", LayoutTransformAttrs("OIHW", "OHWI"), b.input(3, 3, 2, 2)
        )
        x = b.first(b.node("nn.conv2d", attrs, b.last(x), weight))
        x = b.node("add", ADD, x, b.input(3, 1, 1))
    graph = after(b.graph(x))
    assert sum(n.attrs in (TO_LAST, TO_FIRST) for n in graph.nodes) == 2


def random_graph(rng: np.random.Generator, dtype: DType) -> Graph:
    b = Builder(dtype, Quant((0.25,), (-2,)) if dtype is DType.INT8 else None)
    live = [b.input(1, 3, 4, 5) for _ in range(2)]
    for _ in range(int(rng.integers(4, 14))):
        live.append(_step(b, live, rng))
    count = int(rng.integers(1, 4))
    return b.graph(*(str(name) for name in rng.choice(live, count, replace=False)))


def _step(b: Builder, live: Sequence[str], rng: np.random.Generator) -> str:
    x = str(rng.choice(live))
    shape = b.types[x].shape
    alike = [name for name in live if b.types[name].shape == shape]
    rank4 = len(shape) == 4
    axis = int(rng.integers(len(shape))) if shape else 0
    match int(rng.integers(7)):
        case 0 if rank4 and min(shape[2:]) > 1:
            return b.pooled(x)
        case 1 if rank4:
            return (b.first if rng.integers(2) else b.last)(x)
        case 2:
            return b.node("maximum", MaximumAttrs(), x, str(rng.choice(alike)))
        case 3:
            sides = [int(n) if rng.integers(2) else 1 for n in shape][
                int(rng.integers(len(shape) + 1)) :
            ]
            return b.node("maximum", MaximumAttrs(), b.constant(*sides), x)
        case 4 if shape:
            return b.node("concatenate", ConcatenateAttrs(axis), x, str(rng.choice(alike)))
        case 5 if shape:
            return b.node("max", MaxAttrs((axis,), bool(rng.integers(2))), x)
        case _:
            return b.node("nn.pad", PadAttrs(tuple((int(rng.integers(2)), 0) for _ in shape), 1), x)


def test_a_change_moves_past_a_lookup_and_not_into_its_table() -> None:
    b = Builder(DType.INT8, Quant((0.25,), (-2,)))
    x = b.node("lookup", LookupAttrs("sigmoid"), b.pooled(b.input(1, 3, 6, 5)), b.constant(256))
    graph = after(b.graph(b.pooled(x)))
    assert ops(graph) == ["LT", "nn.max_pool2d", "lookup", "nn.max_pool2d", "LT"]


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.INT8])
@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_compute_the_same_with_no_more_changes(seed: int, dtype: DType) -> None:
    graph = random_graph(np.random.default_rng(seed), dtype)
    found = after(graph, seed)
    assert ops(found).count("LT") <= ops(graph).count("LT")
