"""Runs C kernels on the host, with sanitizers, and compares them with the numpy references.

Integers must be equal byte for byte, floats within the kernel's stated bound. One compilation and
one process serve all cases of an op. Every kernel of ``microgen.kernels`` that the host can run is
tested. It is tested in place, too, if it says that it can work in place.
"""

from __future__ import annotations

import math
import os
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from microgen import kernels
from microgen.base import resources
from microgen.building import toolchain
from microgen.graph import ops
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ops.base import Operands
from microgen.kernels.base import Implementation, KernelConstant
from microgen.kernels.requantization import transforms
from microgen.planner.program.types import Fields, Value
from microgen.project.emit import literals
from microgen.target.cpu import Feature
from tests.kernels.conformance import inlined_calls, within
from tests.kernels.conformance.cases import Case as Case
from tests.kernels.conformance.cases import Outcome as Outcome
from tests.kernels.conformance.cases import Tensor as Tensor
from tests.kernels.conformance.cases import bias as bias
from tests.kernels.conformance.cases import float32 as float32
from tests.kernels.conformance.cases import float_weights as float_weights
from tests.kernels.conformance.cases import int8 as int8
from tests.kernels.conformance.cases import int16 as int16
from tests.kernels.conformance.cases import least_output_scale as least_output_scale
from tests.kernels.conformance.cases import of_dtype as of_dtype
from tests.kernels.conformance.cases import output_scale as output_scale
from tests.kernels.conformance.cases import quant as quant
from tests.kernels.conformance.cases import random_quant as random_quant
from tests.kernels.conformance.cases import weight as weight
from tests.support.each_compiled import NOT_INLINED, each_compiled, quick_linker

CRT = resources.folder("crt")
EMULATED = {Feature.DSP, Feature.FPU}  # dsp.h is plain C on the host, floats are C everywhere
DRIVER = Path(__file__).with_name("conformance_driver.c")
WARNINGS = (
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef"),
    *("-Wstrict-prototypes", "-Wmissing-prototypes", "-Wcast-align", "-Werror"),
)
SANITIZERS = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# -O0 replaces the level: the sanitizers see every access, and bodies that are not inlined compile
# in a twentieth of the time. Random networks (tests/differential) run kernels and executors with
# -O1.
UNOPTIMIZED = (*SANITIZERS, "-O0", "-include", str(NOT_INLINED))
# Undefined behaviour ends the program without a sentence for each place that could have it: GCC
# compiles that in two thirds of the time. The address sanitizer, with REPORTED, prints the line.
BRIEF = (*UNOPTIMIZED, "-fsanitize-undefined-trap-on-error")
REPORTED = {"ASAN_OPTIONS": "handle_sigill=1"}


# Calls: a case as a kernel is called with it


@dataclass(frozen=True)
class Call:
    """A kernel's call or calls for a case.

    ``arguments`` are in the kernel's order, with None for NULL and with the array for the output. A
    kernel that is called once for each input has all of them in ``arguments``; ``calls`` has each
    call's arguments, by position, and its fields. ``written`` are the variables. If it computes
    ``in_place``, the output begins ``lag`` bytes before that argument.
    """

    case: Case
    kernel: Implementation
    calls: tuple[tuple[tuple[int, ...], Fields], ...]
    arguments: tuple[Array | None, ...]
    output: int
    in_place: int | None
    lag: int = 0
    written: tuple[int, ...] = ()

    def __str__(self) -> str:
        before = f" with a lag of {self.lag}" if self.lag else ""
        place = "" if self.in_place is None else f", in place on input {self.in_place}{before}"
        shapes = " ".join(str(t) for t in self.case.input_types)
        return f"{self.kernel.symbol}{place}: case {self.case.name!r} {self.case.attrs} {shapes}"


def calls_of(case: Case) -> Iterator[Call]:
    """All calls by which host kernels can compute the case."""
    found = False
    node, graph = case.node, case.graph
    for kernel in kernels.registry()[case.op]:
        if not kernel.needs <= EMULATED or kernel.refusal(node, graph):
            continue
        found = True
        call = call_of(case, kernel)
        yield call
        for place, lag in kernel.in_place(node, graph).items():
            yield replace(call, in_place=_passed(kernel.calls(node, graph)).index(place), lag=lag)
    assert found, f"no kernel takes case {case.name!r}"


