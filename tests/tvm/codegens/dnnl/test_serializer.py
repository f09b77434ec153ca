"""Functions that are serialized and read back compute the same as the graph of the function."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import UnsupportedError
from microgen.frontends.relay.convert import convert as from_module
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.relay.expr import Call, Expr, Function
from microgen.relay.module import IRModule
from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.dnnl import codegen
from tests.tvm.codegens.dnnl import reference
from tests.tvm.codegens.dnnl.random_functions import random_function, random_inputs


@pytest.mark.parametrize("seed", range(150))
def test_random_functions(seed: int) -> None:
    module = random_function(seed)
    assert module.types is not None
    found = codegen.serialize("f", module["main"], module.types)
    text = json_graph.dumps(found.graph)
    assert json_graph.loads(text) == found.graph
    assert json_graph.dumps(json_graph.loads(text)) == text
    _check_numbering(found)
    inputs = random_inputs(module, seed)
    graph = from_module(module, file="f")
    values = evaluate(graph, dict(zip(graph.inputs, inputs, strict=True)), registry())
    results = reference.evaluate(json_graph.loads(text), inputs, found.constants)
    for name, result in zip(graph.outputs, results, strict=True):
        spread = float(np.ptp(values[name])) or 1.0
        assert result.dtype == np.float32
        assert result.shape == values[name].shape
        np.testing.assert_allclose(result, values[name], rtol=1e-5, atol=1e-5 * spread)


def _check_numbering(found: json_graph.Serialized) -> None:
    graph = found.graph
    leaves = [i for i, node in enumerate(graph.nodes) if not node.inputs]
    assert list(graph.arg_nodes) == leaves
    counts = [len(node.shapes) for node in graph.nodes]
    assert list(graph.node_row_ptr) == [0, *itertools.accumulate(counts)]
    assert graph.named("const") == found.const_names
    assert found.const_names == tuple(f"dnnl_f_const_{i}" for i in range(len(found.constants)))
    shapes = [node.shapes[0] for node in graph.nodes if node.op == "const"]
    assert shapes == [array.shape for array in found.constants]


def test_the_random_functions_have_every_operator() -> None:
    names = set()
    for seed in range(150):
        module = random_function(seed)
        assert module.types is not None
        graph = codegen.serialize("f", module["main"], module.types).graph
        names.update(graph.named("kernel"))
    composites = {name for name in names if name.startswith("dnnl.")}
    assert len(composites) > 20
    assert names - composites == reference.OPERATORS - {"nn.batch_matmul"}


_X = relay.var("x", shape=(2, 3))
_W = relay.var("w", shape=(4, 3))
_WRONG: list[tuple[str, Expr, str]] = [
    (
        "dnnl.dense_gelu",
        relay.nn.dense(_X, _W),
        "the call is dnnl.dense_gelu, which is not a pattern",
    ),
    ("dnnl.dense_relu", relay.nn.dense(_X, _W), "the call has no nn.relu in its place"),
    ("dnnl.conv2d_relu", relay.nn.relu(_X), "the call is dnnl.conv2d_relu without an nn.conv2d"),
    (
        "dnnl.dense_relu",
        relay.nn.relu(relay.nn.dense(relay.tanh(_X), _W)),
        "the call calls a function with an operand that is not one of its parameters",
    ),
]


@pytest.mark.parametrize(("name", "body", "what"), _WRONG)
def test_a_composite_that_is_not_what_its_name_says_is_refused(
    name: str, body: Expr, what: str
) -> None:
    outer = [relay.var("a", shape=(2, 3)), relay.var("b", shape=(4, 3))]
    composite = Function([_X, _W], body, attrs={"Composite": name})
    module = relay.infer_type(IRModule.from_expr(Function(outer, Call(composite, outer))))
    assert module.types is not None
    with pytest.raises(UnsupportedError, match=what):
        codegen.serialize("f", module["main"], module.types)


def test_constants_inside_a_composite_are_operands_too() -> None:
    bias = relay.const(np.arange(4, dtype=np.float32))
    body = relay.clip(relay.nn.bias_add(relay.nn.dense(_X, _W), bias), -1.0, 0.5)
    outer = [relay.var("a", shape=(4, 3)), relay.var("b", shape=(2, 3))]
    composite = Function([_W, _X], body, attrs={"Composite": "dnnl.dense_bias_clip"})
    module = relay.infer_type(IRModule.from_expr(Function(outer, Call(composite, outer))))
    assert module.types is not None
    found = codegen.serialize("f", module["main"], module.types)
    assert found.graph.nodes[-1].inputs == ((1, 0, 0), (0, 0, 0), (2, 0, 0))
    attrs = {"units": ("",), "out_dtype": ("",), "a_min": ("-1",), "a_max": ("0.5",)}
    assert found.graph.nodes[-1].attrs == attrs


def test_a_padding_becomes_four_numbers() -> None:
    image, weight = relay.var("i", shape=(1, 1, 4, 4)), relay.const(np.ones((1, 1, 1, 1), "f"))
    conv = relay.nn.conv2d(image, weight, padding=(1, 2))
    short = Call(conv.op, conv.args, {**conv.attrs, "padding": (1, 2)})
    module = relay.infer_type(IRModule.from_expr(Function([image], short)))
    assert module.types is not None
    found = codegen.serialize("f", module["main"], module.types)
    assert found.graph.nodes[-1].attrs["padding"] == ("1", "2", "1", "2")
