"""The cost of a kernel for a node, from coefficients that ``scripts/measure.py`` measured.

``measured/costs.json`` has, for each core on which a kernel was measured and for each of its two
forms, the coefficients of ``work``, and the amounts by which another requantization changes them.
docs/explanation/costs.md describes tables, measurement and errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import measured
from microgen.kernels.base import Implementation
from microgen.kernels.identity import KEPT, Same
from microgen.kernels.work import Cost as Cost
from microgen.target import standing
from microgen.target.cpu import CPUS, Cpu, Feature

SPECIALISED, SHARED = "specialised", "shared"
COEFFICIENTS = ("instructions", "cycles", "code_bytes")
WAITS = ("waited", "followed")
FORMS = (SHARED, SPECIALISED)
_NOTHING: Mapping[str, Any] = {}


def estimate(
    kernel: Implementation, node: Node, graph: Graph, cpu: Cpu, *, shared: bool
) -> Cost | None:
    """The cost of ``kernel`` for ``node`` on ``cpu``, compiled for the node's shape or ``shared``.
    It is from the kernel's own ``cost`` if it has one; otherwise from its table, or from the table
    of the kernel that it is ``measured_as``.

    None if the kernel was not measured in this form on the core that stands for the CPU, if the
    node has a part that no measured layer had, or if the kernel computes floats and only one of the
    two cores has an FPU.
    """
    if kernel.cost is not None:
        return kernel.cost(node, graph, cpu, shared)
    core = measured_core(cpu)
    if core is None:
        return None
    # Without an FPU, each operation on floats is a call of the compiler's library.
    if _computes_floats(kernel, node, graph) and _has_fpu(cpu) is not _has_fpu(CPUS[core]):
        return None
    found = _coefficients(kernel, core, SHARED if shared else SPECIALISED)
    if found is None:
        return None
    return _counted(Same(kernel), Same(found), Same(kernel.work(node, graph)), shared)


# Most layers of a large network share their shape, and so the object that is their work.
@lru_cache(maxsize=KEPT)
def _counted(
    known: Same[Implementation],
    coefficients: Same[Mapping[str, Any]],
    counted: Same[Mapping[str, int]],
    shared: bool,
) -> Cost | None:
    found, work = coefficients.value, counted.value
    # No coefficient is known for such a part, so any number would be too small.
    if any(work[name] for name in found["unseen"]):
        return None
    cycles = _sum(found["cycles"], work)
    waits = {"call": 1, "cycle": cycles}
    return Cost(
        instructions=_sum(found["instructions"], work),
        cycles=cycles,
        # A part adds its code once, however often it runs.
        code_bytes=round(sum(n for name, n in found["code_bytes"].items() if work[name])),
        shared_bytes=found.get("shared_bytes", 0),
        cores=tuple(_cores(known.value, found.get("cores", {}), {} if shared else work)),
        waited=_sum(found.get("waited", {}), waits),
        followed=_sum(found.get("followed", {}), waits),
    )


def _cores(
    kernel: Implementation, found: Mapping[str, int], work: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """The shared functions that the kernel calls, without functions for parts that the node does
    not have. Out-of-line forms, whose work is unknown, have all parts.
    """
    parts = dict(zip(kernel.cores, kernel.core_parts, strict=False))
    return ((name, n) for name, n in found.items() if work.get(parts.get(name, ""), 1))


def _coefficients(kernel: Implementation, core: str, form: str) -> Mapping[str, Any] | None:
    """The kernel's coefficients, with the names of its own functions. A kernel that is measured as
    another one may need features of the CPU that the core standing for the CPU lacks.
    """
    found: Mapping[str, Any] | None = table(kernel.symbol).get(core, {}).get(form)
    like = kernel.measured_as
    if found is not None or like is None:
        return found
    found = table(like.symbol).get(core, {}).get(form)
    if found is None:
        return None
    more = table("".join(kernel.variant[-1:])).get(core, {}).get(form, _NOTHING)
    own = tuple(zip(like.cores, kernel.cores, strict=False))
    return _as_measured(Same(found), Same(more), own)


# All layers of a network have these kernels. Tables are keys by identity.
@lru_cache(maxsize=KEPT)
def _as_measured(
    found: Same[Mapping[str, Any]],
    more: Same[Mapping[str, Any]],
    cores: tuple[tuple[str, str], ...],
) -> Mapping[str, Any]:
    own, known = dict(cores), found.value.get("cores", {})
    named = {own.get(name, name): n for name, n in known.items()}
    return _rounded({**found.value, "cores": named}, more.value)


def _rounded(found: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The coefficients of a kernel, with the amounts that another requantization adds."""
    added = {name: _added(found[name], more.get(name, {})) for name in COEFFICIENTS}
    shared = {"shared_bytes": found.get("shared_bytes", 0) + more.get("shared_bytes", 0)}
    return {**found, **added, **shared, "cores": {**found["cores"], **more.get("cores", {})}}


def _added(found: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    return {name: found.get(name, 0) + more.get(name, 0) for name in {**found, **more}}


def measured_core(cpu: Cpu) -> str | None:
    """The name of the core whose measurements stand for a CPU (``standing.core``).

    None for the host: no measured core has its instructions, and its cycles are not modelled.
    """
    found = standing.core(cpu, cores())
    return found.name if found else None


def said(cpu: Cpu) -> str:
    """A sentence that names the core whose costs stand for the CPU. It is empty if the costs are
    the CPU's own, or if no core stands for it."""
    found = standing.core(cpu, cores())
    return standing.said("costs", found, cpu) if found else ""


def cores() -> tuple[str, ...]:
    """The names of the cores on which kernels were measured."""
    return measured.load(measured.COSTS).cores


@cache
def table(name: str) -> Mapping[str, Any]:
    """The coefficients of a kernel by core and form; empty if it was never measured. ``name``
    may also be a requantization's constant in C. Then they are the additional cost of outputs,
    compared with the requantization of the measured kernel.
    """
    found: dict[str, dict[str, Any]] = {}
    for column, numbers in measured.load(measured.COSTS).by_column(name).items():
        core, form = column.split()
        found.setdefault(core, {})[form] = _form(numbers)
    return found


def _form(numbers: Mapping[str, Any]) -> dict[str, Any]:
    common = {name: numbers[name] for name in ("shared_bytes", "cores") if name in numbers}
    each = {name: numbers.get(name, {}) for name in (*COEFFICIENTS, *WAITS)}
    return {"unseen": list(numbers.get("unseen", {})), **each, **common}


def _sum(coefficients: Mapping[str, float], work: Mapping[str, int]) -> int:
    return round(sum(each * work[name] for name, each in coefficients.items()))


def _computes_floats(kernel: Implementation, node: Node, graph: Graph) -> bool:
    types = graph.type_of((*node.inputs, *node.outputs))
    is_named = "_f32" in kernel.symbol or "_in_float_" in kernel.symbol
    return is_named or any(kind.dtype is DType.FLOAT32 for kind in types)


def _has_fpu(cpu: Cpu) -> bool:
    return Feature.FPU in cpu.features
