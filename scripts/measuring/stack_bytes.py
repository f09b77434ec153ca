"""The stack of each kernel.

For each core and toolchain, the code is compiled as in projects, and the deepest stack of each
function is read from its instructions, as ``verify`` reads it. ``shared`` has the kernels'
out-of-line forms. ``own`` has operators that are compiled for their shapes: layers of many shapes,
and the networks of MLPerf Tiny. ``one`` has those with one batch, where they take less. ``entry``
has what firmware takes around its operators, for each way to call them: up to the call of an
operator without its arguments, in a path without operators, and in an exception; ``rolled`` what a
function with rows takes around its parts, without their arguments. The environment's
MICROGEN_MODELS names the folder of the networks."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from microgen.base.errors import BuildError, CapacityError
from microgen.building.builder import disassemble
from microgen.interface import api
from microgen.kernels import stack
from microgen.kernels.measured import STACK_BYTES
from microgen.options import TOOLCHAINS, Options
from microgen.planner.program.types import Program
from microgen.project.emit import symbols
from microgen.project.firmware import code_size, entry_stack
from microgen.target.board import Board
from microgen.target.cpu import CPUS
from microgen.verifier.checks.registry import FUNCTIONS
from microgen.verifier.elf import elf as elf_files
from microgen.verifier.instructions.architectures import instructions
from microgen.verifier.instructions.flow import code_of
from microgen.verifier.stack import CallGraph
from scripts.measuring import code_bytes, layer_costs, shapes, tables
from scripts.measuring.builder import Builder
from scripts.measuring.layer_costs import Case
from tests.support.compiling import parts_of, write_project

NETWORKS = (
    "ad01_int8",
    "kws_ref_model",
    "pretrainedResnet_quant",
    "str_ww_ref_model",
    "vww_96_int8",
)
# Networks, goals and interfaces of the firmware that is measured.
FIRMWARE = (
    *((name, {"optimize": goal}) for name in NETWORKS for goal in ("speed", "ram")),
    *((f"{name}_float32", {}) for name in ("kws_ref_model",)),
    *((name, {"interface": "packed", "optimize": "ram"}) for name in NETWORKS[:2]),
    *((name, {"executor": "graph"}) for name in NETWORKS[:3]),
)
SHAPES = {"gcc": 6, "llvm": 12}  # of each kernel and dtype
# Layers of one source. LLVM inlines more where a function has few callers, so it has all of these.
AT_ONCE = {"gcc": (150,), "llvm": (150, 4, 2, 1)}
_ENOUGH = 4096  # bytes of stack for a firmware that is measured
_DEEP = 1 << 20  # more than any stack

Found = dict[str, dict[str, int]]  # by the table's part, then by name
Job = tuple[str, str, Collection[str]]  # core, toolchain, sources


def every(core: str) -> set[str]:
    """The names of the sources of the kernels that a core has."""
    has = CPUS[core].features
    return {kernel.code.stem for kernel in tables.kernels() if kernel.needs <= has}


def missing(core: str) -> set[str]:
    """The sources that were not measured for a core: their out-of-line forms, or their operators
    for the shapes of ``shapes.FURTHER``."""
    columns = [tables.read(STACK_BYTES).column(f"{core} {kind}") for kind in TOOLCHAINS]
    further = {case.kernel.code.stem for case in layer_costs.cases(shapes.FURTHER, CPUS[core])}
    return {
        stem
        for found in columns
        for part, stems in (("shared", every(core)), ("own", further))
        for stem in stems - found.get(part, {}).keys()
    }


def write(asked: Mapping[str, Collection[str]], count: int) -> None:
    """Measure sources for cores, and put them into the table. For a core without names, all sources
    are measured, and the code around operators. ``count`` columns are measured at a time."""
    jobs = [(core, kind, stems) for core, stems in asked.items() for kind in TOOLCHAINS]
    with ProcessPoolExecutor(count) as pool:
        columns = {pool.submit(_column, job): job for job in jobs}
        # All columns take hours, so each is kept once it is known.
        for done in as_completed(columns):
            (core, kind, _), found = columns[done], done.result()
            tables.put(STACK_BYTES, f"{core} {kind}", found)
            print(f"{core} {kind}: stack of {len(found['shared'])} kernels", flush=True)


def _column(job: Job) -> Found:
    """A column of the table: a new one, or the file's column with the sources measured again."""
    core, kind, stems = job
    board = tables.board(core)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if not stems:
            found = _all(board, kind, folder)
        else:
            found = tables.read(STACK_BYTES).column(f"{core} {kind}")
            for part, rows in _some(board, kind, folder, stems).items():
                found[part] = found.get(part, {}) | rows
    known = every(core)  # kernels that are gone are left out
    return {
        part: {name: n for name, n in rows.items() if part == "entry" or name in known}
        for part, rows in {**found, "one": _less(found)}.items()
    }


