"""The oracle of ``.onnx`` files: every tensor that ONNX Runtime computes, without optimizations."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, ValueInfoProto

from microgen.frontends.model_format import OracleError
from microgen.frontends.onnx import convert, halves, reader
from microgen.frontends.onnx import states as kept_states
from microgen.frontends.onnx.oracle import (
    ort_maps,
    ort_products,
    ort_recurrent,
    ort_rounds,
    ort_slack,
    ort_states,
)
from microgen.graph.ir.beside import Slack
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph
from microgen.graph.ir.interpreter import initial_state

_FATAL = 4  # the severity of messages that are printed: errors are raised, too


@dataclass(frozen=True)
class OnnxRuntime:
    """onnxruntime on one thread, without changes to the file's graph (ORT_DISABLE_ALL)."""

    # One comparison asks for a model's layers several times, and large models take seconds to read.
    _known: dict[bytes, _Ready] = field(default_factory=dict, repr=False, compare=False)
    name = "ONNX Runtime"
    kernels = "ORT_DISABLE_ALL"
    profile = "onnx"
    is_apart = False

    def lacking(self) -> str:
        """A sentence if onnxruntime is not installed; otherwise empty."""
        if importlib.util.find_spec("onnxruntime") is None:
            return "onnxruntime is not installed (pip install onnxruntime)"
        return ""

    def layers(
        self, files: Mapping[str, bytes], samples: Sequence[Sequence[Array]]
    ) -> Iterator[dict[str, Array]]:
        """Every tensor that both ONNX Runtime and the graph have, for each sample. OracleError if
        ONNX Runtime refuses the model, for example because its opset is too new."""
        (data,) = files.values()
        if data not in self._known:
            self._known[data] = _ready(data)
        ready = self._known[data]
        graph, state = ready.graph, initial_state(ready.graph)
        for sample in samples:
            inputs = {**dict(zip(graph.inputs, sample, strict=True)), **state}
            try:
                arrays = ready.session.run(ready.wanted, inputs)
            except Exception as error:  # of the runtime's own kinds
                raise OracleError(_refusal(error)) from error
            pairs = zip(ready.wanted, arrays, strict=True)
            every = {n: ort_maps.indices(array, graph.labels.get(n, ())) for n, array in pairs}
            items = every.items()
            # By hand: each output of a pair is given as the input of the next inference.
            state = {own: every[output] for own, output in ready.kept.items()}
            known = {n: _stored(graph.types[n], value) for n, value in items if n in graph.types}
            yield known | _inner(graph, known) | dict(ort_states.of(ready.states, graph, every))

    def slack(self, files: Mapping[str, bytes], graph: Graph) -> Slack:
        """The error that ONNX Runtime's kernels may have in addition to the op's bound."""
        (data,) = files.values()
        model = reader.parsed(data, "the model")
        # A constant that the graph computed while it was read may have other roundings.
        return ort_slack.of(model, graph.types.keys() - graph.constants.keys())


@dataclass(frozen=True, slots=True)
class _Ready:
    """A model in the runtime. The graph has the names under which tensors are compared. ``wanted``
    are the tensors that the session computes, ``kept`` the inputs that keep outputs, by the names
    of both, and ``states`` the nodes whose states are compared."""

    graph: Graph
    kept: Mapping[str, str]
    states: Mapping[str, NodeProto]
    wanted: list[str]
    session: Any


def _ready(data: bytes) -> _Ready:
    model = ort_maps.without(halves.widened(reader.parsed(data, "the model")))
    graph = convert.graph_of(model, file="the model")
    model = ort_rounds.complete(ort_recurrent.with_floats(model))
    kept, states = kept_states.pairs(model, "the model"), ort_states.named(model)
    wanted = _watched(model, graph, [name for node in states.values() for name in node.output])
    return _Ready(graph, kept, states, wanted, _session(ort_products.widened(model)))


def _watched(model: ModelProto, graph: Graph, others: Collection[str]) -> list[str]:
    """The outputs, and the other tensors of the model that are in the graph or among ``others``.
    They become outputs of the model."""
    outputs = [info.name for info in model.graph.output]
    made = [name for node in model.graph.node for name in node.output]
    wanted = {*graph.types, *others}
    more = [name for name in made if name in wanted and name not in outputs]
    model.graph.output.extend(ValueInfoProto(name=name) for name in more)
    return [*outputs, *more]


def _inner(graph: Graph, known: Mapping[str, Array]) -> dict[str, Array]:
    """The int8 tensors from which uint8 outputs are made, and which further layers read."""
    made = {node.outputs[0]: node for node in graph.nodes if node.op == "qnn.requantize"}
    return {
        made[name].inputs[0]: _stored(graph.types[made[name].inputs[0]], known[name])
        for name in graph.outputs
        if name in made and name in known and graph.types[name].dtype is DType.UINT8
    }


def _session(model: ModelProto) -> Any:
    runtime: Any = importlib.import_module("onnxruntime")  # it has no annotations
    options = runtime.SessionOptions()
    # Optimizations fuse layers, whose tensors could then not be compared.
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _FATAL
    data, providers = model.SerializeToString(), ["CPUExecutionProvider"]
    try:
        return runtime.InferenceSession(data, options, providers=providers)
    except Exception as error:  # of the runtime's own kinds
        raise OracleError(_refusal(error)) from error


def _refusal(error: Exception) -> str:
    return f"ONNX Runtime refuses: {' '.join(str(error).split())[:200]}"


def _stored(kind: ArrayType, value: Array) -> Array:
    """The value in the graph's type. The graph's signed integers are ONNX's unsigned integers minus
    half their range."""
    if value.dtype.kind == "u" and kind.dtype.numpy.kind == "i":
        middle = np.array(1 << (8 * value.itemsize - 1), value.dtype)
        return np.asarray((value ^ middle).view(kind.dtype.numpy))
    return value
