"""Which cores' measurements stand for a CPU: one rule for all tables.

Measurements of the CPU itself come first. If there are none, an estimate (the costs of kernels, the
cycles of instructions) is the nearest core's estimate, and a bound (bytes of stack and of code) is
the maximum of all cores of the architecture. docs/explanation/costs.md has the rule for people.
"""

from __future__ import annotations

from collections.abc import Iterable

from microgen.target.cpu import CPUS, Cpu, Feature

# An FPU changes the costs of floats, and whether they are known, but no costs of integers.
_FLOATS = frozenset({Feature.FPU, Feature.FPU64, Feature.MVE_FLOAT})
_ARCHITECTURE = "Tag_CPU_arch"
_VERSIONS = ("v6S-M", "v7", "v7E-M", "v8-M.baseline", "v8-M.mainline", "v8.1-M.mainline")


def cores(cpu: Cpu, measured: Iterable[str]) -> tuple[Cpu, ...]:
    """The names of the ``measured`` cores that stand for a CPU. An estimate uses the first of them,
    a bound all.

    If the CPU itself was measured, it is the only one. Otherwise they are the cores of its
    architecture, with the nearest first: one that has no feature for integers that the CPU lacks;
    of several such cores the one with the same name for compilers, then with the nearest version of
    the architecture, then with the most features in common, then the first. There is none for the
    host."""
    known = [CPUS[name] for name in measured if name in CPUS]
    if cpu.name in {one.name for one in known}:
        return (cpu,)
    alike = (one for one in known if one.architecture == cpu.architecture)
    return tuple(sorted(alike, key=lambda one: _distance(one, cpu)))


def core(cpu: Cpu, measured: Iterable[str]) -> Cpu | None:
    """The core whose estimates stand for a CPU. None if there is no such core, as for the host, or
    if all of them have integer instructions that the CPU lacks."""
    return next((one for one in cores(cpu, measured) if _stands(one, cpu)), None)


def said(what: str, stands: Cpu, cpu: Cpu) -> str:
    """The sentence about the core that stands for a CPU, such as "costs of Cortex-M33 stand for
    Cortex-M35P"; empty if the CPU's own were measured."""
    if stands.name == cpu.name:
        return ""
    names = [title(one) for one in (stands, cpu)]
    if names[0] == names[1]:
        names = [one.title.removeprefix("Arm ") for one in (stands, cpu)]
    return f"{what} of {names[0]} stand for {names[1]}"


def title(cpu: Cpu) -> str:
    """The name of the core, without its extensions."""
    return cpu.title.removeprefix("Arm ").partition(" with ")[0]


def _stands(known: Cpu, cpu: Cpu) -> bool:
    return known.features - _FLOATS <= cpu.features


def _distance(known: Cpu, cpu: Cpu) -> tuple[bool, bool, int, int]:
    common = len(known.features & cpu.features)
    has_another_name = _compilers_name(known) != _compilers_name(cpu)
    # False sorts before True, and the sort is stable: equal cores keep the table's order.
    return not _stands(known, cpu), has_another_name, _versions_apart(known, cpu), -common


def _compilers_name(cpu: Cpu) -> str:
    """The compilers' name of the core, without the extensions that it lacks or has in addition."""
    return cpu.cflags[0].partition("+")[0] if cpu.cflags else ""


def _versions_apart(one: Cpu, other: Cpu) -> int:
    places = [
        _VERSIONS.index(version) if version in _VERSIONS else -1
        for version in (dict(cpu.attributes).get(_ARCHITECTURE, "") for cpu in (one, other))
    ]
    return abs(places[0] - places[1])
