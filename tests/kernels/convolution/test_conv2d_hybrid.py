from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.convolution.conv2d import CONV2D_HYBRID, Conv2DHybridAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import convolving, hybrids
from tests.kernels.convolution.convolving import Geometry


def case(seed: int) -> c.Case:
    """The case of a seed, which has a random geometry."""
    g = convolving.random_geometry(seed, depthwise=False)
    return of(seed, g)


def of(seed: int, g: Geometry) -> c.Case:
    rng = np.random.default_rng(seed)
    # A grouped convolution has a scale per filter, and LiteRT computes it only with a bias.
    is_grouped = g.per_channel and g.biased
    filters = g.filters if is_grouped else (*g.filters[:3], g.data[3])
    options = {"per_channel": g.per_channel, "biased": g.biased}
    inputs = hybrids.inputs(rng, g.data, filters, 0, **options)
    window = (g.strides, g.dilation, g.padding)
    attrs = Conv2DHybridAttrs(*window, g.activation)
    return c.Case(f"{seed}", CONV2D_HYBRID.name, attrs, inputs, None, DType.FLOAT32)


CORNERS = (
    of(1, Geometry(data=(1, 1, 1, 1), filters=(1, 1, 1, 1))),
    of(2, Geometry(filters=(9, 1, 1, 4), per_channel=False)),
    of(3, Geometry(data=(2, 9, 8, 4), filters=(5, 2, 2, 4), strides=(4, 3))),
    of(4, Geometry(data=(1, 4, 4, 4), dilation=(5, 4))),
    *map(case, range(150)),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CORNERS, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CORNERS[:12], tmp_path)
