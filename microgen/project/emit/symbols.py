"""The ELF symbols of everything that is emitted, except operators.

Constants are named after the first layer that reads them: ``conv1_weight``, for example. TVM's
names (``p0``, ``p2_multiplier``) remain in TVM's interfaces: in the parameter files, in the graph
executor's graph, and for the data inside the file that the graph executor loads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from microgen.base.names import cnames
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.types import FirmwareConstant, Program

SHARED_WORKSPACE = "mg_shared_workspace"  # the memory that several models' pools lie in
_LONGEST_LAYER = 48  # characters
_OF_THE_MODEL = (  # after the prefix, as all that is taken
    *("run", "reset", "load_modules", "map_inputs", "map_outputs", "get_c_metadata", "quantized"),
    *("graph_executor", "graph_json", "graph_params", "current_devices", "contexts"),
    *("module_symbols", "module_constants"),
)
_OF_A_PORT = ("quantize", "dequantize", "set", "get")
_OF_A_FUNCTION = ("", "_unpacked", "_takes")


def prefix(module: str) -> str:
    """``tvmgen_<module>``, which every symbol of a model starts with."""
    return f"tvmgen_{module}"


def arena(module: str, pool: str) -> str:
    """The ELF symbol of a workspace pool."""
    return named(module, pool)


def workspace_section(memory: str) -> str:
    """The section of internal pools in a memory of the board; "" is the memory where the board
    keeps its buffers."""
    return f".bss.noinit.tvm.{memory}" if memory else ".bss.noinit.tvm"


def constant_section(memory: str) -> str:
    """The section of constants in a memory of the board; "" is the memory where the board keeps its
    constants."""
    return f".rodata.tvm.{memory}" if memory else ".rodata.tvm"


def shape(module: str, dims: tuple[int, ...]) -> str:
    """The symbol of a shape's table. A scalar has no table; its pointer is NULL."""
    return f"{prefix(module)}_shape_{'_'.join(map(str, dims))}" if dims else "NULL"


def implementation(function: str, *, is_packed: bool) -> str:
    """The symbol of the function that computes an operator. If operators are packed functions, the
    operator's own name belongs to the packed function, which calls this one."""
    return f"{function}_unpacked" if is_packed else function


def named(module: str, name: str) -> str:
    """The ELF symbol for a model's ``name``."""
    return f"{prefix(module)}_{name}"


def of_constants(program: Program, plan: MemoryPlan, *, has_graph: bool) -> Mapping[str, str]:
    """The ELF symbol of each constant, by its name in the program. ``has_graph``: the graph
    executor runs it."""
    taken = set(_taken(program, plan))
    symbols = {}
    for constant in program.constants:
        in_file = has_graph and constant.name not in program.held_constants
        plain = constant.name if in_file else f"{_layer(constant)}_{constant.role}"
        symbols[constant.name] = cnames.unique(named(program.module, plain), taken)
        taken.add(symbols[constant.name])
    return symbols


def _layer(constant: FirmwareConstant) -> str:
    """The layer's short name as a part of an identifier, without the line number of Relay text."""
    # A line of Relay text is not a part of the layer's name.
    name = re.sub(r" \(line \d+\)$", "", constant.origin)
    return re.sub("[^A-Za-z0-9]+", "_", cnames.short(name, _LONGEST_LAYER)).strip("_") or "layer"


def _taken(program: Program, plan: MemoryPlan) -> Iterator[str]:
    own = [*_OF_THE_MODEL, *(p.name for p in (*plan.pools, *plan.constant_pools))]
    ports = [port.name for port in (*program.inputs, *program.outputs)]
    own += [f"{word}_{port}" for word in _OF_A_PORT for port in ports]
    yield from (named(program.module, name) for name in own)
    yield from (f"{f.name}{ending}" for f in program.functions for ending in _OF_A_FUNCTION)
