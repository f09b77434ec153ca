"""The kernels with paired weights, and of products of matrices, whose loops are assembly, equal the
numpy references on an emulated Cortex-M4."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.kernels import base
from microgen.kernels.base import Implementation
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import inlined_calls
from tests.qemu import mve_elementwise
from tests.qemu import test_mve_kernels as harness
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]

BOARD = "mps2_an386"
_NEEDS = (base.DSP, base.DSP | base.FPU)  # of kernels of matrices
_MATRICES = 60  # products of them
INLINED = 4  # calls of each kernel with constant parameters
# Data and output channels of 1x1 convolutions: the numbers of pixels, of values and of channels
# have all remainders that the assembly treats on their own.
_POINTWISE = (
    ((1, 1, 3, 8), 6),  # fewer pixels than a block
    ((1, 2, 2, 4), 2),  # one step
    ((1, 5, 1, 9), 5),
    ((1, 2, 3, 13), 7),
    ((2, 7, 1, 16), 3),
    ((1, 3, 5, 40), 32),
    ((1, 15, 1, 64), 9),
)
# Data, filters and padding of others.
_WINDOWS: tuple[tuple[tuple[int, int, int, int], Pair, Padding], ...] = (
    ((1, 5, 7, 3), (3, 3), "SAME"),
    ((1, 6, 5, 4), (2, 3), "VALID"),
    ((2, 9, 3, 2), (4, 1), (1, 0, 2, 0)),
    ((1, 8, 6, 1), (5, 4), "SAME"),
    # more values than four columns on the stack have
    ((1, 5, 6, 21), (3, 3), "SAME"),
    ((2, 3, 5, 43), (2, 2), "VALID"),
)
# Data, filters and dilation of those that copy taps: of groups, merged groups, and dilated columns.
_TAPS: tuple[tuple[tuple[int, int, int, int], tuple[int, int, int, int], Pair], ...] = (
    ((1, 5, 7, 16), (12, 3, 3, 8), (1, 1)),
    ((2, 4, 3, 10), (6, 2, 3, 5), (1, 1)),
    ((1, 2, 2, 12), (12, 1, 1, 1), (1, 1)),
    ((1, 6, 5, 6), (9, 3, 2, 2), (2, 1)),
    ((1, 9, 8, 7), (5, 3, 3, 7), (2, 3)),
    ((1, 1, 21, 24), (9, 1, 3, 24), (1, 8)),
)
_DENSE = (
    *((1, 8), (3, 8), (5, 9), (10, 15), (16, 16), (23, 24), (128, 19), (64, 40)),
    *((345, 8), (673, 9)),  # sums of two and of three parts
)
_ROUNDINGS = (
    Rounding.UPWARD,
    Rounding.FLOAT,
    Rounding.DOUBLE,
    Rounding.FLOAT,
    Rounding.DOUBLE,
)
_EACH = (Activation.NONE, Activation.RELU, Activation.RELU6)


def _data(rng: np.random.Generator, shape: tuple[int, ...], zero: int, full: bool) -> c.Tensor:
    data = c.int8(rng, shape, c.quant(0.05, zero))
    if not full:
        return data
    return c.Tensor(ArrayType(shape, DType.INT8, data.type.quant), np.full(shape, -128, np.int8))


def _weight(
    rng: np.random.Generator, shape: tuple[int, ...], axis: int | None, full: bool
) -> c.Tensor:
    weight = c.weight(rng, shape, axis)
    values = np.full(shape, -127) if full else np.maximum(weight.array, -127)
    return c.Tensor(weight.type, values.astype(np.int8), is_constant=True)


def _conv2d(
    seed: int, data: tuple[int, int, int, int], filters: tuple[int, ...], padding: Padding,
    activation: Activation, dilation: Pair = (1, 1),
) -> c.Case:  # fmt: skip
    rng = np.random.default_rng(seed)
    full = seed % 4 == 3
    zero = int(rng.choice([-128, 127, 3]))
    x, w = _data(rng, data, zero, full), _weight(rng, filters, 0, full)
    bias = c.bias(rng.integers(-9000, 9000, filters[0]))
    rounding = _ROUNDINGS[seed % len(_ROUNDINGS)]
    attrs = Conv2DAttrs((1, 1), dilation, padding, activation, rounding)
    out = c.quant(c.output_scale(x, w, int(np.prod(filters[1:]))), int(rng.choice([-128, 5])))
    return c.Case(f"paired {seed}", "nn.conv2d", attrs, (x, w, bias), out)


def _by_channel(seed: int, activation: Activation) -> c.Case:
    """Channels with scales from 2**-13 to 1, most of which are one product for some only."""
    rng = np.random.default_rng(seed)
    channels = 9 + seed % 4
    own = Quant(tuple(2.0 ** -np.linspace(0.1, 13, channels)), (0,) * channels, 0)
    shape = (channels, 1, 1, 5)
    weight = c.Tensor(ArrayType(shape, DType.INT8, own), c.weight(rng, shape, 0).array, True)
    weight.array[:] = np.maximum(weight.array, -127)
    x = c.int8(rng, (1, 3, 7, 5), c.quant(1.0, int(rng.choice([-128, 3]))))
    bias = c.bias(rng.integers(-900, 900, channels))
    rounding = (Rounding.DOUBLE, Rounding.UPWARD, Rounding.NEAREST)[seed % 3]
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", activation, rounding)
    return c.Case(f"by channel {seed}", "nn.conv2d", attrs, (x, weight, bias), c.quant(1.0, -seed))


def _dense(seed: int, depth: int, units: int, axis: int | None, activation: Activation) -> c.Case:
    rng = np.random.default_rng(seed)
    full = seed % 4 == 3
    zero = int(rng.choice([-128, 127, 3]))
    x = _data(rng, (2, depth), zero, full)
    w = _weight(rng, (units, depth), axis, full)
    bias = c.bias(rng.integers(-9000, 9000, units))
    roundings = (Rounding.DOUBLE, Rounding.SINGLE, Rounding.SINGLE, Rounding.FLOAT)
    rounding = roundings[(seed + seed // 4) % 4]
    attrs = DenseAttrs(activation, rounding, keep_num_dims=False)
    out = c.quant(c.output_scale(x, w, depth), int(rng.choice([-128, 5])))
    return c.Case(f"paired {seed}", "nn.dense", attrs, (x, w, bias), out)


def _cases() -> Iterator[c.Case]:
    seed = 0
    for activation in _EACH:
        for data, channels in _POINTWISE:
            yield _conv2d(seed, data, (channels, 1, 1, data[3]), "VALID", activation)
            seed += 1
        for data, kernel, padding in _WINDOWS:
            yield _conv2d(seed, data, (5 + seed % 4, *kernel, data[3]), padding, activation)
            seed += 1
        for data, filters, dilation in _TAPS:
            yield _conv2d(seed, data, filters, "SAME", activation, dilation)
            seed += 1
        for depth, units in _DENSE:
            yield _dense(seed, depth, units, 0 if seed % 2 else None, activation)
            seed += 1

    for seed in range(9):
        yield _by_channel(seed, Activation.NONE)
    for seed in range(3):
        yield _by_channel(seed, Activation.RELU6)


def _family(op: str) -> list[Implementation]:
    """The op's kernels with paired weights."""
    found = kernels.registry()[op]
    return [k for k in found if "_paired" in k.symbol or k.symbol.endswith("_taps")]


