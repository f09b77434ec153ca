"""Recurrent networks of ONNX on emulated boards: each layer is within its bound of the numpy
reference and of ONNX Runtime, on the same inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper

import microgen
from microgen.graph.ir.graph import Array
from tests.frontends.onnx.models import info, model, written
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV

pytestmark = NEEDS_NINJA

_STEPS, _FEATURES, _CELLS, _CLASSES = 6, 5, 8, 3
_GATES = {"GRU": 3, "LSTM": 4}


def _network(op: str, directions: int) -> ModelProto:
    """Two layers and a dense one, which reads the last states of the second."""
    rng = np.random.default_rng(6)
    kinds = {1: "forward", 2: "bidirectional"}
    attrs = {"hidden_size": _CELLS, "direction": kinds[directions]}
    rows, width = _GATES[op] * _CELLS, directions * _CELLS

    def weight(*shape: int) -> Array:
        return (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)

    constants: dict[str, Array] = {}
    for layer, features in (("a", _FEATURES), ("b", width)):
        constants[f"{layer}w"] = weight(directions, rows, features)
        constants[f"{layer}r"] = weight(directions, rows, _CELLS)
        constants[f"{layer}b"] = weight(directions, 2 * rows)
    constants |= {"s": np.array([_STEPS, 1, width]), "flat": np.array([1, width])}
    constants["dense"] = weight(width, _CLASSES)
    nodes = [
        helper.make_node(op, ["x", "aw", "ar", "ab"], ["first"], **attrs),
        helper.make_node("Transpose", ["first"], ["turned"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["turned", "s"], ["rows"]),
        helper.make_node(op, ["rows", "bw", "br", "bb"], ["", "last"], **attrs),
        helper.make_node("Transpose", ["last"], ["states"], perm=[1, 0, 2]),
        helper.make_node("Reshape", ["states", "flat"], ["row"]),
        helper.make_node("MatMul", ["row", "dense"], ["y"]),
    ]
    inputs = [info("x", (_STEPS, 1, _FEATURES))]
    return model(nodes, inputs, [info("y", (1, _CLASSES))], constants, opset=17)


@pytest.mark.parametrize(
    ("op", "directions", "board"),
    [
        pytest.param("LSTM", 2, "mps2_an386", marks=NEEDS_ARM),
        pytest.param("GRU", 1, "mps2_an386", marks=[NEEDS_ARM, pytest.mark.slow]),
        pytest.param("GRU", 2, "mps3_an547", marks=[NEEDS_ARM, pytest.mark.slow]),
        pytest.param("LSTM", 1, "qemu_riscv32", marks=[NEEDS_RISCV, pytest.mark.slow]),
    ],
)
def test_networks_on_a_board(op: str, directions: int, board: str, tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(written(_network(op, directions), tmp_path), board, project)
    verdicts = microgen.run(project, compare=True).verdicts
    assert len(verdicts) == 2
    assert not [str(one) for one in verdicts if one.is_skipped or not one.ok]
    assert microgen.verify(project).ok
