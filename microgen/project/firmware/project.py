"""Assembles a project: the model's files, the runtime's files for it, board and build files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from microgen.base import resources, west
from microgen.base.files import FileTree
from microgen.graph.ir.graph import DType
from microgen.options import STACK_MARGIN
from microgen.planner.program.kernel_call import KernelCode, ctype
from microgen.planner.program.plan import Pool
from microgen.planner.program.rolling import Feed
from microgen.planner.program.types import Device, Port
from microgen.project.emit import memory, profile, symbols
from microgen.project.emit.environment import environment
from microgen.project.emit.header import device
from microgen.project.emit.ports import is_scaled
from microgen.project.emit.signature import dtype
from microgen.project.firmware import (
    app_memory,
    component,
    crt_files,
    readme,
)
from microgen.project.firmware.stack_size import is_fitted, template_values
from microgen.target.board import Board
from microgen.target.cpu import Feature

_MODEL_HEADERS = "model/codegen/host/include"
_MODEL_SOURCES = "model/codegen/host/src"
CODEGENS = "codegens"  # the folder with files from external code generators
_MODEL_DATA = "model/executor-config/graph"
_BUILD_FILES = (
    "CMakeLists.txt",
    "Kconfig",
    "NOTICE",
    "README.md",
    "boards/zephyr.ld",
    "model/CMakeLists.txt",
    "prj.conf",
    "sample.yaml",
    "west/west-commands.yml",
    "west/west.yml",
)
_STACK_FILES = ("boards/stack.cmake",)
# Not commands.py: without west, Python treats the folder as the package of west's own commands.py.
_WEST_COMMANDS = "west/microgen_commands.py"
_DEVICE_FILES = ("src/devices.c", "src/devices.h")  # only if a model has devices
_TOOLCHAIN = "boards"  # Zephyr's TOOLCHAIN_ROOT in projects for RISC-V
_TOOLCHAIN_FILES = tuple(
    f"{_TOOLCHAIN}/cmake/toolchain/cross-compile/{name}.cmake" for name in ("generic", "target")
)
_PLATFORM = "src/platform.c"
_ZEPHYR = "src/platform_zephyr.c"
_BOOT = "boards/boot.S"

# Under Zephyr the main thread has a stack of its own, on which Zephyr also starts drivers and
# prints. Its bytes are added to the board's stack, which `microgen verify` compares with the bound.
_ZEPHYR_OWN_STACK_BYTES = 2048
_ZEPHYR_HOST_STACK_BYTES = 4096

# The platform's functions, other than operators, whose calls a profile under Zephyr records.
_PROFILED = ("TVMPlatformInitialize", "TVMPlatformTimerStart", "mg_io_exit")

# Symbols that the linker keeps, even if nothing in the project refers to them.
_KEPT_SYMBOLS: dict[str, tuple[str, ...]] = {"c": (), "packed": ("TVMSystemLibEntryPoint",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The facts about one model that the project needs.

    ``kernels`` are the kernels that it calls; the files that their headers include are added.
    ``shared_kernels`` are the kernels whose out-of-line forms it calls. ``has_state``: its header
    has a reset function. ``has_modules``: it loads modules. ``devices`` are the devices whose
    contexts it passes, ``pools`` the pools that its plan uses. ``shares_workspace``: its workspace
    is part of the memory that several models share. ``operators`` are the C functions that its
    runner calls. ``feed``: how its input is fed, or None.
    """

    module: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    kernels: tuple[KernelCode, ...]
    shared_kernels: tuple[KernelCode, ...] = ()
    has_state: bool = False
    has_modules: bool = False
    devices: tuple[Device, ...] = ()
    pools: tuple[Pool, ...] = ()
    shares_workspace: bool = False
    operators: tuple[str, ...] = ()
    feed: Feed | None = None


