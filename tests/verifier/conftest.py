"""A small handmade firmware and its manifest, so that tests of verify do not need the emitter."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from microgen.base.files import FileTree
from microgen.base.manifest import (
    ArgumentRecord,
    BufferRecord,
    CallRecord,
    ConstantRecord,
    EstimateRecord,
    Manifest,
    ModelRecord,
    OverlapRecord,
    PlanRecord,
    PoolRecord,
    PortRecord,
    StepRecord,
)
from microgen.graph import params_file
from microgen.graph.ir.graph import Array
from microgen.kernels.requantization import transforms
from microgen.options import Options
from microgen.project.firmware import notes
from microgen.target import board as boards
from microgen.target.board import Board

SOURCES = Path(__file__).parent / "fixture"
UNNOTED = ("startup.c", "main.c")  # without the note, which differs in most tests
NAMES = ("startup.c", "main.c", "default_lib0.c", "default_lib1.c", "default_memory.S")

PARAMETERS = {
    "p0": (np.arange(64) * 7 % 251 - 125).astype(np.int8),
    "p1": np.array([1, -2, 300, -70000], np.int32),
    "p2": np.array([0.25, 0.003, 0.0101, 0.9], np.float32),
}
_SCALES = {"input_scale": 0.5, "output_scale": 0.25, "rule": "conv", "channels": 4}
CONSTANTS = (
    ConstantRecord("tvmgen_default_p0", 64, "int8_t", "identity", ("p0",), {}, "dense"),
    ConstantRecord("tvmgen_default_p1", 16, "int32_t", "identity", ("p1",), {}, "dense"),
    ConstantRecord(
        *("tvmgen_default_p2_multiplier", 16, "int32_t", "requantize_multiplier", ("p2",)),
        *(_SCALES, "dense"),
    ),
    ConstantRecord(
        *("tvmgen_default_p2_shift", 4, "int8_t", "requantize_shift", ("p2",), _SCALES, "dense")
    ),
)
BUFFERS = (
    BufferRecord("sid_1", "global_workspace", 0, 112, 0, 3, "a"),
    BufferRecord("scratch_0", "global_workspace", 128, 64, 0, 1, "dense's scratch"),
    BufferRecord("sid_2", "global_workspace", 128, 112, 2, 4, "b"),
    BufferRecord("sid_3", "global_workspace", 128, 112, 5, 7, "c"),
)


def _call(index: int, function: str, *args: str) -> CallRecord:
    records = tuple(ArgumentRecord(*argument.split()) for argument in args)
    return CallRecord(
        index=index,
        function=f"tvmgen_default_fused_{function}",
        steps=(
            StepRecord(
                op=function,
                layer=function,
                tensor=f"t{index}",
                shape=(112,),
                dtype="int8",
                kernel=f"mg_{function}_s8",
                reason="first choice",
                refusals=(),
                argument=5 if function == "dense" else 1,
            ),
        ),
        args=records,
        can_fail=True,
    )


CALLS = (
    _call(
        *(0, "dense", "input x", *(f"constant {c.symbol}" for c in CONSTANTS)),
        *("sid sid_1", "scratch scratch_0"),
    ),
    _call(1, "clip", "sid sid_1", "sid sid_2"),
    _call(2, "clip", "sid sid_2", "sid sid_3"),
    _call(3, "clip", "sid sid_3", "output y"),
)

# What is in the folders of builds, by compiler, flags and texts.
_BUILT: dict[tuple[str, ...], dict[str, bytes]] = {}


def path_of(name: str) -> str:
    """Where a source lies in the project."""
    return f"model/codegen/host/src/{name}" if name.startswith("default_") else name


def manifest_for(board: Board) -> Manifest:
    return Manifest(
        format=1,
        microgen="test",
        module="default",
        model=ModelRecord("hand.tflite", "", ""),
        board=board.to_json(),
        options=Options().to_json(),
        inputs=(PortRecord("x", "x", (16,), "int8", 16, 0.5, 0),),
        outputs=(PortRecord("y", "y", (112,), "int8", 112, 0.25, 0),),
        calls=CALLS,
        kernels=("mg_clip_s8", "mg_dense_s8"),
        plan=PlanRecord(
            algorithm="optimal",
            peak=256,
            lower_bound=256,
            proof="",
            io_bytes=128,
            alignment=16,
            pools=(
                PoolRecord(
                    *("global_workspace", "tvmgen_default_global_workspace", ".bss.noinit.tvm"),
                    *(256, 16),
                ),
            ),
            buffers=BUFFERS,
            in_place=(OverlapRecord("sid_2", "sid_3"),),
        ),
        constants=CONSTANTS,
        estimate=EstimateRecord(0, 0, 0, 0),
        files={},
    )


@dataclass
class Project:
    """The firmware's sources as text, which tests change before ``build``."""

    root: Path
    board: Board
    manifest: Manifest
    sources: dict[str, str]
    flags: list[str] = field(default_factory=lambda: ["-O2"])
    libraries: list[str] = field(default_factory=lambda: ["-lgcc"])
    toolchain: str = "gcc"

    @property
    def elf(self) -> Path:
        return self.root / "build" / "firmware.elf"

    def edit(self, name: str, old: str, new: str) -> Project:
        """Replaces a text in a source."""
        assert old in self.sources[name]
        self.sources[name] = self.sources[name].replace(old, new)
        return self

    def add(self, code: str) -> Project:
        """Adds C code that defines ``int32_t extra(int32_t n)``, which main calls."""
        self.sources["extra.c"] = f"#include <stdint.h>\nint32_t extra(int32_t n);\n{code}\n"
        self.flags.append("-DEXTRA")
        return self

    def plan(self, **changes: object) -> Project:
        self.manifest = replace(self.manifest, plan=replace(self.manifest.plan, **changes))
        return self

    def build(self) -> Project:
        """Builds the firmware, unless another test has built the same."""
        self.write()
        paths = sorted(p for p in self.root.rglob("*.*") if p.suffix in (".c", ".S", ".h", ".ld"))
        texts = [f"{p.relative_to(self.root)}:{p.read_text()}" for p in paths]
        key = (*self.compiler(), *self.flags, *self.libraries, *texts)
        if key not in _BUILT:
            self.compile_and_link()
            _BUILT[key] = {p.name: p.read_bytes() for p in (self.root / "build").iterdir()}
        for name, data in _BUILT[key].items():
            (self.root / "build" / name).write_bytes(data)
        return self

    def compile_and_link(self) -> None:
        compiled = [self.compiled(path_of(n)) for n in self.sources if n.endswith((".c", ".S"))]
        flags = [*self.common_flags(), "-Wl,--gc-sections", "-Wl,--build-id=none"]
        flags += ["-T", self.linker_script(), *([] if self.board.is_host else ["-nostdlib"])]
        command = [*self.compiler(), *flags, *self.flags, *compiled, *self.helpers()]
        _run([*command, "-o", "build/firmware.elf"], self.root)

    def common_flags(self) -> list[str]:
        flags = ["-I.", "-std=gnu11", "-g", "-ffunction-sections", "-fstack-usage"]
        return [*flags, "-no-pie" if self.board.is_host else "-ffreestanding"]

    def compiler(self) -> list[str]:
        cpu = self.board.cpu
        if self.toolchain == "gcc":
            return [f"{self.board.toolchain}gcc", *cpu.cflags]
        return ["clang", f"--target={cpu.triple}", *cpu.flags("llvm"), "-fuse-ld=lld"]

    def compiled(self, name: str) -> str:
        """The object of a source. GCC gets most sources when it links. With -o, clang would write
        the frames of all sources into one file."""
        if self.toolchain == "gcc" and name not in UNNOTED:
            return name
        command = [*self.compiler(), *self.common_flags()]
        if self.toolchain == "llvm":
            command += ["-fomit-frame-pointer"] if name.endswith(".c") else []
            command += ["-meabi", "gnu"] if self.board.cpu.architecture == "arm" else []
        command += self.flags if name.endswith(".c") else []
        made = f"build/{Path(name).stem}.o"
        if name in UNNOTED:
            text, header = self.sources[name], self.sources["model.h"]
            for suffix, data in _objects(tuple(command), name, text, header).items():
                (self.root / made).with_suffix(suffix).write_bytes(data)
        else:
            _run([*command, "-c", name, "-o", made], self.root)
        return made

    def helpers(self) -> list[str]:
        if self.board.is_host or self.toolchain == "gcc":
            return [] if self.board.is_host else self.libraries
        gcc = [f"{self.board.toolchain}gcc", *self.board.cpu.cflags]
        return [_run([*gcc, "-print-libgcc-file-name"], self.root).strip()]

    def linker_script(self) -> str:
        return "native.ld" if self.board.is_host else "board.ld"

    def write(self) -> None:
        (self.root / "build").mkdir(exist_ok=True)
        sources = FileTree({path_of(n): text.encode() for n, text in self.sources.items()})
        model = ModelRecord("hand.tflite", sources.digests()["model.h"], "model.h")
        record = replace(self.manifest, files=sources.digests(), model=model)
        self.manifest, tree = notes.complete(record, sources)
        parameters = {"model/parameters/default.params": params_file.dumps(PARAMETERS)}
        for name, data in {**tree.files, **parameters}.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_bytes(data)

    def objcopy(self, *arguments: str) -> Project:
        _run([f"{self.board.toolchain}objcopy", *arguments, "build/firmware.elf"], self.root)
        return self

    def patch(self, old: bytes, new: bytes) -> Project:
        """Changes bytes that occur once in the ELF file."""
        data = self.elf.read_bytes()
        assert data.count(old) == 1
        assert len(old) == len(new)
        self.elf.write_bytes(data.replace(old, new))
        return self


