"""The oracle of ``.onnx`` files: every tensor that ONNX Runtime computes, without optimizations."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, ValueInfoProto

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
        model = ort_maps.without(halves.widened(reader.parsed(data, "the model")))
        # The graph has the names under which tensors are compared.
        graph = convert.graph_of(model, file="the model")
        model = ort_rounds.complete(ort_recurrent.with_floats(model))
        kept, state = kept_states.pairs(model, "the model"), initial_state(graph)
        states = ort_states.named(model)
        wanted = _watched(model, graph, [name for node in states.values() for name in node.output])
        session = _session(ort_products.widened(model))
        for sample in samples:
            inputs = {**dict(zip(graph.inputs, sample, strict=True)), **state}
            try:
                arrays = session.run(wanted, inputs)
            except Exception as error:  # of the runtime's own kinds
                raise OracleError(_refusal(error)) from error
            pairs = zip(wanted, arrays, strict=True)
            every = {n: ort_maps.indices(array, graph.labels.get(n, ())) for n, array in pairs}
            items = every.items()
            # By hand: each output of a pair is given as the input of the next inference.
            state = {own: every[output] for own, output in kept.items()}
            known = {n: _stored(graph.types[n], value) for n, value in items if n in graph.types}
            yield known | _inner(graph, known) | dict(ort_states.of(states, graph, every))

    def slack(self, files: Mapping[str, bytes], graph: Graph) -> Slack:
        """The error that ONNX Runtime's kernels may have in addition to the op's bound."""
        (data,) = files.values()
        model = reader.parsed(data, "the model")
        # A constant that the graph computed while it was read may have other roundings.
        return ort_slack.of(model, graph.types.keys() - graph.constants.keys())


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
