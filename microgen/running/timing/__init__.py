"""Modelled cycles: the cycles that a core takes for the blocks of code that ran.

``of_cpu`` finds a core's timings, ``model`` applies them. docs/explanation/timing.md describes the
model.
"""

from microgen.running.timing.core import Conditions, CoreTimings, Flash
from microgen.running.timing.cores import of_cpu, remark

__all__ = ["Conditions", "CoreTimings", "Flash", "of_cpu", "remark"]
