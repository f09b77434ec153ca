"""Small ONNX models for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from onnx import numpy_helper as stored

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
Shape = Sequence[int | str | None] | None


def info(name: str, shape: Shape, kind: int = FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def node(op: str, inputs: str, output: str, **attributes: object) -> NodeProto:
    """A node; the names of its inputs are words of a text."""
    return helper.make_node(op, inputs.split(), [output], **attributes)


def model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    constants: Mapping[str, Any] | None = None,
    *,
    opset: int = 20,
    functions: Sequence[FunctionProto] = (),
    domains: Sequence[str] = (),
) -> ModelProto:
    """A model; ``domains`` are imported in version 1."""
    values = [stored.from_array(np.asarray(v), name) for name, v in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, values)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=10)


def adding(shape: Shape = (2, 3)) -> ModelProto:
    """Y = x + w."""
    node = helper.make_node("Add", ["x", "w"], ["y"])
    return model([node], [info("x", shape)], [info("y", None)], {"w": np.float32(2)})


def written(found: ModelProto, folder: Path, name: str = "m.onnx") -> Path:
    path = folder / name
    onnx.save(found, path)
    return path
