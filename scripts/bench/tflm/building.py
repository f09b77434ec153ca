"""Builds TensorFlow Lite Micro's library and the program that measures it, with the flags of its
own makefile."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from microgen.base.errors import ToolError

HERE = Path(__file__).parent
# As the resolver's methods name them; GELU is the program's own.
OPERATORS = (
    "Abs Add ArgMax ArgMin AssignVariable AveragePool2D BatchMatMul CallOnce Concatenation Conv2D "
    "DepthToSpace DepthwiseConv2D Dequantize Div Elu Exp ExpandDims FullyConnected Gather "
    "HardSwish L2Normalization LeakyRelu Logistic LogSoftmax Maximum MaxPool2D Mean Minimum "
    "MirrorPad Mul Neg Pack Pad PadV2 Prelu Quantize ReadVariable ReduceMax Relu Relu6 Reshape "
    "ResizeBilinear ResizeNearestNeighbor Rsqrt Slice Softmax SpaceToDepth Split SplitV Sqrt "
    "Square SquaredDifference Squeeze StridedSlice Sub Sum Svdf Tanh Transpose TransposeConv "
    "UnidirectionalSequenceLSTM Unpack VarHandle"
)
_LITE = "tflite-micro/tensorflow/lite"
_FOLDERS = (
    *("micro", "micro/memory_planner", "micro/arena_allocator", "micro/tflite_bridge"),
    *("core/api", "core/c", "kernels", "kernels/internal", "kernels/internal/reference"),
)
# Files of several operators, and what all kernels use.
_SHARED = (
    *("activations", "elementwise", "kernel", "lstm", "maximumminimum", "micro", "pooling"),
    *("argminmax", "reduce", "decompress", "conv", "depthwiseconv", "resize", "unidirectional"),
)
_SCHEMA = "tflite-micro/tensorflow/compiler/mlir/lite/schema/schema_utils.cc"
_COMMON = (
    "-ffunction-sections -fdata-sections -fno-common -fno-unwind-tables "
    "-fno-asynchronous-unwind-tables -fomit-frame-pointer -funsigned-char -DTF_LITE_STATIC_MEMORY "
    "-DNDEBUG -w -Itflite-micro -Icmsis-nn -Icmsis-nn/Include -Iflatbuffers/include -Igemmlowp "
    "-Iruy -DARM_NN_ENABLE_F16=0 -DARM_NN_ENABLE_F32=0"
)
_CXX = "-std=c++17 -fno-rtti -fno-exceptions -fno-threadsafe-statics"
_SILENT = "-DTF_LITE_STRIP_ERROR_STRINGS"
# A silent one has no profile of its operators.
_PROFILED = "micro_interpreter_graph.cc"


@dataclass(frozen=True)
class Memory:
    """Addresses of the start, of code with its length, data, the arena with its length, and the
    model."""

    start: int
    code: tuple[int, int]
    data: int
    arena: tuple[int, int]
    model: int


@dataclass(frozen=True)
class Core:
    """A core and the emulated machine that has it: prefix and flags of the compiler; QEMU command;
    whether CMSIS-NN's kernels are used, which take the places of portable ones; nanoseconds of a
    tick, of which each is an instruction."""

    prefix: str
    flags: str
    emulator: str
    is_optimized: bool
    memory: Memory
    tick: float


_MPS2 = Memory(0, (0x1000, 0x3FF000), 0x20000000, (0x21000000, 0x800000), 0x21800000)
_AN500 = Memory(0, (0x1000, 0x3FF000), 0x20000000, (0x60000000, 0x800000), 0x60800000)
_MPS3 = Memory(0, (0x01000000, 0x200000), 0x20000000, (0x21000000, 0x400000), 0x28000000)
_VIRT = Memory(
    *(0x80000000, (0x80001000, 0x3FF000), 0x80400000, (0x81000000, 0x800000), 0x82000000)
)
_ARM, _HARD, _QEMU = "arm-none-eabi-", "-mthumb -mfloat-abi=hard", "qemu-system-arm -machine "
_M4 = f"-mcpu=cortex-m4 {_HARD} -mfpu=fpv4-sp-d16"
_M7 = f"-mcpu=cortex-m7 {_HARD} -mfpu=fpv5-sp-d16"
_RV32 = (
    # Debian's package of this compiler has no C++ library; the headers of Arm's do.
    "-march=rv32imac -mabi=ilp32 --specs=picolibc.specs -mcmodel=medany "
    "-isystem /usr/include/newlib/c++/12.2.1 "
    "-isystem /usr/include/newlib/c++/12.2.1/arm-none-eabi"
)
CORES = {
    "M4": Core(_ARM, _M4, f"{_QEMU}mps2-an386", True, _MPS2, 40.0),
    "M55": Core(_ARM, f"-mcpu=cortex-m55 {_HARD}", f"{_QEMU}mps3-an547", True, _MPS3, 31.25),
    "M3": Core(_ARM, "-mcpu=cortex-m3 -mthumb", f"{_QEMU}mps2-an385", False, _MPS2, 40.0),
    "M7": Core(_ARM, _M7, f"{_QEMU}mps2-an500", True, _AN500, 40.0),
    "RV32": Core(
        "riscv64-unknown-elf-",
        _RV32,
        "qemu-system-riscv32 -machine virt -bios none",
        False,
        _VIRT,
        1.0,
    ),
}


def program(sources: Path, core: str) -> Path:
    """The firmware, which is built if it is not there. Raises ToolError if it cannot be built."""
    return _built(sources, core)


@functools.cache
def _built(sources: Path, core: str) -> Path:
    place = sources / f"build-{core}"
    place.mkdir(exist_ok=True)
    elf = place / "firmware.elf"
    (place / "build.ninja").write_text(
        "".join(f"{line}\n" for line in _rules(sources, place, core)), encoding="utf-8"
    )
    (place / "link.ld").write_text(_layout(CORES[core]), encoding="utf-8")
    command = ["ninja", "-C", str(sources), "-f", f"{place.name}/build.ninja"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        where = f"TensorFlow Lite Micro for {core}"
        raise ToolError(ran.stdout[-2000:] + ran.stderr[-500:], where=where)
    return elf


def _layout(core: Core) -> str:
    """The linker's script."""
    text = (HERE / "link.ld.in").read_text(encoding="utf-8")
    (code, length), memory = core.memory.code, core.memory
    numbers = {"start": memory.start, "code": code, "length": length, "data": memory.data}
    for name, number in numbers.items():
        text = text.replace(f"@{name}@", f"{number:#x}")
    return text


