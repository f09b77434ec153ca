"""The names by which generated C refers to a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True, order=True)
class KernelCode:
    """The C of one kernel.

    ``symbol`` is its out-of-line function, ``header`` a path below ``crt/include``. ``variant`` are
    the C constants that its body takes after its arguments: a loop and a requantization. If there
    are none, the parameter struct and the body are named after the symbol, otherwise after the
    header, which then serves all variants. If it is ``compact``, its parameters have 16 bits, and
    its out-of-line function takes them after all other arguments, which are then in the registers
    in which operators get them.
    """

    symbol: str
    header: str
    variant: tuple[str, ...] = ()
    compact: bool = False

    @property
    def stem(self) -> str:
        """The name of the source that defines the out-of-line function."""
        return self.symbol.removeprefix("mg_") if self.variant else self._header_stem

    @property
    def params(self) -> str:
        """The parameter struct."""
        return f"{self._named_after}_params"

    @property
    def body(self) -> str:
        """The inline function."""
        return f"{self._named_after}_body"

    @property
    def prototype(self) -> str:
        """A line that declares the out-of-line function; empty if the header does."""
        return f"{self._named_after.upper()}_PROTOTYPE({self.symbol});" if self.variant else ""

    @property
    def definition(self) -> str:
        """What follows the header's inclusion in the source that defines a variant's function."""
        arguments = ", ".join((self.symbol, *self.variant))
        return f"{self._named_after.upper()}_KERNEL({arguments})" if self.variant else ""

    @property
    def macro(self) -> str:
        """The macro with which the header itself defines the function; empty for variants."""
        return "" if self.variant else f"MG_{self._header_stem.upper()}_IMPLEMENTATION"

    @property
    def _header_stem(self) -> str:
        return PurePosixPath(self.header).stem

    @property
    def _named_after(self) -> str:
        return f"mg_{self._header_stem}" if self.variant else self.symbol
