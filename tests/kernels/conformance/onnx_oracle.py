"""One ONNX operator, computed by the reference implementation in the package onnx."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from microgen.graph.ir.graph import Array


def by_onnx(op: str, inputs: list[Array | None], *, opset: int = 22, **attrs: Any) -> Array:
    """The operator's first output."""
    names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    given = {n: a for n, a in zip(names, inputs, strict=True) if a is not None}
    ports = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for name, a in given.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attrs)], op, ports, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    (found,) = ReferenceEvaluator(model).run(None, given)
    return np.asarray(found)
