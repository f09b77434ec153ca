"""Checks of the linked functions: the model's, kernels, and functions that must not be linked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from microgen.base.errors import ProjectError
from microgen.base.files import inside
from microgen.target.cpu import Feature
from microgen.verifier.elf.elf import Symbol
from microgen.verifier.elf.libc_names import HEAP, POSIX, STANDARD
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

# Functions that the compiler itself may call (GCC manual, "-ffreestanding"), and planned functions.
_PLANNED = frozenset({"memcpy", "memmove", "memset", "memcmp"})

# Kernels are mg_<op>_<dtype>[_<variant>].
_KERNEL = re.compile(r"mg_\w+_(?:[su](?:8|16|32|64)|f(?:16|32|64))(?:_\w+)?")

# Functions of the headers that GCC and clang leave no copy of (inline.h): their names, or the ends
# of names that macros make.
_INLINE = re.compile(r"\bMG_INLINE\b[^;{}()]*?\b(?:(mg_\w+)|\w+##(_\w+))\(")
# A macro whose first parameter is the whole name of the inline function that it defines.
_INLINE_MACRO = re.compile(r"#define (\w+)\((\w+)[^()\n]*\)[\s\\]*MG_INLINE\b[^;{}()]*?\b\2\(")
_FIRST_ARGUMENT = re.compile(r"\b(\w+)\((mg_\w+),")

# libgcc: GCC's own names, the names of the Arm run-time ABI (Arm IHI 0043), and the functions that
# RISC-V's -msave-restore calls.
_COMPILER = re.compile(
    r"__aeabi_\w+|__gnu_\w+|__riscv_(?:save|restore)_\d+"
    r"|__(?:u?div|u?mod|u?divmod|[a-z]+)[sdt]i[234]"
)
_SOFT_FLOAT = re.compile(
    r"__aeabi_(?:[fd]\w+|c[fd]\w+|h2[fd]\w*|u?[il]2[fd]|ul2[fd])"
    r"|__(?:add|sub|mul|div|neg|pow|cmp|eq|ne|lt|le|gt|ge|unord)[sdt]f(?:[23]|i2)"
    r"|__(?:fix|fixuns|float|floatun|floatuns|extend|trunc)"
    r"(?:[sdht]f[sdt]i|[sdt]i[sdt]f|[hsdt]f[hsdt]f)2?"
)
_SOFT_DOUBLE = re.compile(r"__aeabi_(?:d\w+|cd\w+|f2d|u?[il]2d|ul2d)|__\w*[dt]f\w*")
_FLOAT_KERNEL = re.compile("_f32|_in_float_")
# Kernels that quantize with a zero point, as in LiteRT.
_HYBRID = re.compile(r"mg_\w+_hybrid_f32(_dsp)?")


# The function that runs each node in a program that calls the graph executor's own functions.
NODE_RUNNER = "TVMGraphExecutor_RunNode"


def entry(subject: Subject) -> str:
    """The function that runs the model: ``tvmgen_<m>_run``, or ``tvmgen_<m>_feed`` if the input is
    fed in rows. In another firmware it may be the graph executor's own."""
    is_lent = subject.scope == "model" and calls_executor(subject)
    return NODE_RUNNER if is_lent else subject.manifest.entry


def calls_executor(subject: Subject) -> bool:
    """Whether the program has the graph executor without the run function that calls it."""
    is_graph = subject.manifest.options.get("executor") == "graph"
    return is_graph and not subject.elf.named(subject.manifest.entry)


def run_symbol(subject: Subject) -> Finding:
    """``tvmgen_<m>_run``, or ``tvmgen_<m>_feed`` if the input comes in rows, exists once,
    global, a function, in code. In the scope ``model`` it may be ``TVMGraphExecutor_RunNode``,
    in a program that calls the graph executor's own functions.

    Reads: symbols.
    """
    name = entry(subject)
    symbols = subject.elf.named(name)
    problems = []
    if len(symbols) != 1:
        problems.append(f"{len(symbols)} symbols are named {name}")
    for symbol in symbols:
        if symbol.binding != "global":
            problems.append(f"{name} is {symbol.binding}")
        problems += _not_function(subject, symbol)
    expected = f"{name}: one global function"
    addresses = ", ".join(f"{name} at {symbol.address:#x}" for symbol in symbols)
    return judged(expected, problems, addresses, addresses=[symbol.address for symbol in symbols])


