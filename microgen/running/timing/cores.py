"""The timings of each CPU."""

from __future__ import annotations

from microgen.running.timing.core import CoreTimings
from microgen.running.timing.cortex_m0 import CORTEX_M0, CORTEX_M0PLUS, CORTEX_M23
from microgen.running.timing.cortex_m3 import CORTEX_M3, CORTEX_M4
from microgen.running.timing.cortex_m7 import CORTEX_M7
from microgen.running.timing.cortex_m33 import CORTEX_M33
from microgen.running.timing.cortex_m55 import CORTEX_M55, CORTEX_M85
from microgen.running.timing.riscv import E31
from microgen.target import standing
from microgen.target.cpu import CPUS, Cpu

_RISCV = "riscv"
CORES = (
    *(CORTEX_M0, CORTEX_M0PLUS, CORTEX_M3, CORTEX_M4, CORTEX_M7),
    *(CORTEX_M23, CORTEX_M33, CORTEX_M55, CORTEX_M85, E31),
)


# By the names of CPUs: each CPU has the timings of the core that compilers know it as, and all RV32
# have the timings of E31.
_TIMED = {
    cpu.name: core
    for core in CORES
    for cpu in CPUS.values()
    if (cpu.architecture == _RISCV and core is E31)
    or (cpu.cflags[:1] and cpu.cflags[0].partition("+")[0] == f"-mcpu={core.name}")
}


def of_cpu(cpu: Cpu) -> CoreTimings | None:
    """The timings of a CPU, or of the core that stands for it (``standing.core``); None for the
    host."""
    nearest = standing.core(cpu, _TIMED)
    return _TIMED[nearest.name] if nearest else None


def remark(cpu: Cpu) -> str:
    """A sentence about the core whose timings stand for the CPU; empty if the CPU has timings of
    its own, or if no core stands for it."""
    nearest = standing.core(cpu, _TIMED)
    return standing.said("timings", nearest, cpu) if nearest else ""
