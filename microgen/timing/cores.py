"""Which timings a CPU has."""

from __future__ import annotations

from microgen.target.cpu import Cpu
from microgen.timing.core import Core
from microgen.timing.cortex_m0 import CORTEX_M0, CORTEX_M0PLUS, CORTEX_M23
from microgen.timing.cortex_m3 import CORTEX_M3, CORTEX_M4
from microgen.timing.cortex_m7 import CORTEX_M7
from microgen.timing.cortex_m33 import CORTEX_M33
from microgen.timing.cortex_m55 import CORTEX_M55, CORTEX_M85
from microgen.timing.riscv import E31

CORES = (
    *(CORTEX_M0, CORTEX_M0PLUS, CORTEX_M3, CORTEX_M4, CORTEX_M7),
    *(CORTEX_M23, CORTEX_M33, CORTEX_M55, CORTEX_M85, E31),
)


def of_cpu(cpu: Cpu) -> Core | None:
    """The timings of a CPU; None for the host. All RV32 cores have E31's."""
    if cpu.architecture == "riscv":
        return E31
    named = {core.name: core for core in CORES}
    base = cpu.cflags[0].removeprefix("-mcpu=").partition("+")[0] if cpu.cflags else ""
    return named.get(base)
