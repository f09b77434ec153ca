"""Relay's types as the graph's types, and the place where nodes run: the target of a call, from
its annotation and the targets of device types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from microgen.base.errors import UnsupportedError
from microgen.graph.builder import checked
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.relay import expr as relay
from microgen.target.targets import device_name

# Plain int8 and int16 numbers: the stored value is the real one.
PLAIN = Quant((1.0,), (0,))
_SCALED = (DType.INT8, DType.INT16)


def type_of(declared: relay.TensorType, where: str) -> ArrayType:
    """The graph's type for Relay's. UnsupportedError if no kernel has its dtype."""
    try:
        dtype = DType(declared.dtype)
    except ValueError:
        known = ", ".join(d.value for d in DType)
        raise UnsupportedError(
            f"{declared} has a dtype that no kernel has", where=where, hint=f"supported: {known}"
        ) from None
    quant = PLAIN if dtype in _SCALED else None
    return checked(ArrayType(declared.shape, dtype, quant), where)


@dataclass(frozen=True, slots=True)
class NodePlace:
    """The place where nodes run: the target's kind ("" is the host), and the external function that
    contains them ("" is none)."""

    target: str = ""
    function: str = ""


_HOST_KINDS = ("c", "llvm")
_HOST_DEVICES = (0, 1)  # no particular device, and the CPU


def default_target(targets: Mapping[int, str]) -> str:
    """The target of calls without an annotation: the only target, or the host if there are
    several."""
    return _kind(next(iter(targets.values()))) if len(targets) == 1 else ""


def target(annotation: relay.Call, targets: Mapping[int, str], where: str) -> str:
    """The target of the call in an ``on_device``. Raises UnsupportedError if its device type has
    no target."""
    if len(targets) == 1:
        return default_target(targets)
    device = int(annotation.attrs["device_type"])
    if device in targets:
        return _kind(targets[device])
    if device in _HOST_DEVICES:
        return ""
    raise UnsupportedError(
        f"No target is provided for device {device_name(device)}",
        where=where,
        hint=f"declare one: --target KIND:device-type={device}[:device-api]",
    )


def _kind(kind: str) -> str:
    """A target's kind in nodes."""
    # Nodes of the host have no target, whether C or LLVM IR is made of them.
    return "" if kind in _HOST_KINDS else kind
