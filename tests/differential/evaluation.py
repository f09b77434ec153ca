"""What numpy computes for a layer, and how far other correct implementations may be from it.

Integers are exact. A float kernel states its error in units in the last place of its sums. That
error is applied as noise to the kernel's inputs and outputs, and followed through the network. So a
tolerance is as wide as the network's arithmetic makes it, and no wider.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from microgen import kernels
from microgen.compiler import passes
from microgen.compiler.passes.padding import canonical_padding
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from tests.differential.network import Network
from tests.differential.stock import SAMPLES, Array
from tests.kernels.conformance.within import RANGE

SHAKES = 3
_NOISE = 2.0**-20  # relative to a float, or to a tensor's range: at least 8 units in the last place
_MARGIN = 4  # the noise is random, and may be small by chance
# Below the smallest normal float32 only a few bits are left of a result.
_LEAST = float(np.finfo(np.float32).tiny)
Samples = dict[str, list[Array]]


def graph_of(net: Network, outputs: list[str]) -> Graph:
    """The graph that the frontend makes of the network. Raises MicrogenError if it refuses."""
    return frontend.load(net.model(outputs), file="network.tflite", numerics=profile("litert"))


def computed(graph: Graph, fed: Mapping[str, list[Array]]) -> Samples:
    """The graph's outputs for each sample, in sequence. Raises StatusError if firmware fails."""
    state = initial_state(graph)
    found: Samples = {name: [] for name in graph.outputs}
    for i in range(SAMPLES):
        inputs = {name: fed[name][i] for name in graph.inputs}
        values = evaluate(graph, inputs, registry(), state)
        for name in graph.outputs:
            found[name].append(values[name])
    return found


def has_kernels(graph: Graph) -> bool:
    """Whether C can compute the graph: some kernels take at most four dimensions."""
    final = passes.run(graph)
    return all(
        any(kernel.refusal(node, final) is None for kernel in kernels.registry()[node.op])
        for node in final.nodes
        if node.op in kernels.registry()
    )


def is_exact(graph: Graph) -> bool:
    """Whether the graph's kernels equal numpy bit for bit, given equal inputs."""
    graph = canonical_padding(graph)  # kernels need padding as numbers
    return not any(
        kernel.ulps
        for node in graph.nodes
        for kernel in kernels.registry().get(node.op, ())  # views have no kernels
        if kernel.refusal(node, graph) is None
    )


def is_hybrid(graph: Graph) -> bool:
    """Whether a layer quantizes floats, so that the least noise changes results by whole steps."""
    return any(node.op.endswith("_hybrid") for node in graph.nodes)


def shaken(graph: Graph, fed: Mapping[str, list[Array]], rng: np.random.Generator) -> Samples:
    """The outputs as others might compute them: with noise unless all kernels are exact."""
    if is_exact(graph):
        return computed(graph, fed)
    found = computed(graph, fed) if is_hybrid(graph) else _with_noise(graph, fed, rng)
    return {
        name: [a + _spread(a) * _signs(a, rng) if a.dtype.kind == "f" else a for a in arrays]
        for name, arrays in found.items()
    }


def _with_noise(graph: Graph, fed: Mapping[str, list[Array]], rng: np.random.Generator) -> Samples:
    noisy = {n: [_noisy(a, rng) for a in fed[n]] for n in graph.inputs}
    constants = {name: _noisy(array, rng) for name, array in graph.constants.items()}
    return computed(dataclasses.replace(graph, constants=constants), noisy)


def _noisy(array: Array, rng: np.random.Generator) -> Array:
    if array.dtype.kind != "f":
        return array
    return np.asarray(array * (1 + np.float32(_NOISE) * _signs(array, rng)), np.float32)


def _signs(array: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.choice(np.array([-1, 1], np.float32), array.shape))


def _spread(array: Array) -> Array:
    return np.asarray(_NOISE * np.abs(array).max(initial=0.0), np.float32)


def tolerance(expected: Array, others: list[Array]) -> Array:
    """How far each float element may be off, given the results of others."""
    span = max(np.ptp(expected), np.abs(expected).max()) if expected.size else 0.0
    return _LEAST + RANGE * float(span) + _MARGIN * deviation(expected, others)


def deviation(expected: Array, others: list[Array]) -> Array:
    """The greatest distance between the expected value and the others', for each element."""
    wide = expected.astype(np.float64)
    apart = [np.abs(other.astype(np.float64) - wide) for other in others]
    return np.asarray(np.max(apart, axis=0)) if apart else np.zeros(expected.shape)


def differing(found: Array, expected: Array, others: list[Array]) -> str:
    """The first difference, or "". Integers must be equal, floats within their tolerance."""
    if (found.shape, found.dtype) != (expected.shape, expected.dtype):
        return f"{found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}"
    if expected.dtype.kind == "f":
        apart = np.abs(found.astype(np.float64) - expected.astype(np.float64))
        wrong = ~(apart <= tolerance(expected, others)) & (found != expected)
    else:
        wrong = found != expected
    if not np.any(wrong):
        return ""
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    place = ",".join(map(str, at))
    return f"[{place}] is {found[at]}, expected {expected[at]}; {np.sum(wrong)} of {wrong.size}"
