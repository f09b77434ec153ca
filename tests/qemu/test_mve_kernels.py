"""The kernels for MVE on an emulated Cortex-M55 equal the numpy references byte for byte."""

from __future__ import annotations

import dataclasses
import functools
import shutil
import subprocess
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen import kernels
from microgen.building.builder import build
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.kernels import base
from microgen.kernels.base import Implementation
from microgen.target.cpu import Feature
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import inlined_calls
from tests.qemu import mve_elementwise
from tests.support import minimal_project
from tests.support.sampling import seeds
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]

BOARD = "mps3_an547"
DRIVER = Path(__file__).with_name("mve_driver.c")
GUARD = 32  # bytes after every output that must not change
FILLER = 0x5A
WORDS = 16
INLINED = 6  # cases of each kernel with constant parameters
RANDOM = 150  # cases of each op
FLOATS = 3  # every so many cases are scaled in float32, too
INTEGERS = (base.MVE, base.MVE | base.MVE_FLOAT)  # what kernels of integers need


# Cases


def _output(rng: np.random.Generator, data: c.Tensor, weight: c.Tensor, products: int) -> Quant:
    """A usual scale; every third one is the least possible or some powers of ten above."""
    scale = c.output_scale(data, weight, products)
    if rng.integers(3) == 0:
        scale = c.least_output_scale(data, weight, products) * 10 ** rng.choice([0, 1, 3, 6, 9, 15])
    return c.quant(scale, int(rng.choice([-128, 127, *rng.integers(-128, 128, 3)])))


def _weight(rng: np.random.Generator, shape: tuple[int, ...], axis: int | None) -> c.Tensor:
    tensor = c.weight(rng, shape, axis)
    return c.Tensor(tensor.type, np.maximum(tensor.array, -127), is_constant=True)


def _inputs(
    rng: np.random.Generator, data: c.Tensor, weight: c.Tensor, outputs: int
) -> tuple[c.Tensor, ...]:
    limit = int(rng.choice([9000, 2**30]))
    bias = c.bias(rng.integers(-limit, limit, outputs))
    return (data, weight, bias) if rng.integers(4) else (data, weight)


def _activation(rng: np.random.Generator) -> Activation:
    return list(Activation)[int(rng.integers(4))]


def _pair(rng: np.random.Generator, low: int, high: int) -> Pair:
    return int(rng.integers(low, high)), int(rng.integers(low, high))


def _size(rng: np.random.Generator, kernel: Pair, dilation: Pair) -> Pair:
    extra = _pair(rng, 0, 6)
    height, width = ((k - 1) * d + 1 + e for k, d, e in zip(kernel, dilation, extra, strict=True))
    return height, width


def _padding(rng: np.random.Generator) -> Padding:
    top, left, bottom, right = (int(n) for n in rng.integers(0, 4, 4))
    explicit: Padding = (top, left, bottom, right)
    choices: tuple[Padding, ...] = (explicit, "SAME", "VALID")
    return choices[int(rng.integers(3))]


