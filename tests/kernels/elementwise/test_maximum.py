from pathlib import Path

from microgen.graph.ops.elementwise.extremum import MAXIMUM, MaximumAttrs
from tests.kernels.elementwise import broadcasting, extremes


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    extremes.check_kernels(MAXIMUM.name, MaximumAttrs(), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    extremes.check_inlined(MAXIMUM.name, MaximumAttrs(), tmp_path)


def test_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(MAXIMUM.name, MaximumAttrs())


def test_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(MAXIMUM.name, MaximumAttrs())
