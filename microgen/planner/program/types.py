"""The result of lowering a graph: primitive functions, and a straight line of calls to them.

Modules above this one do not know C. Modules below it do not know ops or layers, except as
``Origin`` text for users.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from microgen.graph.ir.graph import Array, ArrayType
from microgen.planner.program.control import Control
from microgen.planner.program.external import (
    CSource,
    DeviceDriver,
    ExternalModule,
    LoadedModule,
    Made,
)
from microgen.planner.program.kernel_call import Fields as Fields
from microgen.planner.program.kernel_call import Inner as Inner
from microgen.planner.program.kernel_call import KernelCall as KernelCall
from microgen.planner.program.kernel_call import KernelCode
from microgen.planner.program.kernel_call import Parameter as Parameter
from microgen.planner.program.kernel_call import Role as Role
from microgen.planner.program.kernel_call import Value as Value
from microgen.planner.program.rolling import Feed, Rolling
from microgen.planner.program.steps import Step


class Storage(enum.Enum):
    """The owner of the bytes to which an argument points."""

    INPUT = "input"  # the caller's input buffer
    OUTPUT = "output"  # the caller's output buffer
    SID = "sid"  # a planned buffer in a workspace pool
    CONSTANT = "constant"  # read-only memory
    DEVICE = "device"  # owned by the driver: the context of a device


@dataclass(frozen=True, slots=True)
class Argument:
    """One pointer that a call passes, with the name of the sid, constant, port or device.

    ``offset``: of a tensor that is a part of the buffer, in bytes from the buffer's beginning."""

    storage: Storage
    name: str
    offset: int = 0


# The most parameters that an operator has in C before its constants become one structure.
MOST_PARAMETERS = 8


@dataclass(frozen=True, slots=True)
class PrimFunc:
    """A primitive function: emitted once, called with its buffers and weights as arguments.

    ``body`` are its kernels, in order. If it computes rows in steps, ``rolling`` has them instead,
    and ``control`` if it calls other functions in a loop or a branch.
    If no kernel computes it, ``made`` has the code. Constants follow one another in ``parameters``.
    """

    name: str
    target: str
    parameters: tuple[Parameter, ...]
    body: tuple[KernelCall, ...]
    made: Made | None = None
    rolling: Rolling | None = None
    control: Control | None = None

    @property
    def kernels(self) -> tuple[KernelCall, ...]:
        """All of its kernels."""
        others = self.rolling or self.control
        return others.kernels if others else self.body

    @property
    def in_struct(self) -> tuple[Parameter, ...]:
        """The constants that the function in C gets in one structure, because there are many
        parameters. Other code generators define the parameters of their functions themselves."""
        if self.made is not None or len(self.parameters) <= MOST_PARAMETERS:
            return ()
        constants = tuple(p for p in self.parameters if p.role is Role.CONSTANT)
        # A structure instead of one constant would save no parameter.
        return constants if len(constants) > 1 else ()

    @property
    def passed(self) -> int:
        """The number of parameters that the function has in C."""
        # The structure itself is one parameter.
        return len(self.parameters) - max(0, len(self.in_struct) - 1)

    @property
    def can_fail(self) -> bool:
        """Whether it may return anything but 0, at which the runner stops."""
        is_fed = self.rolling is not None and self.rolling.feed is not None
        if self.control:
            return self.control.can_fail
        return is_fed or self.made is not None or any(k.can_fail for k in self.kernels)


@dataclass(frozen=True, slots=True)
class Device:
    """A device that the runner drives through hooks: TVM's device API.

    ``name`` is its field in ``struct tvmgen_<module>_devices``, ``target`` the kind of its target,
    ``context`` the C parameter that passes its context to the runner and to operators. The others
    are the hooks' C functions. ``driver`` implements them; None if microgen has no driver.
    """

    name: str
    target: str
    context: str
    activate: str
    open: str
    close: str
    deactivate: str
    driver: DeviceDriver | None = None

    @property
    def hooks(self) -> tuple[str, str, str, str]:
        """The C functions, in the order of a device's life."""
        return self.activate, self.open, self.close, self.deactivate


