"""Software floats are sound where kernels of integers compute in float32."""

from __future__ import annotations

from pathlib import Path

from microgen.base.manifest import load
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.interface import api
from microgen.options import Options
from tests.support.compiling import simplest, write_project
from tests.support.graphs import DEFAULT, Builder
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_NINJA


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_a_sum_in_float32_may_link_software_floats_without_an_fpu(tmp_path: Path) -> None:
    b = Builder()
    attrs = AddAttrs(Activation.NONE, in_float32=True)
    graph = b.graph(b.node("add", attrs, b.input(1, 9), b.input(1, 9), quant=DEFAULT))
    plain = simplest(graph, "mps2_an385")
    write_project(graph, tmp_path / "p", Options(), "mps2_an385", plain)
    (step,) = load(tmp_path / "p").modules[0].calls[0].steps
    checks = {one.name: one.status for one in api.verify(tmp_path / "p").checks}
    assert (step.kernel, checks["soft_float"]) == ("mg_add_in_float_s8", "n/a")
