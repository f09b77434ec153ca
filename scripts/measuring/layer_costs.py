"""Runs layers in QEMU, each computed by a given kernel, and reads their costs."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np

import microgen
from microgen import kernels
from microgen.base.errors import InternalError
from microgen.base.manifest.schedule import ChoiceRecord, FunctionChoices, ScheduleRecord
from microgen.compiler.partition import Partition
from microgen.graph import ops
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node
from microgen.kernels import cost
from microgen.kernels.base import Implementation
from microgen.options import Options
from microgen.planner.program.types import PrimFunc
from microgen.running.runner import profile
from microgen.running.runner.costs import RunCost
from microgen.running.runner.profile import FlashPlan
from microgen.running.timing import CoreTimings
from microgen.target.board import Board
from microgen.target.cpu import Cpu
from microgen.verifier.elf import elf as elf_files
from microgen.verifier.elf.elf import Elf
from scripts.measuring import tables
from scripts.measuring.builder import SMALL, Builder
from scripts.measuring.layers import Layer
from tests.support.compiling import parts_of, write_project

_ALIGNMENT = 16  # of a buffer
_flash_plan = profile.flash_plan
KINDS = {
    "s8": (DType.INT8, 8),
    "s4": (DType.INT8, 4),
    "s16": (DType.INT16, 8),
    "f32": (DType.FLOAT32, 8),
}
_INTEGERS = {DType.INT8: 128, DType.INT16: 32768}  # the limits of inputs


@dataclass(frozen=True)
class Case:
    """A layer that a kernel is to compute; ``number`` is its place among the op's layers."""

    kernel: Implementation
    kind: str
    layer: Layer
    number: int

    @property
    def name(self) -> str:
        """The layer's name in the network."""
        return f"{self.kernel.symbol}/{self.kind}/{self.number}"

    def build(self, builder: Builder) -> Node:
        """Adds the layer."""
        dtype, bits = KINDS[self.kind]
        builder.layer = self.name
        return self.layer(builder, dtype, bits)


@dataclass(frozen=True)
class Measured:
    """The measured costs of a layer. ``code_bytes`` are the bytes of its operator's function and
    parameters, ``shared_bytes`` the bytes of the kernel's functions that operators share, and
    ``cores`` the bytes of functions that several kernels may share. ``waited`` and ``followed`` are
    lines of flash, as in ``runner.costs.Cost``."""

    case: Case
    node: Node
    graph: Graph
    instructions: int
    cycles: int
    code_bytes: int
    shared_bytes: int
    cores: Mapping[str, int]
    waited: int
    followed: int


def cases(
    shapes: Mapping[str, Sequence[Layer]], cpu: Cpu, symbols: Sequence[str] = ()
) -> list[Case]:
    """The layers of ``shapes`` for each kernel that can compute them on the CPU: all kernels, or
    only the kernels in ``symbols``."""
    found: dict[str, Case] = {}
    for op, its_layers in shapes.items():
        for kernel in kernels.registry()[op]:
            if kernel.needs <= cpu.features and (not symbols or kernel.symbol in symbols):
                for case in fitting(kernel, its_layers):
                    found.setdefault(case.name, case)
    return list(found.values())


def fitting(kernel: Implementation, its_layers: Sequence[Layer]) -> Iterator[Case]:
    """The layers of an op that a kernel can compute."""
    for kind in KINDS:
        for number, layer in enumerate(its_layers):
            case = Case(kernel, kind, layer, number)
            if fits(case):
                yield case


@functools.cache
def fits(case: Case) -> bool:
    """Whether the kernel can compute the layer."""
    # Both kinds have int8 in the graph, so refusals do not tell them apart.
    if case.kernel.takes_int4 is not (case.kind == "s4"):
        return False
    builder = Builder()
    try:
        node = case.build(builder)
        verify.check(builder.graph(), ops.registry())
    except (ValueError, InternalError):  # the op does not have such a layer of this dtype
        return False
    return case.kernel.refusal(node, builder.graph()) is None


def small(case: Case) -> bool:
    """Whether data, result and states fit a microcontroller of 16 KB."""
    builder = Builder()
    node = case.build(builder)
    names = (node.inputs[0], *node.outputs, *builder.variables)
    sizes = [builder.types[name].nbytes for name in names]
    scratch = case.kernel.scratch(node, builder.graph())
    return max(sizes) <= SMALL and sum(sizes) + scratch <= SMALL * 3 // 2


def kept(case: Case) -> int:
    """Bytes of RAM that a layer keeps while others run: states, and its result's first element."""
    builder = Builder()
    case.build(builder)
    states = sum(builder.types[name].nbytes for name in builder.variables)
    return states + _ALIGNMENT


def constants(case: Case) -> dict[str, int]:
    """The layer's constants, which layers of equal shapes share, and their bytes."""
    builder = Builder()
    case.build(builder)
    return {name: array.nbytes for name, array in builder.constants.items()}


def fitting_on(core: str, kernel: Implementation, its_layers: Sequence[Layer]) -> Iterator[Case]:
    """The layers of an op that a kernel can compute on the core's board."""
    has_little_ram = tables.has_little_ram(core)
    return (case for case in fitting(kernel, its_layers) if not has_little_ram or small(case))


