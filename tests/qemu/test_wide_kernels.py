"""The float32 and int16 kernels, and LSTMs of int8, for some instructions on emulated cores that
have these: integers equal the numpy references, and floats are within the kernels' bounds."""

from __future__ import annotations

import dataclasses
import functools
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.building.builder import build
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.detection.resize2d import Resize2DAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs, QuantizeAttrs
from microgen.graph.ops.tables.tables import LookupAttrs
from microgen.kernels.base import Implementation
from microgen.target import board as boards
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import inlined_calls
from tests.kernels.convolution import convolving, test_conv2d_transpose
from tests.kernels.convolution.convolving import Geometry
from tests.kernels.dense import matmuls, test_dense_hybrid
from tests.kernels.pooling import pools
from tests.kernels.quantization import test_conversions
from tests.kernels.recurrent import recurrent_cases, recurrent_hybrid_cases, test_lstm, test_svdf
from tests.qemu import mve_elementwise
from tests.support import minimal_project
from tests.support.sampling import seeds
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [
    NEEDS_NINJA,
    NEEDS_ARM,
    pytest.mark.filterwarnings("ignore:invalid value"),  # the references of infinities
]

BOARDS = ("mps2_an386", "mps2_an500", "mps3_an547")
DRIVER = Path(__file__).with_name("mve_driver.c")
GUARD = 32  # bytes after every output that must not change
FILLER = 0x5A
ARGUMENTS = 12
WORDS = 16
RANDOM = 60  # cases of each op
SEVERAL = ("mg_lookup_s8", "mg_reduce_sum_s8", "mg_resize_bilinear_s8", "mg_write_slice")
INLINED = 5  # cases of each kernel with constant parameters


# Cases


def _special(case: c.Case) -> c.Case:
    """The case with NaN and infinities in its data."""
    x, *others = case.inputs
    array = x.array.copy()
    array.reshape(-1)[::7] = np.resize([np.nan, np.inf, -np.inf], array.size)[::7]
    inputs = (dataclasses.replace(x, array=array), *others)
    return dataclasses.replace(case, name=f"{case.name}, special", inputs=inputs)


def _dense(seed: int) -> Iterator[c.Case]:
    rng = np.random.default_rng(seed)
    rows, depth, units = int(rng.integers(1, 10)), 1 + seed % 70, int(rng.integers(1, 40))
    activation = list(Activation)[int(rng.integers(4))]
    attrs = DenseAttrs(activation, Rounding.SINGLE, keep_num_dims=False)
    weights = c.float_weights(rng, (units, depth), 0, biased=bool(rng.integers(2)))
    inputs = (c.float32(rng, (rows, depth)), *weights)
    yield c.Case(f"float dense {seed}", "nn.dense", attrs, inputs, None, DType.FLOAT32)