def _rules(sources: Path, place: Path, core: str) -> Iterator[str]:
    """The lines of build.ninja. Paths are relative to ``sources``."""
    flags = f"{CORES[core].flags} {_COMMON}{' -DCMSIS_NN' * CORES[core].is_optimized}"
    prefix = CORES[core].prefix
    library = "" if "--specs" in flags else "--specs=nosys.specs"
    arena, size = CORES[core].memory.arena
    listed = " ".join(f"OPERATOR({name})" for name in OPERATORS.split())
    places = f"-DMODEL={CORES[core].memory.model:#x} -DARENA={arena:#x} -DARENA_SIZE={size:#x}"
    yield f"rule cc\n command = {prefix}gcc -std=c17 {flags} $flags -c $in -o $out"
    yield f"rule cxx\n command = {prefix}g++ {_CXX} {flags} $flags -c $in -o $out"
    yield f"rule ar\n command = rm -f $out && {prefix}ar rcs $out @$out.rsp"
    yield " rspfile = $out.rsp\n rspfile_content = $in"
    yield (
        f"rule link\n command = {prefix}gcc {flags} -nostartfiles {library} "
        f"-Wl,--gc-sections -T {place.name}/link.ld $in -lm -o $out"
    )
    objects = []
    for source in _sources(sources, is_optimized=CORES[core].is_optimized):
        name = f"{place.name}/{source.replace('/', '.')}.o"
        objects.append(name)
        level = "-O2" if "kernels" in source or source.endswith(".c") else "-Os"
        silent = "" if source.endswith(_PROFILED) else _SILENT
        # GCC 12's assembler does not know the conditional VCVT that its compiler writes there.
        plain = "-fno-if-conversion2" if source.endswith("resize_nearest_neighbor.cc") else ""
        rule = "cc" if source.endswith(".c") else "cxx"
        yield f"build {name}: {rule} {source}\n flags = {level} {silent} {plain}"
    main = f"{place.name}/firmware.o"
    yield f"build {main}: cxx {HERE / 'firmware.cc'} | {HERE / 'cortex_m.h'} {HERE / 'riscv.h'}"
    yield f' flags = -O2 {_SILENT} {places} "-DOPERATORS={listed}"'
    yield f"build {place.name}/library.a: ar {' '.join(objects)}"
    yield f"build {place.name}/firmware.elf: link {main} {place.name}/library.a"


def _sources(sources: Path, *, is_optimized: bool) -> Iterator[str]:
    """The library's sources: CMSIS-NN's kernels take the places of portable ones."""
    yield _SCHEMA
    own = sources / _LITE / "micro/kernels"
    better = sorted(path.name for path in (own / "cmsis_nn").glob("*.cc")) if is_optimized else []
    yield from (f"{_LITE}/micro/kernels/cmsis_nn/{name}" for name in better)
    for folder in (*_FOLDERS, "micro/kernels"):
        for path in sorted((sources / _LITE / folder).glob("*.cc")):
            tested = any(word in path.name for word in ("_test", "test_", "mock_"))
            if not tested and not (path.parent == own and _is_left_out(path.name, better)):
                yield str(path.relative_to(sources))
    if is_optimized:
        for path in sorted((sources / "cmsis-nn/Source").rglob("*.c")):
            if not path.stem.endswith(("_f16", "_f32")):
                yield str(path.relative_to(sources))


def _is_left_out(name: str, better: list[str]) -> bool:
    """Whether the file of a portable kernel is not needed: nothing names its operator."""
    stem = name.removesuffix(".cc").removesuffix("_common").replace("_", "")
    operators = {operator.lower() for operator in OPERATORS.split()}
    return name in better or not any(
        stem.startswith(known) or known.startswith(stem) for known in (*operators, *_SHARED)
    )
