"""Inputs and outputs planned in the workspace, like TVM's ``use_workspace_io``.

The caller asks where they are, and owns none of their bytes. An input's bytes may be reused
after its last reader has run, so they must be written before every run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from microgen.program.types import Argument, Buffer, Call, Program, Storage


def planned(program: Program) -> Program:
    """The program with a planned buffer for each input and output, under the storage id that
    lowering counted for it."""
    inputs = tuple(replace(port, buffer=port.sid) for port in program.inputs)
    outputs = tuple(replace(port, buffer=port.sid) for port in program.outputs)
    buffers = (
        *(Buffer(p.buffer, p.type.nbytes, p.tensor, is_input=True) for p in inputs),
        *program.buffers,
        *(Buffer(p.buffer, p.type.nbytes, p.tensor, is_output=True) for p in outputs),
    )
    sids = {
        **{Argument(Storage.INPUT, p.name): p.sid for p in inputs},
        **{Argument(Storage.OUTPUT, p.name): p.sid for p in outputs},
    }
    calls = tuple(_rebound(call, sids) for call in program.calls)
    return replace(program, inputs=inputs, outputs=outputs, buffers=buffers, calls=calls)


def _rebound(call: Call, sids: Mapping[Argument, str]) -> Call:
    args = (Argument(Storage.SID, sids[a]) if a in sids else a for a in call.args)
    return replace(call, args=tuple(args))