def _int16_dense(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    rows, depth, units = int(rng.integers(1, 4)), 1 + seed % 80, int(rng.integers(1, 14))
    x = c.int16(rng, (rows, depth), 10 ** rng.uniform(-5, -2))
    w = c.weight(rng, (units, depth), 0 if rng.integers(2) else None)
    offsets = np.rint(rng.uniform(-(2.0**24), 2.0**24, units))
    inputs = (x, w, c.bias(offsets, DType.INT64)) if rng.integers(3) else (x, w)
    assert w.type.quant is not None
    scale = x.type.scale * max(w.type.quant.scale) * 40 * float(np.sqrt(depth))
    activation = list(Activation)[int(rng.integers(4))]
    rounding = Rounding.REAL if seed % 3 else Rounding.REDUCED
    attrs = DenseAttrs(activation, rounding, keep_num_dims=False)
    return c.Case(f"int16 dense {seed}", "nn.dense", attrs, inputs, c.quant(scale), DType.INT16)


_LINES = (
    Geometry(data=(1, 3, 17, 5), filters=(6, 3, 3, 5)),
    Geometry(data=(2, 17, 3, 5), filters=(9, 3, 3, 5), activation=Activation.RELU),
    Geometry(data=(1, 12, 5, 4), filters=(1, 3, 3, 4), multiplier=1),
    Geometry(data=(2, 5, 14, 7), filters=(1, 5, 3, 7), multiplier=1, strides=(1, 2)),
    Geometry(data=(1, 5, 5, 16), filters=(8, 1, 1, 16)),
    Geometry(data=(1, 1, 1, 8), filters=(4, 1, 1, 8)),
    Geometry(data=(1, 1, 9, 1), filters=(1, 1, 1, 1), biased=False),
    Geometry(data=(1, 9, 9, 4), filters=(5, 3, 3, 4), dilation=(2, 2)),
    Geometry(data=(1, 4, 7, 3), filters=(5, 2, 2, 3), padding=(3, 0, 1, 2)),
)


def _quantized(seed: int) -> Iterator[c.Case]:
    """Floats that become int8, uint8 or int16, and the reverse: ties, their neighbours, numbers
    without limits. Their number is seldom a multiple of four."""
    rng = np.random.default_rng(seed)
    dtype = (DType.INT8, DType.UINT8, DType.INT16)[seed % 3]
    quant = test_conversions.random_output(rng, dtype)
    values = test_conversions.quantize_values(rng, quant, dtype)[seed % 4 :]
    special = np.array(test_conversions.QUANTIZE_SPECIAL, np.float32)
    values[50::20][: len(special)] = special
    data = c.Tensor(ArrayType(values.shape, DType.FLOAT32), values)
    attrs = QuantizeAttrs(ties_even=seed % 2 == 1)
    yield c.Case(f"quantize {seed}", "qnn.quantize", attrs, (data,), quant, dtype)
    kind, array = test_conversions.random_data(rng, dtype)
    kind, array = ArrayType((253,), dtype, kind.quant), array[:253]
    stored = c.Tensor(kind, array)
    name = f"dequantize {seed}"
    yield c.Case(name, "qnn.dequantize", DequantizeAttrs(), (stored,), None, DType.FLOAT32)


def _padded(seed: int) -> c.Case:
    """A tensor with a border, whose rows have any number of bytes."""
    rng = np.random.default_rng(seed)
    dtype = (DType.INT8, DType.INT16, DType.FLOAT32)[seed % 3]
    quant = None if dtype is DType.FLOAT32 else c.quant(0.5, 3 * (dtype is DType.INT8))
    kind = ArrayType((1, *(int(n) for n in rng.integers(1, (5, 5, 40)))), dtype, quant)
    data = c.Tensor(kind, rng.integers(-128, 128, kind.shape).astype(dtype.numpy))
    pads = tuple((int(a), int(b)) for a, b in rng.integers(0, 3, (4, 2)))
    attrs = PadAttrs(pads, int(rng.integers(-128, 128)) if dtype is DType.INT8 else 0)
    return c.Case(f"pad {seed}", "nn.pad", attrs, (data,), quant, dtype)


def _product(seed: int) -> c.Case:
    """A product of float32 matrices, of four rows and columns and more."""
    rng = np.random.default_rng(seed)
    attrs = BatchMatmulAttrs(False, bool(seed % 2))
    rows, depth, columns = (int(n) for n in rng.integers((4, 1, 4), (12, 40, 14)))
    lhs, rhs = matmuls.operand_shapes(attrs, (2, rows, depth), (1 + seed % 3 % 2, depth, columns))
    inputs = (c.float32(rng, lhs), c.float32(rng, rhs))
    return c.Case(f"product {seed}", "nn.batch_matmul", attrs, inputs, None, DType.FLOAT32)


def _pooled(seed: int) -> Iterator[c.Case]:
    """Means and maxima of float32 windows, some of them with NaN and infinities."""
    yield pools.random_case(seed, "nn.avg_pool2d", AvgPool2DAttrs, DType.FLOAT32)
    yield pools.random_case(seed, "nn.max_pool2d", MaxPool2DAttrs, DType.FLOAT32)


def _combined(seed: int) -> Iterator[c.Case]:
    """Sums, differences and products of float32, of which an operand may be broadcast."""
    rng = np.random.default_rng(seed)
    shapes = ((3, 1 + seed),) * 2 if seed % 2 else mve_elementwise.BROADCASTS[seed % 6]
    op, kind = (("add", AddAttrs), ("subtract", SubtractAttrs), ("multiply", MultiplyAttrs))[
        seed % 3
    ]
    operands = tuple(c.float32(rng, shape) for shape in shapes)
    attrs = kind(list(Activation)[int(rng.integers(4))])
    case = c.Case(f"{op} {seed}", op, attrs, operands, None, DType.FLOAT32)
    yield case
    yield _special(case)


def _joined(seed: int) -> c.Case:
    """Rows of three tensors, of any number of bytes."""
    rng = np.random.default_rng(seed)
    dtype = (DType.INT8, DType.INT16, DType.FLOAT32)[seed % 3]
    quant = None if dtype is DType.FLOAT32 else c.quant(0.5)
    parts = []
    for width in (16, *(int(n) for n in rng.integers(1, 50, 2))):
        kind = ArrayType((1 + seed % 4, 5, width), dtype, quant)
        array = rng.integers(-128, 128, kind.shape).astype(dtype.numpy)
        parts.append(c.Tensor(kind, array))
    attrs = ConcatenateAttrs(2 if seed % 5 else 1)
    if attrs.axis == 1:
        parts = parts[1:2] * 2
    return c.Case(f"concatenate {seed}", "concatenate", attrs, tuple(parts), quant, dtype)


def _looked_up(seed: int) -> c.Case:
    """Any values, by a table that has all of int8."""
    rng = np.random.default_rng(seed)
    data = c.int8(rng, (1 + 3 * seed,), c.quant(0.5))
    kind = ArrayType((256,), DType.INT8, c.quant(0.25))
    table = c.Tensor(kind, rng.permutation(np.arange(-128, 128)).astype(np.int8), is_constant=True)
    attrs = LookupAttrs("sigmoid")
    return c.Case(f"lookup {seed}", "lookup", attrs, (data, table), c.quant(0.25), DType.INT8)


def _resized(seed: int) -> c.Case:
    """An image of any size, with values at both ends of int8."""
    rng = np.random.default_rng(seed)
    shape = (1 + seed % 2, *(int(n) for n in rng.integers(1, (7, 7, 23))))
    values = rng.choice(np.array([-128, -127, 0, 126, 127]), shape).astype(np.int8)
    data = c.Tensor(ArrayType(shape, DType.INT8, c.quant(0.5)), values)
    rows, columns = (int(n) for n in rng.integers(1, 15, 2))
    places = ((False, False), (True, False), (False, True))[seed % 3]
    attrs = Resize2DAttrs((rows, columns), *places, in_floats=False)
    return c.Case(f"resize {seed}", "image.resize2d", attrs, (data,), c.quant(0.5))


def _cases() -> Iterator[c.Case]:
    for g in _LINES:
        yield from convolving.of_dtype(g)
        yield _special(convolving.float_case(8, f"{g}", g))
    for seed in seeds(RANDOM):
        yield from convolving.random_cases(seed, depthwise=False)
        yield from convolving.random_cases(seed, depthwise=True)
        yield from _dense(seed)
        yield _int16_dense(seed)
    yield from map(_product, seeds(24))
    for seed in seeds(40):
        yield from _pooled(seed)
        yield from _combined(seed)
    for case in map(test_conv2d_transpose.random_case, seeds(60)):
        yield test_conv2d_transpose.float_case(case)
    for seed in range(3):
        yield from (_special(case) for case in _dense(1000 + seed))
    yield from map(recurrent_hybrid_cases.random_case, seeds(12))
    yield from map(test_dense_hybrid.case, seeds(40))
    for seed in range(18):
        yield from _quantized(seed)
        yield _padded(seed)
        yield _joined(seed)
        yield _looked_up(seed)
        yield _resized(seed)
    yield from map(mve_elementwise.reduced, seeds(40))
    yield from map(mve_elementwise.int16_sum, seeds(60))
    yield from map(mve_elementwise.int16_pool, seeds(60))
    yield from map(recurrent_cases.constant_case, seeds(120))
    for seed in seeds(20):
        yield test_lstm.random_case(seed, DType.INT8, is_plain=True)
        yield test_lstm.paired_case(seed)
        yield test_lstm.table_case(seed, DType.INT8)
        yield test_lstm.random_case(seed, DType.FLOAT32, is_plain=seed % 2 == 0)
        yield test_svdf.random_case(seed, DType.INT8)


# Calls


def _kernels(board: str) -> tuple[Implementation, ...]:
    """The kernels for instructions that the board's core has, apart from most of those of int8, and
    kernels with a loop of their own for such instructions."""
    features = boards.load(board).cpu.features
    return tuple(
        kernel
        for every in kernels.registry().values()
        for kernel in every
        if kernel.symbol in SEVERAL
        or (
            (kernel.needs and kernel.needs <= features and "_s4" not in kernel.symbol)
            and (
                "_s8" not in kernel.symbol
                or kernel.symbol.startswith(("mg_lstm_s8_", "mg_svdf_s8_"))
            )
        )
    )


@functools.cache
def _calls(board: str) -> list[c.Call]:
    wanted = _kernels(board)
    return [
        c.call_of(case, kernel)
        for case in _cases()
        for kernel in kernels.registry()[case.op]
        if kernel in wanted and not kernel.refusal(case.node, case.graph)
    ]


def _encoded(call: c.Call, function: int) -> bytes:
    """The call in the form that the driver reads. Tables and scratch memory start at a multiple of
    16; data and outputs, which callers own, one element after it. Bytes after the output must not
    change."""
    parts = [c._params(call)]
    parts += [b"" if a is None else a.tobytes() for a in call.arguments]
    parts[1 + call.output] += bytes([FILLER]) * GUARD
    data = {*call.calls[0][0][: len(call.kernel.passed(call.case.node))], call.output}
    offsets, body, at = [], b"", 4 * WORDS
    for i, part in enumerate(parts, -1):
        array = call.arguments[i] if i in data else None
        shift = 0 if array is None else array.itemsize
        offsets.append(at + shift)
        padded = bytes(shift) + part + bytes(-(shift + len(part)) % 16)
        body, at = body + padded, at + len(padded)
    places = [-1 if a is None else o for a, o in zip(call.arguments, offsets[1:], strict=True)]
    places += [-1] * (ARGUMENTS - len(places))
    slot = [offsets[1 + call.output], len(parts[1 + call.output])]
    words = [offsets[0], *places, *slot]
    head = np.array([function, at, *words, *[0] * (WORDS - len(words))], "<i4")
    return head.tobytes() + body


def _functions(bodies: Sequence[c.Body], used: Sequence[Implementation]) -> str:
    lines = [f"#define {kernel.code.macros[0]}" for kernel in used if kernel.code.macros]
    lines += [f'#include "{kernel.code.header}"' for kernel in used]
    lines += [kernel.code.definition for kernel in used]
    for i, body in enumerate(bodies):
        lines.append(f"static void call_{i}(const void *params, void **a) {{ {body.statements} }}")
    names = ", ".join(f"call_{i}" for i in range(len(bodies)))
    table = f"static const function functions[] = {{{names}}};"
    return "\n".join([f"#define ARGUMENTS {ARGUMENTS}", *lines, table, ""])


def _run(
    board: str,
    calls: Sequence[c.Call],
    bodies: Sequence[c.Body],
    functions: Sequence[int],
    at: Path,
    level: str = "-O2",
) -> None:
    used = list(dict.fromkeys(call.kernel for call in calls))
    project = minimal_project.write(at / "project", board)
    shutil.copytree(c.CRT, project / "crt", dirs_exist_ok=True)
    (project / "src" / "functions.inc").write_text(_functions(bodies, used))
    # The driver is the application's main. It is compiled with -O2, like operators, or as asked.
    text = f'#include <stddef.h>\n#pragma GCC optimize("{level[1:]}")\n'
    (project / "src" / "main.c").write_text(text + DRIVER.read_text())
    elf = build(project).elf
    records = [_encoded(call, f) for f, call in zip(functions, calls, strict=True)]
    (at / "cases.bin").write_bytes(b"".join(records))
    machine = boards.load(board).qemu
    assert machine is not None
    command = ["qemu-system-arm", "-M", machine.machine, "-nographic", "-semihosting-config",
               "enable=on,target=native", "-kernel", str(elf)]  # fmt: skip
    done = subprocess.run(command, cwd=at, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    _compare(calls, (at / "outputs.bin").read_bytes())


def _compare(calls: Sequence[c.Call], found: bytes) -> None:
    for call in calls:
        expected = call.case.expected
        size = expected.nbytes
        got = np.frombuffer(found[:size], expected.dtype).reshape(expected.shape)
        if np.isfinite(expected).all():
            c._compare(call, got, expected, 0)
            # No bound forbids equal bytes. The driver does not write what a kernel's states became.
            if got.tobytes() != expected.tobytes() and not call.kernel.writes:
                c._check_bound(call.case, [got])
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4, err_msg=str(call))
        assert found[size : size + GUARD] == bytes([FILLER]) * GUARD, f"{call}: writes past its end"
        found = found[size + GUARD :]
    assert not found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("board", BOARDS)
def test_shared_forms_equal_the_reference(board: str, tmp_path: Path) -> None:
    calls = _calls(board)
    bodies = [c._shared_form(call) for call in calls]
    unique = list(dict.fromkeys(bodies))
    _run(board, calls, unique, [unique.index(body) for body in bodies], tmp_path)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("board", BOARDS)
def test_inlined_bodies_equal_the_reference(board: str, tmp_path: Path) -> None:
    kept = inlined_calls.some(_calls(board), INLINED)
    bodies = [
        dataclasses.replace(body, statements=f"(void)a; {body.statements}")
        for body in map(c.specialised_form, kept)
    ]
    _run(board, kept, bodies, list(range(len(kept))), tmp_path, inlined_calls.level())


@pytest.mark.parametrize("board", BOARDS)
def test_cases_reach_every_kernel(board: str) -> None:
    reached = {call.kernel.symbol for call in _calls(board)}
    assert reached == {kernel.symbol for kernel in _kernels(board)}
