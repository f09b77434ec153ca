"""The module tree of a program, which is the contents of its blob, and the memory for loading it.

As in TVM v0.14, the root is a const loader. It imports the library, which is the firmware
itself, and then each module of a runtime.
"""

from __future__ import annotations

from dataclasses import replace

from microgen.compiler.codegens.module_pool import loader_pool_bytes
from microgen.planner.program.external import MODULE_POOL
from microgen.planner.program.plan import MemoryPlan, Placement, Pool
from microgen.planner.program.types import Program
from microgen.relay import blob
from microgen.relay.blob.payloads import ConstLoader

_ALIGNMENT = 16
_CONST_LOADER = "const_loader"


def tree(program: Program) -> blob.Module:
    """The root of the modules of a program that has modules for runtimes."""
    loaded = [
        blob.Module(made.runtime.type_key, made.payload) for _, made in program.runtime_modules
    ]
    variables: dict[str, tuple[str, ...]] = {}
    for module, _ in program.runtime_modules:
        for symbol in module.functions:
            held = (c.name for c in module.constants if c.function == symbol)
            variables[symbol] = tuple(held)
    library = blob.Module(blob.LIBRARY)
    return blob.Module(_CONST_LOADER, ConstLoader(variables).dumps(), (library, *loaded))


def blob_of(program: Program) -> bytes:
    """``__tvm_dev_mblob``; empty if the program has no modules for runtimes."""
    return blob.dumps(tree(program)) if program.runtime_modules else b""


def pool_bytes(program: Program, pointer_bytes: int) -> int:
    """The bytes of memory that loading the blob takes, with pointers of 4 or 8 bytes."""
    loaded = [made.pool_bytes for _, made in program.runtime_modules]
    count = len(loaded) + 2  # the const loader, and the library
    return loader_pool_bytes(count, count - 1, pointer_bytes) + sum(loaded)


def with_pool(plan: MemoryPlan, program: Program, pointer_bytes: int) -> MemoryPlan:
    """The plan with the pool for loaded modules, which no other buffer shares."""
    if not program.runtime_modules:
        return plan
    nbytes = pool_bytes(program, pointer_bytes)
    # Modules remain in the pool, so it is live in all half steps.
    last = 2 * len(program.calls) + 1
    place = Placement(MODULE_POOL, MODULE_POOL, 0, nbytes, 0, last)
    return replace(
        plan,
        pools=(*plan.pools, Pool(MODULE_POOL, nbytes, _ALIGNMENT)),
        placements=(*plan.placements, place),
        by_name={**plan.by_name, MODULE_POOL: place},
        lower_bound=plan.lower_bound + nbytes,
    )
