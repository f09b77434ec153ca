"""After every pass, each tensor that bears a name of the model has the value that the model gives
it: on random networks of every kind, on examples, and on the models next to the checkout. A pass
that keeps a wrong name is found."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.compiler import passes
from microgen.compiler.passes.cancel_layouts import cancel_layouts
from microgen.compiler.passes.dead_channels import dead_channels
from microgen.compiler.passes.fuse_activation import fuse_activation
from microgen.compiler.passes.scale_weights import scale_weights
from microgen.frontends.onnx import convert
from microgen.graph.ir import beside, interpreter
from microgen.graph.ir.beside import Kept
from microgen.graph.ir.graph import Array, DType, Graph, KeptChannels, TensorLayout, frozen
from microgen.graph.ops import registry
from tests.compiler.passes import chains
from tests.compiler.passes.naming_checks import samples, wrong_names
from tests.compiler.passes.test_dead_networks import _planted
from tests.compiler.passes.test_updates import _random
from tests.differential import evaluation
from tests.differential.generator import generate
from tests.frontends.onnx import (
    elementwise_cases,
    movement_cases,
    network_cases,
    node_tests,
    one_node,
)
from tests.frontends.onnx.graphs import float_networks, quantized_networks
from tests.frontends.relay import random_networks
from tests.frontends.relay.evaluated import graph_of
from tests.support import compiling, dead_networks, streaming
from tests.support.graphs import Builder

EXAMPLES = Path(__file__).parents[3] / "examples"
HALF = 0.5 + 2.0**-8  # of a step, and what floats are off beside it
Make = Callable[[int, Path], Graph]


def _tflite(seed: int, _folder: Path) -> Graph:
    case = generate(seed)
    return evaluation.graph_of(case.net, case.outputs)


def _loaded(model: onnx.ModelProto, folder: Path) -> Graph:
    onnx.save(model, folder / "m.onnx")
    return frontends.load(folder / "m.onnx")


MAKERS: dict[str, Make] = {
    "chains": chains.graph,
    "tflite": _tflite,
    "floats": lambda seed, folder: _loaded(float_networks.generate(seed).model, folder),
    "quantized": lambda seed, folder: _loaded(quantized_networks.generate(seed).model, folder),
    "relay": lambda seed, _: graph_of(random_networks.Network(seed).function(7)),
    "variables": lambda seed, _: _random(seed),
    "dead channels": lambda seed, _: _planted(seed),
}
FIRST = {"chains": 6, "tflite": 4}  # seeds of `make test`; of others 3


@pytest.mark.parametrize("kind", MAKERS)
def test_names_keep_their_values_in_random_networks(kind: str, tmp_path: Path) -> None:
    _check(kind, range(FIRST.get(kind, 3)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 400, 50))
@pytest.mark.parametrize("kind", MAKERS)
def test_names_keep_their_values_in_more_random_networks(
    kind: str, first: int, tmp_path: Path
) -> None:
    _check(kind, range(first, first + 50), tmp_path)


def _check(kind: str, seeds: range, folder: Path) -> None:
    wrong = {seed: wrong_names(MAKERS[kind](seed, folder)) for seed in seeds}
    assert not any(wrong.values()), wrong


def test_names_keep_their_values_in_examples(tmp_path: Path) -> None:
    (tmp_path / "dead.tflite").write_bytes(dead_networks.tflite())
    (tmp_path / "wake.tflite").write_bytes(streaming.wake_word())
    found = [*tmp_path.glob("*"), *EXAMPLES.glob("*.relay"), *EXAMPLES.glob("digits/*.tflite")]
    assert len(found) >= 5
    for path in found:
        assert not wrong_names(frontends.load(path)), path


def test_names_keep_their_values_in_networks_of_one_operator_each(tmp_path: Path) -> None:
    for module in (network_cases, elementwise_cases, movement_cases):
        ordered = sorted(module.CASES, key=lambda case: case.opset)
        for _, group in itertools.groupby(ordered, lambda case: case.opset):
            graph = one_node.loaded(one_node.model(tuple(group))[0], tmp_path)
            assert not wrong_names(graph, count=1)


@pytest.mark.slow
def test_names_keep_their_values_in_the_node_tests(tmp_path: Path) -> None:
    checked = 0
    for case in node_tests.cases():
        result = node_tests.tried(case, tmp_path / "m.onnx", binds=True)
        if result.kind == "ok" and result.graph is not None:
            given = [np.asarray(case.named_inputs[name]) for name in result.graph.inputs]
            assert not wrong_names(result.graph, given=[given]), case.name
            checked += 1
    assert checked > 500


@pytest.mark.parametrize(
    "name",
    [
        "ad01_int8",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("kws_ref_model", "vww_96_int8")),
        *(
            pytest.param(n, marks=pytest.mark.slow)
            for n in ("pretrainedResnet_quant", "str_ww_ref_model", "ad01_fp32", "vww_96_float")
        ),
    ],
)
def test_names_keep_their_values_in_benchmarks(name: str, mlperf_models: Path) -> None:
    assert not wrong_names(frontends.load(mlperf_models / f"{name}.tflite"), count=1)


@pytest.mark.slow
def test_names_keep_their_values_in_real_networks(mlperf_models: Path) -> None:
    folder = mlperf_models / "real"
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}")
    checked, wrong = 0, {}
    for path in sorted(folder.glob("*.tflite")):
        if path.stat().st_size < 2**22:
            try:
                graph = frontends.load(path)
            except MicrogenError:
                continue
            checked += 1
            wrong[path.name] = wrong_names(graph, count=1)
    assert checked > 50
    assert not any(wrong.values()), {name: each for name, each in wrong.items() if each}


def _named(graph: Graph, names: dict[str, str]) -> Graph:
    """The graph with tensors under other names."""

    def new(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, name) for name in given)

    nodes = tuple(
        dataclasses.replace(node, inputs=new(node.inputs), outputs=new(node.outputs))
        for node in graph.nodes
    )
    types = {**graph.types, **{names[n]: t for n, t in graph.types.items() if n in names}}
    constants = {names.get(name, name): array for name, array in graph.constants.items()}
    return graph.replace(
        nodes=nodes,
        types=types,
        constants=constants,
        outputs=new(graph.outputs),
        int4=frozenset(new(tuple(graph.int4))),
    )


@pytest.mark.parametrize("kind", ["chains", "tflite", "dead channels"])
def test_a_model_may_have_the_names_that_passes_make(kind: str, tmp_path: Path) -> None:
    """Also for tensors that earlier passes remove."""
    taken = 0
    for seed in range(4):
        graph = MAKERS[kind](seed, tmp_path)
        after = passes.run(graph)
        made = sorted(after.types.keys() - graph.types.keys())
        ports = {*graph.inputs, *graph.variables, *graph.results}
        inner = [name for name in graph.types if name not in ports]
        for own in (inner, inner[::-1]):
            names = dict(zip(own, made, strict=False))
            renamed = _named(graph, names)
            types = {n: t for n, t in renamed.types.items() if n not in names}
            renamed = renamed.replace(types=types)
            passes.run(renamed)  # checks the graph after each pass
            assert not wrong_names(renamed, count=1)
            taken += len(names)
    assert taken >= 4


def test_an_output_that_is_listed_twice_gets_no_other_tensors_name() -> None:
    b = Builder()
    first = b.conv(b.input(1, 4, 4, 2), 3)
    last = b.conv(first, 2)
    graph = _named(b.graph(last, last), {first: f"{last}_1"})
    ports = compiling.program_of(graph).outputs
    assert [port.tensor for port in ports] == [last, f"{last}_2"]


# Passes with an error.


def _keeps_old_names(step: passes.Pass) -> passes.Pass:
    """A pass that gives the names of tensors that it replaces to those that replace them."""

    def planted(graph: Graph) -> Graph:
        after = step(graph)
        made = {(node.origin, node.op): node.outputs[0] for node in graph.nodes}
        old = {
            node.outputs[0]: made[node.origin, node.op]
            for node in after.nodes
            if node.outputs[0] in after.laid_out.keys() - graph.laid_out.keys()
        }
        kept = {n: layout for n, layout in after.laid_out.items() if n not in old}
        return _named(after, old).replace(laid_out=kept)

    planted.__name__ = step.__name__
    return planted


def _viewed(features: int) -> onnx.ModelProto:
    """A dense layer, then a product and a clamp of its result in another shape."""
    rng = np.random.default_rng(features)
    shapes = {"w": (5, features), "f": (features,)}
    arrays = {n: rng.uniform(-1, 1, shape).astype(np.float32) for n, shape in shapes.items()}
    arrays["s"] = np.array([2, 1, features], np.int64)
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["a"]),
        onnx.helper.make_node("Reshape", ["a", "s"], ["b"]),
        onnx.helper.make_node("Mul", ["b", "f"], ["c"]),
        onnx.helper.make_node("Relu", ["c"], ["d"]),
    ]
    kinds = {"x": [2, 5], "d": [2, 1, features]}
    given, made = (onnx.helper.make_tensor_value_info(n, 1, kinds[n]) for n in kinds)
    own = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = onnx.helper.make_graph(nodes, "viewed", [given], [made], own)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])


def _reverses_layouts(graph: Graph) -> Graph:
    after = cancel_layouts(graph)
    turned = {
        name: TensorLayout(each.tensor, tuple((s, tuple(np.argsort(a))) for s, a in each.moves))
        for name, each in after.laid_out.items()
    }
    return after.replace(laid_out=turned)


def _shifts_channels(graph: Graph) -> Graph:
    after = dead_channels(graph)
    return after.replace(
        channels={
            name: KeptChannels(each.count, tuple(range(len(each.kept))))
            for name, each in after.channels.items()
        }
    )


def _keeps_names_of_constants(graph: Graph) -> Graph:
    """What the pass did to constants before they got new names."""
    after = dead_channels(graph)
    old = {name: name.partition("#")[0] for name in after.constants if name not in graph.constants}
    return _named(after, old)


def _with(step: passes.Pass, planted: passes.Pass) -> tuple[passes.Pass, ...]:
    return tuple(planted if each is step else each for each in passes.DEFAULT_PIPELINE)


@pytest.mark.parametrize("step", [fuse_activation, scale_weights])
def test_a_pass_that_keeps_the_name_of_a_tensor_that_it_changed_is_found(
    step: passes.Pass, tmp_path: Path
) -> None:
    pipeline = _with(step, _keeps_old_names(step))
    graphs = [_loaded(_viewed(features), tmp_path) for features in (3, 4)]
    found = [wrong_names(graph, pipeline, 1) for graph in graphs]
    assert all(found)
    assert all(each.startswith(step.__name__) for wrong in found for each in wrong[:1])


def test_a_wrong_layout_is_found(tmp_path: Path) -> None:
    pipeline = _with(cancel_layouts, _reverses_layouts)[:1]
    found = [wrong_names(chains.graph(seed, tmp_path), pipeline, 1) for seed in range(8)]
    assert sum(map(bool, found)) >= 2


@pytest.mark.parametrize("planted", [_shifts_channels, _keeps_names_of_constants])
def test_wrong_channels_and_constants_are_found(planted: passes.Pass, tmp_path: Path) -> None:
    (tmp_path / "dead.tflite").write_bytes(dead_networks.tflite())
    graph = frontends.load(tmp_path / "dead.tflite")
    assert wrong_names(graph, _with(dead_channels, planted))


def test_a_changed_value_is_found_in_the_tensor_that_has_it() -> None:
    """The layers after it are right, given what they read."""

    def planted(graph: Graph) -> Graph:
        (weight,) = [node.inputs[1] for node in graph.nodes if node.op == "nn.dense"][:1]
        changed = graph.constants[weight] + graph.constants[weight].dtype.type(1)
        return graph.replace(constants={**graph.constants, weight: frozen(changed)})

    graph = frontends.load(next(EXAMPLES.glob("digits/*.tflite")))
    layer = next(node for node in graph.nodes if node.op == "nn.dense")
    found = wrong_names(graph, [planted], 1)
    named = {layer.inputs[1], layer.outputs[0]}
    assert {one.split('"')[1] for one in found} == named


# Names of ONNX's quantized tensors, before there are passes.


def _recognised(model: onnx.ModelProto, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """The graph with floats between conversions, before ``recognised`` makes them integers."""
    seen: list[Graph] = []
    own = convert.recognised

    def watched(graph: Graph, *others: object) -> Graph:
        seen.append(graph)
        return own(graph, *others)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(convert, "recognised", watched)
        _loaded(model, folder)
    return seen[0]


def _as_stored(array: Array, graph: Graph, name: str) -> Array | None:
    """A value of the new graph as the model stores it; None if the model has no such tensor."""
    kind = graph.types.get(name)
    if kind is None or array.size != kind.size:
        return None
    if kind.dtype is DType.UINT8 and array.dtype == np.int8:
        array = array.view(np.uint8) ^ np.uint8(128)
    return array.reshape(kind.shape) if array.dtype == kind.dtype.numpy else None


def _steps_off(stored: Array, data: Array, graph: Graph, name: str) -> float:
    """How far stored integers are from the floats that they mean, in steps."""
    kind, limits = graph.types[name], np.iinfo(stored.dtype)
    exact = data.astype(np.float64) / kind.scale + kind.zero_point
    return float(np.abs(stored - np.clip(exact, limits.min, limits.max)).max(initial=0))


def _interpolated(graph: Graph) -> set[str]:
    """Integers of int16 that depend on a function of int16, whose kernel interpolates: they may be
    one step farther off than others."""
    names: set[str] = set()
    for node in graph.nodes:
        function = node.op in ("lookup", "sigmoid", "tanh")
        if function or names.intersection(node.inputs):
            names |= {n for n in node.outputs if graph.types[n].dtype is DType.INT16}
    return names


@pytest.mark.parametrize(
    "seeds", [range(8), pytest.param(range(8, 300), marks=pytest.mark.slow)], ids=str
)
def test_stored_integers_are_half_a_step_from_the_floats_that_they_mean(
    seeds: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The floats are those that the model computes from the stored integers before them."""
    compared = 0
    for seed in seeds:
        model = quantized_networks.generate(seed).model
        before = _recognised(model, tmp_path, monkeypatch)
        after = frontends.load(tmp_path / "m.onnx")
        interpolated = _interpolated(after)
        (given,) = samples(after, 1, seed)
        inputs = dict(zip(before.inputs, given, strict=True))
        values = interpreter.evaluate(after, inputs, registry())
        stored = {name: _as_stored(array, before, name) for name, array in values.items()}
        found = {name: array for name, array in stored.items() if array is not None}
        floats: dict[str, Array] = {}
        for one in beside.walk(before, inputs, registry(), found, Kept.at_first(before)):
            floats[one.tensor] = one.values if one.found is None else one.found
            if one.found is None:
                continue
            place = f"seed {seed}: {one.node.op} {one.tensor}"
            compared += 1
            if one.node.op == "qnn.quantize" and one.node.inputs[0] in floats:
                off = _steps_off(one.found, floats[one.node.inputs[0]], before, one.tensor)
                assert off <= HALF + (one.tensor in interpolated), place
            else:
                assert not beside.exceeds(one.found, one.values, one.bound).any(), place
    assert compared > len(seeds)
