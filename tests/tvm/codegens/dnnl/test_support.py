"""What the runtime takes, and the reasons for its refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from microgen import relay
from microgen.relay.expr import Call, Expr, Function, Op, Tuple, Var
from microgen.relay.module import IRModule
from microgen.relay.transform import OperatorCall
from microgen.relay.visit import post_order
from microgen.tvm.codegens.dnnl import codegen, composites
from microgen.tvm.codegens.dnnl.support import OPERATORS
from tests.tvm.codegens.dnnl import reference
from tests.tvm.codegens.dnnl.random_functions import random_function

_IMAGE = relay.var("x", shape=(1, 4, 8, 9))
_LAST = relay.var("l", shape=(1, 8, 9, 4))
_ROWS = relay.var("r", shape=(3, 4))
_DEEP = relay.var("d", shape=(1, 1, 2, 1, 3))
_INT8 = relay.var("q", shape=(1, 4, 8, 9), dtype="int8")
_PARAMS = (_IMAGE, _LAST, _ROWS, _DEEP, _INT8)


def _weight(*shape: int) -> Expr:
    return relay.const(np.ones(shape, np.float32))


def _typed(result: Expr, params: Sequence[Var] = _PARAMS) -> IRModule:
    return relay.infer_type(IRModule.from_expr(Function(params, result)))


def _answer(call: Expr) -> str | None:
    module = _typed(call)
    assert module.types is not None
    assert isinstance(call, Call)
    assert isinstance(call.op, Op)
    args = tuple(module.types[arg] for arg in call.args)
    seen = OperatorCall(call.op.name, call.attrs, args, module.types[call], (None,) * len(args))
    return OPERATORS[call.op.name](seen)


def test_what_has_a_predicate_has_a_meaning() -> None:
    assert OPERATORS.keys() == reference.OPERATORS
    assert "nn.bias_add" not in OPERATORS  # in the notes it runs on the host


@pytest.mark.parametrize("seed", range(40))
def test_what_random_functions_have_is_taken(seed: int) -> None:
    module = random_function(seed)
    types = module.types
    assert types is not None
    for expr in post_order(module["main"]):
        match expr:
            case Call(op=Op(name)) if name != "nn.bias_add":
                args = tuple(types[arg] for arg in expr.args)
                call = OperatorCall(name, expr.attrs, args, types[expr], (None,) * len(args))
                assert OPERATORS[name](call) is None
            case Call(op=Function() as function):
                assert composites.refusal(function.attrs["Composite"], function.body, types) is None


_REFUSED: list[tuple[Expr, str]] = [
    (relay.nn.relu(_INT8), "a tensor is Tensor[(1, 4, 8, 9), int8]; the runtime computes in"),
    (relay.nn.relu(relay.zeros((2, 0), "float32")), "is empty"),
    (relay.tanh(relay.zeros((1,) * 7, "float32")), "a tensor has 7 axes; the runtime takes up to"),
    (
        relay.nn.conv2d(
            relay.transpose(_IMAGE, (1, 0, 2, 3)), _weight(2, 4, 1, 1), data_layout="CNHW"
        ),
        "data_layout is CNHW; the runtime takes NCHW or NHWC",
    ),
    (
        relay.nn.conv2d(_IMAGE, _weight(4, 2, 1, 1), kernel_layout="IOHW"),
        "kernel_layout is IOHW; the runtime takes OIHW or HWIO or OHWI or HWOI",
    ),
    (
        relay.nn.conv2d(_IMAGE, _weight(2, 4, 1, 1), out_layout="NHWC"),
        "out_layout is NHWC; the runtime takes none or NCHW",
    ),
    (relay.nn.conv2d(_IMAGE, _weight(4, 2, 1, 1), groups=4), "has a channel multiplier of 2"),
    (relay.nn.dense(_IMAGE, _weight(2, 9)), "the data is Tensor[(1, 4, 8, 9), float32]"),
    (relay.nn.max_pool2d(_IMAGE, pool_size=(2, 2), ceil_mode=True), "ceil_mode is set"),
    (relay.nn.max_pool2d(_IMAGE, pool_size=(2, 2), dilation=(2, 1)), "the dilation is [2, 1]"),
    (
        relay.nn.avg_pool2d(_IMAGE, pool_size=(2, 3), padding=(0, 3)),
        "the padding [0, 3, 0, 3] is not smaller than the pool of [2, 3]",
    ),
    (relay.nn.avg_pool2d(_IMAGE, pool_size=(2, 2), out_layout="NHWC"), "out_layout is NHWC"),
    (relay.nn.global_avg_pool2d(_IMAGE, layout="CNHW"), "layout is CNHW; the runtime takes"),
    (relay.add(_DEEP, _DEEP), "the result has 5 axes; the runtime broadcasts up to 4"),
]


@pytest.mark.parametrize(("call", "reason"), _REFUSED)
def test_a_refusal_says_why(call: Expr, reason: str) -> None:
    assert reason in (_answer(call) or "taken")


@pytest.mark.parametrize(
    "call",
    [
        relay.nn.conv2d(
            _LAST, _weight(3, 3, 4, 1), data_layout="NHWC", kernel_layout="HWOI", groups=4
        ),
        relay.nn.dense(_ROWS, _weight(5, 4)),
        relay.nn.global_avg_pool2d(_LAST, layout="NHWC", out_layout="NHWC"),
        relay.nn.batch_norm(_LAST, *[_weight(4) for _ in range(4)], axis=-1).astuple(),
        relay.nn.batch_matmul(_weight(2, 3, 4), _weight(1, 5, 4)),
        relay.multiply(_IMAGE, relay.const(2.0)),
        relay.tanh(_DEEP),
    ],
)
def test_what_is_taken(call: Expr) -> None:
    assert _answer(call) is None


_CONV = relay.nn.conv2d(_IMAGE, _weight(2, 4, 1, 1))
_SUM = relay.add(_CONV, _weight(2, 1, 1))
_DENSE = relay.nn.dense(_ROWS, _weight(5, 4))
_OTHER = relay.add(_CONV, _weight(1, 1))


def _refusal(name: str, root: Expr) -> str | None:
    module = _typed(root)
    assert module.types is not None
    return composites.refusal(name, root, module.types)


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("dnnl.conv2d_bias", _SUM),
        ("dnnl.conv2d_bias", relay.add(_weight(1, 2, 1, 1), _CONV)),
        ("dnnl.conv2d_bias", relay.nn.bias_add(_CONV, _weight(2), axis=-3)),
        ("dnnl.conv2d_bias_relu", relay.nn.relu(_SUM)),
        ("dnnl.conv2d_bias_sum", relay.add(_SUM, _OTHER)),
        ("dnnl.conv2d_bias_sum_relu", relay.nn.relu(relay.add(_SUM, _SUM))),
        ("dnnl.conv2d_swish", relay.multiply(relay.sigmoid(_CONV), _CONV)),
        ("dnnl.dense_bias", relay.nn.bias_add(_DENSE, _weight(5))),
        ("dnnl.dense_bias", relay.add(_DENSE, _weight(1, 5))),
        ("dnnl.dense_clip", relay.clip(_DENSE, 0.0, 6.0)),
    ],
)
def test_composites_that_are_taken(name: str, root: Expr) -> None:
    assert _refusal(name, root) is None


@pytest.mark.parametrize(
    ("name", "root", "reason"),
    [
        ("dnnl.conv2d_gelu", _CONV, "is not a pattern of dnnl's"),
        ("dnnl.dense_bias", _SUM, "is dnnl.dense_bias without an nn.dense in its place"),
        ("dnnl.conv2d_relu", _SUM, "has no nn.relu in its place"),
        ("dnnl.conv2d_bias", relay.add(_CONV, _weight(8, 9)), "is not one value per channel of"),
        ("dnnl.conv2d_bias", relay.add(_CONV, _weight(9)), "is not one value per channel of"),
        ("dnnl.conv2d_bias", _OTHER, "is not one value per channel of"),
        ("dnnl.conv2d_bias", relay.add(_CONV, _weight(3, 2, 1, 1)), "is not one value per channel"),
        ("dnnl.conv2d_bias", relay.nn.bias_add(_CONV, _weight(9), axis=3), "is not one value per"),
        ("dnnl.dense_bias", relay.nn.bias_add(_DENSE, _weight(3), axis=0), "is not one value per"),
        ("dnnl.conv2d_bias_sum", relay.add(_SUM, _weight(1, 9)), "of the sum, Tensor[(1, 2, 8, 9)"),
        (
            "dnnl.conv2d_relu",
            relay.nn.relu(relay.nn.conv2d(_IMAGE, _weight(4, 2, 1, 1), groups=4)),
            "has a channel multiplier",
        ),
        (
            "dnnl.conv2d_swish",
            relay.multiply(relay.sigmoid(_CONV), _SUM),
            "product that is not of a value and its sigmoid",
        ),
    ],
)
def test_composites_that_are_refused(name: str, root: Expr, reason: str) -> None:
    assert reason in (_refusal(name, root) or "taken")


def test_what_stays_outside_is_no_part() -> None:
    root = relay.add(_OTHER, _SUM)
    types = _typed(root).types
    assert types is not None
    assert "is not one value per channel" in str(
        composites.refusal("dnnl.conv2d_bias_sum", root, types)
    )
    assert composites.refusal("dnnl.conv2d_bias_sum", root, types, {_OTHER}) is None


def _random(shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def test_all_results_of_a_batch_norm_are_there() -> None:
    rng = np.random.default_rng(3)
    vectors = [abs(_random((4,), rng)) for _ in range(4)]
    normed = relay.nn.batch_norm(_IMAGE, *map(relay.const, vectors))
    module = _typed(Tuple(list(normed)), (_IMAGE,))
    assert module.types is not None
    found = codegen.serialize("f", module["main"], module.types)
    data = _random((1, 4, 8, 9), rng)
    values = reference.evaluate(found.graph, [data], found.constants)
    gamma, beta, mean, variance = (v[:, None, None] for v in vectors)
    expected = (data - mean) / np.sqrt(variance + 1e-5) * gamma + beta
    np.testing.assert_allclose(values[0], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(values[1], vectors[2])
    np.testing.assert_array_equal(values[2], vectors[3])


@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False), (True, True)])
def test_batch_matmul(transposed: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(4)
    lhs = _random((2, 4, 3) if transposed[0] else (2, 3, 4), rng)
    rhs = _random((1, 5, 4) if transposed[1] else (1, 4, 5), rng)
    params = [relay.var("a", shape=lhs.shape), relay.var("b", shape=rhs.shape)]
    product = relay.nn.batch_matmul(*params, transpose_a=transposed[0], transpose_b=transposed[1])
    module = _typed(product, params)
    assert module.types is not None
    graph = codegen.serialize("f", module["main"], module.types).graph
    (found,) = reference.evaluate(graph, [lhs, rhs], [])
    left = lhs.transpose(0, 2, 1) if transposed[0] else lhs
    right = rhs.transpose(0, 2, 1) if transposed[1] else rhs
    np.testing.assert_allclose(found, left @ right, rtol=1e-5, atol=1e-6)
