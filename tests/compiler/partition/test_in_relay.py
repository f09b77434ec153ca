"""The frontend reads a node's Relay back as the same node, with the same types and numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from microgen.compiler.partition import in_relay
from microgen.compiler.passes.padding import canonical_padding
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, Attrs, DType, Graph, Quant
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.reductions.extremes import MaxAttrs, MinAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs, SumAttrs
from microgen.graph.ops.reductions.softmax import LogSoftmaxAttrs, SoftmaxAttrs
from microgen.graph.ops.unary.activations import ClipAttrs, EluAttrs, LeakyReluAttrs
from microgen.graph.ops.unary.functions import AbsAttrs, ExpAttrs, LogAttrs, NegativeAttrs
from microgen.graph.ops.unary.roots import RsqrtAttrs, SqrtAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs, TanhAttrs
from microgen.relay.expr import Call, Op
from microgen.relay.visit import post_order
from tests.compiler.partition.networks import Builder, of_relay, outputs, samples

NONE, RELU, RELU6, UNIT, *_ = Activation
DOUBLE = Rounding.DOUBLE
IMAGE = (2, 5, 6, 4)


@dataclass(frozen=True)
class Case:
    """A node with inputs and constants of these shapes, and the Relay operators that it becomes.

    With ``rounds`` the frontend reads it back as another kind of convolution, whose float32 sums
    round differently. A convolution with one channel per group is read as depthwise, and one of a
    single channel is read as ordinary.
    """

    op: str
    attrs: Attrs
    inputs: tuple[tuple[int, ...], ...]
    operators: str
    constants: tuple[tuple[int, ...], ...] = ()
    dtype: DType = DType.FLOAT32
    rounds: bool = False

    def graph(self) -> Graph:
        b = Builder(dtype=self.dtype)
        names = [b.input(*shape) for shape in self.inputs]
        names += [b.constant(*shape) for shape in self.constants]
        return canonical_padding(b.graph(b.node(self.op, self.attrs, *names)))


def _conv(padding: object = "SAME", activation: Activation = NONE, stride: int = 1) -> Conv2DAttrs:
    return Conv2DAttrs((stride, 1), (1, 2), padding, activation, DOUBLE)  # type: ignore[arg-type]


def _depthwise(multiplier: int, activation: Activation = NONE) -> DepthwiseConv2DAttrs:
    return DepthwiseConv2DAttrs((2, 1), (1, 1), (1, 0, 2, 1), multiplier, activation, DOUBLE)


def _dense(activation: Activation = NONE, *, keeps: bool = False) -> DenseAttrs:
    return DenseAttrs(activation, DOUBLE, keeps)


def _pool(kind: type, padding: object, activation: Activation = NONE) -> Attrs:
    made: Attrs = kind((2, 3), (2, 1), padding, activation)
    return made


CONV, BIAS = "nn.conv2d", "nn.conv2d nn.bias_add"
UNARY = {
    "abs": AbsAttrs(),
    "exp": ExpAttrs(),
    "log": LogAttrs(),
    "negative": NegativeAttrs(),
    "rsqrt": RsqrtAttrs(),
    "sigmoid": SigmoidAttrs(),
    "sqrt": SqrtAttrs(),
    "tanh": TanhAttrs(),
}
CASES = [
    *(Case(op, attrs, ((2, 3),), op) for op, attrs in UNARY.items()),
    Case("nn.conv2d", _conv(), (IMAGE,), CONV, ((3, 3, 2, 4),)),
    Case("nn.conv2d", _conv("VALID", RELU, 2), (IMAGE,), f"{BIAS} nn.relu", ((3, 3, 2, 4), (3,))),
    Case("nn.conv2d", _conv((1, 0, 2, 1), RELU6), (IMAGE,), f"{BIAS} clip", ((2, 3, 2, 4), (2,))),
    Case("nn.conv2d", _conv(), (IMAGE,), BIAS, ((6, 3, 2, 2), (6,))),  # two groups
    Case("nn.conv2d", _conv(), (IMAGE,), CONV, ((4, 3, 2, 1),), rounds=True),
    Case("nn.conv2d", _conv(), (IMAGE,), CONV, ((8, 3, 2, 1),), rounds=True),
    Case("nn.conv2d", _conv("VALID"), (IMAGE, (3, 2, 2, 4), (3,)), BIAS),  # computed weights
    Case("nn.depthwise_conv2d", _depthwise(1), (IMAGE,), CONV, ((1, 3, 2, 4),)),
    Case(
        "nn.depthwise_conv2d", _depthwise(3, UNIT), (IMAGE,), f"{BIAS} clip", ((1, 3, 2, 12), (12,))
    ),
    Case(
        "nn.depthwise_conv2d",
        _depthwise(5),
        ((1, 4, 4, 1),),
        BIAS,
        ((1, 3, 2, 5), (5,)),
        rounds=True,
    ),
    Case("nn.depthwise_conv2d", _depthwise(1), ((1, 4, 4, 1),), CONV, ((1, 3, 2, 1),), rounds=True),
    Case("nn.depthwise_conv2d", _depthwise(1), (IMAGE, (1, 2, 2, 4)), "reshape nn.conv2d"),
    Case("nn.dense", _dense(), ((3, 4),), "nn.dense", ((5, 4),)),
    Case("nn.dense", _dense(RELU), ((3, 4),), "nn.dense nn.bias_add nn.relu", ((5, 4), (5,))),
    Case("nn.dense", _dense(), ((2, 2, 3),), "reshape nn.dense nn.bias_add", ((2, 6), (2,))),
    Case("nn.dense", _dense(keeps=True), ((2, 2, 3),), "nn.dense nn.bias_add", ((2, 3), (2,))),
    Case("nn.dense", _dense(), ((3, 4), (5, 4)), "nn.dense"),
    Case(
        "nn.batch_matmul", BatchMatmulAttrs(False, False), ((2, 3, 4), (2, 4, 5)), "nn.batch_matmul"
    ),
    Case(
        "nn.batch_matmul", BatchMatmulAttrs(True, True), ((1, 4, 3), (2, 5, 4)), "nn.batch_matmul"
    ),
    Case("nn.max_pool2d", _pool(MaxPool2DAttrs, "SAME"), (IMAGE,), "nn.max_pool2d"),
    Case(
        "nn.max_pool2d",
        _pool(MaxPool2DAttrs, (1, 2, 0, 1), RELU),
        (IMAGE,),
        "nn.max_pool2d nn.relu",
    ),
    Case("nn.avg_pool2d", _pool(AvgPool2DAttrs, "SAME", RELU6), (IMAGE,), "nn.avg_pool2d clip"),
    Case(
        "nn.avg_pool2d", _pool(AvgPool2DAttrs, "SAME"), (IMAGE,), "nn.avg_pool2d", dtype=DType.INT32
    ),
    Case("mean", MeanAttrs((1, 2), True), (IMAGE,), "nn.global_avg_pool2d"),
    Case("mean", MeanAttrs((1, 2), False), (IMAGE,), "mean"),
    Case("mean", MeanAttrs((0, 3), True), (IMAGE,), "mean"),
    Case("sum", SumAttrs((1,), False), (IMAGE,), "sum"),
    Case("sum", SumAttrs((0, 1), True), (IMAGE,), "sum", dtype=DType.INT32),
    Case("max", MaxAttrs((2,), True), (IMAGE,), "max"),
    Case("min", MinAttrs((0, 1, 2, 3), False), (IMAGE,), "min"),
    Case("add", AddAttrs(NONE), ((2, 1, 4), (3, 1)), "add"),
    Case("add", AddAttrs(RELU), ((2, 3),), "add nn.relu", ((3,),)),
    Case("add", AddAttrs(RELU6), ((2, 3), (2, 3)), "add clip", dtype=DType.INT32),
    Case("subtract", SubtractAttrs(UNIT), ((2, 3), (2, 3)), "subtract clip"),
    Case("subtract", SubtractAttrs(RELU), ((2, 3), (2, 3)), "subtract nn.relu", dtype=DType.INT32),
    Case("multiply", MultiplyAttrs(RELU6), ((2, 3), (2, 3)), "multiply clip"),
    Case("multiply", MultiplyAttrs(NONE), ((2, 3), (3,)), "multiply", dtype=DType.INT32),
    Case("divide", DivideAttrs(RELU, False), ((2, 3), (2, 3)), "divide nn.relu"),
    Case("maximum", MaximumAttrs(), ((2, 3), (2, 1)), "maximum"),
    Case("minimum", MinimumAttrs(), ((2, 3),), "minimum", ((1,),), DType.INT32),
    *(Case("clip", ClipAttrs(a), ((2, 3),), op) for a, op in ((RELU, "nn.relu"), (UNIT, "clip"))),
    Case("nn.leaky_relu", LeakyReluAttrs(float(np.float32(0.3))), ((2, 3),), "nn.leaky_relu"),
    Case("nn.softmax", SoftmaxAttrs(1.0), ((2, 3, 4),), "nn.softmax"),
    Case("nn.log_softmax", LogSoftmaxAttrs(), ((2, 3),), "nn.log_softmax"),
    Case("reshape", ReshapeAttrs((3, 2)), ((2, 3),), "reshape"),
    Case("reshape", ReshapeAttrs(()), ((1, 1),), "reshape"),
    Case("transpose", TransposeAttrs((2, 0, 1)), ((2, 3, 4),), "transpose"),
    Case("concatenate", ConcatenateAttrs(1), ((2, 3), (2, 1)), "concatenate", ((2, 2),)),
    Case("nn.pad", PadAttrs(((1, 0), (0, 2)), -1.5), ((2, 3),), "nn.pad"),
    Case("nn.pad", PadAttrs(((1, 0), (0, 2)), -7), ((2, 3),), "nn.pad", dtype=DType.INT32),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.operators}")
def test_a_node_in_relay_computes_the_same(case: Case) -> None:
    graph = case.graph()
    (node,) = graph.nodes
    module = in_relay.module(node, graph)
    main = module["main"]
    assert [p.name_hint for p in main.params] == list(graph.inputs)
    operators = [e.op for e in post_order(main) if isinstance(e, Call)]
    assert operators == [Op(name) for name in case.operators.split()]
    assert module.types is not None
    assert module.types[main.body] == in_relay.tensor_type(graph.types[graph.outputs[0]])
    for seed in range(3):
        given = samples(graph, seed)
        with np.errstate(all="ignore"):
            expected = outputs(graph, given)
            (found,) = of_relay(main, [given[name] for name in graph.inputs])
        assert expected is not None
        tolerance = 1e-6 * np.ptp(expected[0]) if case.rounds else 0
        np.testing.assert_allclose(found, expected[0], rtol=0, atol=tolerance)
        assert found.dtype == expected[0].dtype


def test_every_form_has_a_case() -> None:
    assert {case.op for case in CASES} == set(in_relay.supported())


def test_an_operand_that_is_read_twice_is_one_parameter() -> None:
    b = Builder()
    x = b.input(2, 3)
    graph = b.graph(b.add(x, x))
    assert len(in_relay.module(graph.nodes[0], graph)["main"].params) == 1


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (Case("nn.elu", EluAttrs(), ((2, 3),), ""), "nn.elu has no form in Relay"),
        (Case("nn.softmax", SoftmaxAttrs(0.5), ((2, 3),), ""), "its beta is 0.5"),
        (
            Case("divide", DivideAttrs(NONE, False), ((2,), (2,)), "", dtype=DType.INT32),
            "a division of integers by zero",
        ),
        (
            Case("nn.batch_matmul", BatchMatmulAttrs(False, False), ((1, 2, 3, 4), (4, 5)), ""),
            "its operands have 4 and 2 axes",
        ),
        (Case("sum", SumAttrs((), True), ((2,),), ""), "it has no axes"),
        (Case("abs", AbsAttrs(), ((2, 0),), ""), r"float32\[2,0\] is empty"),
        (
            Case("reshape", ReshapeAttrs((6,)), ((2, 3),), "", dtype=DType.INT64),
            "is neither float32 nor plain int32",
        ),
    ],
    ids=lambda value: value.op if isinstance(value, Case) else "",
)
def test_what_has_no_form_has_a_reason(case: Case, why: str) -> None:
    graph = case.graph()
    with pytest.raises(in_relay.NoFormError, match=why):
        in_relay.module(graph.nodes[0], graph)


def test_quantized_nodes_have_no_form() -> None:
    b = Builder()
    x = b.input(2, 3)
    y = b.node("reshape", ReshapeAttrs((6,)), x)
    for name in (x, y):
        b.types[name] = ArrayType(b.types[name].shape, DType.INT8, Quant((0.5,), (0,)))
    graph = b.graph(y)
    with pytest.raises(in_relay.NoFormError, match="TFLite's rounding has no form"):
        in_relay.module(graph.nodes[0], graph)
