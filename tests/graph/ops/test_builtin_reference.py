"""TFLite operators that importers compose from several ops, against LiteRT."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.arrays import assert_same
from tests.support.tflite_builder import OperatorSpec, OptionValue, TensorSpec, build_model

Rng = np.random.Generator


@dataclass(frozen=True)
class Layer:
    """One operator: fed arrays, constants among them, and the types of its outputs.

    ``inputs`` are in the operator's order; those at ``constants`` are in the file. ``outputs`` are
    dtypes and shapes. ``scales`` has (scale, zero point) of inputs and outputs in this order, which
    plain tensors lack.
    """

    code: str
    inputs: Sequence[Array]
    outputs: Sequence[tuple[str, tuple[int, ...]]]
    constants: Sequence[int] = ()
    options_type: str = ""
    options: dict[str, OptionValue] = field(default_factory=dict)
    scales: dict[str, tuple[float, int]] = field(default_factory=dict)
    ulps: int = 0  # by which floats may differ
    version: int = 1
    is_folded: bool = False  # the output is a constant, so an input of the network is added

    def fed(self) -> list[Array]:
        """The arrays that are not in the file."""
        fed = [each for i, each in enumerate(self.inputs) if i not in self.constants]
        return [np.zeros(1, np.float32)] if self.is_folded else fed

    def to_bytes(self) -> bytes:
        """The bytes of the file."""
        specs = [
            self._spec(f"x{i}", each.dtype.name, each.shape, each if i in self.constants else None)
            for i, each in enumerate(self.inputs)
        ]
        specs += [self._spec(f"y{i}", *each) for i, each in enumerate(self.outputs)]
        names = [spec.name for spec in specs]
        ins, outs = names[: len(self.inputs)], names[len(self.inputs) :]
        operator = OperatorSpec(self.code, ins, outs, self.options_type, self.options, self.version)
        fed = [name for i, name in enumerate(ins) if i not in self.constants]
        if self.is_folded:
            specs, fed = [*specs, TensorSpec("fed", (1,), "float32")], ["fed"]
        return build_model(specs, [operator], fed, outs)

    def _spec(
        self, name: str, dtype: str, shape: tuple[int, ...], data: Array | None = None
    ) -> TensorSpec:
        scale, zero = self.scales.get(name, (0.0, 0))
        quant = ((scale,), (zero,)) if scale else ((), ())
        return TensorSpec(name, shape, dtype, data, *quant)

    def load(self, profile: str = "litert") -> Graph:
        """The graph, checked."""
        graph = frontend.load(self.to_bytes(), file="m.tflite", numerics=numerics.profile(profile))
        verify.check(graph, registry())
        return graph

    def ours(self) -> list[Array]:
        """The outputs by the references of our ops."""
        graph = self.load()
        values = evaluate(graph, dict(zip(graph.inputs, self.fed(), strict=True)), registry())
        values = {**graph.constants, **values}
        return [values[name] for name in graph.outputs]

    def theirs(self) -> list[Array]:
        """The outputs by LiteRT's reference kernel."""
        interpreter = interpreter_of(self.to_bytes())
        for details, value in zip(interpreter.get_input_details(), self.fed(), strict=True):
            interpreter.set_tensor(details["index"], value)
        interpreter.invoke()
        return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]

    def check(self) -> None:
        """Both are equal in shape and bytes; floats may differ by ``ulps``."""
        for ours, theirs in zip(self.ours(), self.theirs(), strict=True):
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), self
            if self.ulps:
                limit = self.ulps * np.spacing(np.abs(theirs).astype(np.float32))
                assert (np.abs(ours - theirs) <= limit).all(), (self, ours, theirs)
            else:
                assert_same(ours, theirs, self)


def _shape(rng: Rng, low: int = 1, high: int = 4) -> tuple[int, ...]:
    return tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(low, high + 1))))


def _floats(rng: Rng, shape: Sequence[int]) -> Array:
    return rng.normal(0, 2, tuple(shape)).astype(np.float32)


def _ints(rng: Rng, shape: Sequence[int], low: int, high: int, dtype: str = "int32") -> Array:
    return rng.integers(low, high, tuple(shape)).astype(dtype)


def _int8(rng: Rng, shape: Sequence[int]) -> Array:
    return _ints(rng, shape, -128, 128, "int8")