@dataclass(frozen=True, slots=True)
class InPlace:
    """Positions of parameters whose buffers may overlap: the output takes the dead input's bytes,
    or those of the scratch that are not needed any more as it is written.

    The output begins ``lag`` bytes before the input. The lag may be rounded up to a power of two,
    the alignment of offsets. With 0, both begin at one address, and the output must not be larger.
    """

    input: int
    output: int
    lag: int = 0


@dataclass(frozen=True, slots=True)
class RowRun:
    """The bytes that a call writes in its output, if other calls write the others: ``nbytes`` of
    each of ``rows`` rows, which are ``pitch`` bytes apart, the first of them ``offset`` bytes after
    the output's beginning."""

    rows: int
    nbytes: int
    pitch: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class RunnerCall:
    """One call by the runner.

    ``args`` are in the order of the function's parameters, without scratch, whose size in bytes is
    ``scratch``, 0 if there is none. ``steps`` are the layers that it computes, in order. ``device``
    names the context of the device that computes the call, if it has one: the runner opens the
    device before the call, passes the context last, and closes it afterwards. ``layouts`` are the
    layouts in which the model declares the operators' tensors. ``types`` are the types of ``args``
    as the call sees them. For a view this is not the shape that was written; a device has no type.
    ``run``: the part of its only output that it writes; None: all of it.
    """

    index: int
    function: str
    args: tuple[Argument, ...]
    scratch: int
    in_place: tuple[InPlace, ...]
    steps: tuple[Step, ...]
    device: str = ""
    layouts: tuple[tuple[str, str], ...] = ()
    types: tuple[ArrayType, ...] = ()
    run: RowRun | None = None

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of its layers, each once."""
        return tuple(dict.fromkeys(step.origin.layer for step in self.steps))


@dataclass(frozen=True, slots=True)
class Buffer:
    """A storage id: ``sid_<n>``, its size in bytes, and the tensor that it holds.

    ``is_state``: a variable, which keeps its bytes from one inference to the next. A reset sets
    them all to ``reset_byte``, or to the constant that ``initial`` names. ``is_input``: the caller
    has written it before the first call. ``is_output``: the caller reads it after the last.
    """

    name: str
    nbytes: int
    tensor: str
    is_state: bool = False
    reset_byte: int = 0
    initial: str = ""
    is_input: bool = False
    is_output: bool = False


@dataclass(frozen=True, slots=True)
class Transform:
    """How a C constant is computed from parameters of the model.

    ``kind`` names a function of ``microgen.kernels.requantization.transforms``; ``sources`` are
    names of model parameters; ``arguments`` are its keyword arguments.
    """

    kind: str
    sources: tuple[str, ...]
    arguments: tuple[tuple[str, float | int | str], ...] = ()


@dataclass(frozen=True, slots=True)
class FirmwareConstant:
    """A constant of the firmware: ``array`` = ``transform`` of the model's parameters. ``origin``:
    the first layer that reads it; ``role``: its role there, for example ``weight``."""

    name: str
    ctype: str
    array: Array
    transform: Transform
    origin: str
    role: str


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the network: the C identifier, the model's name for its tensor, the
    type.

    ``fixed`` is empty, or the only value that an input may have, flat, which the network implies.
    ``sid`` is the storage id that lowering counted for it. ``buffer`` is the same if it lies in the
    workspace, and empty if the caller owns its bytes. ``over`` names the input in whose buffer the
    caller wants the output, or is "".

    ``label`` is the name for callers in data and reports, None if it is the tensor's. Two outputs
    of one tensor have different labels, and an input and an output may have the same. ``aliases``
    are further names that callers may give the input in data, ``second_names`` further names of its
    field in C. ``texts`` are the texts that an output's elements number; empty if they number none.
    """

    name: str
    tensor: str
    type: ArrayType
    fixed: tuple[int, ...] = ()
    sid: str = ""
    buffer: str = ""
    over: str = ""
    label: str | None = None
    aliases: tuple[str, ...] = ()
    second_names: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def public_name(self) -> str:
        """The name for callers in data and reports."""
        return self.tensor if self.label is None else self.label


