from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.depthwise.depthwise_conv2d import (
    DEPTHWISE_CONV2D_HYBRID,
    DepthwiseConv2DHybridAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import convolving, hybrids
from tests.kernels.convolution.convolving import Geometry


def case(seed: int, paddings: tuple[str, ...] = ()) -> c.Case:
    """The case of a seed, which has a random geometry."""
    g = convolving.random_geometry(seed, depthwise=True, paddings=paddings)
    return of(seed, g)


def of(seed: int, g: Geometry) -> c.Case:
    rng = np.random.default_rng(seed)
    inputs = hybrids.inputs(rng, g.data, g.filters, 3, per_channel=True, biased=g.biased)
    window = (g.strides, g.dilation, g.padding, g.multiplier)
    attrs = DepthwiseConv2DHybridAttrs(*window, g.activation)
    return c.Case(f"{seed}", DEPTHWISE_CONV2D_HYBRID.name, attrs, inputs, None, DType.FLOAT32)


CORNERS = (
    of(1, Geometry(data=(1, 1, 1, 1), filters=(1, 1, 1, 1), multiplier=1)),
    of(2, Geometry(data=(2, 5, 4, 3), filters=(1, 3, 3, 6), multiplier=2)),
    of(3, Geometry(data=(1, 4, 4, 2), filters=(1, 3, 3, 2), multiplier=1, dilation=(5, 4))),
    *map(case, range(150)),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CORNERS, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CORNERS[:12], tmp_path)
