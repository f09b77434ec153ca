"""Refuses programs that the packed calling convention cannot call, before anything is generated."""

from __future__ import annotations

from microgen.base.errors import UnsupportedError
from microgen.options import Options
from microgen.planner.program.types import Program

MAX_ARGS = 10  # TVM_CRT_MAX_ARGS, the default of TVM's runtime


def check(program: Program, options: Options) -> None:
    """Raise UnsupportedError for a program with more arguments than the chosen interface can
    pass."""
    if options.interface != "packed":
        return
    count = len(program.inputs) + len(program.outputs)
    refusal = ""
    # TVM finds this out at run time, or drops the arguments that it cannot pass.
    if count > MAX_ARGS:
        refusal = (
            f"the model has {count} inputs and outputs, but a packed call has at most {MAX_ARGS} "
            "arguments (TVM_CRT_MAX_ARGS)"
        )
    elif program.devices:
        names = ", ".join(device.name for device in program.devices)
        refusal = f"a packed entry point has no argument for the contexts of devices ({names})"
    if refusal:
        raise UnsupportedError(refusal, where="--interface packed", hint="use --interface c")
