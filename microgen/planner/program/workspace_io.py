"""Inputs and outputs planned in the workspace, like TVM's ``use_workspace_io``.

The caller gets their addresses, and owns none of their bytes. An input's bytes may be reused
after its last reader has run, so they must be written before every run.
"""

from __future__ import annotations

from dataclasses import replace

from microgen.planner.program import port_buffers
from microgen.planner.program.types import Program


def planned(program: Program) -> Program:
    """The program with a planned buffer for each input and output."""
    inputs = tuple(replace(port, buffer=port.sid) for port in program.inputs)
    outputs = tuple(replace(port, buffer=port.sid) for port in program.outputs)
    found = port_buffers.bound(program, inputs, outputs)
    return replace(found, inputs=inputs, outputs=outputs)
