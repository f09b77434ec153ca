"""Layers of constants alone, which the frontend computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert as frontend
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_of_any_rank(shape: tuple[int, ...], tmp_path: Path) -> None:
    """Arrays without dimensions too, of which numpy makes scalars."""
    lhs = np.ones(shape, np.int32)
    tensors = [
        TensorSpec("lhs", shape, "int32", lhs),
        TensorSpec("rhs", shape, "int32", lhs + 1),
        TensorSpec("less", shape, "bool"),
        TensorSpec("x", shape, "bool"),
        TensorSpec("y", shape, "bool"),
    ]
    operators = [
        OperatorSpec("LESS", ["lhs", "rhs"], ["less"]),
        OperatorSpec("LOGICAL_AND", ["less", "x"], ["y"]),
    ]
    data = build_model(tensors, operators, ["x"], ["y"])
    graph = frontend.load(data, file="m.tflite", numerics=profile("litert"))
    np.testing.assert_array_equal(graph.constants["less"], np.ones(shape, np.bool_))
    assert [node.op for node in graph.nodes] == ["logical_and"]
    (tmp_path / "m.tflite").write_bytes(data)
    assert microgen.compile_model(tmp_path / "m.tflite", "native").files.files