@dataclass(frozen=True)
class Program:
    """Everything that the planner and the emitter need.

    ``parameters`` are the model's own arrays by name (``p0``, ``p1``, ...), as in the file.
    ``constants`` are the firmware's. ``parameter_ids`` are the storage ids of parameters,
    each the id of the first constant computed from it. ``devices`` are the devices that calls need,
    in the order in which their targets were declared.
    """

    module: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    functions: tuple[PrimFunc, ...]
    calls: tuple[RunnerCall, ...]
    buffers: tuple[Buffer, ...]
    constants: tuple[FirmwareConstant, ...]
    parameters: Mapping[str, Array]
    parameter_ids: Mapping[str, int] = field(default_factory=dict)
    devices: tuple[Device, ...] = ()
    external_modules: tuple[ExternalModule, ...] = ()

    @property
    def lowered_functions(self) -> dict[str, tuple[PrimFunc, ...]]:
        """The functions of each target, in the order of their first calls."""
        # ``dict.fromkeys`` keeps the order, in which modules of the target are emitted.
        targets = dict.fromkeys(function.target for function in self.functions)
        return {t: tuple(f for f in self.functions if f.target == t) for t in targets}

    @property
    def state(self) -> tuple[Buffer, ...]:
        """The buffers that keep their bytes from one inference to the next."""
        return tuple(buffer for buffer in self.buffers if buffer.is_state)

    @property
    def io_bytes(self) -> int:
        """Bytes of the caller's input and output buffers."""
        return sum(self.io_sizes.values())

    @property
    def io_sizes(self) -> Mapping[str, int]:
        """The caller's input and output buffers: their bytes, by the name of the first port in
        each."""
        sizes: dict[str, int] = {}
        for port in (*self.inputs, *self.outputs):
            # A port in the workspace has no buffer of the caller.
            if not port.buffer:
                # An output in an input's buffer has no bytes of its own.
                name = port.over or port.name
                sizes[name] = max(sizes.get(name, 0), self.passed_bytes(port))
        return sizes

    @property
    def feed(self) -> Feed | None:
        """How the caller feeds the only input; None if it passes whole inputs."""
        rolling = (function.rolling for function in self.functions if function.rolling)
        return next((one.feed for one in rolling if one.feed), None)

    def passed_bytes(self, port: Port) -> int:
        """Bytes of the buffer that the caller passes for an input or output at a time."""
        return self.feed.nbytes if self.feed and port in self.inputs else port.type.nbytes

    @property
    def has_workspace_io(self) -> bool:
        """Whether the inputs and outputs are planned in the workspace."""
        return any(port.buffer for port in (*self.inputs, *self.outputs))

    @property
    def c_modules(self) -> tuple[tuple[ExternalModule, CSource], ...]:
        """The external modules that are C."""
        return tuple((m, m.made) for m in self.external_modules if isinstance(m.made, CSource))

    @property
    def runtime_modules(self) -> tuple[tuple[ExternalModule, LoadedModule], ...]:
        """The external modules that are in the blob."""
        modules = self.external_modules
        return tuple((m, m.made) for m in modules if isinstance(m.made, LoadedModule))

    @property
    def held_constants(self) -> frozenset[str]:
        """The constants that modules get when they are loaded; no call passes them."""
        return frozenset(c.constant for m in self.external_modules for c in m.constants)

    @property
    def kernel_functions(self) -> tuple[PrimFunc, ...]:
        """The functions that the built-in kernels compute."""
        return tuple(function for function in self.functions if function.made is None)

    @property
    def kernel_calls(self) -> tuple[KernelCall, ...]:
        """The kernels in all functions, function by function."""
        return tuple(kernel for function in self.functions for kernel in function.kernels)

    @property
    def kernels(self) -> tuple[KernelCode, ...]:
        """The kernels that are called, each once, sorted."""
        # A fixed order, so that the same program gives the same bytes.
        return tuple(sorted({kernel.code for kernel in self.kernel_calls}))

    @property
    def shared_kernels(self) -> tuple[KernelCode, ...]:
        """The kernels whose out-of-line forms are called."""
        return tuple(sorted({kernel.code for kernel in self.kernel_calls if kernel.is_shared}))

    def function(self, name: str) -> PrimFunc:
        """The primitive function of that name. Raises KeyError if there is none."""
        return self._functions[name]

    @cached_property
    def _functions(self) -> Mapping[str, PrimFunc]:
        return {function.name: function for function in self.functions}