def assemble(
    model_files: FileTree,
    models: Sequence[Model],
    *,
    board: Board,
    toolchain: str = "gcc",
    interface: str = "c",
    executor: str = "aot",
    include_dirs: Sequence[str] = (),
    stack_margin: int = STACK_MARGIN,
) -> FileTree:
    """The whole project without its manifest.

    ``model_files`` are the files of ``model/`` for all ``models``, with their paths. ``src/main.c``
    runs the models in order. ``include_dirs`` are folders below ``codegens`` with code generators'
    headers. ``interface`` is "c" or "packed", ``executor`` "aot" or "graph". Builds reserve
    ``stack_margin`` bytes of stack in addition to the bytes that they find for the code.
    """
    about = {
        **_values(board, toolchain, stack_margin),
        **_described(models, board),
        **app_memory.values(_ports(models), board, [p for model in models for p in model.pools]),
        **_folders(model_files, include_dirs),
        "interface": interface,
        "executor": executor,
        "kept_symbols": _kept_symbols(models, interface),
        "profile": profile.FILE,
        "profiled_symbols": [*_PROFILED, *(name for model in models for name in model.operators)],
    }
    main = {name: _render(name, about) for name in _main_files(models)}
    fixed = _fixed(board)
    lists = _source_lists(model_files, models, main, fixed)
    about |= {"component": _component(model_files, models, include_dirs)}
    build_files = {
        **{name: _render(name, {**about, **lists}) for name in _build_files(board)},
        about["linker_script"]: _render(_linker_script(board), {**about, **lists}),
    }
    crt = _crt(model_files, models, main, fixed) | _libc(board, toolchain)
    others = {"LICENSE": resources.licence(), _WEST_COMMANDS: west.source()}
    return model_files.merged(FileTree({**main, **build_files, **fixed, **crt, **others}))


def _kept_symbols(models: Sequence[Model], interface: str) -> tuple[str, ...]:
    # Nothing refers to it, so a linker script without KEEP would lose the shared workspace.
    shares = any(model.shares_workspace for model in models)
    return (*_KEPT_SYMBOLS[interface], *((symbols.SHARED_WORKSPACE,) if shares else ()))


def _build_files(board: Board) -> tuple[str, ...]:
    fitted = _STACK_FILES if is_fitted(board) else ()
    own = _TOOLCHAIN_FILES if board.cpu.architecture == "riscv" else ()
    return (*_BUILD_FILES, *fitted, *own)


def _main_files(models: Sequence[Model]) -> tuple[str, ...]:
    """The application's own C files, which are made from templates."""
    return ("src/main.c", *(_DEVICE_FILES if any(model.devices for model in models) else ()))


def _fixed(board: Board) -> dict[str, bytes]:
    """Files of ``crt`` whose path in a project is different: path there -> contents."""
    taken = {_PLATFORM: f"platform_{board.platform}.c", _ZEPHYR: "platform_zephyr.c"}
    if not board.is_host:
        taken["boards/startup.c"] = f"startup_{board.startup}.c"
    if block := board.boot_block:
        taken[_BOOT] = block.source
    return {name: crt_files.read(f"src/platform/{source}") for name, source in taken.items()}


def _linker_script(board: Board) -> str:
    return "boards/native.ld" if board.is_host else "boards/board.ld"


def _source_lists(
    model_files: FileTree,
    models: Sequence[Model],
    main: Mapping[str, bytes],
    fixed: Mapping[str, bytes],
) -> dict[str, list[str]]:
    """The lists of sources to compile. On bare metal, files that only the start-up code needs are
    in a list of their own. Under Zephyr, this list has the files that only semihosting needs. Files
    that only an application for TVM's runtime needs are in a list that the build leaves out by
    default."""
    mains = sorted(name for name in main if name.endswith(".c"))
    used = [*main.values(), *model_files.beginnings()]
    always = crt_files.closure(used)
    runtime = crt_files.closure([*used, fixed[_PLATFORM]])
    freestanding = crt_files.closure(fixed.values())
    semihosting = crt_files.closure([fixed[_ZEPHYR]])
    kernels = [f"crt/{name}" for name in _kernels(models)]
    # A source that the model or main needs is compiled in any case.
    tvm = crt_files.tvm_files().keys() - always.keys()
    return {
        "model_sources": [*_model_sources(model_files, models), *kernels],
        "runtime_sources": [*mains, _PLATFORM, *_sources(runtime)],
        "freestanding_sources": _sources(freestanding.keys() - runtime.keys()),
        "tvm_sources": _sources(tvm - runtime.keys()),
        "zephyr_sources": [*mains, _ZEPHYR, *_sources(always)],
        "zephyr_tvm_sources": _sources(tvm - semihosting.keys()),
        "zephyr_semihosting_sources": _sources(semihosting.keys() - always.keys()),
    }


def _component(
    model_files: FileTree, models: Sequence[Model], include_dirs: Sequence[str]
) -> dict[str, list[str]]:
    """The lists of ``model/CMakeLists.txt``."""
    called = crt_files.closure(model_files.beginnings())
    # An object library has no functions that only some applications need.
    shares = any(model.shares_workspace for model in models)
    runtime = _sources(called.keys() | (set() if shares else crt_files.portable_tvm_files()))
    kernels = [f"crt/{name}" for name in _kernels(models)]
    folders = _folders(model_files, include_dirs)
    return component.lists([*_model_sources(model_files, models), *kernels], runtime, **folders)


