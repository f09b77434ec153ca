"""nn.pad and nn.mirror_pad."""

from __future__ import annotations

from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import MirrorPadAttrs, PadAttrs


def _pad(call: RelayCall) -> Tensor:
    data, mode = call.tensor(0), call.attrs["pad_mode"]
    if mode == "reflect":
        return _mirrored(call, data, repeats_edge=False)
    if mode != "constant":
        raise call.unsupported(f"has the pad_mode {mode!r}", supported='"constant" and "reflect"')
    number = call.constant_of(1, "a pad_value").astype(data.dtype.numpy).item()
    value = number if data.dtype is DType.FLOAT32 else int(number)
    return call.emit("nn.pad", PadAttrs(_widths(call), value), (data,))


def _mirror_pad(call: RelayCall) -> Tensor:
    mode = call.attrs["mode"]
    if mode not in ("SYMMETRIC", "REFLECT"):
        raise call.unsupported(f"has the mode {mode!r}", supported='"SYMMETRIC" and "REFLECT"')
    return _mirrored(call, call.tensor(0), repeats_edge=mode == "SYMMETRIC")


def _mirrored(call: RelayCall, data: Tensor, *, repeats_edge: bool) -> Tensor:
    return call.emit("nn.mirror_pad", MirrorPadAttrs(_widths(call), repeats_edge), (data,))


def _widths(call: RelayCall) -> tuple[Pair, ...]:
    return tuple((before, after) for before, after in call.attrs["pad_width"])


IMPORTERS = {"nn.pad": _pad, "nn.mirror_pad": _mirror_pad}