def _quant(rng: Rng) -> tuple[float, int]:
    return float(np.float32(2.0 ** rng.uniform(-9, 1))), int(rng.integers(-128, 128))


def _reduction(rng: Rng, code: str, data: Array) -> Layer:
    axes = sorted({int(k) for k in rng.integers(0, data.ndim, 2)})
    keep = bool(rng.random() < 0.5)
    final = [1 if k in axes else n for k, n in enumerate(data.shape) if keep or k not in axes]
    where = np.array([k - data.ndim * int(rng.integers(2)) for k in axes], np.int32)
    outputs = [(data.dtype.name, tuple(final))]
    return Layer(code, [data, where], outputs, [1], "ReducerOptions", {"keepDims": keep})


def _any(rng: Rng) -> Layer:
    return _reduction(rng, "REDUCE_ANY", rng.random(_shape(rng)) < 0.2)


def _product(rng: Rng) -> Layer:
    shape = _shape(rng)
    kind = int(rng.integers(3))
    data = _floats(rng, shape) if kind == 0 else _ints(rng, shape, -5, 6, f"int{32 * kind}")
    return _reduction(rng, "REDUCE_PROD", data)


def _gelu(rng: Rng) -> Layer:
    options: dict[str, OptionValue] = {"approximate": bool(rng.random() < 0.5)}
    scales = {"x0": _quant(rng), "y0": _quant(rng)}
    if rng.random() < 0.5:
        data = np.arange(-128, 128).astype(np.int8)
        return Layer("GELU", [data], [("int8", (256,))], (), "GeluOptions", options, scales)
    scales = {name: (scale * 2.0 ** rng.uniform(-9, -2), 0) for name, (scale, _) in scales.items()}
    data = np.arange(-(2**15), 2**15).astype(np.int16)
    return Layer("GELU", [data], [("int16", (2**16,))], (), "GeluOptions", options, scales)


def _sign(rng: Rng) -> Layer:
    shape = _shape(rng)
    data = _floats(rng, shape) if rng.random() < 0.5 else _ints(rng, shape, -3, 4)
    data.ravel()[0] = 0
    if data.dtype == np.float32:
        data.ravel()[-1] = rng.choice([np.nan, -0.0, np.inf])
    return Layer("SIGN", [data], [(data.dtype.name, shape)], (), "SignOptions")


def _power(rng: Rng) -> Layer:
    shape, is_float = _shape(rng), rng.random() < 0.5
    other = shape if rng.random() < 0.5 else (1,)
    base = np.abs(_floats(rng, shape)) if is_float else _ints(rng, shape, -5, 6)
    by = _floats(rng, other) if is_float else _ints(rng, other, 0, 5)
    known = [1] if rng.random() < 0.5 else []
    if is_float and known and rng.random() < 0.5:
        by = np.full(other, 2, np.float32)
    outputs = [(base.dtype.name, shape)]
    return Layer("POW", [base, by], outputs, known, "PowOptions", ulps=2 if is_float else 0)


def _angle(rng: Rng) -> Layer:
    shape = _shape(rng)
    y, x = (np.where(rng.random(shape) < 0.2, 0, _floats(rng, shape)) for _ in range(2))
    inputs = [y.astype(np.float32), x.astype(np.float32)]
    return Layer("ATAN2", inputs, [("float32", shape)], (), "ATan2Options", ulps=1)


def _stablehlo(rng: Rng) -> Layer:
    shape, code = _shape(rng), str(rng.choice(["ADD", "MAXIMUM", "MINIMUM", "MULTIPLY"]))
    data = [_ints(rng, shape, -(2**31), 2**31) for _ in range(2)]
    if rng.random() < 0.5:
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38], np.float32)
        data = [np.where(rng.random(shape) < 0.5, rng.choice(special, shape), _floats(rng, shape))
                for _ in range(2)]  # fmt: skip
    return Layer(f"STABLEHLO_{code}", data, [(data[0].dtype.name, shape)])


