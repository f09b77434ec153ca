"""The check of the function registry, which maps names to a program's packed functions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from microgen.base.manifest import ModuleRecord
from microgen.verifier.checks.objects import bytes_of, is_writable, words
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

_ENTRY = "TVMSystemLibEntryPoint"
_NAMES = "tvm_function_names"
FUNCTIONS = "tvm_functions"
# A TVMFuncRegistry and a TVMModule, and the objects that each points to.
_POINTERS = {
    "tvm_function_registry": (_NAMES, FUNCTIONS),
    "tvm_system_lib": ("tvm_function_registry",),
}


def registry(subject: Subject) -> Finding:
    """With ``--interface packed`` or ``--executor graph``: ``TVMSystemLibEntryPoint`` exists
    once, a global function, and the registry lists every packed function of the plan (and, for
    AOT, the entry point and ``get_c_metadata``), each at its address; its tables and the
    pointers to them are in memory that nothing writes.

    Reads: symbols, the registry's tables; manifest.
    """
    modules = [m for m in subject.manifest.modules if _has_registry(m)]
    if not modules:
        return not_applicable("no function is called by name")
    wanted = [name for module in modules for name in _functions(module)]
    expected = f"{_ENTRY}, and a registry of {len(wanted)} packed functions by name"
    # Other object files call it, so a local function of that name is not the entry point.
    entries = [s for s in subject.elf.named(_ENTRY, "func") if s.binding == "global"]
    problems = [] if len(entries) == 1 else [f"{len(entries)} global functions {_ENTRY}"]
    problems += [*_table_problems(subject, wanted), *_pointer_problems(subject)]
    return judged(expected, problems, f"{len(wanted)} functions", functions=len(wanted))


def _has_registry(module: ModuleRecord) -> bool:
    asked = module.options
    return asked.get("interface") == "packed" or asked.get("executor") == "graph"


def _functions(module: ModuleRecord) -> list[str]:
    """Names of a module's packed functions, with operators in the order of their first calls."""
    operators = dict.fromkeys(call.packed for call in module.calls if call.packed)
    if module.options.get("executor") == "graph":
        return [*operators]
    return [f"{module.prefix}_run", f"{module.prefix}_get_c_metadata", *operators]


def _table_problems(subject: Subject, wanted: list[str]) -> Iterator[str]:
    names, functions = bytes_of(subject, _NAMES), bytes_of(subject, FUNCTIONS)
    if names is None or functions is None:
        yield f"{_NAMES} and {FUNCTIONS} are not one object each with bytes"
        return
    count, listed = _listed(names)
    if count != len(listed) or sorted(listed) != sorted(wanted):
        missing = sorted(set(wanted) - set(listed))
        yield f"{count} functions are listed" + (f", but not {missing[0]}" if missing else "")
        return
    width = len(functions) // count
    for i, name in enumerate(listed):
        address = int.from_bytes(functions[i * width : (i + 1) * width], "little")
        yield from _address_problems(subject, name, address)


def _pointer_problems(subject: Subject) -> Iterator[str]:
    """Problems of the pointers to the table: they must lead there, and nothing may write them."""
    for name in (_NAMES, FUNCTIONS, *_POINTERS):
        for symbol in subject.elf.named(name):
            if is_writable(subject, symbol):
                yield f"{name} at {symbol.address:#x} is in writable memory"
    for name, targets in _POINTERS.items():
        planned = [s.address for target in targets for s in subject.elf.named(target)]
        if words(subject, name, len(targets)) != planned:
            yield f"{name} does not lead to {' and '.join(targets)}"


def _listed(names: bytes) -> tuple[int, list[str]]:
    """The count in the first two bytes, and the names after it up to an empty name."""
    listed = takewhile(bool, names[2:].split(b"\0"))
    return int.from_bytes(names[:2], "little"), [n.decode("ascii", "replace") for n in listed]


def _address_problems(subject: Subject, name: str, address: int) -> Iterator[str]:
    # An entry point has another prototype than a registry's functions, so its packed form may be
    # registered in its place.
    symbols = [*subject.elf.named(name, "func"), *subject.elf.named(f"{name}_packed", "func")]
    if address not in {symbol.address for symbol in symbols}:
        yield f"the registry has {name} at {address:#x}, which is not its address"
