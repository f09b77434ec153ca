"""The pattern table merges what it should, and the merged operators compute the same."""

from __future__ import annotations

import numpy as np
import pytest

from microgen import relay
from microgen.frontends.relay.convert import convert as from_module
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.relay.expr import Expr, Function
from microgen.relay.module import IRModule
from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.dnnl import codegen, composites
from microgen.tvm.codegens.dnnl.composites import SUPPORT
from tests.frontends.relay.random_networks import Network
from tests.relay import seed
from tests.tvm.codegens.dnnl import reference

_SHAPES = ((1, 3, 5, 6), (4, 3))
_IMAGE = relay.var("x", shape=_SHAPES[0])
_ROWS = relay.var("r", shape=_SHAPES[1])
_PARAMS = (_IMAGE, _ROWS)
_RNG = np.random.default_rng(11)


def _weight(*shape: int) -> Expr:
    return relay.const(_RNG.standard_normal(shape).astype(np.float32))


def _conv(image: Expr = _IMAGE) -> Expr:
    found: Expr = relay.nn.conv2d(image, _weight(3, 3, 3, 3), padding=(1, 1))
    return found


def _dense() -> Expr:
    found: Expr = relay.nn.dense(_ROWS, _weight(3, 3))
    return found


def _biased() -> Expr:
    found: Expr = relay.nn.bias_add(_conv(), _weight(3))
    return found


def _swish(x: Expr) -> Expr:
    found: Expr = relay.multiply(x, relay.sigmoid(x))
    return found


def _module(body: Expr) -> IRModule:
    return relay.infer_type(IRModule.from_expr(Function(_PARAMS, body)))


def _kernels(module: IRModule) -> tuple[str, ...]:
    assert module.types is not None
    graph = codegen.serialize("f", module["main"], module.types).graph
    return graph.named("kernel")


def _partitioned(module: IRModule) -> IRModule:
    module = relay.transform.MergeComposite(SUPPORT.patterns)(module)
    module = relay.transform.AnnotateTarget([SUPPORT])(module)
    module = relay.transform.MergeCompilerRegions()(module)
    return relay.transform.PartitionGraph()(module)


def test_names_are_read_back() -> None:
    names = [pattern.name for pattern in SUPPORT.patterns]
    assert len(set(names)) == len(names) == 3 + 2 * (2 * len(composites.ACTIVATIONS) + 1)
    assert all(composites.parse(name) for name in names)


_RESIDUAL = relay.nn.relu(_conv())
_CASES: list[tuple[Expr, tuple[str, ...]]] = [
    (relay.nn.relu(_biased()), ("dnnl.conv2d_bias_relu",)),
    (relay.nn.relu(relay.add(_conv(), _weight(3, 1, 1))), ("dnnl.conv2d_bias_relu",)),
    (relay.nn.relu(relay.add(_weight(1, 3, 1, 1), _conv())), ("dnnl.conv2d_bias_relu",)),
    (relay.nn.relu(relay.add(_conv(), _weight(6))), ("nn.conv2d", "add", "nn.relu")),
    (relay.tanh(_conv()), ("dnnl.conv2d_tanh",)),
    (relay.sigmoid(relay.add(_dense(), _weight(3))), ("dnnl.dense_bias_sigmoid",)),
    (relay.clip(_biased(), 0.0, 6.0), ("dnnl.conv2d_bias_clip",)),
    (_swish(_biased()), ("dnnl.conv2d_bias_swish",)),
    (_swish(_dense()), ("dnnl.dense_swish",)),
    (_biased(), ("dnnl.conv2d_bias",)),
    (_conv(), ("nn.conv2d",)),
    (
        relay.nn.relu(relay.add(relay.nn.bias_add(_conv(_RESIDUAL), _weight(3)), _RESIDUAL)),
        ("dnnl.conv2d_relu", "dnnl.conv2d_bias_sum_relu"),
    ),
    (relay.add(_IMAGE, _biased()), ("dnnl.conv2d_bias_sum",)),
    (relay.add(relay.nn.bias_add(_dense(), _weight(3)), _weight(4, 3)), ("dnnl.dense_bias_sum",)),
    (relay.add(relay.tanh(_IMAGE), _conv()), ("tanh", "nn.conv2d", "add")),
]


@pytest.mark.parametrize(("body", "kernels"), _CASES)
def test_patterns_are_merged(body: Expr, kernels: tuple[str, ...]) -> None:
    before = _module(body)
    merged = relay.transform.MergeComposite(SUPPORT.patterns)(before)
    assert _kernels(merged) == kernels
    assert merged.types is not None
    inputs = [_RNG.standard_normal(shape).astype(np.float32) for shape in _SHAPES]
    found = codegen.serialize("f", merged["main"], merged.types)
    results = reference.evaluate(found.graph, inputs, found.constants)
    graph = from_module(before, file="f")
    values = evaluate(graph, dict(zip(graph.inputs, inputs, strict=True)), registry())
    np.testing.assert_allclose(results[0], values[graph.outputs[0]], rtol=1e-5, atol=1e-5)


def test_the_notes_demo_is_partitioned_as_they_show() -> None:
    module = relay.transform.AnnotateTarget([SUPPORT])(seed.demo())
    partitioned = relay.transform.PartitionGraph()(module)
    assert f"{partitioned}\n" == seed.PARTITIONED


def test_the_demo_is_one_function_with_composites_merged() -> None:
    module = _partitioned(seed.demo())
    assert module.types is not None
    (symbol,) = (name for name in module.functions if name != "main")
    found = codegen.serialize(symbol, module[symbol], module.types)
    assert found.graph.named("kernel") == ("dnnl.conv2d_bias_relu",)


@pytest.mark.parametrize("number", range(40))
def test_functions_of_random_networks_compute_the_same(number: int) -> None:
    network = Network(number).function(8)
    module = _partitioned(relay.infer_type(IRModule.from_expr(network)))
    assert module.types is not None
    rng = np.random.default_rng(number)
    for symbol in [name for name in module.functions if name != "main"]:
        function = module[symbol]
        found = codegen.serialize(symbol, function, module.types)
        assert json_graph.loads(json_graph.dumps(found.graph)) == found.graph
        types = [param.type_annotation for param in function.params]
        inputs = [rng.standard_normal(t.shape).astype(np.float32) for t in types]
        results = reference.evaluate(found.graph, inputs, found.constants)
        plain = Function(function.params, function.body)
        graph = from_module(IRModule.from_expr(plain), file=symbol)
        values = evaluate(graph, dict(zip(graph.inputs, inputs, strict=True)), registry())
        for name, result in zip(graph.outputs, results, strict=True):
            spread = float(np.ptp(values[name])) or 1.0
            np.testing.assert_allclose(result, values[name], rtol=1e-5, atol=1e-5 * spread)