def _range(rng: Rng) -> Layer:
    ends: list[Any] = [rng.integers(-9, 9), rng.integers(-9, 9), rng.choice([-3, -2, -1, 1, 2, 3])]
    if ends[0] == ends[1]:
        ends[1] += 1
    if (ends[1] - ends[0]) * ends[2] < 0:
        ends[2] = -ends[2]
    dtype = str(rng.choice(["int32", "int64", "float32"]))
    factor = 0.3 if dtype == "float32" else 1
    numbers = [np.array(n * factor, dtype) for n in ends]
    # The fed number, which nothing reads, makes it a network.
    return Layer("RANGE", numbers, [(dtype, (1,))], [0, 1, 2], "RangeOptions", is_folded=True)


def _rank(rng: Rng) -> Layer:
    return Layer("RANK", [_floats(rng, _shape(rng))], [("int32", ())], (), "RankOptions")


def _bitcast(rng: Rng) -> Layer:
    shape = _shape(rng)
    return Layer("BITCAST", [_floats(rng, shape)], [("int32", shape)], (), "BitcastOptions")


def _bits(rng: Rng) -> Layer:
    shape, dtype = _shape(rng), str(rng.choice(["int8", "int16", "int32"]))
    data = _ints(rng, shape, -100, 100, dtype)
    if rng.random() < 0.5:
        other = _ints(rng, shape, -100, 100, dtype)
        return Layer("BITWISE_XOR", [data, other], [(dtype, shape)], (), "BitwiseXorOptions")
    count = _ints(rng, shape, 0, 8, dtype)
    return Layer("RIGHT_SHIFT", [data, count], [(dtype, shape)], (), "RightShiftOptions")


def _reverse(rng: Rng) -> Layer:
    data = _int8(rng, (2, 3, 4))
    scales = {"x0": _quant(rng), "y0": _quant(rng)}
    outputs = [("int8", (2, 3, 4))]
    axis = np.array([1], np.int32)
    return Layer("REVERSE_V2", [data, axis], outputs, [1], "ReverseV2Options", scales=scales)