@functools.cache
def _objects(command: tuple[str, ...], name: str, text: str, header: str) -> dict[str, bytes]:
    """The object and the frames, by suffix, that a compiler makes of a source with model.h."""
    with tempfile.TemporaryDirectory() as made:
        Path(made, name).write_text(text)
        Path(made, "model.h").write_text(header)
        _run([*command, "-c", name, "-o", "made.o"], Path(made))
        return {path.suffix: path.read_bytes() for path in Path(made).glob("made.*")}


def _run(command: Sequence[str], folder: Path) -> str:
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def _sources(board: Board) -> dict[str, str]:
    names = [n for n in NAMES if not (board.is_host and n == "startup.c")]
    sources = {name: (SOURCES / name).read_text() for name in (*names, "model.h")}
    sources["default_params.c"] = _constants()
    if board.cpu.architecture == "riscv":
        sources["startup.c"] = (SOURCES / "startup_riscv.c").read_text()
    script = "native.ld" if board.is_host else "board.ld"
    sources[script] = _filled((SOURCES / script).read_text(), board)
    return sources


def _constants() -> str:
    """The constants as C, made from the arrays."""
    lines = ['#include "default_note.h"', '#include "model.h"']
    for record in CONSTANTS:
        arrays = [PARAMETERS[name] for name in record.sources]
        array: Array = transforms.apply(record.transform, arrays, record.arguments)
        values = ", ".join(str(int(v)) for v in array)
        lines.append(
            f'__attribute__((section(".rodata.tvm"), aligned(4))) const {record.ctype} '
            f"{record.symbol}[{array.size}] = {{{values}}};"
        )
    return "\n".join(lines) + "\n"


def _filled(text: str, board: Board) -> str:
    if board.is_host:
        return text
    values: Mapping[str, int] = {
        "FLASH_ORIGIN": board.memory(board.flash).origin,
        "FLASH_LENGTH": board.memory(board.flash).length,
        "RAM_ORIGIN": board.memory(board.ram).origin,
        "RAM_LENGTH": board.memory(board.ram).length,
        "STACK": board.stack_bytes,
    }
    return re.sub(r"@(\w+)@", lambda match: str(values[match[1]]), text)


@pytest.fixture
def compiler() -> str:
    """The compiler and linker that build the firmware. Test modules may override it."""
    return "gcc"


@pytest.fixture
def project(tmp_path: Path, compiler: str) -> Callable[..., Project]:
    """A function that lays out the firmware for a board, without building it."""

    def make(board_name: str = "mps2_an386") -> Project:
        board = boards.load(board_name)
        sources, record = _sources(board), manifest_for(board)
        return Project(tmp_path, board, record, sources, toolchain=compiler)

    return make
