"""Bounds of a firmware's code size that are known before it is compiled.

The lower bound is the size of start-up, semihosting and ``main`` in any firmware, measured and
halved. The upper bound is a sum of measured maxima, each with a margin:
``kernels/measured/code_bytes.json`` has each kernel compiled by every toolchain for every core, and
the constants below are for the executors. docs/explanation/memory-planning.md says how they were
measured; tests compare firmware with both bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from microgen.graph.ir.graph import DType
from microgen.kernels import measured
from microgen.options import Options
from microgen.planner.program.types import Program
from microgen.target import standing
from microgen.target.cpu import Cpu

LEAST = 1024  # the smallest firmware of all boards and toolchains has 1,850


@dataclass(frozen=True, slots=True)
class _Runner:
    """Bytes of code in addition to the operators' kernels: a fixed number, and numbers for each
    call, argument of a call, function, and constant."""

    fixed: int
    call: int
    argument: int
    function: int
    constant: int


# A quarter above the largest size measured on any core with any toolchain.
_RUNNERS = {
    "c": _Runner(3400, 24, 8, 32, 0),
    "packed": _Runner(5600, 48, 40, 320, 0),
    "graph": _Runner(17500, 48, 24, 320, 192),
}
_PORT = 128  # code in main for an input or output, without its name
# The size of an operator compiled for its own shape, relative to the general form. The largest
# measured were 0.95 with GCC, and 4.04 with LLVM, which unrolls short loops completely.
_MARGIN = {"gcc": 1.25, "llvm": 5.0}
_SHARED_MARGIN = 1.25  # for other versions of the compilers
_OPERATOR = 96  # an operator's frame and parameters
_PATCH = 400  # its loop and its call; the most measured on Cortex-M4 was 252


def most(program: Program, cpu: Cpu, options: Options, modules: int) -> int | None:
    """Bytes of code, tables and names, if all kernels were measured on the core, or on another of
    its architecture (``standing``); else None."""
    kernels = _measured(options.toolchain, cpu)
    used = {kernel.code.stem for kernel in program.kernel_calls}
    if not kernels or not used <= kernels.keys():
        return None
    if program.external_modules or program.devices:
        return None
    which = "all" if computes_floats(program) else "integer"
    helpers = _measured("helpers", cpu)[which]
    return _operators(program, kernels, options) + helpers + _runner(program, options, modules)


def _measured(part: str, cpu: Cpu) -> Mapping[str, int]:
    """The bytes by name in a part of the table: the maximum over all cores that stand for the
    CPU."""
    table = measured.load(measured.CODE_BYTES)
    most: dict[str, int] = {}
    for core in standing.cores(cpu, table.cores):
        rows = table.column(core.name, part)
        most |= {name: max(nbytes, most.get(name, 0)) for name, nbytes in rows.items()}
    return most


def _operators(program: Program, kernels: Mapping[str, int], options: Options) -> int:
    calls = program.kernel_calls
    own = sum(kernels[kernel.code.stem] for kernel in calls if not kernel.is_shared)
    shared = sum(kernels[code.stem] for code in program.shared_kernels)
    margin = _MARGIN[options.toolchain]
    rolling = [function.rolling for function in program.functions if function.rolling]
    patches = _PATCH * sum(len(one.patches) for one in rolling)
    return patches + _OPERATOR * len(calls) + round(margin * own + _SHARED_MARGIN * shared)


def _runner(program: Program, options: Options, modules: int) -> int:
    costs = _RUNNERS[runner(options)]
    ports = (*program.inputs, *program.outputs)
    names = [*(p.public_name for p in ports), *(f.name for f in program.functions)]
    return (
        costs.fixed * modules
        + costs.call * len(program.calls)
        + costs.argument * sum(len(call.args) for call in program.calls)
        + costs.function * len(program.functions)
        + costs.constant * len(program.constants)
        + _PORT * len(ports)
        + 2 * sum(len(name.encode()) for name in names)
    )


def runner(options: Options) -> str:
    """The caller of the operators: "graph", "packed" or "c"."""
    if options.executor == "graph":
        return "graph"
    return "c" if options.interface == "c" and options.is_unpacked else "packed"


def computes_floats(program: Program) -> bool:
    """Whether the result or an input of any operator is float32, or a kernel computes in floats,
    as its name says."""
    kinds = [kind for call in program.calls for kind in call.types]
    kinds += [step.tensor_type for call in program.calls for step in call.steps]
    kernels = (code.symbol for code in program.kernels)
    return any(kind.dtype is DType.FLOAT32 for kind in kinds) or any(
        "_f32" in name or "_in_float_" in name for name in kernels
    )
