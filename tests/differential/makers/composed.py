"""Operators that importers compose from several ops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tests.differential import stock
from tests.differential.makers import EVERY, SIGNED, WITHOUT_UINT8, Maker
from tests.differential.network import Network, Shape, UnfitError

_NUMBERS = ("float32", "int32")
_PLAIN = (*_NUMBERS, "int64")


def _with_axes(net: Network, dtype: str, least: int = 1) -> str:
    data = net.pick(dtype, fits=lambda name: len(net.shape(name)) >= least)
    if len(net.shape(data)) < least:
        raise UnfitError("too few axes")
    return data


def _number(net: Network, value: float, dtype: str = "int32") -> str:
    return net.constant(np.array(value, dtype))


def _integers(net: Network, values: Sequence[int]) -> str:
    return net.constant(np.array(values, np.int32))


def _small(net: Network, dtype: str, shape: Shape, limit: int) -> str:
    """Integers from 0 to below a limit: constant or fed."""
    if net.chance(0.5):
        return net.constant(net.rng.integers(0, limit, shape).astype(dtype))
    return net.pick(dtype, fits=lambda _: False, shape=shape, low=0, high=limit - 1)


def _unary(net: Network, code: str, dtype: str) -> None:
    tables = {"GELU": "GeluOptions", "SIGN": "SignOptions"}
    exact = code == "SIGN"
    data = net.pick(dtype, fits=lambda name: not (exact and name in net.shaken))
    options = {"approximate": net.chance(0.5)} if code == "GELU" else {}
    net.add(code, [data], net.output(dtype, net.shape(data)), tables.get(code, ""), options)


def _power(net: Network, code: str, dtype: str) -> None:
    base = net.pick(
        dtype, None, lambda name: 0 < net.least(name) <= net.greatest(name) < 9, low=1, high=4
    )
    if not 0 < net.least(base) <= net.greatest(base) < 9:
        raise UnfitError("a base that is not small and positive")
    by = _number(net, int(net.rng.integers(0, 4)), dtype)
    net.add(code, [base, by], net.output(dtype, net.shape(base)), "PowOptions")


def _angle(net: Network, code: str, dtype: str) -> None:
    y = net.pick(dtype, fits=lambda name: name not in net.shaken)
    x = net.constant(stock.sample(net.rng, dtype, net.shape(y)))
    net.add(code, [y, x], net.output(dtype, net.shape(y)), "ATan2Options")


def _stablehlo(net: Network, code: str, dtype: str) -> None:
    lhs = net.pick(dtype)
    rhs = net.constant_like(lhs, net.shape(lhs))
    net.add(code, [lhs, rhs], net.output(dtype, net.shape(lhs)))


def _bits(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    table = "BitwiseXorOptions" if code == "BITWISE_XOR" else "RightShiftOptions"
    by = _number(net, int(net.rng.integers(0, 8)), dtype)
    by = net.constant(np.full(net.shape(data), net.tensors[by].data))
    net.add(code, [data, by], net.output(dtype, net.shape(data)), table)


def _cast_bits(net: Network, code: str, dtype: str) -> None:
    if dtype == "int32":  # the bits of usual floats
        data = net.pick(dtype, fits=lambda _: False, low=0x3F000000, high=0x41000000)
    else:
        data = net.pick(dtype, fits=lambda name: name not in net.shaken)
    to = "int32" if dtype == "float32" else "float32"
    net.add(code, [data], net.output(to, net.shape(data)), "BitcastOptions")


def _rank(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    net.add(code, [data], net.output("int32", ()), "RankOptions")


def _range(net: Network, code: str, dtype: str) -> None:
    net.pick("int32")  # the network has an input in any case
    count = int(net.rng.integers(1, 6))
    ends = [_number(net, value, dtype) for value in (1, 1 + 2 * count, 2)]
    net.add(code, ends, net.output(dtype, (count,)), "RangeOptions")


def _topk(net: Network, code: str, dtype: str) -> None:
    data = _with_axes(net, dtype)
    if data in net.shaken:
        raise UnfitError("positions jump")
    *outer, size = net.shape(data)
    k = int(net.rng.integers(1, size + 1))
    outputs = [net.output(dtype, (*outer, k), like=data), net.output("int32", (*outer, k))]
    net.add(code, [data, _number(net, k)], outputs, "TopKV2Options")


def _scatter(net: Network, code: str, dtype: str) -> None:
    updates = _with_axes(net, dtype)
    count, *inner = net.shape(updates)
    shape = (count + 2, *inner)
    places = net.constant(net.rng.permutation(count + 2)[:count].reshape(-1, 1).astype(np.int32))
    if dtype in _PLAIN:
        places = _small(net, "int32", (count, 1), count + 2)
    output = net.output(dtype, shape, like=updates)
    net.add(code, [places, updates, _integers(net, shape)], output, "ScatterNdOptions")


def _dense(net: Network, code: str, dtype: str) -> None:
    values = net.pick(dtype, 1)
    (count,) = net.shape(values)
    places = np.sort(net.rng.permutation(count + 3)[:count])
    inputs = [_integers(net, places.tolist()), _integers(net, [count + 3]), values]
    filler = net.constant_like(values, ())
    output = net.output(dtype, (count + 3,), like=values)
    net.add(code, [*inputs, filler], output, "SparseToDenseOptions")


def _segments(net: Network, code: str, dtype: str) -> None:
    data = _with_axes(net, dtype)
    rows, *inner = net.shape(data)
    # A segment without rows would have the least or the greatest number.
    count = min(rows, 4)
    places = net.constant((net.rng.permutation(rows) % count).astype(np.int32))
    name = code.removeprefix("UNSORTED_SEGMENT_").capitalize()
    output = net.output(dtype, (count, *inner))
    net.add(code, [data, places, _number(net, count)], output, f"UnsortedSegment{name}Options")


def _one_hot(net: Network, code: str, dtype: str) -> None:
    indices = net.pick(dtype)
    depth = int(net.rng.integers(1, 5))
    output = net.output("float32", (*net.shape(indices), depth))
    ends = [_number(net, value, "float32") for value in (1, 0)]
    net.add(code, [indices, _number(net, depth), *ends], output, "OneHotOptions", {"axis": -1})


def _bucketize(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, fits=lambda name: name not in net.shaken)
    bounds = [-20.5, -1.0, 0.25, 3.0]
    output = net.output("int32", net.shape(data))
    net.add(code, [data], output, "BucketizeOptions", {"boundaries": bounds})


def _reverse_sequence(net: Network, code: str, dtype: str) -> None:
    data = _with_axes(net, dtype, 2)
    shape = net.shape(data)
    time, batch = (int(k) for k in net.rng.permutation(len(shape))[:2])
    lengths = net.constant(net.rng.integers(1, shape[time] + 1, shape[batch]).astype(np.int32))
    options = {"seqDim": time, "batchDim": batch}
    output = net.output(dtype, shape, like=data)
    net.add(code, [data, lengths], output, "ReverseSequenceOptions", options)


def _diagonal(net: Network, code: str, dtype: str) -> None:
    data = _with_axes(net, dtype)
    shape = net.shape(data)
    output = net.output(dtype, (*shape, shape[-1]), like=data)
    net.add(code, [data], output, "MatrixDiagOptions")


def _set_diagonal(net: Network, code: str, dtype: str) -> None:
    data = _with_axes(net, dtype, 2)
    shape = net.shape(data)
    diagonal = net.constant_like(data, (*shape[:-2], min(shape[-2:])))
    output = net.output(dtype, shape, like=data)
    net.add(code, [data, diagonal], output, "MatrixSetDiagOptions")


def _dilate(net: Network, code: str, dtype: str) -> None:
    data = _with_axes(net, dtype)
    factors = [int(n) for n in net.rng.integers(1, 3, len(net.shape(data)))]
    shape = tuple((n - 1) * by + 1 for n, by in zip(net.shape(data), factors, strict=True))
    if math.prod(shape) > 10000:
        raise UnfitError("too large")
    filler = net.constant_like(data, ())
    net.add(code, [data, _integers(net, factors), filler], net.output(dtype, shape, like=data))


def _response(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, 4, lambda name: -50 < net.least(name) <= net.greatest(name) < 50)
    options = {"radius": int(net.rng.integers(1, 4)), "bias": 1.0, "alpha": 0.25, "beta": 0.5}
    output = net.output(dtype, net.shape(data))
    net.add(code, [data], output, "LocalResponseNormalizationOptions", options)


def _fake_quant(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, fits=lambda name: name not in net.shaken)
    options = {"min": -1.5, "max": 2.0, "numBits": int(net.rng.integers(2, 9))}
    net.add(code, [data], net.output(dtype, net.shape(data)), "FakeQuantOptions", options)


MAKERS = (
    Maker(("GELU",), SIGNED, _unary),
    Maker(("SIGN",), _NUMBERS, _unary),
    Maker(("RELU_0_TO_1",), ("int8", "float32"), _unary),
    Maker(("ATAN2",), ("float32",), _angle),
    Maker(("STABLEHLO_ADD", "STABLEHLO_MULTIPLY"), _PLAIN, _stablehlo),
    Maker(("STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM"), _NUMBERS, _stablehlo),
    Maker(("POW",), _NUMBERS, _power),
    Maker(("BITWISE_XOR", "RIGHT_SHIFT"), ("int32",), _bits),
    Maker(("BITCAST",), _NUMBERS, _cast_bits),
    Maker(("RANK",), EVERY, _rank),
    Maker(("RANGE",), _PLAIN, _range),
    Maker(("TOPK_V2",), ("int8", "int16", *_PLAIN), _topk),
    Maker(("SCATTER_ND",), ("int8", "bool", *_PLAIN), _scatter),
    Maker(("SPARSE_TO_DENSE",), ("int8", *_PLAIN), _dense),
    Maker(
        tuple(f"UNSORTED_SEGMENT_{name}" for name in ("MAX", "MIN", "PROD", "SUM")),
        _NUMBERS,
        _segments,
    ),
    Maker(("ONE_HOT",), ("int32", "int64"), _one_hot),
    Maker(("BUCKETIZE",), _PLAIN, _bucketize),
    Maker(("REVERSE_SEQUENCE",), ("uint8", "int16", *_PLAIN), _reverse_sequence),
    Maker(("MATRIX_DIAG",), ("int8", "int16", *_PLAIN), _diagonal),
    Maker(("MATRIX_SET_DIAG",), ("int8", "int16", *_PLAIN), _set_diagonal),
    Maker(("DILATE",), WITHOUT_UINT8, _dilate),
    Maker(("LOCAL_RESPONSE_NORMALIZATION",), ("float32",), _response),
    Maker(("FAKE_QUANT",), ("float32",), _fake_quant),
)