def measure(wanted: Sequence[Case], core: str, folder: Path, *, shared: bool) -> list[Measured]:
    """Builds one firmware with all layers, runs it once, and reads the cost of each layer."""
    board = tables.board(core)
    builder = Builder(SMALL if tables.has_little_ram(core) else 4 * SMALL)
    nodes = []
    for case in wanted:
        nodes.append(case.build(builder))
        builder.end(nodes[-1])
    graph = builder.graph()
    given = schedule(wanted, parts_of(graph, board), shared)
    options = Options(planner="greedy")  # where buffers are does not matter, and it is fast
    program = write_project(graph, folder, options, board, given)
    with tables.given(core), mock.patch.object(profile, "flash_plan", _with_misses):
        result = microgen.run(folder, _inputs(graph), profile=True, timeout=600)
    assert result.per_call is not None
    assert result.modelled is not None
    # Coefficients are of the core alone. Waits for flash are added from lines that are counted.
    assert result.modelled.conditions.wait_states == 0
    elf = elf_files.load(folder / "build" / "firmware.elf")
    (counted,), (((_, *costs),),) = result.per_call, result.modelled.rows
    functions = {function.name: function for function in program.functions}
    by_layer = {
        call.layers[0]: (functions[call.function], counted[i], costs[i])
        for i, call in enumerate(program.calls)
    }
    return [
        _measured(case, node, graph, *by_layer[case.name], _sizes(elf), _kept(elf), shared)
        for case, node in zip(wanted, nodes, strict=True)
    ]


def _with_misses(board: Board, core: CoreTimings | None) -> FlashPlan:
    """The plan of the profiler for a board whose flash has wait states, so that the profiler counts
    misses. The modelled cycles are unchanged."""
    return _flash_plan(replace(board, flash_wait_states=1), core)


def schedule(wanted: Sequence[Case], parts: Partition, shared: bool) -> ScheduleRecord:
    """Each layer by its kernel, and the nodes around the layers by the first that fits."""
    asked = {case.name: case.kernel.symbol for case in wanted}
    form = cost.SHARED if shared else cost.SPECIALISED
    return ScheduleRecord(
        functions=tuple(
            FunctionChoices(
                region.codegen,
                tuple(
                    ChoiceRecord((node.outputs[0],), asked.get(node.origin.layer, c.symbol), form)
                    for c in region.choices
                    for node in c.nodes
                ),
            )
            for region in parts.regions
        )
    )


def _measured(
    case: Case,
    node: Node,
    graph: Graph,
    function: PrimFunc,
    instructions: int,
    took: RunCost,
    sizes: Mapping[str, int],
    kept: Collection[int],
    shared: bool,
) -> Measured:
    symbols = {kernel.code.symbol for kernel in function.body}
    assert symbols == {case.kernel.symbol}, f"{case.name} is computed by {symbols}"
    nbytes = sizes[function.name]
    scalars = sum(_scalars(kernel.params) for kernel in function.body)
    parameters = case.kernel.code.field_bytes * scalars
    # Otherwise the compiler has put the parameters into the instructions.
    if shared or parameters in kept:
        nbytes += parameters
    cores = _cores(case.kernel, sizes)
    own = (
        name for name in sizes if _owner(name) == case.kernel.symbol and _base(name) not in cores
    )
    out_of_line = sum(sizes[name] for name in own)
    return Measured(
        *(case, node, graph, instructions, took.cycles, nbytes, out_of_line, cores),
        *(took.waited, took.followed),
    )


def _cores(kernel: Implementation, sizes: Mapping[str, int]) -> dict[str, int]:
    """The kernel's cores, with the bytes of the largest copy of each. Compilers make several copies
    for different arguments, but firmware seldom has more than one of them."""
    found: dict[str, int] = {}
    for name, nbytes in sizes.items():
        if _base(name) in kernel.cores:
            found[_base(name)] = max(nbytes, found.get(_base(name), 0))
    return found


def _base(function: str) -> str:
    """The name in the source of a function that compilers may have copied."""
    return function.partition(".")[0]


def _owner(function: str) -> str:
    """The kernel that a function belongs to: its out-of-line form, or a part that compilers or its
    header keep out of line."""
    parts = function.replace(".", "_").split("_")
    stems = ("_".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((stem for stem in stems if stem in _symbols()), "")


@functools.cache
def _symbols() -> frozenset[str]:
    found = kernels.registry().values()
    return frozenset(kernel.symbol for entries in found for kernel in entries)


def _scalars(fields: Sequence[tuple[str, object]]) -> int:
    return sum(len(value) if isinstance(value, tuple) else 1 for _, value in fields)


def _inputs(graph: Graph) -> dict[str, Array]:
    rng = np.random.default_rng(7)
    return {name: _input(rng, graph.types[name]) for name in graph.inputs}


def _input(rng: np.random.Generator, kind: ArrayType) -> Array:
    if kind.dtype is DType.FLOAT32:
        return rng.normal(0, 1, kind.shape).astype(np.float32)
    limit = _INTEGERS[kind.dtype]
    return rng.integers(-limit, limit, kind.shape).astype(kind.dtype.numpy)


def _sizes(elf: Elf) -> dict[str, int]:
    """Bytes of each function."""
    return {symbol.name: symbol.size for symbol in elf.functions()}


def _kept(elf: Elf) -> frozenset[int]:
    """The sizes of the parameters that specialised operators still have, because parts of their
    kernels are out of line. They are local constants with the name ``params``."""
    return frozenset(s.size for s in elf.symbols if _base(s.name) == "params")
