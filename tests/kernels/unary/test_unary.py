"""The kernels of functions of one value, each against its reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import Attrs
from microgen.graph.ops.unary.activations import EluAttrs, HardSwishAttrs, LeakyReluAttrs
from microgen.graph.ops.unary.functions import (
    AbsAttrs,
    CeilAttrs,
    CosAttrs,
    ExpAttrs,
    FloorAttrs,
    LogAttrs,
    NegativeAttrs,
    RoundAttrs,
    SinAttrs,
)
from microgen.graph.ops.unary.roots import RsqrtAttrs, SqrtAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs, TanhAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u


@dataclass(frozen=True)
class Row:
    """An op: its attributes, and where it has an int16 kernel, pairs of scales for it; others are
    random, but for ``scale_out`` if the output's is fixed."""

    op: str
    attrs: Sequence[Attrs]
    corners: Sequence[tuple[float, float]] = ()
    scale_out: float | None = None

    def floats(self) -> list[c.Case]:
        """The float32 cases."""
        return [case for attrs in self.attrs for case in u.float_cases(self.op, attrs)]

    def integers(self) -> list[c.Case]:
        """The int16 cases."""
        if not self.corners:
            return []
        corners, scale = self.corners, self.scale_out
        return [case for a in self.attrs for case in u.int16_cases(self.op, a, corners, scale)]


SLOPES = [LeakyReluAttrs(float(np.float32(alpha))) for alpha in (0.0, 0.1, 1.0, 2.5, -0.2, -1.7)]
SIGMOID = tuple(
    (scale, 1 / 32768) for scale in (2.0**-12, 2.0**-11, 2.0**-13, 3.8e-14, 5.3, 1.0005 * 2.0**-12)
)
ROOTS = (
    *((0.5, 0.5), (1e30, 1e-30), (4.0, 1.0), (2.0**-126, 1e-20), (2.0**112, 1e17), (1.0, 1e-45)),
    *((0.25 * odd, 1 / 64) for odd in (1.0, 1 + 2.0**-23, 2 - 2.0**-23)),
    *((2.0**-20, 2.0**-10 / odd) for odd in (1 + 2.0**-23, 2 - 2.0**-23)),
)
ROWS = (
    Row("abs", [AbsAttrs()], ((0.5, 0.5), (1.0, 2.0**-15), (2.0**-30, 1.0), (1.0, 1.0001))),
    Row("ceil", [CeilAttrs()]),
    Row("cos", [CosAttrs()]),
    Row("exp", [ExpAttrs()]),
    Row("floor", [FloorAttrs()]),
    Row("log", [LogAttrs()]),
    Row("negative", [NegativeAttrs()], ((0.5, 0.5),)),
    Row("nn.elu", [EluAttrs()]),
    Row("nn.hard_swish", [HardSwishAttrs()]),
    Row("nn.leaky_relu", SLOPES, ((0.5, 0.5), (1.0, 2.0**-15), (2.0**-30, 1.0))),
    Row("round", [RoundAttrs()]),
    Row("rsqrt", [RsqrtAttrs()]),
    Row("sigmoid", [SigmoidAttrs()], SIGMOID, 1 / 32768),
    Row("sin", [SinAttrs()]),
    Row("sqrt", [SqrtAttrs()], ROOTS),
    Row("tanh", [TanhAttrs()], SIGMOID, 1 / 32768),
)
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)


@each_row
def test_kernels_equal_the_reference(row: Row, tmp_path: Path) -> None:
    c.check([*row.floats(), *row.integers()], tmp_path)


@each_row
def test_inlined_bodies_equal_the_reference(row: Row, tmp_path: Path) -> None:
    c.check_inlined([*row.floats()[:3], *row.integers()[:3]], tmp_path)
