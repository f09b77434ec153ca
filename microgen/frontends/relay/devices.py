"""Finds the target that computes a call, from its annotation and the targets of device types."""

from __future__ import annotations

from collections.abc import Mapping

from microgen.base.errors import UnsupportedError
from microgen.relay.expr import Call
from microgen.target.targets import device_name

_HOST_KINDS = ("c", "llvm")
_HOST_DEVICES = (0, 1)  # no particular device, and the CPU


def default_target(targets: Mapping[int, str]) -> str:
    """The target of calls without an annotation: the target if there is only one, else the host."""
    return _kind(next(iter(targets.values()))) if len(targets) == 1 else ""


def target(annotation: Call, targets: Mapping[int, str], where: str) -> str:
    """The target of the call in an ``on_device``. Raises UnsupportedError if its device type has
    no target."""
    if len(targets) == 1:
        return default_target(targets)
    device = device_type(annotation)
    if device in targets:
        return _kind(targets[device])
    if device in _HOST_DEVICES:
        return ""
    raise UnsupportedError(
        f"No target is provided for device {device_name(device)}",
        where=where,
        hint=f"declare one: --target KIND:device-type={device}[:device-api]",
    )


def device_type(annotation: Call) -> int:
    """The device type in an ``on_device``."""
    return int(annotation.attrs["device_type"])


def _kind(kind: str) -> str:
    """A target's kind in nodes. It is empty for the host with any code generator."""
    return "" if kind in _HOST_KINDS else kind