def _crt(
    model_files: FileTree,
    models: Sequence[Model],
    main: Mapping[str, bytes],
    fixed: Mapping[str, bytes],
) -> dict[str, bytes]:
    """The files of ``crt`` that the project needs, and the files of TVM's interface."""
    headers = [f"include/{kernel.header}" for model in models for kernel in model.kernels]
    texts = [*main.values(), *fixed.values(), *model_files.beginnings()]
    needed = {**crt_files.closure(texts, headers), **crt_files.tvm_files(), **_kernels(models)}
    return {f"crt/{name}": data for name, data in needed.items()}


def _kernels(models: Sequence[Model]) -> dict[str, bytes]:
    """The sources of kernels whose out-of-line forms are called: path below ``crt`` -> contents."""
    shared = {kernel for model in models for kernel in model.shared_kernels}
    return {name: text.encode() for name, text in crt_files.kernel_sources(sorted(shared)).items()}


def _libc(board: Board, toolchain: str) -> dict[str, bytes]:
    return {f"crt/{x}": crt_files.read(x) for x in (() if board.is_host else _LIBC[toolchain])}


def _folders(model_files: FileTree, include_dirs: Sequence[str]) -> dict[str, list[str]]:
    """The folders in which the compiler finds headers, and the sources of code generators."""
    return {
        "includes": [*_model_folders(model_files), "crt/include", "crt/src"],
        "codegen_includes": [f"{CODEGENS}/{folder}" for folder in include_dirs],
        "codegen_sources": sorted(name for name in model_files.files if _is_codegens(name)),
    }


def _model_sources(model_files: FileTree, models: Sequence[Model]) -> list[str]:
    """The sources below ``model/`` in three groups, each sorted: sources without symbols in the
    shared workspace, sources with such symbols, and the workspace itself."""
    own = [n for n in model_files.files if n.startswith(_MODEL_SOURCES) and n[-2:] in _C_OR_ASM]
    # The executor's graphs follow the C sources, because LLVM's linker takes the ABI from the first
    # object, and assembled data have none.
    names = sorted(own, key=lambda name: (name.endswith(_GRAPH), name))
    # Nothing may come between these and the workspace in memory.
    sharing = [f"{_MODEL_SOURCES}/{m.module}_memory.S" for m in models if m.shares_workspace]
    last = [*sharing, f"{_MODEL_SOURCES}/{memory.SHARED_FILE}"] if sharing else []
    return [*(name for name in names if name not in last), *last]


def _is_codegens(name: str) -> bool:
    return name.startswith(f"{CODEGENS}/") and name.endswith(".c")


def _model_folders(model_files: FileTree) -> list[str]:
    """The folders in which the compiler finds the model's headers, and the assembler its data."""
    has_data = any(name.startswith(f"{_MODEL_DATA}/") for name in model_files.files)
    return [_MODEL_HEADERS, _MODEL_DATA] if has_data else [_MODEL_HEADERS]


_C_OR_ASM = (".c", ".S")
_GRAPH = "_graph.S"

# Headers for compilers without a C library. CMakeLists.txt searches them last. Clang's own stdint.h
# needs no other header, but uses another one if it finds it.
_LIBC = {"gcc": ("libc/stdint.h", "libc/string.h"), "llvm": ("libc/string.h",)}


def _render(name: str, values: dict[str, Any]) -> bytes:
    return environment("project").get_template(f"{name}.j2").render(values).encode()


def _sources(names: Iterable[str]) -> list[str]:
    """The C files in the order in which they are linked: sorted by their names without folders."""
    paths = (PurePosixPath("crt", name) for name in names if name.endswith(".c"))
    return [str(path) for path in sorted(paths, key=lambda path: path.name)]