def call_of(case: Case, kernel: Implementation, in_place: int | None = None, lag: int = 0) -> Call:
    """The call by which that kernel computes the case."""
    node, graph = case.node, case.graph
    calls = kernel.calls(node, graph)
    passed = _passed(calls)
    inputs = [case.inputs[i].array if i < len(case.inputs) else None for i in passed]
    constants = [_constant(constant, graph) for constant in kernel.constants(node, graph)]
    output = np.full(case.output_type.shape, 0x5A, case.output_dtype.numpy)
    scratch = kernel.scratch(node, graph)
    arguments = (*inputs, *constants, output, *([np.zeros(scratch, np.int8)] if scratch else []))
    rest = tuple(range(len(inputs), len(arguments)))
    return Call(
        case=case,
        kernel=kernel,
        calls=tuple(
            ((*(passed.index(i) for i in positions), *rest), fields) for positions, fields in calls
        ),
        arguments=arguments,
        output=len(inputs) + len(constants),
        in_place=None if in_place is None else passed.index(in_place),
        lag=lag,
        written=tuple(passed.index(i) for i in case.writes),
    )


def _passed(calls: Sequence[tuple[tuple[int, ...], Fields]]) -> tuple[int, ...]:
    """The positions of the inputs that any of a kernel's calls gets."""
    return tuple(dict.fromkeys(i for positions, _ in calls for i in positions))


def _constant(constant: KernelConstant, graph: Graph) -> Array | None:
    if constant.is_absent:
        return None
    sources = constant.arrays(graph)
    array = transforms.kept(constant.transform, sources, constant.arguments)
    ctype = {"float32": "float", "float64": "double"}.get(array.dtype.name, f"{array.dtype}_t")
    assert ctype == constant.ctype, f"{constant} is {array.dtype}"
    return array


