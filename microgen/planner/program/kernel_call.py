"""A C kernel inside a primitive function: its names in C, the function's parameters, and the C
types of elements."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from microgen.graph.ir.graph import DType

_OTHERS = {DType.FLOAT32: "float", DType.BOOL: "uint8_t"}  # a bool is 0 or 1


def ctype(kind: DType | str) -> str:
    """The C type of an element of a type, which may be given by numpy's name for it."""
    dtype = DType(kind)
    return _OTHERS.get(dtype) or f"{dtype.value}_t"


_SHIFT = 4  # its place in the arguments of a body after the parameters
_LINEAR = "MG_LINEAR"  # the requantization without shifts


@dataclass(frozen=True, slots=True, order=True)
class KernelCode:
    """The C of one kernel.

    ``symbol`` is its out-of-line function, ``header`` a path below ``crt/include``. ``variant`` are
    the C constants that its body takes after its arguments: a loop and a requantization. Without
    them, the parameter struct and the body are named after the symbol. With them, both are named
    after the ``family``, which is by default the header's name, and the body serves all variants.
    If the kernel is ``compact``, its parameters have 16 bits. Its out-of-line function takes them
    after all other arguments, omits shifts that its requantization lacks, and returns 0. So an
    operator only passes its own registers on and returns the function's result.
    """

    symbol: str
    header: str
    variant: tuple[str, ...] = ()
    compact: bool = False
    family: str = ""

    @property
    def stem(self) -> str:
        """The name under which the kernel is measured: its function's, or its family's if it has
        one. Only variants of a family are measured one by one."""
        is_alone = self.variant or not self.family
        return self.symbol.removeprefix("mg_") if is_alone else self.family

    @property
    def source(self) -> str:
        """The name of the C source that contains the out-of-line function. The source has no
        kernels of other headers."""
        return self.stem if self.variant else self._header_stem

    @property
    def params(self) -> str:
        """The parameter struct."""
        return f"{self._named_after}_params"

    @property
    def field_bytes(self) -> int:
        """Bytes of an integer in the parameter struct."""
        return 2 if self.compact else 4

    @property
    def body(self) -> str:
        """The inline function."""
        return f"{self._named_after}_body"

    @property
    def prototype(self) -> str:
        """A line that declares the out-of-line function; empty if the header does."""
        arguments = ", ".join((self.symbol, *self._shifts))
        return f"{self._named_after.upper()}_PROTOTYPE({arguments});" if self.variant else ""

    @property
    def definition(self) -> str:
        """The line after the header's inclusion in the source that defines a variant's function."""
        arguments = ", ".join((self.symbol, *self._shifts, *self.variant))
        return f"{self._named_after.upper()}_KERNEL({arguments})" if self.variant else ""

    @property
    def macros(self) -> tuple[str, ...]:
        """The macros with which the header itself defines the function, and no other of its
        kernels; none for variants."""
        if self.variant:
            return ()
        every = f"MG_{self._header_stem.upper()}_IMPLEMENTATION"
        return every, "MG_ONLY ,", f"MG_ONLY_{self.symbol} ,"

    def arguments(self, params: str, others: Sequence[str]) -> tuple[str, ...]:
        """The arguments of the out-of-line function in its order. ``others`` are in the order of
        the body's."""
        if not self.compact:
            return (params, *others)
        kept = _SHIFT if self._is_linear else _SHIFT + 1
        return (*others[:kept], *others[_SHIFT + 1 :], params)

    @property
    def _shifts(self) -> tuple[str, ...]:
        """A compact kernel's constant that says whether it takes shifts."""
        if not self.compact:
            return ()
        return ("MG_NO_SHIFTS",) if self._is_linear else ("MG_SHIFTS",)

    @property
    def _is_linear(self) -> bool:
        return self.variant[-1] == _LINEAR

    @property
    def _header_stem(self) -> str:
        return PurePosixPath(self.header).stem

    @property
    def _named_after(self) -> str:
        return f"mg_{self.family or self._header_stem}" if self.variant else self.symbol


class Role(enum.Enum):
    """The purpose of a primitive function's parameter."""

    INPUT = "input"
    CONSTANT = "constant"
    OUTPUT = "output"
    STATE = "state"  # read, and updated for the next inference
    SCRATCH = "scratch"
    DEVICE = "device"  # the context of the device that computes it


Value = int | float  # an int is an int32_t in C, a float a float
Fields = tuple[tuple[str, Value | tuple[Value, ...]], ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a primitive function: C identifier, C element type, role."""

    name: str
    ctype: str
    role: Role


@dataclass(frozen=True, slots=True)
class Inner:
    """A buffer inside a primitive function: ``offset`` bytes into its scratch, of C elements."""

    offset: int
    ctype: str


@dataclass(frozen=True, slots=True)
class KernelCall:
    """One C kernel inside a primitive function.

    ``params`` are the compile-time constants: the fields of the kernel's parameter struct in order.
    ``args`` are names of the primitive function's parameters, "NULL", or buffers inside it, in the
    kernel's argument order. ``can_fail``: the kernel returns a status. ``is_shared``: the function
    calls the kernel's out-of-line form, for any parameters, and does not contain a body that is
    compiled for these.
    """

    code: KernelCode
    params: Fields
    args: tuple[str | Inner, ...]
    can_fail: bool = False
    is_shared: bool = False
