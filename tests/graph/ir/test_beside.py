"""The values that layers should compute from an implementation's tensors, and their bounds."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from microgen import kernels
from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir import beside
from microgen.graph.ir.beside import Expected, Kept
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ops import registry
from microgen.running.runner.compare import compare
from tests.differential.generator import generate
from tests.running.runner import standin
from tests.support import float_networks

UNIT = 2.0**-24
KINDS = (
    *("nn.conv2d", "nn.depthwise_conv2d", "nn.dense", "nn.softmax", "nn.lstm", "nn.svdf", "add"),
    *("tanh", "mean", "nn.l2_normalize", "nn.batch_matmul", "image.resize2d", "transpose", "exp"),
)
Single = tuple[Graph, dict[str, Array]]  # a network of one node, and a sample


def _graph(name: str) -> Single:
    model, sample = float_networks.EVERY[name]()
    loaded = frontend.load(model, file="m.tflite", numerics=numerics.profile("litert"))
    return loaded, {"x": sample}


def _walk(graph: Graph, inputs: dict[str, Array], found: dict[str, Array]) -> dict[str, Expected]:
    return {one.tensor: one for one in beside.walk(graph, inputs, registry(), found)}


def _is_beyond(found: Array, one: Expected) -> bool:
    return bool(beside.exceeds(found, one.values, one.bound).any())


def test_the_bound_of_products_is_gamma_of_the_sum_of_magnitudes() -> None:
    graph, inputs = _graph("sine")
    one = _walk(graph, inputs, {})["layer0"]
    weight, bias = (graph.constants[name].astype(np.float64) for name in one.node.inputs[1:])
    # rounding of a product, of adding the bias, and of the reference
    gamma = 3 * UNIT / (1 - 3 * UNIT)
    size = np.abs(inputs["x"] @ weight.T) + np.abs(bias)
    np.testing.assert_allclose(one.bound, gamma * size, rtol=1e-6)


def test_what_is_known_takes_the_references_place() -> None:
    """An error is reported for the layer that made it, and not for layers that read it."""
    graph, inputs = _graph("sine")
    wrong = {name: one.values for name, one in _walk(graph, inputs, {}).items()}
    wrong["layer0"] = wrong["layer0"] + np.float32(1)
    wrong["layer1"] = _walk(graph, inputs, wrong)["layer1"].values
    found = _walk(graph, inputs, wrong)
    assert _is_beyond(wrong["layer0"], found["layer0"])
    assert not _is_beyond(wrong["layer1"], found["layer1"])


@pytest.mark.parametrize("name", float_networks.EVERY)
def test_a_bound_covers_what_may_be_off_before_it(name: str) -> None:
    """A layer whose values are not known passes its bound on.

    If its values are within the bound, the next layer's values are within the next bound.
    """
    graph, inputs = _graph(name)
    whole, rng = _walk(graph, inputs, {}), np.random.default_rng(3)
    names = list(whole)
    for first, second in itertools.pairwise(names):
        one = whole[first]
        off = (one.bound * rng.choice([-0.99, 0.99], one.bound.shape)).astype(np.float32)
        after = _walk(graph, inputs, {first: one.values + off})[second].values
        assert not _is_beyond(after, whole[second])


@pytest.fixture(scope="module")
def singles() -> dict[str, list[Single]]:
    """Layers of random networks by op, two of each."""
    found: dict[str, list[Single]] = {kind: [] for kind in KINDS}
    for seed in range(400):
        if all(len(every) >= 2 for every in found.values()):
            return found
        net = generate(seed, ("float32",), is_shaken=False).net
        for op in net.operators:
            part = net.alone(op)
            model = part.model([str(name) for name in op.outputs])
            graph = frontend.load(model, file="n.tflite", numerics=numerics.profile("litert"))
            if len(graph.nodes) == 1 and graph.nodes[0].op in found:
                sample = {name: part.values[name][0] for name in graph.inputs}
                found[graph.nodes[0].op].append((graph, sample))
    raise AssertionError([kind for kind, every in found.items() if len(every) < 2])


@pytest.mark.parametrize("kind", KINDS)
def test_one_unit_in_the_last_place_too_many_is_found_and_named(
    kind: str, singles: dict[str, list[Single]]
) -> None:
    for graph, inputs in singles[kind]:
        for one in _walk(graph, inputs, {}).values():
            assert np.isfinite(one.bound).all()
            at = np.unravel_index(int(np.argmax(np.abs(one.values))), one.values.shape)
            most = float(one.values[at]) + float(one.bound[at])
            within = np.float32(most)
            within = np.nextafter(within, np.float32(-np.inf)) if float(within) > most else within
            for value, is_right in ((within, True), (np.nextafter(within, np.inf), False)):
                found = np.array(one.values)  # also of a scalar
                found[at] = value
                first = compare(standin.manifest("native"), [(0, replace(one, found=found))]).first
                assert (first is None) == is_right
                if first:
                    assert (first.tensor, first.index) == (one.tensor, tuple(map(int, at)))
                    assert first.layer == one.node.origin.layer


def test_variables_are_those_of_the_implementation(singles: dict[str, list[Single]]) -> None:
    (graph, inputs), *_ = singles["nn.svdf"]
    kept = Kept.at_first(graph)
    (variable,) = graph.variables
    state = np.full(graph.types[variable].shape, 0.5, np.float32)
    first = list(beside.walk(graph, inputs, registry(), {variable: state}, kept))
    assert [one.tensor for one in first] == [*graph.outputs, variable]
    np.testing.assert_array_equal(kept.values[variable], state)
    assert not kept.errors[variable].any()


def test_every_op_whose_float_kernels_are_off_by_ulps_has_a_bound() -> None:
    """The rule "equal" is not enough, because no such kernel keeps it."""
    off = {name for name, every in kernels.registry().items() if any(k.ulps for k in every)}
    assert {name for name in off if registry()[name].bound.rule == "equal"} == set()
