"""on_device, which says where its argument is computed, and device_copy, which is refused."""

from __future__ import annotations

from microgen.base.errors import UnsupportedError
from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.tensors import Value


def _on_device(call: RelayCall) -> Value:
    """The argument itself. ``frontends/relay/devices.py`` reads the device."""
    return call.args[0]


def _device_copy(call: RelayCall) -> Value:
    raise UnsupportedError(
        "The AOT executor does not currently support device_copy", where=call.where
    )


IMPORTERS = {"on_device": _on_device, "device_copy": _device_copy}