def _all(board: Board, kind: str, folder: Path) -> Found:
    """Everything about a core and a toolchain."""
    found = {"shared": _shared(board, kind, folder, every(board.cpu.name))}
    for number, cases in enumerate(_parts(board, kind)):
        _add(found, _layers(cases, board, kind, folder / f"layers{number}"))
    for number, (name, options) in enumerate(FIRMWARE):
        chosen = {**options, "toolchain": kind}
        _add(found, _firmware(name, board, chosen, folder / str(number)))
    return found


def _some(board: Board, kind: str, folder: Path, stems: Collection[str]) -> Found:
    """The out-of-line forms of some sources, and their operators for the shapes of
    ``shapes.FURTHER``."""
    found = {"shared": _shared(board, kind, folder, stems)}
    further = layer_costs.cases(shapes.FURTHER, board.cpu)
    cases = [case for case in further if case.kernel.code.stem in stems]
    own = {case.kernel.code.stem for case in cases}  # without the code around the layers
    for number, part in enumerate(_at_once(cases, kind)):
        made = _layers(part, board, kind, folder / f"layers{number}")
        _add(found, {p: {n: b for n, b in rows.items() if n in own} for p, rows in made.items()})
    return found


def _less(found: Found) -> dict[str, int]:
    """The stack of the operators that take less with one batch."""
    own = found.get("own", {})
    return {name: n for name, n in found.get("one", {}).items() if n < own[name]}


def _add(found: Found, more: Found) -> None:
    for part, rows in more.items():
        _largest(found.setdefault(part, {}), rows)


def _largest(found: dict[str, int], more: Mapping[str, int]) -> None:
    for name, nbytes in more.items():
        found[name] = max(nbytes, found.get(name, 0))


def shared(core: str, kind: str, stems: Collection[str] = ()) -> dict[str, int]:
    """The deepest stack of the out-of-line form of each of these kernels, or of all. Kernels that
    the core lacks are left out."""
    with tempfile.TemporaryDirectory() as scratch:
        return _shared(tables.board(core), kind, Path(scratch), stems or every(core))


def _shared(board: Board, kind: str, scratch: Path, stems: Collection[str]) -> dict[str, int]:
    folder = scratch / "shared"
    folder.mkdir()
    # Its other kernels compile, too, if they are C without intrinsics. No project has them.
    kept = every(board.cpu.name).intersection(stems)
    objects = _compile(code_bytes.written(folder, kept), board, kind, folder, [])
    graph = _linked([*objects, *_support(board, kind, folder)], board, folder)
    found: dict[str, int] = {}
    for code in {kernel.code for kernel in tables.kernels() if kernel.code.stem in kept}:
        _largest(found, {code.stem: _depth(graph, code.symbol)})
    return found


