"""Random networks of layers that can be computed row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgen.base.errors import MicrogenError
from microgen.graph.ops.base import StatusError
from tests.differential import makers
from tests.differential.generator import Case, compute_last
from tests.differential.network import Network, Shape, UnfitError
from tests.differential.windows import padding

_CODES = ("CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D", "ADD", "MUL", "RELU")
_OFTEN = (4, 4, 1, 1, 2, 1, 1)
_LAYERS = 7
_ATTEMPTS = 40
_ENDS_WITH_MEAN = 0.3
_POINTWISE = "1x1"
_POINTWISE_FIRST = 0.6


class RowNetwork(Network):
    """A network in which a layer reads the last result, and an addition an earlier one, too."""

    def copy(self) -> RowNetwork:
        """See Network."""
        own = super().copy()
        return RowNetwork(**vars(own))

    def pick(
        self,
        dtype: str,
        _rank: int | None = None,
        fits: Callable[[str], bool] = lambda _: True,
        *,
        shape: Shape | None = None,
        **more: Any,
    ) -> str:
        """The last result, or one of that shape that is as new as possible, or a new image."""
        if shape is not None:
            names = [n for n in (*self.inputs, *self.computed[:-1]) if self.shape(n) == shape]
            names = [name for name in names if self.dtype(name) == dtype and fits(name)]
            if not names:
                raise UnfitError("nothing has the shape")
            return names[-1]
        if self.computed:
            return self.computed[-1]
        height, width, depth = (int(self.rng.integers(1, most)) for most in (17, 9, 9))
        return self.new_input(dtype, (1, height, width, depth), **more)


class RowCase(Case):
    """A network whose inputs, for every other four seeds, are planned, and may be overwritten."""

    @property
    def options(self) -> dict[str, Any]:
        """See Case."""
        is_planned = self.seed // 4 % 2 == 1
        return {**super().options, "workspace_io": is_planned, "alignment": 4 if is_planned else 16}


def generate(seed: int) -> Case:
    """A network of one dtype, which depends on the seed, whose last result is its output."""
    rng = np.random.default_rng(seed)
    dtype = ("int8", "int8", "float32", "int16")[seed % 4]
    net, layers = RowNetwork(rng), int(rng.integers(2, _LAYERS + 1))
    for _ in range(_ATTEMPTS):
        if len(net.operators) == layers:
            break
        code = str(rng.choice(_CODES, p=np.array(_OFTEN) / sum(_OFTEN)))
        net = _grown(net, code, dtype) or net
    if rng.random() < _ENDS_WITH_MEAN:
        net = _with_mean(net, dtype)
    return RowCase(seed, net, [net.computed[-1]])


def generate_wide(seed: int) -> Case:
    """A network of one dtype of blocks with a convolution, often a 1x1 one, a convolution with
    windows, and often another 1x1 convolution and an addition. It may end with a 1x1 convolution
    and a mean."""
    rng = np.random.default_rng(seed)
    dtype = ("int8", "int8", "float32", "int16")[seed % 4]
    net = RowNetwork(rng)
    for _ in range(_ATTEMPTS):
        if len(net.operators) >= _LAYERS:
            break
        codes = ["CONV_2D", "DEPTHWISE_CONV_2D"]
        first = _POINTWISE if rng.random() < _POINTWISE_FIRST else str(rng.choice(codes))
        trial = _grown(net, first, dtype)
        net = (trial and _grown(trial, str(rng.choice(codes)), dtype)) or net
        for more, chance in ((_POINTWISE, 0.7), ("ADD", 0.5)):
            net = (rng.random() < chance and net.computed and _grown(net, more, dtype)) or net
    if net.computed and rng.random() < _ENDS_WITH_MEAN:
        net = _with_mean(_grown(net, _POINTWISE, dtype) or net, dtype)
    return RowCase(seed, net, [net.computed[-1]]) if net.computed else generate(seed)


def _pointwise(net: RowNetwork, dtype: str) -> None:
    data = net.pick(dtype)
    batches, height, width, depth = net.shape(data)
    filters = int(net.rng.integers(1, 13))
    weights = net.weight((filters, 1, 1, depth), 0, data, dtype, wide=dtype == "int16")
    options = {**padding(True), "strideH": 1, "strideW": 1, "fusedActivationFunction": net.fused()}
    output = net.output(net.dtype(data), (batches, height, width, filters))
    net.add("CONV_2D", [data, *weights], output, "Conv2DOptions", options)
    compute_last(net)


def _with_mean(net: RowNetwork, dtype: str) -> RowNetwork:
    """The network with a mean of the last result over height and width, if it has a result."""
    if not net.computed:
        return net
    trial, last = net.copy(), net.computed[-1]
    batches, height, width, depth = net.shape(last)
    if dtype == "int8" and net.rng.random() < 0.5:
        return _grown_by_mean(net, last) or net
    output = trial.output(dtype, (batches, 1, 1, depth), like=last)
    sizes = {"filterHeight": height, "filterWidth": width, "strideH": 1, "strideW": 1}
    trial.add("AVERAGE_POOL_2D", [last], output, "Pool2DOptions", {**padding(False), **sizes})
    try:
        compute_last(trial)
    except (UnfitError, MicrogenError, StatusError):
        return net
    return trial


def _grown_by_mean(net: RowNetwork, last: str) -> RowNetwork | None:
    trial, keeps = net.copy(), bool(net.rng.integers(2))
    depth = net.shape(last)[3]
    output = trial.output("int8", (1, 1, 1, depth) if keeps else (1, depth))
    axes = trial.constant(np.array([1, 2], np.int32))
    trial.add("MEAN", [last, axes], output, "ReducerOptions", {"keepDims": keeps})
    try:
        compute_last(trial)
    except (UnfitError, MicrogenError, StatusError):
        return None
    return trial


def _grown(net: RowNetwork, code: str, dtype: str) -> RowNetwork | None:
    trial = net.copy()
    try:
        if code == _POINTWISE:
            _pointwise(trial, dtype)
            return trial
        makers.registry()[code, dtype].make(trial, code, dtype)
        compute_last(trial)
    except (UnfitError, MicrogenError, StatusError):
        return None
    trial.kinds.append((code, dtype))
    return trial
