"""FULLY_CONNECTED and BATCH_MATMUL."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import tflite

from tests.differential import stock
from tests.differential.makers import ALL, SIGNED, Maker, pick_data
from tests.differential.network import Network, UnfitError


def _dense(net: Network, code: str, dtype: str) -> None:
    data = pick_data(net, dtype)
    shape = net.shape(data)
    if not shape:
        raise UnfitError("a scalar")
    features = stock.depth(net.rng)
    wide = dtype == "int16" and net.chance(0.7)
    weight, bias = net.weight((features, shape[-1]), 0, data, dtype, wide=wide)
    net.sometimes_packed(weight)
    spec = net.tensors[weight]
    if dtype == spec.dtype == "int8" and len(spec.scale) == 1 and net.chance(0.3):
        net.tensors[weight] = replace(spec, zero_point=(int(net.rng.integers(-128, 128)),))
    keep = net.chance(0.3)
    final = (*shape[:-1], features) if keep else (prod(shape[:-1]), features)
    output = net.output(net.dtype(data), final)
    options = {"fusedActivationFunction": net.fused(), "keepNumDims": keep}
    if dtype == "int16" and not wide:
        options["quantizedBiasType"] = tflite.TensorType.INT32
    if dtype == "hybrid":
        options["asymmetricQuantizeInputs"] = net.chance(0.5)
    inputs = [data, weight, bias if net.chance(0.8) else -1]
    net.add(code, inputs, output, "FullyConnectedOptions", options)


def _matmul(net: Network, code: str, dtype: str) -> None:
    lhs = net.pick(dtype, fits=lambda name: len(net.shape(name)) >= 2)
    shape = net.shape(lhs)
    if len(shape) < 2:
        raise UnfitError("not a matrix")
    adj_x, adj_y = net.chance(0.3), net.chance(0.3)
    rows, depth = shape[-2:][::-1] if adj_x else shape[-2:]
    columns = int(net.rng.integers(1, 7))
    right = (columns, depth) if adj_y else (depth, columns)
    batches = net.one_of([shape[:-2], tuple(1 for _ in shape[:-2]), ()])
    whole = (*batches, *right)
    rhs = net.pick(dtype, shape=whole) if net.chance(0.5) else net.constant_like(lhs, whole)
    output = net.output(dtype, (*shape[:-2], rows, columns))
    options = {"adjX": adj_x, "adjY": adj_y}
    net.add(code, [lhs, rhs], output, "BatchMatMulOptions", options)


def _hybrid_matmul(net: Network, code: str, dtype: str) -> None:
    data = pick_data(net, dtype, 2)
    adj_x, adj_y = net.chance(0.3), net.chance(0.3)
    rows, depth = net.shape(data)[::-1] if adj_x else net.shape(data)
    columns = int(net.rng.integers(1, 7))
    shape = (columns, depth) if adj_y else (depth, columns)
    weight, _ = net.weight(shape, 0 if adj_y else 1, data, dtype)
    options = {"adjX": adj_x, "adjY": adj_y, "asymmetricQuantizeInputs": net.chance(0.5)}
    output = net.output("float32", (rows, columns))
    net.add(code, [data, weight], output, "BatchMatMulOptions", options)


MAKERS = (
    Maker(("FULLY_CONNECTED",), (*ALL, "hybrid"), _dense, often=3),
    Maker(("BATCH_MATMUL",), SIGNED, _matmul),
    Maker(("BATCH_MATMUL",), ("hybrid",), _hybrid_matmul),
)
