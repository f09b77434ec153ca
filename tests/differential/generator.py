"""Random small networks as .tflite files.

They have every operator in every dtype, odd shapes, extreme quantization, branches, shared inputs,
and outputs that are used inside. The same seed gives the same file and the same samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen import options
from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Graph
from microgen.graph.ops.base import StatusError
from tests.differential import evaluation, makers
from tests.differential.network import Network, UnfitError
from tests.differential.stock import Array

Kind = tuple[str, str]  # an operator and a dtype
MAX_LAYERS = 8
MAX_ELEMENTS = 4096
_ATTEMPTS = 150
_LARGEST, _LEAST = 1e6, 1e-6  # magnitudes of floats; larger and smaller ones lose precision
_MOST_NOISE = 1e-3  # relative to a float tensor's range
_SUMS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
_FOLLOWERS = {  # pairs that passes make one node
    "PAD": _SUMS[:2],
    **dict.fromkeys((*_SUMS, "ADD", "MUL", "AVERAGE_POOL_2D"), ("RELU", "RELU6", "RELU_N1_TO_1")),
    "RESHAPE": ("RESHAPE", "FULLY_CONNECTED", "TRANSPOSE"),
    "QUANTIZE": ("DEQUANTIZE", "QUANTIZE"),
    "DEQUANTIZE": ("QUANTIZE",),
}


@dataclass(frozen=True)
class Case:
    """A network and the tensors that are its outputs."""

    seed: int
    net: Network
    outputs: list[str]

    @property
    def options(self) -> dict[str, Any]:
        """The options for ``generate``: seeds take planners and kinds of code in turn."""
        planner = options.PLANNERS[self.seed % len(options.PLANNERS)]
        return {"planner": planner, "optimize": options.OPTIMIZE[self.seed % len(options.OPTIMIZE)]}


def generate(seed: int, dtypes: Sequence[str] = (), *, is_shaken: bool = True) -> Case:
    """A network that the frontend accepts.

    One of its layers is of the kind whose turn it is by the seed, if possible. ``dtypes`` are the
    dtypes of its layers; empty means all. Unless ``is_shaken``, results of other implementations
    are not computed, and layers may be badly conditioned.
    """
    rng = np.random.default_rng(seed)
    kinds = {
        kind: maker for kind, maker in makers.registry().items() if not dtypes or kind[1] in dtypes
    }
    turn = list(kinds)[seed % len(kinds)]
    net, layers = Network(rng), int(rng.integers(1, MAX_LAYERS + 1))
    for attempt in range(_ATTEMPTS):
        if len(net.operators) >= layers:
            break
        is_due = attempt < _ATTEMPTS // 5 and turn not in net.kinds
        kind = turn if is_due and net.chance(0.7) else _drawn(net, kinds)
        try:
            net = _grown(net, kind, is_shaken=is_shaken) or net
        except Exception as error:
            error.add_note(f"seed {seed}, a layer {kind}")
            raise
    return Case(seed, net, _outputs(net))


def _drawn(net: Network, kinds: Mapping[Kind, makers.Maker]) -> Kind:
    """A kind of layer, mostly of a dtype that the network has. Sometimes it is one that often
    follows the last layer."""
    code, dtype = net.kinds[-1] if net.kinds else ("", "")
    followers = [kind for kind in kinds if kind[0] in _FOLLOWERS.get(code, ()) and kind[1] == dtype]
    if followers and net.chance(0.3):
        return followers[int(net.rng.integers(len(followers)))]
    there = [net.tensors[name].dtype for name in [*net.inputs, *net.computed]]
    if there and net.chance(0.8):
        dtypes = [net.one_of(there)]
        dtypes += ["hybrid"] if "float32" in dtypes else []
        kinds = {kind: kinds[kind] for kind in kinds if kind[1] in dtypes} or kinds
    often = np.array([maker.often for maker in kinds.values()], np.float64)
    return list(kinds)[int(net.rng.choice(len(often), p=often / often.sum()))]


def _outputs(net: Network) -> list[str]:
    """Most tensors that no layer reads, some that layers read, and sometimes an input."""
    read = {ref for op in net.operators for ref in op.inputs}
    likely = {name: 0.15 if name in read else 0.8 for name in net.computed}
    likely |= dict.fromkeys(map(str, net.operators[-1].outputs), 1.0)
    likely |= dict.fromkeys(net.inputs, 0.03)
    return [name for name, chance in likely.items() if net.chance(chance)]


def _grown(net: Network, kind: Kind, *, is_shaken: bool = True) -> Network | None:
    """The network with another layer, or None if nothing fits the layer or microgen refuses it."""
    trial = net.copy()
    try:
        makers.registry()[kind].make(trial, *kind)
        compute_last(trial, is_shaken=is_shaken)
        trial.kinds.append(kind)
    except (UnfitError, MicrogenError, StatusError):
        return None
    return trial


def compute_last(net: Network, *, is_shaken: bool = True) -> None:
    """Computes the last layer's outputs. Raises UnfitError if they are useless for a comparison."""
    op = net.operators[-1]
    outputs = [str(name) for name in op.outputs]
    if any(np.prod(net.shape(name)) > MAX_ELEMENTS for name in outputs):
        raise UnfitError("too large")
    alone = net.alone(op)
    graph = evaluation.graph_of(alone, outputs)
    if not evaluation.has_kernels(graph):
        raise UnfitError("no kernel")
    _check_reads(net, graph)
    net.values.update(evaluation.computed(graph, net.values))
    for name in outputs:
        _check_values(net, net.values[name])
    if is_shaken and any(net.dtype(name) == "float32" for name in outputs):
        _shake(net, graph, outputs)


def _check_reads(net: Network, graph: Graph) -> None:
    """Raises UnfitError if inexact floats become integers, which are compared bit for bit."""
    is_smooth = all(net.dtype(name) == "float32" for name in graph.outputs)
    is_smooth = is_smooth and not evaluation.is_hybrid(graph)
    if not is_smooth and any(name in net.shaken for name in graph.inputs):
        raise UnfitError("reads floats that are not exact")


def _check_values(net: Network, values: list[Array]) -> None:
    every = np.stack(values)
    if every.dtype.kind == "f":
        largest = np.abs(every).max(initial=0.0)
        if not largest <= _LARGEST or 0 < largest < _LEAST:
            raise UnfitError("magnitudes")
    if every[0].size > 1 and every.min() == every.max() and net.chance(0.9):
        raise UnfitError("all values are equal")


def _shake(net: Network, graph: Graph, outputs: list[str]) -> None:
    """Computes what other implementations might compute, unless they would all compute the same."""
    if evaluation.is_exact(graph) and not any(name in net.shaken for name in graph.inputs):
        return
    rng = np.random.default_rng(len(net.tensors))
    for k in range(evaluation.SHAKES):
        fed = {n: net.shaken[n][k] if n in net.shaken else net.values[n] for n in graph.inputs}
        for name, arrays in evaluation.shaken(graph, fed, rng).items():
            net.shaken.setdefault(name, []).append(arrays)
    for name in outputs:
        _check_noise(net, name)


def _check_noise(net: Network, name: str) -> None:
    for i, expected in enumerate(net.values[name]):
        others = [arrays[i] for arrays in net.shaken[name]]
        if not all(np.isfinite(other).all() for other in others):
            raise UnfitError("not finite")
        noise = evaluation.deviation(expected, others).max(initial=0.0)
        if noise > _MOST_NOISE * np.abs(expected).max(initial=0.0):
            raise UnfitError("badly conditioned")