def operators(subject: Subject) -> Finding:
    """Each function that the plan calls exists once, a function, in code; so does each packed
    function that wraps one.

    Reads: symbols; calls of the manifest.
    """
    calls = subject.manifest.calls
    names = sorted({name for call in calls for name in (call.function, call.packed) if name})
    return _each_one_function(subject, names, "operators")


def device_hooks(subject: Subject) -> Finding:
    """Each hook of each device (``TVMDevice<Kind>Activate``, ``Open``, ``Close``,
    ``Deactivate``) exists once and is a function; ``n/a`` without devices.

    Reads: symbols; devices of the manifest.
    """
    names = [hook for device in subject.manifest.devices for hook in device.hooks]
    if not names:
        return not_applicable("the model has no devices")
    return _each_one_function(subject, names, "hooks")


def _each_one_function(subject: Subject, names: Sequence[str], what: str) -> Finding:
    problems = []
    for name in names:
        symbols = subject.elf.named(name)
        if len(symbols) != 1:
            problems.append(f"{len(symbols)} symbols are named {name}")
        for symbol in symbols:
            problems += _not_function(subject, symbol)
    count = len(names)
    return judged(f"{count} {what}, each one function", problems, f"all {count}", count=count)


def _not_function(subject: Subject, symbol: Symbol) -> list[str]:
    if symbol.kind != "func":
        return [f"{symbol.name} is of type {symbol.kind}, not a function"]
    section = subject.elf.section_at(subject.elf.code_address(symbol))
    if section is None or not section.executable:
        return [f"{symbol.name} at {symbol.address:#x} is not in an executable section"]
    return []


def kernels(subject: Subject) -> Finding:
    """Only kernels (``mg_<op>_<dtype>``) that the manifest lists are linked, and only operators
    that are called; local functions that the project's headers mark as inline may be linked,
    too, because not every compiler copies them into kernels.

    Reads: function symbols; manifest.
    """
    modules = subject.manifest.modules
    planned = {kernel for module in modules for kernel in module.kernels}
    calls = [call for module in modules for call in module.calls]
    called = {name for call in calls for name in (call.function, call.packed)}
    # A layer that is computed row by row has a function of its own, which no call names.
    rows = [s.in_rows for call in calls for s in call.steps if s.in_rows]
    called |= {each.function for each in rows}
    called |= {each.patch.function for each in rows if each.patch}
    inner = [step.in_round for call in calls for step in call.steps if step.in_round]
    called |= {name for one in inner for name in (one.function, *one.callers)}
    functions = {symbol.stem for symbol in subject.functions() if symbol.kind == "func"}
    linked = {name for name in functions if _KERNEL.fullmatch(name)}
    prefixes = tuple(f"{module.prefix}_fused_" for module in modules)
    present = {name for name in functions if name.startswith(prefixes)}
    # A function whose name begins with a kernel's is a part of this kernel.
    others = {
        name
        for name in linked - planned
        if not any(name.startswith(f"{kernel}_") for kernel in planned)
    }
    others -= _local_parts(subject) if others else set()
    problems = [f"the kernel {name} is linked, but nothing in the plan uses it" for name in others]
    problems += [f"the operator {name} is linked, but never called" for name in present - called]
    expected = f"only the kernels {', '.join(sorted(planned))}; only operators that are called"
    inlined = "inlined into their operators" if not linked else ", ".join(sorted(linked))
    actual = f"{len(present)} operators; kernels {inlined}"
    return judged(expected, sorted(problems), actual, operators=len(present))


def _local_parts(subject: Subject) -> set[str]:
    """The local functions that the project's headers, or macros there, mark as inline."""
    headers = list(_texts(subject, (".h",)))
    marked = [match for text in headers for match in _INLINE.findall(text)]
    names, ends = {name for name, _ in marked}, tuple(end for _, end in marked if end)
    macros = {macro for text in headers for macro, _ in _INLINE_MACRO.findall(text)}
    uses = (use for text in headers for use in _FIRST_ARGUMENT.findall(text))
    names |= {name for macro, name in uses if macro in macros}
    public = {s.stem for s in subject.functions() if s.binding != "local"}
    local = {s.stem for s in subject.functions()} - public
    return {name for name in local if name in names or name.endswith(ends)}


