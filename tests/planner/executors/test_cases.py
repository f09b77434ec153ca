"""Unusual networks, run by both executors with sanitizers: the bytes are equal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node, Origin
from microgen.graph.ops.moves.layouts import TransposeAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.options import Options
from microgen.project.firmware.compiled import Compiled
from tests.differential import program
from tests.planner.executors.handmade import compiled
from tests.planner.executors.test_graph import chain, seed_demo

ORIGIN = Origin("x", "layer")
_RNG = np.random.default_rng(7)


def _values(dtype: DType, shape: tuple[int, ...]) -> Array:
    if dtype is DType.BOOL:
        return _RNG.integers(0, 2, shape).astype(np.bool_)
    return np.asarray(_RNG.integers(-100, 100, shape)).astype(dtype.numpy)


def _only_outputs(constants: dict[str, Array]) -> Graph:
    """A graph with an input that nothing reads, and constants as outputs."""
    types = {"x": ArrayType((3,), DType.INT8)}
    types |= {n: ArrayType(a.shape, DType(a.dtype.name)) for n, a in constants.items()}
    return Graph("x", ("x",), tuple(constants), (), types, constants)


def _of_every_dtype() -> Graph:
    """A graph with outputs of every dtype. Narrow ones of odd sizes come first, so nothing is
    aligned by chance."""
    dtypes = (DType.INT8, DType.BOOL, DType.INT16, DType.FLOAT32, DType.INT32, DType.INT64)
    arrays = {f"c{i}": _values(dtype, (2 * i + 1,)) for i, dtype in enumerate(dtypes)}
    return _only_outputs(arrays)


def _copied() -> Graph:
    """A graph with an input that is two outputs, and a computed tensor that is the other two."""
    types = {n: ArrayType(s, DType.INT64) for n, s in (("a", (2, 3)), ("b", (3, 2)))}
    node = Node("transpose", ("a",), ("b",), TransposeAttrs((1, 0)), ORIGIN)
    return Graph("x", ("a",), ("a", "b", "a", "b"), (node,), types, {})


def _views() -> Graph:
    """A graph with one value in three shapes: reshaped before it is read, and as an output."""
    shapes = {"a": (2, 6), "b": (6, 2), "c": (3, 4), "d": (4, 3), "e": (12,)}
    types = {n: ArrayType(s, DType.INT16) for n, s in shapes.items()}
    nodes = (
        Node("transpose", ("a",), ("b",), TransposeAttrs((1, 0)), ORIGIN),
        Node("reshape", ("b",), ("c",), ReshapeAttrs((3, 4)), ORIGIN),
        Node("transpose", ("c",), ("d",), TransposeAttrs((1, 0)), ORIGIN),
        Node("reshape", ("b",), ("e",), ReshapeAttrs((12,)), ORIGIN),
    )
    return Graph("x", ("a",), ("d", "e"), nodes, types, {})


CASES = {
    "chain": chain([(2, 3), (3, 2)] * 4),
    "dtypes": _of_every_dtype(),
    "one_byte": _only_outputs({"c": np.array([5], np.int8)}),
    "scalar": _only_outputs({"c": np.array(2.5, np.float32)}),
    "copied": _copied(),
    "views": _views(),
    "layouts": seed_demo(),
}


def _compiled(graph: Graph, name: str, folder: Path, patch: pytest.MonkeyPatch) -> Compiled:
    return compiled(graph, Options(name=name, executor=name.split("_")[0]), folder, patch)


def test_both_executors_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{executor}_{case}" for case in CASES for executor in ("aot", "graph")]
    found = [_compiled(CASES[n.split("_", 1)[1]], n, tmp_path, monkeypatch) for n in names]
    built = program.build(found, tmp_path, 2)
    for index in range(0, len(names), 2):
        ports = found[index].program.inputs
        inputs = [[_values(p.type.dtype, p.type.shape) for p in ports] for _ in range(2)]
        ahead, graph = (built.run(index + k, inputs) for k in range(2))
        for one, other in zip(ahead, graph, strict=True):
            for a, b in zip(one, other, strict=True):
                assert a.tobytes() == b.tobytes(), names[index]
    # these are outputs of the last network, the only one with arithmetic
    assert np.any(ahead[0][0])


def test_views_are_nodes_that_call_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _compiled(_views(), "graph_views", tmp_path, monkeypatch)
    path = "model/executor-config/graph/graph_views.graph"
    # Of the two transposes one moves past the reshape before it, which leaves a third view.
    assert found.files.files[path].count(b'"func_name":"__nop"') == 3


def test_a_parameter_file_that_begins_aligned_has_every_array_aligned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _compiled(_of_every_dtype(), "graph_dtypes", tmp_path, monkeypatch)
    source = found.files.files["model/codegen/host/src/graph_dtypes_graph.S"].decode()
    places = dict(
        line.removeprefix("    .set ").split(", tvmgen_graph_dtypes_graph_params + ")
        for line in source.splitlines()
        if line.startswith("    .set ")
    )
    for constant in found.program.constants:
        symbol = f"tvmgen_graph_dtypes_{constant.name}"
        first = min(map(int, places.values()))
        assert (int(places[symbol]) - first) % constant.array.dtype.itemsize == 0
    assert len(places) == 6
