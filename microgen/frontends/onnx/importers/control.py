"""Operators that choose what is computed: when the model is compiled, not on the board."""

from __future__ import annotations

import numpy as np

from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Value


def _if(node: OnnxNode) -> Value:
    condition = np.ravel(node.constant_of(0, "conditions"))
    if condition.size != 1:
        raise node.invalid(f"has a condition of {condition.size} elements; one is expected")
    return node.branch("then_branch" if condition[0] else "else_branch")


IMPORTERS = {"If": _if}
