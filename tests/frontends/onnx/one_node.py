"""Models of ONNX that are one node each, or many nodes that have nothing to do with each other,
computed by the graph and by onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from microgen import frontends
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry

OPSET = 18


@dataclass(frozen=True)
class OneNode:
    """A node with the values of its inputs, in order, None for one that is left out. The first
    ``n_data`` are inputs of the model, the others constants."""

    op: str
    inputs: tuple[Array | None, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    n_data: int = 1
    n_outputs: int = 1
    opset: int = OPSET

    def __str__(self) -> str:
        shapes = "-".join("" if a is None else f"{a.dtype}{list(a.shape)}" for a in self.inputs)
        return f"{self.op}-{self.opset}-{shapes}-{dict(self.attrs)}"


def _array(value: Array | None, name: str) -> onnx.TensorProto | None:
    return None if value is None else numpy_helper.from_array(np.asarray(value), name)


def _inputs(k: int, node: OneNode, shared: dict[tuple[int, int], str] | None) -> list[str]:
    """The names of a node's inputs. ``shared`` has those of arrays that earlier nodes read."""
    names = ["" if a is None else f"n{k}_x{i}" for i, a in enumerate(node.inputs)]
    if shared is not None:
        for i, value in enumerate(node.inputs[: node.n_data]):
            names[i] = shared.setdefault((id(value), i), names[i])
    return names


def model(
    nodes: Sequence[OneNode], *, shares: bool = False
) -> tuple[onnx.ModelProto, dict[str, Array], list[str]]:
    """A model of all nodes, the values of its inputs, and the names of its outputs. ``shares``:
    nodes that read the same array, as the same operand, have one input of the model for it."""
    protos, constants, ports = [], [], []
    given, outputs = dict[str, Array](), list[str]()
    shared: dict[tuple[int, int], str] | None = {} if shares else None
    for k, node in enumerate(nodes):
        names = _inputs(k, node, shared)
        made = [f"n{k}_y{i}" for i in range(node.n_outputs)]
        protos.append(helper.make_node(node.op, names, made, **node.attrs))
        for i, (name, value) in enumerate(zip(names, node.inputs, strict=True)):
            if value is None:
                continue
            if i >= node.n_data:
                constants.append(numpy_helper.from_array(np.asarray(value), name))
                continue
            if name in given:
                continue
            given[name] = value
            code = helper.np_dtype_to_tensor_dtype(value.dtype)
            ports.append(helper.make_tensor_value_info(name, code, value.shape))
        outputs += made
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(protos, "nodes", ports, results, constants)
    opset = [helper.make_opsetid("", nodes[0].opset)]
    found = helper.make_model(graph, opset_imports=opset, ir_version=8)
    return found, given, outputs


def by_runtime(proto: onnx.ModelProto, given: Mapping[str, Array]) -> list[Array]:
    """What onnxruntime computes, without optimizing the graph."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    found: list[Array] = session.run(None, dict(given))
    return found


def loaded(proto: onnx.ModelProto, folder: Path) -> Graph:
    """The graph of a model, whose file is in ``folder``."""
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return frontends.load(path)


def by_graph(graph: Graph, given: Mapping[str, Array]) -> list[Array]:
    """What the graph computes in numpy."""
    values = evaluate(graph, {name: given[name] for name in graph.inputs}, registry())
    return [values[name] for name in graph.outputs]