def _dense(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    batches, units = int(rng.integers(1, 11)), int(rng.integers(1, 20))
    depth = 1 + seed % 70 if seed % 6 else 64 * (1 + seed % 4)  # loops of 64 are assembly
    x = c.int8(rng, (batches, depth), c.random_quant(rng))
    w = _weight(rng, (units, depth), 0 if rng.integers(2) else None)
    rounding = list(Rounding)[int(rng.integers(2))]
    attrs = DenseAttrs(_activation(rng), rounding, keep_num_dims=False)
    out = _output(rng, x, w, depth)
    return c.Case(f"dense {seed}", "nn.dense", attrs, _inputs(rng, x, w, units), out)


_ROUNDINGS = (Rounding.DOUBLE, Rounding.UPWARD, Rounding.DOUBLE, Rounding.NEAREST)


def _conv2d(
    seed: int, kernel: Pair, dilation: Pair, padding: Padding, depth: int, groups: int = 1
) -> c.Case:
    rng = np.random.default_rng(seed)
    height, width = _size(rng, kernel, dilation)
    shape = (int(rng.integers(1, 3)), height, width, depth * groups)
    x = c.int8(rng, shape, c.random_quant(rng))
    channels = groups * int(rng.integers(1, max(2, 20 // groups)))
    w = _weight(rng, (channels, *kernel, depth), 0 if rng.integers(2) else None)
    rounding = _ROUNDINGS[seed // FLOATS % len(_ROUNDINGS)]
    attrs = Conv2DAttrs(_pair(rng, 1, 4), dilation, padding, _activation(rng), rounding)
    out = _output(rng, x, w, depth * kernel[0] * kernel[1])
    if rounding is not Rounding.DOUBLE:  # the others refuse scales of which results leave int32
        scale = max(out.scale[0], c.output_scale(x, w, depth * kernel[0] * kernel[1]))
        out = dataclasses.replace(out, scale=(scale,))
    return c.Case(f"conv {seed}", "nn.conv2d", attrs, _inputs(rng, x, w, channels), out)


def _pointwise(seed: int) -> c.Case:
    return _conv2d(seed, (1, 1), (1, 1), "VALID", 1 + seed % 70)


def _general(seed: int) -> c.Case:
    rng = np.random.default_rng(2000 + seed)
    return _conv2d(seed, _pair(rng, 1, 5), _pair(rng, 1, 4), _padding(rng), 1 + seed % 21)


def _grouped(seed: int) -> c.Case:
    rng = np.random.default_rng(3000 + seed)
    dilation = _pair(rng, 1, 3)
    return _conv2d(seed, _pair(rng, 1, 4), dilation, _padding(rng), 1 + seed % 18, 2 + seed % 5)


def _transposed(seed: int) -> c.Case:
    """Any filters and strides, so that some phases have no taps, and outputs that end before the
    full result, or after it."""
    rng = np.random.default_rng(5000 + seed)
    kernel, strides, size = _pair(rng, 1, 6), _pair(rng, 1, 4), _pair(rng, 1, 12)
    depth, channels = 1 + seed % 37, int(rng.choice([1, 2, 3, *rng.integers(4, 18, 5)]))
    rows, columns = (_grown(rng, *one) for one in zip(size, kernel, strides, strict=True))
    x = c.int8(rng, (int(rng.integers(1, 3)), *size, depth), c.random_quant(rng))
    w = _weight(rng, (channels, *kernel, depth), 0 if rng.integers(2) else None)
    padding = (rows[1], columns[1], rows[2], columns[2])
    attrs = Conv2DTransposeAttrs(
        strides, padding, (rows[0], columns[0]), _activation(rng), Rounding.DOUBLE
    )
    out = _output(rng, x, w, depth * kernel[0] * kernel[1])
    inputs = _inputs(rng, x, w, channels)
    return c.Case(f"transposed {seed}", "nn.conv2d_transpose", attrs, inputs, out)


def _grown(rng: np.random.Generator, size: int, taps: int, stride: int) -> tuple[int, int, int]:
    """The extent of an output, and what is left out of the full result before and after it."""
    full = (size - 1) * stride + taps
    before = int(rng.integers(0, min(full, taps + 2)))
    after = int(rng.integers(0, min(full - before, taps)))
    return full - before - after + int(rng.integers(0, stride)), before, after


def _depthwise(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    kernel, dilation = _pair(rng, 1, 5), _pair(rng, 1, 4)
    height, width = _size(rng, kernel, dilation)
    depth, multiplier = 1 + seed % 70, int(rng.choice([1, 1, 2, 3, 7, 20]))
    channels = depth * multiplier
    x = c.int8(rng, (int(rng.integers(1, 3)), height, width, depth), c.random_quant(rng))
    w = _weight(rng, (1, *kernel, channels), 3 if rng.integers(2) else None)
    attrs = DepthwiseConv2DAttrs(
        _pair(rng, 1, 4), dilation, _padding(rng), multiplier, _activation(rng), Rounding.DOUBLE
    )
    out = _output(rng, x, w, kernel[0] * kernel[1])
    inputs = _inputs(rng, x, w, channels)
    return c.Case(f"depthwise {seed}", "nn.depthwise_conv2d", attrs, inputs, out)


def _sixteens(seed: int) -> c.Case:
    """Sixteen channels or more, one filter each: of one column, or so small that they may be
    clipped."""
    rng = np.random.default_rng(4000 + seed)
    kernel = (int(rng.integers(1, 14)), 1) if seed % 2 else _pair(rng, 1, 6)
    dilation: Pair = (1, 1) if seed % 3 else _pair(rng, 1, 4)
    height, width = _size(rng, kernel, dilation)
    channels = int(rng.choice([16, 32, 48, *rng.integers(17, 60, 3)]))
    x = c.int8(rng, (int(rng.choice([1, 1, 2])), height, width, channels), c.random_quant(rng))
    w = _weight(rng, (1, *kernel, channels), 3 if rng.integers(2) else None)
    attrs = DepthwiseConv2DAttrs(
        _pair(rng, 1, 3), dilation, _padding(rng), 1, _activation(rng), Rounding.DOUBLE
    )
    out = _output(rng, x, w, kernel[0] * kernel[1])
    inputs = _inputs(rng, x, w, channels)
    return c.Case(f"c16 {seed}", "nn.depthwise_conv2d", attrs, inputs, out)


def _large(seed: int) -> c.Case:
    """A depthwise convolution with filters of any size and multiplier, over short and long rows."""
    rng = np.random.default_rng(6000 + seed)
    kernel, size = _pair(rng, 1, 9), _pair(rng, 1, 24)
    size = (max(size[0], kernel[0] - 2), max(size[1], kernel[1] - 2))
    depth, multiplier = int(rng.choice([1, 2, 8, 11, 16])), int(rng.choice([1, 1, 1, 2, 8]))
    channels = depth * multiplier
    x = c.int8(rng, (int(rng.choice([1, 1, 2])), *size, depth), c.random_quant(rng))
    w = _weight(rng, (1, *kernel, channels), 3 if rng.integers(2) else None)
    padding: Padding = (*map(int, rng.integers(1, 4, 4)),) if seed % 3 == 0 else "SAME"  # type: ignore[assignment]
    attrs = DepthwiseConv2DAttrs(
        _pair(rng, 1, 4), (1, 1), padding, multiplier, _activation(rng), Rounding.DOUBLE
    )
    out = _output(rng, x, w, kernel[0] * kernel[1])
    inputs = _inputs(rng, x, w, channels)
    return c.Case(f"large {seed}", "nn.depthwise_conv2d", attrs, inputs, out)


def _along(seed: int) -> c.Case:
    """A depthwise convolution with filters along the axis that has more outputs."""
    rng = np.random.default_rng(3000 + seed)
    taps, size = int(rng.integers(1, 17)), int(rng.integers(1, 12))
    shape, kernel = (taps + size, int(rng.integers(1, 3))), (taps, 1)
    if rng.integers(2):
        shape, kernel = shape[::-1], kernel[::-1]
    return _undilated(rng, seed, shape, kernel, _pair(rng, 1, 3))


def _around(seed: int) -> c.Case:
    """A depthwise convolution with filters along both axes and one stride."""
    rng = np.random.default_rng(4000 + seed)
    kernel, stride = _pair(rng, 2, 5), int(rng.integers(1, 3))
    return _undilated(rng, seed, _size(rng, kernel, (1, 1)), kernel, (stride, stride))


def _undilated(
    rng: np.random.Generator, seed: int, size: Pair, kernel: Pair, strides: Pair
) -> c.Case:
    depth = 1 + seed % 21
    x = c.int8(rng, (int(rng.integers(1, 3)), *size, depth), c.random_quant(rng))
    w = _weight(rng, (1, *kernel, depth), 3 if rng.integers(2) else None)
    padding: Padding = "SAME" if rng.integers(2) else "VALID"
    attrs = DepthwiseConv2DAttrs(strides, (1, 1), padding, 1, _activation(rng), Rounding.DOUBLE)
    out = _output(rng, x, w, kernel[0] * kernel[1])
    inputs = _inputs(rng, x, w, depth)
    return c.Case(f"undilated {seed}", "nn.depthwise_conv2d", attrs, inputs, out)


def _largest_products() -> c.Case:
    """The largest products whose pairs the depthwise kernel adds in int16, all of one sign."""
    x = c.Tensor(
        ArrayType((1, 4, 4, 33), DType.INT8, c.quant(0.1, 127)),
        np.full((1, 4, 4, 33), -128, np.int8),
    )
    w = _weight(np.random.default_rng(1), (1, 3, 3, 33), 3)
    w.array[:] = np.where(np.arange(33) % 2, 127, -127)
    attrs = DepthwiseConv2DAttrs((1, 1), (1, 1), "SAME", 1, Activation.NONE, Rounding.DOUBLE)
    out = c.quant(c.output_scale(x, w, 200), 3)
    return c.Case("largest products", "nn.depthwise_conv2d", attrs, (x, w), out)


def _extremes(op: str, zero: int) -> c.Case:
    """Data and weights of -128 everywhere, whose sums are the largest ones there are."""
    shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
        "nn.conv2d": ((1, 4, 4, 40), (5, 3, 3, 40)),
        "nn.conv2d_transpose": ((1, 4, 4, 40), (5, 3, 3, 40)),
        "nn.depthwise_conv2d": ((1, 6, 5, 11), (1, 3, 3, 11)),
        "nn.dense": ((2, 128), (9, 128)),
    }
    shape, filters = shapes[op]
    of = c.quant(0.1, zero)
    x = c.Tensor(ArrayType(shape, DType.INT8, of), np.full(shape, -128, np.int8))
    axis = 3 if op == "nn.depthwise_conv2d" else 0
    w = c.weight(np.random.default_rng(1), filters, axis)
    w.array[:] = -128
    once, twice = Rounding.SINGLE, Rounding.DOUBLE
    attrs = {
        "nn.conv2d": Conv2DAttrs((1, 1), (1, 1), "SAME", Activation.NONE, twice),
        "nn.conv2d_transpose": Conv2DTransposeAttrs((2, 2), "SAME", (8, 8), Activation.NONE, twice),
        "nn.depthwise_conv2d": DepthwiseConv2DAttrs(
            (1, 1), (1, 1), "SAME", 1, Activation.NONE, twice
        ),
        "nn.dense": DenseAttrs(Activation.NONE, once, keep_num_dims=False),
    }[op]
    out = c.quant(c.output_scale(x, w, int(np.prod(filters)) // filters[axis]) * 8, -zero // 2)
    return c.Case(f"{op} of -128, zero point {zero}", op, attrs, (x, w), out)


def _near_ties(rounding: Rounding, per_channel: bool, size: float, depth: int) -> c.Case:
    """A case with many sums that are scaled exactly to a half, positive and negative."""
    ties = np.arange(-100, 100)
    zeros = np.zeros((1, depth), np.int8)
    x = c.Tensor(ArrayType(zeros.shape, DType.INT8, c.quant(1, 0)), zeros)
    w = _weight(np.random.default_rng(8), (ties.size, depth), None)
    scales = Quant(
        (1.0,) * (ties.size if per_channel else 1),
        (0,) * (ties.size if per_channel else 1),
        0 if per_channel else None,
    )
    w = c.Tensor(ArrayType(w.type.shape, DType.INT8, scales), w.array, True)
    attrs = DenseAttrs(Activation.NONE, rounding, keep_num_dims=False)
    sums = ties * size / 2 + np.arange(ties.size) % 3 - 1
    return c.Case(f"ties {size}", "nn.dense", attrs, (x, w, c.bias(sums)), c.quant(size, 0))


def _int4(case: c.Case) -> c.Case:
    """The case with weights of 4 bits, which spread its sums as widely as before."""
    x, w, *others = case.inputs
    w = dataclasses.replace(w, array=w.array >> 4, is_int4=True)
    assert case.output_quant is not None
    (scale,), zero_point = case.output_quant.scale, case.output_quant.zero_point
    out = Quant((float(np.float32(scale / 16)),), zero_point)
    inputs = (x, w, *others)
    try:
        return dataclasses.replace(case, inputs=inputs, output_quant=out)
    except ValueError:  # a scale that was the least possible one
        return dataclasses.replace(case, inputs=inputs)


def _float(case: c.Case) -> c.Case:
    """The case with sums that are scaled in float32."""
    attrs: Any = case.attrs
    return dataclasses.replace(case, attrs=dataclasses.replace(attrs, rounding=Rounding.FLOAT))


_WEIGHTED = (_dense, _pointwise, _general, _grouped, _transposed, _depthwise)


@functools.cache
def cases() -> tuple[c.Case, ...]:
    eight_bits = (
        *(
            make(seed)
            for make in (*_WEIGHTED, _along, _around, _sixteens, _large)
            for seed in seeds(RANDOM)
        ),
        _largest_products(),
        *(
            _extremes(op, zero)
            for op in ("nn.conv2d", "nn.conv2d_transpose", "nn.depthwise_conv2d", "nn.dense")
            for zero in (-128, 127)
        ),
        *(
            _near_ties(rounding, per_channel, size, depth)
            for depth in (1, 64)
            for rounding in (Rounding.DOUBLE, Rounding.SINGLE)
            for per_channel in (False, True)
            for size in (2.0, 4.0, 64.0, 2.0**20)
        ),
    )
    floats = map(_float, eight_bits[::FLOATS])
    return (*eight_bits, *floats, *map(_int4, eight_bits), *mve_elementwise.cases())


# Calls


@dataclass(frozen=True)
class Call:
    case: c.Case
    kernel: Implementation
    arguments: tuple[Array | None, ...]  # the output's place is last, or before the scratch
    output: int
    lag: int | None = None  # the output begins so many bytes before the first argument, if at all

    @property
    def room(self) -> int:
        """Bytes of the output, and of the input if it overlaps it."""
        data, output = self.arguments[0], self.case.expected.size
        return output if self.lag is None or data is None else max(output, self.lag + data.nbytes)

    @property
    def fields(self) -> Any:
        return self.kernel.params(self.case.node, self.case.graph)

    def encoded(self, function: int) -> bytes:
        """The case in the form that mve_driver.c reads. Tables and scratch memory start at a
        multiple of 16; data and outputs, which callers own, one byte after it."""
        params = np.concatenate([np.atleast_1d(value) for _, value in self.fields])
        parts = [params.astype(f"<i{self.kernel.code.field_bytes}").tobytes()]
        parts += [b"" if a is None else a.tobytes() for a in self.arguments]
        slot_bytes = parts[1 + self.output]
        if self.lag is not None:
            slot_bytes = bytes([FILLER]) * self.lag + parts[1]
        parts[1 + self.output] = slot_bytes.ljust(self.room + GUARD, bytes([FILLER]))
        data = {*range(len(self.kernel.passed(self.case.node))), self.output}
        offsets, body, at = [], b"", 4 * WORDS
        for i, part in enumerate(parts, -1):
            shift = 1 if i in data else 0
            offsets.append(at + shift)
            padded = bytes(shift) + part + bytes(-(shift + len(part)) % 16)
            body, at = body + padded, at + len(padded)
        places = [-1 if a is None else o for a, o in zip(self.arguments, offsets[1:], strict=True)]
        if self.lag is not None:
            places[0] = places[self.output] + self.lag
        places += [-1] * (8 - len(places))
        slot = [offsets[1 + self.output], len(parts[1 + self.output])]
        words = [offsets[0], *places, *slot]
        head = np.array([function, at, *words, *[0] * (WORDS - len(words))], "<i4")
        return head.tobytes() + body


def calls_of(case: c.Case, needs: Collection[frozenset[Feature]] = INTEGERS) -> Iterator[Call]:
    node, graph = case.node, case.graph
    for kernel in kernels.registry()[case.op]:
        if kernel.needs in needs and not kernel.refusal(node, graph):
            constants = [c._constant(k, graph) for k in kernel.constants(node, graph)]
            output = np.full(case.output_type.shape, FILLER, np.int8)
            nbytes = kernel.scratch(node, graph)
            # Scratch starts as garbage. Writes past its end change only the bytes after it.
            scratch = [np.full(nbytes, 0x77, np.int8)] if nbytes else []
            given = [case.inputs[i].array for i in kernel.passed(node)]
            arguments = (*given, *constants, output, *scratch)
            yield Call(case, kernel, arguments, len(given) + len(constants))


def overlapping(case: c.Case, needs: Collection[frozenset[Feature]] = INTEGERS) -> Iterator[Call]:
    """The calls with an output that begins before the data as far as the kernel states."""
    for call in calls_of(case, needs):
        lags = call.kernel.in_place(case.node, case.graph)
        if 0 in lags:
            yield dataclasses.replace(call, lag=lags[0])


@functools.cache
def _calls() -> list[Call]:
    """The calls of all cases: with an output of its own, and, as far as kernels may, with one that
    overlaps the data."""
    each = (call for case in cases() for call in (*calls_of(case), *overlapping(case)))
    return list(each)


def shared(kernel: Implementation, count: int) -> str:
    arguments = kernel.code.arguments("params", [f"a[{i}]" for i in range(count)])
    return f"{kernel.symbol}({', '.join(arguments)});"


def _initializer(value: object) -> str:
    return f"{{{', '.join(map(str, value))}}}" if isinstance(value, tuple) else str(value)


def inlined(call: Call) -> str:
    code = call.kernel.code
    fields = ", ".join(f".{name} = {_initializer(value)}" for name, value in call.fields)
    given = ["0" if a is None else f"a[{i}]" for i, a in enumerate(call.arguments)]
    constant = f"static const {code.params} p = {{{fields}}};"
    return f"{constant} (void)params; {code.body}(&p, {', '.join((*given, *code.variant))});"


def _functions(bodies: Sequence[str], used: Sequence[Implementation]) -> str:
    lines = [f"#define {kernel.code.macros[0]}" for kernel in used if kernel.code.macros]
    lines += [f'#include "{kernel.code.header}"' for kernel in used]
    lines += [kernel.code.definition for kernel in used]
    for i, body in enumerate(bodies):
        lines.append(f"static void call_{i}(const void *params, void **a) {{ {body} }}")
    names = ", ".join(f"call_{i}" for i in range(len(bodies)))
    return "\n".join([*lines, f"static const function functions[] = {{{names}}};", ""])


def run(
    calls: Sequence[Call],
    bodies: Sequence[str],
    functions: Sequence[int],
    at: Path,
    board: str = BOARD,
    level: str = "-O2",
) -> None:
    """Compares what the functions give for the calls on the board. They are compiled with -O2, like
    operators, or with another level."""
    used = list(dict.fromkeys(call.kernel for call in calls))
    project = minimal_project.write(at / "project", board)
    shutil.copytree(c.CRT, project / "crt", dirs_exist_ok=True)
    (project / "src" / "functions.inc").write_text(_functions(bodies, used))
    # The driver is the application's main, whose level is another one.
    chosen = f'#pragma GCC optimize("{level[1:]}")\n'
    (project / "src" / "main.c").write_text(chosen + DRIVER.read_text())
    elf = build(project).elf
    records = [call.encoded(f) for f, call in zip(functions, calls, strict=True)]
    (at / "cases.bin").write_bytes(b"".join(records))
    machine = board.replace("_", "-")
    command = ["qemu-system-arm", "-M", machine, "-nographic", "-semihosting-config",
               "enable=on,target=native", "-kernel", str(elf)]  # fmt: skip
    done = subprocess.run(command, cwd=at, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    _compare(calls, (at / "outputs.bin").read_bytes())


def _compare(calls: Sequence[Call], found: bytes) -> None:
    for call in calls:
        expected = call.case.expected
        where = f"{call.kernel.symbol}, {call.case.name}: {call.case.attrs} {call.fields}"
        got, guard = found[: expected.size], found[call.room : call.room + GUARD]
        array = np.frombuffer(got, np.int8).reshape(expected.shape)
        assert np.array_equal(array, expected), f"{where}\n{array}\n{expected}"
        assert guard == bytes([FILLER]) * GUARD, f"{where}: writes past its output"
        found = found[call.room + GUARD :]
    assert not found


def test_shared_forms_equal_the_reference(tmp_path: Path) -> None:
    calls = _calls()
    bodies = [shared(call.kernel, len(call.arguments)) for call in calls]
    unique = list(dict.fromkeys(bodies))
    run(calls, unique, [unique.index(body) for body in bodies], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    kept = inlined_calls.some(_calls(), INLINED)
    bodies, level = [inlined(call) for call in kept], inlined_calls.level()
    run(kept, bodies, list(range(len(kept))), tmp_path, level=level)


def test_cases_reach_every_kernel() -> None:
    entries = {k.symbol for found in kernels.registry().values() for k in found}
    reached = {call.kernel.symbol for call in _calls()}
    # test_wide_kernels.py has the kernels with more arguments than this driver passes.
    vectors = {
        s for s in entries if s.endswith("_mve") and not s.startswith(("mg_lstm", "mg_svdf"))
    }
    assert reached == {symbol for symbol in vectors if "_s8" in symbol or "_s4" in symbol}


@pytest.mark.parametrize(
    ("case", "symbol", "word"),
    [
        (_general(2), "mg_conv2d_1x1_s8_mve", "not 1x1"),
        (_conv2d(1, (1, 1), (1, 1), (1, 1, 1, 1), 3), "mg_conv2d_1x1_s8_mve", "padded"),
        (_depthwise(1), "mg_depthwise_conv2d_s8_c16_mve", "16 at a time"),
    ],
    ids=["general", "padded", "few channels"],
)
def test_refusals_say_why(case: c.Case, symbol: str, word: str) -> None:
    (kernel,) = (k for k in kernels.registry()[case.op] if k.symbol == symbol)
    assert word in (kernel.refusal(case.node, case.graph) or "")