def _described(models: Sequence[Model], board: Board) -> dict[str, Any]:
    """The templates' values for the models. A device that several models use is listed once."""
    several = len(models) > 1
    described = [_model(model, board, several) for model in models]
    prefixes = [model["prefix"] for model in described]
    devices = {own["name"]: own for model in described for own in model["devices"]}
    return {
        "models": described,
        "several": several,
        "title": readme.title(prefixes),
        "project": "_".join(prefixes),
        "inputs": [port for model in described for port in model["inputs"]],
        "outputs": [port for model in described for port in model["outputs"]],
        "prints_floats": any(p.type.dtype is DType.FLOAT32 for m in models for p in m.outputs),
        "passed_pools": [pool for model in described for pool in model["passed_pools"]],
        "devices": list(devices.values()),
        "is_fed": any(model.feed for model in models),
        "shared_workspace": symbols.SHARED_WORKSPACE,
        "shared_arenas": [
            symbols.arena(m.module, p.name)
            for m in models
            if m.shares_workspace
            for p in m.pools
            if not p.port
        ],
    }


def _model(model: Model, board: Board, several: bool) -> dict[str, Any]:
    """One model; ``suffix`` makes its names in main.c unique."""
    prefix = f"tvmgen_{model.module}"
    suffix = f"_{model.module}" if several else ""
    memory = app_memory.of_model(prefix, suffix, _ports([model]), board, model.pools)
    contexts = [f"&{prefix}_contexts"] if model.devices else []
    return {
        **memory,
        "module": model.module,
        "prefix": prefix,
        "suffix": suffix,
        "inputs": [_input(model, port, several) for port in model.inputs],
        "outputs": [_port(model, port, several) for port in model.outputs],
        "feed": model.feed,
        "feed_structs": ", ".join(["", *memory["run_structs"][1:]]),
        "has_port_pools": any(pool.port for pool in model.pools),
        "has_scales": any(is_scaled(p.type) for p in (*model.inputs, *model.outputs)),
        "has_state": model.has_state,
        "has_modules": model.has_modules,
        "devices": [device(d) for d in model.devices],
        "run_arguments": ", ".join([*memory["run_structs"], *contexts]),
    }


def _ports(models: Sequence[Model]) -> list[Port]:
    return [port for model in models for port in (*model.inputs, *model.outputs)]


def _values(board: Board, toolchain: str, stack_margin: int) -> dict[str, Any]:
    """The templates' values for the board; the lists of sources are added later."""
    return {
        "board": board,
        "is_llvm": toolchain == "llvm",
        "cflags": [*board.cpu.flags(toolchain), *board.cflags],
        "libgcc_flags": [*board.cpu.flags("gcc"), *board.cflags],
        "has_fpu": Feature.FPU in board.cpu.features,
        "linker_script": f"boards/{board.name}.ld",
        **template_values(board, toolchain, stack_margin),
        "startup": ["boards/startup.c", *([_BOOT] if board.boot else [])],
        "qemu_command": readme.qemu_command(board),
        "toolchain_note": readme.toolchain_note(board, toolchain),
        "zephyr_toolchain": _TOOLCHAIN if board.cpu.architecture == "riscv" else "",
        "zephyr_stack_bytes": (board.stack_bytes or _ZEPHYR_HOST_STACK_BYTES)
        + _ZEPHYR_OWN_STACK_BYTES,
    }


def _input(model: Model, port: Port, several: bool) -> dict[str, Any]:
    """The templates' values for an input. main.c may hold only some of its rows at a time."""
    entry = _port(model, port, several)
    if model.feed is None:
        return entry
    size = entry["size_macro"].replace("_SIZE", "_ROWS_SIZE")
    return {**entry, "held": f"{size} / sizeof({entry['ctype']})", "held_size": size}


def _port(model: Model, port: Port, several: bool) -> dict[str, Any]:
    """The templates' values for a port. ``name`` is its name in main.c, ``field`` in the header,
    ``label`` in texts for people."""
    module = model.module
    macro = f"tvmgen_{module}_{port.name}".upper()

    def name(own: str) -> str:
        return f"{module}_{own}" if several else own

    pools = {pool.port: pool for pool in model.pools if pool.port}
    return {
        **app_memory.of_port(port, model.inputs, pools, name),
        "name": name(port.name),
        "field": port.name,
        "label": f"{module}.{port.name}" if several else port.name,
        "ctype": ctype(port.type.dtype),
        "dims": port.type.shape,
        "declared": f"{ctype(port.type.dtype)}{''.join(f'[{dim}]' for dim in port.type.shape)}",
        "meaning": readme.meaning(port),
        "dtype": dtype(port.type.dtype),
        "nbytes": port.type.nbytes,
        "held": f"{macro}_COUNT",
        "held_size": f"{macro}_SIZE",
        **{
            f"{what}_macro": f"{macro}_{what.upper()}"
            for what in ("size", "count", "rank", "shape")
        },
    }