def _encoded(function: int, call: Call) -> bytes:
    params = _params(call)
    arrays = [b"" if a is None else a.tobytes() for a in call.arguments]
    sizes = [-1 if a is None else a.nbytes for a in call.arguments]
    place = -1 if call.in_place is None else call.in_place
    written = sum(1 << i for i in call.written)
    numbers = (len(sizes), call.output, place, call.lag, written, *sizes)
    header = struct.pack(f"<{len(numbers)}i", *numbers)
    return b"".join((struct.pack("<2i", function, len(params) // 4), params, header, *arrays))


def _params(call: Call) -> bytes:
    """The parameter structs, in whole words: int32 or, of compact ones, int16, and float32."""
    integer = "h" if call.kernel.code.compact else "i"
    values: list[int | float] = []
    form = "<"
    for _, fields in call.calls:
        for _, value in fields:
            several = value if isinstance(value, tuple) else (value,)
            form += ("f" if isinstance(several[0], float) else integer) * len(several)
            values += several
    packed = struct.pack(form, *values)
    return packed + bytes(-len(packed) % 4)


# The two ways of calling a kernel


def check(cases: Sequence[Case], folder: Path) -> None:
    """Checks that out-of-line kernels, under the sanitizers, equal the reference on every case."""
    calls = [call for case in cases for call in calls_of(case)]
    _run(*_shared_driver(calls, folder))


def differing(calls: Sequence[Call], folder: Path) -> list[bool]:
    """Whether the first result of each call, out of line, differs from the reference's."""
    found = []
    with _outputs(*_shared_driver(calls, folder)).open("rb") as file:
        for call in calls:
            assert not struct.unpack("<i", file.read(4))[0]
            (expected,) = call.case.outcome.arrays
            found.append(file.read(expected.nbytes) != expected.tobytes())
    return found


def _shared_driver(
    calls: Sequence[Call], folder: Path
) -> tuple[Path, Sequence[Call], Sequence[int]]:
    """A driver for the out-of-line forms that the calls need, the calls, and the number of each
    call's form."""
    forms: dict[tuple[int, tuple[tuple[int, ...], ...]], Call] = {}
    keys = [(id(call.kernel), tuple(places for places, _ in call.calls)) for call in calls]
    for key, call in zip(keys, calls, strict=True):
        forms.setdefault(key, call)
    numbers = {key: number for number, key in enumerate(forms)}
    used = _used(calls)
    shared = [f"-D{kernel.code.macros[0]}" for kernel in used if kernel.code.macros]
    defined = [kernel.code.definition for kernel in used]
    bodies = [_shared_form(call) for call in forms.values()]
    driver = _compile(bodies, used, [*BRIEF, *shared], folder, defined)
    return driver, calls, [numbers[key] for key in keys]


def _used(calls: Sequence[Call]) -> list[Implementation]:
    return list({id(call.kernel): call.kernel for call in calls}.values())


def check_inlined(cases: Sequence[Case], folder: Path) -> None:
    """Checks that inlined kernels with constant parameters, given by name, equal the reference."""
    every = [call for case in cases for call in calls_of(case)]
    calls = inlined_calls.some(every, len(every))
    bodies = [specialised_form(call) for call in calls]
    driver = _compile(bodies, _used(calls), [inlined_calls.level()], folder)
    _run(driver, calls, list(range(len(calls))))


@dataclass(frozen=True)
class Body:
    """C statements for a case, with ``structs`` structs of type ``kind`` in ``params`` and the
    arguments in ``a``."""

    kind: str
    structs: int
    statements: str


def _shared_form(call: Call) -> Body:
    code = call.kernel.code
    statements = [f"const {code.params} *p = params;"]
    for k, (places, _) in enumerate(call.calls):
        given = ", ".join(code.arguments(f"&p[{k}]", [f"a[{i}]" for i in places]))
        statements.append(f"{_status(call)}{code.symbol}({given});")
    return Body(code.params, len(call.calls), " ".join(statements))


def specialised_form(call: Call) -> Body:
    """The kernel's body with constant parameters, as in generated C."""
    code = call.kernel.code
    statements = ["(void)params;"]
    for places, fields in call.calls:
        initialisers = ", ".join(f".{name} = {_literal(value)}" for name, value in fields)
        given = ["NULL" if call.arguments[i] is None else f"a[{i}]" for i in places]
        passed = ", ".join((*given, *code.variant))
        constant = f"static const {code.params} p = {{{initialisers}}};"
        statements.append(f"{{ {constant} {_status(call)}{code.body}(&p, {passed}); }}")
    return Body(code.params, len(call.calls), " ".join(statements))


def _status(call: Call) -> str:
    return "status = " if call.kernel.can_fail else ""


def _literal(value: Value | tuple[Value, ...]) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(map(_literal, value)) + "}"
    return literals.scalar(value)


def _compile(
    bodies: Sequence[Body],
    used: Sequence[Implementation],
    options: list[str],
    folder: Path,
    defined: Sequence[str] = (),
) -> Path:
    lines = [f'#include "{kernel.code.header}"' for kernel in used]
    lines += filter(None, defined)
    for i, body in enumerate(bodies):
        lines.append(f"static int32_t call_{i}(const void *params, void **a)")
        lines.append(f"{{ int32_t status = 0; {body.statements} return status; }}")
    words = [f"({b.structs} * sizeof({b.kind}) + 3) / 4 * 4" for b in bodies]
    rows = [f"{{call_{i}, {size}}}" for i, size in enumerate(words)]
    lines.append("static const function functions[] = {" + ", ".join(rows) + "};")
    (folder / "functions.inc").write_text("\n".join(lines) + "\n")
    driver = folder / "driver"
    include = [f"-I{folder}", f"-I{CRT / 'include'}"]
    made = each_compiled((host_cc(), *WARNINGS, *include, *options), [DRIVER], folder)
    subprocess.run([host_cc(), *options, *quick_linker(), *made, "-o", driver], check=True)
    return driver


def host_cc() -> str:
    """The host's C compiler."""
    return str(toolchain.find("gcc" if toolchain.has("gcc") else "cc"))


def _outputs(driver: Path, calls: Sequence[Call], functions: Sequence[int]) -> Path:
    """Runs the driver, and returns the file that it wrote."""
    cases, outputs = driver.with_name("cases.bin"), driver.with_name("outputs.bin")
    records = [_encoded(function, call) for function, call in zip(functions, calls, strict=True)]
    cases.write_bytes(b"".join(records))
    command: list[Any] = [driver, cases, outputs]
    environment = {**os.environ, **REPORTED}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return outputs


def _run(driver: Path, calls: Sequence[Call], functions: Sequence[int]) -> None:
    with _outputs(driver, calls, functions).open("rb") as file:
        for call in calls:
            (status,) = struct.unpack("<i", file.read(4))
            expected = call.case.outcome
            assert status == expected.status, f"{call}: status {status}, {expected.status} expected"
            _check(call, [file.read(array.nbytes) for array in expected.arrays])
        assert not file.read()


def _check(call: Call, written: Sequence[bytes]) -> None:
    """Checks what a kernel wrote. No bound forbids the bytes that are expected, so none is computed
    if all are equal."""
    expected = call.case.outcome.arrays
    if all(data == array.tobytes() for data, array in zip(written, expected, strict=True)):
        return
    found = [
        np.frombuffer(data, array.dtype).reshape(array.shape)
        for data, array in zip(written, expected, strict=True)
    ]
    for number, (one, array) in enumerate(zip(found, expected, strict=True)):
        _compare(call, one, array, number)
    _check_bound(call.case, found)


def _check_bound(case: Case, found: list[Array]) -> None:
    """Checks that a kernel's result is within the bound that the op allows."""
    operands = Operands(tuple(t.array for t in case.inputs), case.input_types, (case.output_type,))
    for one in within.expected(case.op, case.attrs, operands, tuple(found)):
        beyond = np.argwhere(within.wrong(one))
        assert not len(beyond), f"{case.op}, {case.name!r}: beyond its bound at {beyond[0]}"


# Ops that add up. The errors of a sum grow with its terms, even if the sum is small.
SUMS = {
    *("nn.batch_matmul", "nn.dense", "nn.conv2d", "nn.conv2d_transpose"),
    *("nn.depthwise_conv2d", "nn.svdf"),
}


def _largest(case: Case, array: Array, number: int) -> float:
    """The magnitude to which a kernel's bound is relative, for one of the arrays that it writes."""
    finite = np.abs(array[np.isfinite(array)])
    if case.op in SUMS:
        finite = _of_magnitudes(case)[number]
    return float(finite.max(initial=np.finfo(np.float32).tiny))


def _of_magnitudes(case: Case) -> tuple[Array, ...]:
    """The op's results for the magnitudes of its inputs, without activation."""
    attrs = case.attrs
    if hasattr(attrs, "activation"):
        attrs = replace(attrs, activation=Activation.NONE)  # type: ignore[type-var]
    arrays = tuple(np.abs(tensor.array) for tensor in case.inputs)
    operands = Operands(arrays, case.input_types, (case.output_type,))
    return ops.registry()[case.op].reference(attrs, operands)


def _differs(found: Array, expected: Array, ulps: int, largest: float) -> Array:
    """Which elements differ: floats by more than ``ulps`` units in the last place of ``largest``.

    NaN and infinities must be equal.
    """
    if expected.dtype.kind != "f":
        return found != expected
    finite = np.isfinite(expected)
    distance = np.abs(np.where(finite, found, 0) - np.where(finite, expected, 0).astype(np.float64))
    unit = 2.0 ** (math.frexp(largest)[1] - 24)
    special = ~np.isclose(found, expected, equal_nan=True)
    wrong: Array = np.where(finite, ~(distance <= ulps * unit), special)
    return wrong


def _compare(call: Call, found: Array, expected: Array, number: int) -> None:
    largest = _largest(call.case, expected, number) if call.kernel.ulps else 1.0
    wrong = np.argwhere(_differs(found, expected, call.kernel.ulps, largest))
    if len(wrong):
        first = tuple(map(int, wrong[0]))
        raise AssertionError(
            f"{call}: {len(wrong)} of {expected.size} elements differ; at {first} the kernel has "
            f"{found[first]}, the reference {expected[first]}"
        )
