"""Which target computes a call: device types of annotations, and the targets given for them."""

from __future__ import annotations

from collections.abc import Mapping

from microgen.errors import UnsupportedError
from microgen.relay.expr import Call
from microgen.target.targets import device_name

_HOST_KINDS = ("c", "llvm")
_HOST_DEVICES = (0, 1)  # whatever there is, and CPUs


def default_target(targets: Mapping[int, str]) -> str:
    """The target of calls without an annotation: the only one there is, or the host."""
    return _kind(next(iter(targets.values()))) if len(targets) == 1 else ""


def target(annotation: Call, targets: Mapping[int, str], where: str) -> str:
    """The target of what ``on_device`` annotates. UnsupportedError where none is given for it."""
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
    """The device type of an ``on_device``."""
    return int(annotation.attrs["device_type"])


def _kind(kind: str) -> str:
    """A target's kind as nodes have it: empty for the host, whatever generates its code."""
    return "" if kind in _HOST_KINDS else kind
