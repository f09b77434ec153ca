"""Which cores' measurements stand for a CPU that was not measured: one rule for all tables.

An estimate (what kernels cost, how many cycles instructions take) is that of one core: ``core``. A
bound (bytes of stack and of code) is the most of all cores of the architecture: ``is_like``. For
both, measurements of the CPU itself come first. docs/explanation/costs.md has the rule for people.
"""

from __future__ import annotations

from collections.abc import Iterable

from microgen.target.cpu import CPUS, Cpu, Feature

# An FPU decides how floats cost, and whether their costs are known, but nothing for integers.
_FLOATS = frozenset({Feature.FPU, Feature.FPU64, Feature.MVE_FLOAT})
_ARCHITECTURE = "Tag_CPU_arch"
_VERSIONS = ("v6S-M", "v7", "v7E-M", "v8-M.baseline", "v8-M.mainline", "v8.1-M.mainline")


def core(cpu: Cpu, measured: Iterable[str]) -> Cpu | None:
    """The core that stands for a CPU: one of those ``measured``, by their names.

    It is the CPU itself if it was measured. Otherwise it has the CPU's architecture and no feature
    for integers that the CPU has not. Of several it is the one with the same name for compilers,
    then with the nearest version of the architecture, then with the most features in common, then
    the first. None if there is none, such as for the host."""
    found = [known for name in measured if (known := CPUS.get(name))]
    if cpu.name in {known.name for known in found}:
        return cpu
    fits = (known for known in found if _stands(known, cpu))
    return min(fits, key=lambda known: _distance(known, cpu), default=None)


def is_like(name: str, cpu: Cpu) -> bool:
    """Whether what was measured on the core of that name is part of a bound for a CPU that was not
    measured: the core has its architecture."""
    known = CPUS.get(name)
    return known is not None and known.architecture == cpu.architecture


def said(what: str, stands: Cpu, cpu: Cpu) -> str:
    """The sentence that says so, such as "costs of Cortex-M33 stand for Cortex-M35P"; empty if the
    CPU's own were measured."""
    if stands.name == cpu.name:
        return ""
    names = [title(one) for one in (stands, cpu)]
    if names[0] == names[1]:
        names = [one.title.removeprefix("Arm ") for one in (stands, cpu)]
    return f"{what} of {names[0]} stand for {names[1]}"


def title(cpu: Cpu) -> str:
    """The name of the core, without what it has in addition."""
    return cpu.title.removeprefix("Arm ").partition(" with ")[0]


def _stands(known: Cpu, cpu: Cpu) -> bool:
    return known.architecture == cpu.architecture and known.features - _FLOATS <= cpu.features


def _distance(known: Cpu, cpu: Cpu) -> tuple[bool, int, int]:
    common = len(known.features & cpu.features)
    return _compilers_name(known) != _compilers_name(cpu), _versions_apart(known, cpu), -common


def _compilers_name(cpu: Cpu) -> str:
    """What compilers call the core, without what it leaves out or adds."""
    return cpu.cflags[0].partition("+")[0] if cpu.cflags else ""


def _versions_apart(one: Cpu, other: Cpu) -> int:
    places = [
        _VERSIONS.index(version) if version in _VERSIONS else -1
        for version in (dict(cpu.attributes).get(_ARCHITECTURE, "") for cpu in (one, other))
    ]
    return abs(places[0] - places[1])