def _parts(board: Board, kind: str) -> Iterator[list[Case]]:
    """Layers of some shapes for each kernel, in lists for one source each."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in layer_costs.cases({**shapes.FIT, **shapes.FURTHER}, board.cpu):
        groups.setdefault((case.kernel.symbol, case.kind), []).append(case)
    # A few of each, because compiling all shapes takes far longer.
    few = [case for cases in groups.values() for case in _spread(cases, SHAPES[kind])]
    return _at_once(few, kind)


def _at_once(cases: Sequence[Case], kind: str) -> Iterator[list[Case]]:
    """The cases in lists for one source each, once for each number of layers."""
    for size in AT_ONCE[kind]:
        yield from (list(cases[i : i + size]) for i in range(0, len(cases), size))


def _spread(cases: Sequence[Case], count: int) -> list[Case]:
    """Some of the cases, from the first to the last."""
    if len(cases) <= count:
        return list(cases)
    return [cases[i * (len(cases) - 1) // (count - 1)] for i in range(count)]


def _layers(cases: Sequence[Case], board: Board, kind: str, folder: Path) -> Found:
    """The operators of layers that are compiled for their shapes."""
    builder = Builder()
    for case in cases:
        builder.end(case.build(builder))
    graph = builder.graph()
    given = layer_costs.schedule(cases, parts_of(graph, board), shared=False)
    options = Options(planner="greedy", toolchain=kind)
    program = write_project(graph, folder, options, board, given)
    source = folder / "model" / "codegen" / "host" / "src" / "default_lib1.c"
    include = [folder / "model" / "codegen" / "host" / "include", source.parent]
    made = _compile([source], board, kind, folder, include)
    found = _linked([*made, *_support(board, kind, folder)], board, folder)
    return _own(program, found)


def _own(program: Program, graph: CallGraph) -> Found:
    """The largest operator of each kernel that is compiled for the operators' own shapes: of all
    operators, and of operators with one batch."""
    found: Found = {"own": {}, "one": {}}
    for function in program.kernel_functions:
        kernels = [(kernel, function.name) for kernel in function.body]
        if function.rolling:
            kernels = [(part.kernel, part.name) for part in function.rolling.parts]
        for kernel, name in kernels:
            if not kernel.is_shared:
                nbytes = {kernel.code.stem: _depth(graph, _symbol(graph, name))}
                _largest(found["own"], nbytes)
                if stack.has_one_batch(kernel.params):
                    _largest(found["one"], nbytes)
    return found


def _firmware(name: str, board: Board, options: Mapping[str, str], folder: Path) -> Found:
    """The stack of a network's firmware: its own operators, and around them. Nothing if the board
    is too small for it."""
    model = Path(os.environ["MICROGEN_MODELS"]) / f"{name}.tflite"
    try:
        done = api.generate(model, board, folder, **options)
        with tables.given(board.cpu.name):
            elf = elf_files.load(api.build(folder).elf)
    except (CapacityError, BuildError):
        return {}
    found = instructions(board, disassemble(folder / "build" / "firmware.elf", board))
    table = [s.address for s in elf.named(FUNCTIONS) if s.kind == "object"]
    graph = CallGraph(code_of(elf, board, found, table[0] if len(table) == 1 else 0))
    entry = _entry(done.program, graph, Options(**options))
    return {**_own(done.program, graph), "entry": entry}


def _entry(program: Program, graph: CallGraph, options: Options) -> dict[str, int]:
    """The stack of a firmware around its operators."""
    arch = graph.code.arch
    operators = {f: _address(graph, _symbol(graph, f.name)) for f in program.functions}
    reset = graph.code.reset
    graph.depth(reset)
    handlers = sorted(arch.handlers(graph.code.elf, graph.code.board, graph.handlers()))
    runner = code_size.runner(options)
    ends, around = list(operators.values()), entry_stack.until_call(program, options)
    if runner == "c":
        ends = [_address(graph, f"tvmgen_{program.module}_run")]
    above = entry_stack.above(entry_stack.count(program), options)
    nothing = CallGraph(graph.code, deepest=dict.fromkeys(ends, (0, ())))
    deep = CallGraph(graph.code, deepest=dict.fromkeys(operators.values(), (_DEEP, ())))
    rolled = [
        graph.frames[operators[f]].depth - stack.arguments(len(p.parameters))
        for f in program.functions
        if f.rolling
        for p in [max(f.rolling.parts, key=lambda p: len(p.parameters))]
    ]
    return {
        f"{runner} call": deep.depth(reset)[0] - _DEEP - around,
        f"{runner} other": nothing.depth(reset)[0] - (around if runner == "packed" else above),
        "handler": max(graph.depth(handler)[0] for handler in handlers),
        **({"rolled": max(rolled)} if rolled else {}),
    }


def _symbol(graph: CallGraph, function: str) -> str:
    """The C function that computes an operator."""
    unpacked = symbols.implementation(function, is_packed=True)
    return unpacked if _has(graph, unpacked) else function


def _support(board: Board, kind: str, folder: Path) -> list[Path]:
    """The functions that compilers call."""
    return _compile([tables.CHECKOUT / "crt/src/platform/freestanding.c"], board, kind, folder, [])


def _compile(
    sources: Iterable[Path], board: Board, kind: str, folder: Path, include: Sequence[Path]
) -> list[Path]:
    made = []
    crt = tables.CHECKOUT / "crt"
    flags = [*code_bytes.compiler(board.cpu, kind), *board.cflags, *code_bytes.FLAGS]
    flags += [f"-I{path}" for path in (*include, crt / "include", crt / "src")]
    flags += ["-idirafter", str(crt / "libc")]
    flags += ["-fomit-frame-pointer"] if kind == "llvm" else []
    for source in sources:
        made.append(folder / f"{source.stem}.o")
        subprocess.run([*flags, "-c", source, "-o", made[-1]], check=True)
    return made


def _linked(objects: Sequence[Path], board: Board, folder: Path) -> CallGraph:
    """The functions of the objects with GCC's library."""
    elf = folder / "linked.elf"
    # No start-up code and no main: only the functions are read, so symbols may be missing.
    quiet = ("-Wl,--unresolved-symbols=ignore-all", "-Wl,-e0", "-Wl,--no-warn-mismatch")
    quiet += ("-Wl,-z,noexecstack",)
    gcc = [code_bytes.GCC[board.cpu.architecture], *board.cpu.cflags, "-nostdlib", *quiet]
    subprocess.run([*gcc, *objects, "-lgcc", "-o", elf], check=True)
    found = instructions(board, disassemble(elf, board))
    return CallGraph(code_of(elf_files.load(elf), board, found, from_reset=False))


def _address(graph: CallGraph, symbol: str) -> int:
    (function,) = graph.code.elf.named(symbol)
    return graph.code.elf.code_address(function)


def _has(graph: CallGraph, symbol: str) -> bool:
    return bool(graph.code.elf.named(symbol))


def _depth(graph: CallGraph, symbol: str) -> int:
    """The deepest stack of a call of the function."""
    problems = len(graph.problems)
    depth, _ = graph.depth(_address(graph, symbol))
    assert len(graph.problems) == problems, f"{symbol}: {graph.problems[problems:]}"
    return depth
