"""Small ONNX models that ask for huge memory or time are refused at once."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from tests.frontends.onnx.models import INT64, info, model, node, written

_SECONDS = 5.0
X = info("x", (4,))


def one(*nodes: NodeProto, **constants: object) -> ModelProto:
    return model(nodes, [X], [info("y", None)], constants)


def _filled() -> ModelProto:
    """A constant of 32 GiB."""
    return one(node("ConstantOfShape", "s", "c"), node("Add", "x c", "y"), s=np.array([2**33]))


def _expanded() -> ModelProto:
    made = [node("Expand", "w s", "c"), node("ReduceSum", "c", "r"), node("Add", "x r", "y")]
    return one(*made, w=np.float32(1), s=np.array([2**15, 2**15]))


def _tiled() -> ModelProto:
    made = [node("Tile", "w s", "c"), node("ReduceSum", "c", "r"), node("Add", "x r", "y")]
    return one(*made, w=np.ones(8, np.float32), s=np.array([2**27]))


def _many_constants() -> ModelProto:
    """Constants of 16 MiB, each of which fits."""
    made = [node("ConstantOfShape", "s", f"c{k}") for k in range(64)]
    made += [node("Add", f"{'x' if k == 0 else f't{k}'} c{k}", f"t{k + 1}") for k in range(64)]
    return one(*made, node("Neg", "t64", "y"), s=np.array([2**22]))


def _wide() -> ModelProto:
    """Every node doubles a tensor."""
    made = [node("Concat", f"t{k} t{k}", f"t{k + 1}", axis=0) for k in range(60)]
    return one(node("Add", "x x", "t0"), *made, node("Neg", "t60", "y"))


def _branches(depth: int) -> GraphProto:
    """Branches in branches."""
    inner: GraphProto | None = None
    for k in range(depth):
        made = node("Add", "x x", f"r{k}")
        if inner is not None:
            made = node("If", "c", f"r{k}", then_branch=inner, else_branch=inner)
        inner = helper.make_graph([made], "g", [], [info(f"r{k}", None)])
    assert inner is not None
    return inner


def _deep() -> ModelProto:
    inner = _branches(9)
    found = one(node("If", "c", "y", then_branch=inner, else_branch=inner), c=np.array(True))
    for _ in range(8):
        wrapped = helper.make_graph(found.graph.node, "g", [], found.graph.output)
        chooser = node("If", "c", "y", then_branch=wrapped, else_branch=_branches(1))
        del found.graph.node[:]
        found.graph.node.append(chooser)
    return found


def _window() -> ModelProto:
    weights = np.ones((1, 1, 1, 1), np.float32)
    made = node("Conv", "x w", "y", pads=[2**30, 2**30, 2**30, 2**30])
    ports = [info("x", (1, 1, 4, 4))], [info("y", None)]
    return model([made], *ports, {"w": weights})


def _huge_input() -> ModelProto:
    return model([node("Add", "x x", "y")], [info("x", (2**31, 2**31))], [info("y", None)])


def _huge_without_elements() -> ModelProto:
    shape = (0, 2**31, 2**31, 2**31)
    return model([node("Add", "x x", "y")], [info("x", shape), X], [info("y", None)])


def _huge_constant() -> ModelProto:
    found = one(node("Add", "x w", "y"), w=np.ones(1, np.float32))
    found.graph.initializer[0].dims[:] = [2**40, 2**40]
    return found


def _ranged() -> ModelProto:
    made = [node("Range", "a b d", "r"), node("Cast", "r", "c", to=1), node("Add", "x c", "y")]
    return one(*made, a=np.int64(0), b=np.int64(2**40), d=np.int64(1))


def _hot() -> ModelProto:
    made = node("OneHot", "i d v", "y", axis=-1)
    inputs = [info("i", (4,), INT64)]
    constants = {"d": np.int64(2**40), "v": np.float32([0, 1])}
    return model([made], inputs, [info("y", None)], constants)


def _split() -> ModelProto:
    return one(node("Split", "x", "y", num_outputs=2**31 - 1))


def _einsum() -> ModelProto:
    letters = "abcdefghijklmnopqrst"
    equation = f"{','.join(letters)}->{letters}"
    return one(node("Einsum", "x " * len(letters), "y", equation=equation))


@pytest.mark.parametrize(
    "made",
    [
        *(_filled, _expanded, _tiled, _many_constants, _wide, _deep, _window, _huge_input),
        *(_huge_without_elements, _huge_constant, _ranged, _hot, _split, _einsum),
    ],
)
def test_bombs_are_refused(made: object, tmp_path: Path) -> None:
    path = written(made(), tmp_path)  # type: ignore[operator]
    start = time.process_time()
    with pytest.raises(MicrogenError) as caught:
        frontends.load(path)
    assert time.process_time() - start < _SECONDS
    assert str(caught.value).startswith("m.onnx: ")


def test_a_chain_of_ten_thousand_nodes_is_read(tmp_path: Path) -> None:
    made = [node("Add", f"t{k} w", f"t{k + 1}") for k in range(10_000)]
    found = model(made, [info("t0", (4,))], [info("t10000", (4,))], {"w": np.float32(1)})
    start = time.process_time()
    assert len(frontends.load(written(found, tmp_path)).nodes) == 10_000
    assert time.process_time() - start < 3 * _SECONDS


def test_bound_files_are_not_trusted(tmp_path: Path) -> None:
    head = (
        b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (1073741824,), }"
    )
    (tmp_path / "s.npy").write_bytes(head.ljust(127) + b"\n" + b"\0" * 16)
    inputs = [X, info("s", (None,), TensorProto.INT64)]
    path = written(model([node("Reshape", "x s", "y")], inputs, [info("y", None)]), tmp_path)
    with pytest.raises(MicrogenError, match=r"s\.npy cannot be read"):
        frontends.load(path, bind=[f"s={tmp_path / 's.npy'}"])
