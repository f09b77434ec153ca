"""Runs a built project on samples, and returns outputs, instruction counts and layers.

``run`` is the interface. ``samples`` reads and writes ``.npz`` files. ``compare`` finds where the
layers differ from a reference.
"""

from microgen.runner.execute import RunResult, run, until_failure
from microgen.runner.trace import Layer

__all__ = ["Layer", "RunResult", "run", "until_failure"]
