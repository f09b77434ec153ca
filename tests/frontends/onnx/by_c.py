"""Many nodes that have nothing to do with each other, as C."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import microgen
from microgen.graph.ir.graph import Array
from tests.differential import program
from tests.frontends.onnx import one_node
from tests.frontends.onnx.one_node import OneNode

_PLANNER = "on-demand"  # others search long among tensors that have nothing to do with each other


def assert_equals_the_graph(
    groups: Sequence[Sequence[OneNode]], folder: Path, *, rtol: float, atol: float
) -> None:
    """Compile each group as a network, all of them as one program, and compare its outputs with
    what numpy computes."""
    made, expected, inputs = [], [], []
    for k, group in enumerate(groups):
        proto, given, _ = one_node.model(group, shares=True)
        path = folder / f"g{k}.onnx"
        path.write_bytes(proto.SerializeToString())
        made.append(microgen.compile_model(path, "native", name=f"g{k}", planner=_PLANNER))
        expected.append(one_node.by_graph(one_node.loaded(proto, folder), given))
        inputs.append([given[port.tensor] for port in made[-1].program.inputs])
    built = program.build(made, folder / "c", 1)
    for k, ports in enumerate(inputs):
        ((*found,),) = built.run(k, [ports])
        _assert_close(found, expected[k], rtol, atol)


def _assert_close(found: Sequence[Array], expected: Sequence[Array], *bounds: float) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, *bounds)
