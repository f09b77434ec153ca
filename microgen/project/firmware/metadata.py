"""The facts that a program needs to use a model: names, shapes, types, pools, devices, sizes.

With the packed interface, C code gets the facts for which ``struct TVMMetadata`` has room from
``tvmgen_<m>_get_c_metadata`` (``project/emit/packed.py``).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from microgen.options import Options
from microgen.planner.program.plan import MemoryPlan, Pool
from microgen.planner.program.types import Port, Program

VERSION = 1  # of TVM v0.14's struct TVMMetadata


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """An input or output: ``name`` is its name in the model, ``field`` in the C interface."""

    name: str
    field: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class PoolInfo:
    """A pool of memory, in bytes. The caller passes the memory of a pool that is not internal."""

    name: str
    nbytes: int
    alignment: int
    is_internal: bool


@dataclass(frozen=True, slots=True)
class Metadata:
    """One model. ``mod_name`` is ``tvmgen_<module>``, with which its symbols begin. Sizes and
    alignments are in bytes. ``devices`` are the names of device contexts, in the order in which
    they are passed."""

    version: int
    mod_name: str
    executor: str
    interface_api: str
    unpacked_api: bool
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    workspace_pools: tuple[PoolInfo, ...]
    constant_pools: tuple[PoolInfo, ...]
    devices: tuple[str, ...]
    workspace_size_bytes: int
    constants_size_bytes: int
    io_size_bytes: int
    workspace_alignment: int
    constant_alignment: int

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def dumps(self) -> bytes:
        """The file's content: equal metadata give equal bytes."""
        text = json.dumps(self.to_json(), indent=2, sort_keys=True, ensure_ascii=False)
        return f"{text}\n".encode()


def path(module: str) -> str:
    """The path of the metadata in a project with the packed interface."""
    return f"model/executor-config/aot/{module}.json"


def metadata(program: Program, plan: MemoryPlan, options: Options) -> Metadata:
    """The metadata of a planned program."""
    return Metadata(
        version=VERSION,
        mod_name=f"tvmgen_{program.module}",
        executor=options.executor,
        interface_api=options.interface,
        unpacked_api=options.is_unpacked,
        inputs=tuple(map(_tensor, program.inputs)),
        outputs=tuple(map(_tensor, program.outputs)),
        workspace_pools=tuple(map(_pool, plan.pools)),
        constant_pools=tuple(map(_pool, plan.constant_pools)),
        devices=tuple(device.name for device in program.devices),
        workspace_size_bytes=plan.peak,
        constants_size_bytes=sum(c.array.nbytes for c in program.constants),
        io_size_bytes=program.io_bytes,
        workspace_alignment=options.alignment,
        constant_alignment=options.constant_alignment,
    )


def _pool(pool: Pool) -> PoolInfo:
    return PoolInfo(pool.name, pool.nbytes, pool.alignment, pool.is_internal)


def _tensor(port: Port) -> TensorInfo:
    kind = port.type
    return TensorInfo(port.public_name, port.name, kind.shape, kind.dtype.value, kind.nbytes)
