"""Runs a built project: samples in; outputs, instruction counts and layers out.

``run`` is the interface. ``samples`` reads and writes ``.npz`` files for it. ``compare`` says where
its layers differ from a reference.
"""

from microgen.runner.execute import RunResult, run, until_failure
from microgen.runner.trace import Layer

__all__ = ["Layer", "RunResult", "run", "until_failure"]
