"""The C function of a region, which passes the addresses of the memories and the stream to the
accelerator."""

from __future__ import annotations

import numpy as np

from microgen.compiler.codegens.external import CFunction, ExternalFunction
from microgen.graph.ir.graph import Array
from microgen.tvm.codegens.accelerator import commands
from microgen.tvm.codegens.accelerator.commands import Memories

HEAD = '#include "microgen/accelerator.h"\n\n#include <stddef.h>\n'


def compiled(function: ExternalFunction) -> tuple[CFunction, str]:
    """The function's description, and its C."""
    graph = function.graph
    made = [commands.command(node, graph) for node in graph.nodes]
    places = commands.of(function, made)
    encoded = commands.encode(made, places)
    # Words, because the requantization tables among the constants are read as words.
    weights = np.frombuffer(bytes(places.constants), "<i4")
    constants: list[tuple[str, Array]] = [("commands", np.frombuffer(encoded, np.uint8))]
    # C has no arrays of no elements.
    if weights.size:
        constants.append(("weights", weights))
    declared = CFunction(
        symbol=function.symbol,
        constants=tuple(constants),
        scratch=places.sizes[commands.SCRATCH],
        kernel="mg_accelerator_run",
    )
    return declared, _text(function, declared, places)


def _text(function: ExternalFunction, declared: CFunction, places: Memories) -> str:
    rows = ",\n        ".join(
        f"{{{name}, {name if is_written else 'NULL'}, {size}U}}"
        for (name, is_written), size in zip(_bases(function, places), places.sizes, strict=True)
    )
    parameters = ",\n    ".join([*function.declarations(declared), "void *context"])
    nbytes = declared.constants[0][1].size
    return f"""\
int32_t {function.symbol}(
    {parameters})
{{
    const mg_accelerator_memory memories[] = {{
        {rows},
    }};

    return mg_accelerator_run(context, commands, {nbytes}U, memories, {len(places.sizes)}U);
}}
"""


def _bases(function: ExternalFunction, places: Memories) -> list[tuple[str, bool]]:
    """The C expression for each memory, and whether it is written."""
    # A memory without bytes has no address.
    constants, scratch = places.sizes[: commands.FIRST_TENSOR]
    return [
        ("weights" if constants else "NULL", False),
        ("scratch" if scratch else "NULL", bool(scratch)),
        *((f"in{i}", False) for i in range(len(function.inputs))),
        *((f"out{i}", True) for i in range(len(function.outputs))),
    ]
