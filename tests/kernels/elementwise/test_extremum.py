from __future__ import annotations

from pathlib import Path

import pytest

from microgen.graph.ir.graph import Attrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from tests.kernels.elementwise import broadcasting, extremes

both = pytest.mark.parametrize(
    ("op", "attrs"), [("maximum", MaximumAttrs()), ("minimum", MinimumAttrs())], ids=["max", "min"]
)


@both
def test_kernels_equal_the_reference(op: str, attrs: Attrs, tmp_path: Path) -> None:
    extremes.check_kernels(op, attrs, tmp_path)


@both
def test_inlined_bodies_equal_the_reference(op: str, attrs: Attrs, tmp_path: Path) -> None:
    extremes.check_inlined(op, attrs, tmp_path)


@both
def test_in_place_only_on_an_operand_of_the_outputs_shape(op: str, attrs: Attrs) -> None:
    broadcasting.check_in_place(op, attrs)


@both
def test_more_than_four_axes_are_refused(op: str, attrs: Attrs) -> None:
    broadcasting.check_too_many_axes(op, attrs)