@functools.cache
def _calls() -> tuple[harness.Call, ...]:
    found = list[harness.Call]()
    for case in _cases():
        node, graph = case.node, case.graph
        for kernel in _family(case.op):
            if not kernel.refusal(node, graph):
                found.append(_call(case, kernel))
    matrices = map(mve_elementwise.matmul, range(_MATRICES))
    found += (call for case in matrices for call in harness.calls_of(case, _NEEDS))
    return tuple(found)


def _call(case: c.Case, kernel: Implementation) -> harness.Call:
    constants = [c._constant(k, case.graph) for k in kernel.constants(case.node, case.graph)]
    output = np.full(case.output_type.shape, harness.FILLER, np.int8)
    nbytes = kernel.scratch(case.node, case.graph)
    scratch = [np.full(nbytes, 0x77, np.int8)] if nbytes else []
    arguments = (case.inputs[0].array, *constants, output, *scratch)
    return harness.Call(case, kernel, arguments, 1 + len(constants))


def test_cases_reach_every_kernel() -> None:
    matrices = (k for k in kernels.registry()["nn.batch_matmul"] if k.needs in _NEEDS)
    entries = [*_family("nn.conv2d"), *_family("nn.dense"), *matrices]
    assert {call.kernel.symbol for call in _calls()} == {kernel.symbol for kernel in entries}


def test_shared_forms_equal_the_reference(tmp_path: Path) -> None:
    calls = _calls()
    bodies = [harness.shared(call.kernel, len(call.arguments)) for call in calls]
    unique = list(dict.fromkeys(bodies))
    harness.run(calls, unique, [unique.index(body) for body in bodies], tmp_path, BOARD)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    kept = inlined_calls.some(_calls(), INLINED)
    bodies = [harness.inlined(call) for call in kept]
    level = inlined_calls.level()
    harness.run(kept, bodies, list(range(len(kept))), tmp_path, BOARD, level)
