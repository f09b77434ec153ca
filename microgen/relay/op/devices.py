"""on_device and device_copy: where a value is computed.

TVM's attribute is a VirtualDevice, which TVM's text keeps in the metadata. Here it is the number of
DLPack's device type: ``on_device(%0, device_type=12)``.
"""

from __future__ import annotations

from microgen.relay.op import relations
from microgen.relay.op.base import Field, Kind, RelayOp

_ON_DEVICE = (
    Field("device_type", Kind.INT),
    Field("constrain_result", Kind.BOOL, False),
    Field("constrain_body", Kind.BOOL, True),
)
_DEVICE_COPY = (Field("src_device_type", Kind.INT), Field("dst_device_type", Kind.INT))

OPS = (
    RelayOp("on_device", ("body",), _ON_DEVICE, relations.identity),
    RelayOp("device_copy", ("data",), _DEVICE_COPY, relations.identity),
)