def heap(subject: Subject) -> Finding:
    """There is no malloc, free, sbrk or the like.

    Reads: symbols.
    """
    if subject.board.is_host:
        return not_applicable("the host's libc has a heap")
    names = sorted({s.name for s in subject.functions() if s.name in HEAP})
    problems = [f"{name} is linked" for name in names]
    return judged("no malloc, free, sbrk or similar functions", problems, "none")


def libc(subject: Subject) -> Finding:
    """There is no C library function except memcpy, memmove, memset, memcmp.

    A function belongs to the library if C99 or POSIX names it, or if it has a name reserved for
    the implementation (``_...``) that is in no source of the project. The heap's functions and
    the compiler's helpers have checks of their own.

    Reads: function symbols; identifiers of the project's sources.
    """
    if subject.board.is_host:
        return not_applicable("the host's firmware uses the host's libc")
    names = {symbol.stem for symbol in subject.functions() if symbol.kind == "func"}
    others = [
        name
        for name in sorted(names - _PLANNED - HEAP)
        if not _COMPILER.fullmatch(name) and not _SOFT_FLOAT.fullmatch(name)
    ]
    reserved = {name for name in others if name.startswith("_")}
    unknown = reserved - _reserved_words(subject) if reserved else set()
    problems = [
        f"{name} is linked"
        for name in others
        if name in STANDARD or name in POSIX or name in unknown
    ]
    actual = ", ".join(sorted(names & _PLANNED)) or "none"
    return judged(f"no C library except {', '.join(sorted(_PLANNED))}", problems, actual)


def _reserved_words(subject: Subject) -> set[str]:
    """Every identifier that begins with ``_`` in the project's C and assembler sources."""
    texts = _texts(subject, (".c", ".h", ".s", ".S"))
    return {word for text in texts for word in re.findall(r"\b_\w+", text)}


def _texts(subject: Subject, suffixes: tuple[str, ...]) -> Iterator[str]:
    """The contents of the project's files with these suffixes."""
    for name in subject.manifest.files:
        if name.endswith(suffixes):
            with suppress(ProjectError):  # ``project_files`` names missing files
                path = inside(subject.project, name)
                yield path.read_text(encoding="utf-8", errors="replace")


def soft_float(subject: Subject) -> Finding:
    """Integer firmware has no software floating point, and no firmware has it for operations
    that the board's FPU does.

    Reads: symbols; dtypes of the manifest.
    """
    if subject.board.is_host:
        return not_applicable("the host has floating point")
    pattern, kind = _SOFT_FLOAT, "float"
    if _uses_float(subject):
        if Feature.FPU not in subject.board.cpu.features:
            return not_applicable("a float model on a CPU without FPU")
        if Feature.FPU64 not in subject.board.cpu.features:
            pattern, kind = _SOFT_DOUBLE, "double"
    names = {symbol.name for symbol in subject.functions()}
    problems = [f"{name} is linked" for name in sorted(names) if pattern.fullmatch(name)]
    if problems and kind == "double" and _is_hybrid(subject):
        return not_applicable("hybrid layers find zero points in double, once per image or row")
    return judged(f"no software {kind} helpers", problems, "none")


def _is_hybrid(subject: Subject) -> bool:
    calls = (call for module in subject.manifest.modules for call in module.calls)
    return any(_HYBRID.fullmatch(step.kernel) for call in calls for step in call.steps)


def _uses_float(subject: Subject) -> bool:
    types: list[str] = []
    for module in subject.manifest.modules:
        types += [port.dtype for port in (*module.inputs, *module.outputs)]
        steps = [step for call in module.calls for step in call.steps]
        types += [step.dtype for step in steps]
        types += ["float" for step in steps if _FLOAT_KERNEL.search(step.kernel)]
        types += [constant.ctype for constant in module.constants]
    return any("float" in name or "double" in name for name in types)