def _topk(rng: Rng) -> Layer:
    shape = (*_shape(rng, 1, 3), 6)
    k = int(rng.integers(1, 7))
    kind, scales = int(rng.integers(3)), {}
    data = (_floats(rng, shape).round(), _ints(rng, shape, -4, 5), _int8(rng, shape) // 32)[kind]
    if kind == 2:
        scales = {"x0": _quant(rng), "y0": _quant(rng)}
    final = (*shape[:-1], k)
    outputs = [(data.dtype.name, final), ("int32", final)]
    count = np.array(k, np.int32)
    return Layer("TOPK_V2", [data, count], outputs, [1], "TopKV2Options", scales=scales)


def _scatter(rng: Rng) -> Layer:
    final, depth = _shape(rng, 1, 3), 1
    depth = int(rng.integers(1, len(final) + 1))
    count, dtype = int(rng.integers(1, 6)), str(rng.choice(["int32", "int64", "float32"]))
    indices = np.stack([_ints(rng, (count,), 0, n) for n in final[:depth]], -1)
    updates = (10 * _floats(rng, (count, *final[depth:]))).astype(dtype)
    inputs = [indices, updates, np.array(final, np.int32)]
    known = [2] if rng.random() < 0.5 else [0, 2]
    return Layer("SCATTER_ND", inputs, [(dtype, final)], known, "ScatterNdOptions")


def _one_scatter(rng: Rng) -> Layer:
    """Stored values at constant places that differ."""
    places = rng.permutation(5)[:3].reshape(3, 1).astype(np.int32)
    inputs = [places, _int8(rng, (3, 2)), np.array([5, 2], np.int32)]
    scales = dict.fromkeys(("x1", "y0"), _quant(rng))
    outputs = [("int8", (5, 2))]
    return Layer("SCATTER_ND", inputs, outputs, [0, 2], "ScatterNdOptions", scales=scales)


def _dense(rng: Rng) -> Layer:
    final = _shape(rng, 1, 3)
    count, dtype = int(rng.integers(1, 4)), str(rng.choice(["int32", "int64", "float32"]))
    flat = rng.permutation(math.prod(final))[:count]
    indices = np.stack(np.unravel_index(np.sort(flat), final), -1).astype(np.int32)
    if len(final) == 1 and rng.random() < 0.5:
        indices = indices[:, 0]
    values = (10 * _floats(rng, (len(indices),))).astype(dtype)
    if rng.random() < 0.3:
        values = values[0].reshape(())
    inputs = [indices, np.array(final, np.int32), values, np.array(3, dtype)]
    known = [1] if rng.random() < 0.5 else [0, 1, 3]
    return Layer("SPARSE_TO_DENSE", inputs, [(dtype, final)], known, "SparseToDenseOptions")


def _segments(rng: Rng) -> Layer:
    name = str(rng.choice(["Sum", "Prod", "Max", "Min"]))
    rows, count, inner = int(rng.integers(1, 7)), int(rng.integers(1, 5)), _shape(rng, 0, 2)
    data = _ints(rng, (rows, *inner), -4, 5)
    if rng.random() < 0.5:
        data = data.astype(np.float32)
    numbers = _ints(rng, (rows,), -1 if rng.random() < 0.5 else 0, count)
    inputs = [data, numbers, np.array(count, np.int32)]
    known = [1, 2] if rng.random() < 0.5 else [2]
    outputs = [(data.dtype.name, (count, *inner))]
    code, options = f"UNSORTED_SEGMENT_{name.upper()}", f"UnsortedSegment{name}Options"
    return Layer(code, inputs, outputs, known, options)


def _one_hot(rng: Rng) -> Layer:
    shape, depth = _shape(rng, 0, 3), int(rng.integers(1, 5))
    axis = int(rng.integers(-1, len(shape) + 1))
    at = len(shape) if axis == -1 else axis
    dtype = str(rng.choice(["int32", "int64", "float32", "int8", "bool"]))
    indices = _ints(rng, shape, -1, depth + 1, str(rng.choice(["int32", "int64"])))
    on, off = np.array(1, dtype), np.array(0, dtype)
    scales = dict.fromkeys(("x2", "x3", "y0"), (0.5, 0)) if dtype == "int8" else {}
    outputs = [(dtype, (*shape[:at], depth, *shape[at:]))]
    inputs = [indices, np.array(depth, np.int32), on, off]
    return Layer("ONE_HOT", inputs, outputs, [1, 2, 3], "OneHotOptions", {"axis": axis}, scales)


def _bucketize(rng: Rng) -> Layer:
    shape, kind = _shape(rng), int(rng.integers(3))
    data = _floats(rng, shape) if kind == 0 else _ints(rng, shape, -4, 5, f"int{32 * kind}")
    if kind == 0:
        data.ravel()[0] = rng.choice([np.nan, np.inf, 1.0])
    bounds = [-2.0, -0.5, 1.0, 3.0]
    options: dict[str, OptionValue] = {"boundaries": bounds}
    return Layer("BUCKETIZE", [data], [("int32", shape)], (), "BucketizeOptions", options)


def _reverse_sequence(rng: Rng) -> Layer:
    shape = _shape(rng, 2, 4)
    time, batch = (int(k) for k in rng.permutation(len(shape))[:2])
    wide = str(rng.choice(["int32", "int64"]))
    lengths = _ints(rng, (shape[batch],), 1, shape[time] + 1, wide)
    options: dict[str, OptionValue] = {"seqDim": time, "batchDim": batch}
    known = [1] if rng.random() < 0.5 else []
    inputs, outputs = [_floats(rng, shape), lengths], [("float32", shape)]
    return Layer("REVERSE_SEQUENCE", inputs, outputs, known, "ReverseSequenceOptions", options)


def _diagonal(rng: Rng) -> Layer:
    shape = _shape(rng, 1, 3)
    outputs = [("float32", (*shape, shape[-1]))]
    return Layer("MATRIX_DIAG", [_floats(rng, shape)], outputs, (), "MatrixDiagOptions")


def _set_diagonal(rng: Rng) -> Layer:
    shape = _shape(rng, 2, 4)
    inputs = [_floats(rng, shape), _floats(rng, (*shape[:-2], min(shape[-2:])))]
    return Layer("MATRIX_SET_DIAG", inputs, [("float32", shape)], (), "MatrixSetDiagOptions")


def _dilate(rng: Rng) -> Layer:
    shape = _shape(rng)
    factors = _ints(rng, (len(shape),), 1, 4)
    final = tuple(int((n - 1) * by + 1) for n, by in zip(shape, factors, strict=True))
    inputs = [_ints(rng, shape, -9, 9), factors, np.array(7, np.int32)]
    return Layer("DILATE", inputs, [("int32", final)], [1, 2])


def _response(rng: Rng) -> Layer:
    shape = (1, 2, 3, int(rng.integers(1, 9)))
    numbers = (float(np.float32(rng.uniform(*ends))) for ends in ((1, 3), (0, 1), (0.2, 1)))
    options: dict[str, OptionValue] = dict(zip(("bias", "alpha", "beta"), numbers, strict=True))
    options["radius"] = int(rng.integers(0, 12))
    table = "LocalResponseNormalizationOptions"
    outputs = [("float32", shape)]
    code = "LOCAL_RESPONSE_NORMALIZATION"
    return Layer(code, [_floats(rng, shape)], outputs, (), table, options, ulps=16)


def _fake_quant(rng: Rng) -> Layer:
    shape = _shape(rng)
    options: dict[str, OptionValue] = {
        "min": float(np.float32(rng.uniform(-4, 0))),
        "max": float(np.float32(rng.uniform(0.1, 4))),
        "numBits": int(rng.integers(2, 17)),
    }
    outputs = [("float32", shape)]
    return Layer("FAKE_QUANT", [_floats(rng, shape)], outputs, (), "FakeQuantOptions", options)


def _by_computed(rng: Rng) -> Layer:
    """FULLY_CONNECTED with computed weights."""
    rows, units, features = (int(n) for n in rng.integers(1, 9, 3))
    options: dict[str, OptionValue] = {"fusedActivationFunction": int(rng.integers(0, 4))}
    keep = rng.random() < 0.5
    options["keepNumDims"] = bool(keep)
    left, right = _int8(rng, (rows, 2, features)), _int8(rng, (units, features))
    scales = {"x0": _quant(rng), "x1": _quant(rng)}
    product = scales["x0"][0] * scales["x1"][0]
    scales["y0"] = (float(np.float32(product * 60 * features)), int(rng.integers(-128, 128)))
    final = (rows, 2, units) if keep else (rows * 2, units)
    table = "FullyConnectedOptions"
    outputs = [("int8", final)]
    return Layer("FULLY_CONNECTED", [left, right], outputs, (), table, options, scales, version=4)


def _wide_by_computed(rng: Rng) -> Layer:
    """The same of int16."""
    layer = _by_computed(rng)
    inputs = [each.astype(np.int16) * 250 for each in layer.inputs]
    scales = {name: (layer.scales[name][0], 0) for name in ("x0", "x1")}
    product, features = scales["x0"][0] * scales["x1"][0], inputs[0].shape[-1]
    scales["y0"] = (float(np.float32(product * 2**15 * features * rng.uniform(0.1, 1))), 0)
    outputs = [("int16", layer.outputs[0][1])]
    options = {**layer.options, "fusedActivationFunction": 0}
    return replace(layer, inputs=inputs, outputs=outputs, scales=scales, options=options)


def _floats_by_computed(rng: Rng) -> Layer:
    """The same of float32, with a bias."""
    layer = _by_computed(rng)
    left, right = (each.astype(np.float32) for each in layer.inputs)
    inputs, known = [left, right], []
    if rng.random() < 0.5:
        inputs, known = [left, right, _ints(rng, (len(right),), -9, 9).astype(np.float32)], [2]
    outputs = [("float32", layer.outputs[0][1])]
    return Layer(layer.code, inputs, outputs, known, layer.options_type, layer.options)


def _clipped(rng: Rng) -> Layer:
    shape = _shape(rng)
    if rng.random() < 0.5:
        return Layer("RELU_0_TO_1", [_floats(rng, shape)], [("float32", shape)])
    scales = {"x0": _quant(rng), "y0": _quant(rng)}
    return Layer("RELU_0_TO_1", [_int8(rng, shape)], [("int8", shape)], scales=scales)


MAKERS = (
    *(
        _any,
        _product,
        _gelu,
        _sign,
        _power,
        _angle,
        _range,
        _rank,
        _bitcast,
        _bits,
        _reverse,
        _topk,
    ),
    *(_scatter, _one_scatter, _dense, _segments, _one_hot, _bucketize, _reverse_sequence),
    *(_topk, _diagonal, _set_diagonal, _dilate, _response, _fake_quant, _by_computed),
    *(_wide_by_computed, _floats_by_computed, _clipped),
)


@needs_litert
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__.strip("_"))
def test_composed_operators_equal_litert(make: Callable[[Rng], Layer]) -> None:
    for seed in range(25):
        make(np.random.default_rng(seed)).check()
