"""Runs a built project on samples, and returns outputs, layers, instructions, modelled cycles.

``run`` is the interface. ``samples`` reads and writes ``.npz`` files. ``compare`` finds where the
layers differ from a reference. ``remote`` runs firmware on a board or in any emulator that a
debugger's server reaches.
"""

from microgen.running.runner.application import Inference
from microgen.running.runner.costs import RunCost, RunCosts
from microgen.running.runner.execute import followed, run, until_failure
from microgen.running.runner.inside import InnerCount, Sample
from microgen.running.runner.job import Cycles, JobResult
from microgen.running.runner.remote.target import RemoteTarget
from microgen.running.runner.trace import Followed, TracedLayer

__all__ = [
    "Cycles",
    "Followed",
    "Inference",
    "InnerCount",
    "JobResult",
    "RemoteTarget",
    "RunCost",
    "RunCosts",
    "Sample",
    "TracedLayer",
    "followed",
    "run",
    "until_failure",
]
