"""Random networks of what image networks consist of: convolutions, depthwise ones with multipliers,
strides, dilations, padding of four sizes, pools, residual blocks, and means at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tflite

from microgen.base.errors import MicrogenError
from microgen.graph.ops.base import StatusError
from tests.differential import makers
from tests.differential.generator import Case, compute_last
from tests.differential.network import UnfitError
from tests.differential.windows import padding
from tests.graph.rows.networks import RowNetwork

DTYPES = ("int8", "int8", "float32", "int16")  # by seeds in turn
_ATTEMPTS = 40
_LAYERS = (3, 9)
_ENDS_WITH_MEAN = 0.3
_Maker = Callable[[RowNetwork, str], None]


def generate(seed: int) -> Case:
    """A network of one dtype, which depends on the seed. Its last result is its output."""
    rng = np.random.default_rng(seed)
    dtype, layers = DTYPES[seed % len(DTYPES)], int(rng.integers(*_LAYERS))
    net = RowNetwork(rng)
    names = list(_MAKERS)
    chances = np.array([_MAKERS[name][1] for name in names], np.float64)
    for _ in range(_ATTEMPTS):
        if len(net.operators) >= layers:
            break
        kind = names[int(rng.choice(len(names), p=chances / chances.sum()))]
        net = _grown(net, _MAKERS[kind][0], kind, dtype) or net
    if net.computed and net.chance(_ENDS_WITH_MEAN):
        net = _grown(net, _mean, "MEAN", dtype) or net
    return Case(seed, net, [net.computed[-1]])


def _grown(net: RowNetwork, make: _Maker, kind: str, dtype: str) -> RowNetwork | None:
    """The network with more layers, None if they do not fit."""
    trial = net.copy()
    try:
        make(trial, dtype)
        compute_last(trial)
    except (UnfitError, MicrogenError, StatusError):
        return None
    trial.kinds.append((kind, dtype))
    return trial


def _of(code: str) -> _Maker:
    """A maker of one layer, as the differential tests have it."""

    def make(net: RowNetwork, dtype: str) -> None:
        makers.registry()[code, dtype].make(net, code, dtype)

    return make


def _image(net: RowNetwork, dtype: str) -> str:
    """The last result, or the input."""
    return net.pick(dtype, 4)


def _weighted(
    net: RowNetwork, data: str, dtype: str, kernel: int, filters: int, *, multiplier: int = 0
) -> str:
    """A convolution with SAME padding and without strides, computed; depthwise with a
    ``multiplier``."""
    batches, height, width, depth = net.shape(data)
    shape = (filters, kernel, kernel, depth)
    options = {**padding(True), "strideH": 1, "strideW": 1, "fusedActivationFunction": net.fused()}
    options |= {"dilationHFactor": 1, "dilationWFactor": 1}
    code, kind, axis = "CONV_2D", "Conv2DOptions", 0
    if multiplier:
        shape = (1, kernel, kernel, filters)
        code, kind, axis = "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", 3
        options["depthMultiplier"] = multiplier
    weights = net.weight(shape, axis, data, dtype, wide=dtype == "int16")
    output = net.output(dtype, (batches, height, width, filters))
    net.add(code, [data, *weights], output, kind, options)
    compute_last(net)
    return output


def _residual(net: RowNetwork, dtype: str) -> None:
    """An inverted residual block: wider, filtered, as deep as before, and the input added."""
    data = _image(net, dtype)
    depth, multiplier = net.shape(data)[3], int(net.rng.integers(1, 3))
    inner, wider = data, depth * int(net.rng.integers(1, 4))
    if net.chance(0.7):
        inner = _weighted(net, inner, dtype, 1, wider)
    filters = net.shape(inner)[3] * multiplier
    kernel = int(net.rng.choice([2, 3, 3, 5]))
    inner = _weighted(net, inner, dtype, kernel, filters, multiplier=multiplier)
    inner = _weighted(net, inner, dtype, 1, depth)
    both = [data, inner] if net.chance(0.5) else [inner, data]
    options = {"fusedActivationFunction": net.fused(dtype)}
    net.add("ADD", both, net.output(dtype, net.shape(data)), "AddOptions", options)


def _padded(net: RowNetwork, dtype: str) -> None:
    """Padding of four sizes, and a layer whose window begins in it."""
    data = _image(net, dtype)
    above, below, left, right = (int(n) for n in net.rng.integers(0, 4, 4))
    sizes = np.array([(0, 0), (above, below), (left, right), (0, 0)], np.int32)
    shape = tuple(int(n) for n in np.array(net.shape(data)) + sizes.sum(1))
    output = net.output(dtype, shape, like=data)
    net.add("PAD", [data, net.constant(sizes)], output, "PadOptions")
    compute_last(net)
    _of(str(net.one_of(["CONV_2D", "DEPTHWISE_CONV_2D"])))(net, dtype)


def _mean(net: RowNetwork, dtype: str) -> None:
    """The mean over height and width, as a pool or as a MEAN."""
    data = net.computed[-1]
    batches, height, width, depth = net.shape(data)
    if net.chance(0.6):
        output = net.output(dtype, (batches, 1, 1, depth), like=data)
        sizes = {"filterHeight": height, "filterWidth": width, "strideH": 1, "strideW": 1}
        net.add("AVERAGE_POOL_2D", [data], output, "Pool2DOptions", {**padding(False), **sizes})
        return
    axes = net.constant(np.array([1, 2], np.int32))
    output = net.output(dtype, (batches, 1, 1, depth))
    net.add("MEAN", [data, axes], output, "ReducerOptions", {"keepDims": True})


def _pool(net: RowNetwork, dtype: str) -> None:
    """A pool of two by two, or three by three, with a stride."""
    data = _image(net, dtype)
    batches, *size, depth = net.shape(data)
    window, stride = int(net.rng.integers(2, 4)), int(net.rng.integers(1, 3))
    same = net.chance(0.3)
    out = [-(-n // stride) if same else (n - window) // stride + 1 for n in size]
    if min(out) < 1:
        raise UnfitError("no output")
    options = {**padding(same), "strideH": stride, "strideW": stride}
    options |= {"filterHeight": window, "filterWidth": window}
    options["fusedActivationFunction"] = tflite.ActivationFunctionType.NONE
    output = net.output(dtype, (batches, *out, depth), like=data)
    code = str(net.one_of(["MAX_POOL_2D", "AVERAGE_POOL_2D"]))
    net.add(code, [data], output, "Pool2DOptions", options)


_MAKERS: dict[str, tuple[_Maker, float]] = {
    "RESIDUAL": (_residual, 3),
    "PAD": (_padded, 2),
    "POOL": (_pool, 1),
    **{
        code: (_of(code), often)
        for code, often in {
            "CONV_2D": 3,
            "DEPTHWISE_CONV_2D": 3,
            "MAX_POOL_2D": 0.5,
            "AVERAGE_POOL_2D": 0.5,
            "ADD": 2,
            "MUL": 1,
            "RELU": 1,
        }.items()
    },
}
