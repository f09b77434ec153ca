"""PAD, PADV2 and MIRROR_PAD."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.MirrorPadMode import MirrorPadMode
from tflite.MirrorPadOptions import MirrorPadOptions

from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import MirrorPadAttrs, PadAttrs


def _pad(layer: Layer) -> Tensor:
    layer.expect_inputs(2)
    data, output = layer.data(0), layer.output()
    # TFLite pads with the stored value that means 0.
    attrs = PadAttrs(_pads(layer, data), output.type.zero)
    return layer.emit("nn.pad", attrs, (data,), output)


def _padv2(layer: Layer) -> Tensor:
    layer.expect_inputs(3)
    data, output, filler = layer.data(0), layer.output(), layer.data(2)
    if filler.value is None:
        raise layer.unsupported(
            "pads with a value that is computed", supported="a constant value to pad with"
        )
    expected = (output.type.dtype, output.type.quant)
    if filler.value.size != 1 or (filler.type.dtype, filler.type.quant) != expected:
        raise layer.invalid(
            f"pads with {filler.type}; one value of the output's dtype and quantization is expected"
        )
    attrs = PadAttrs(_pads(layer, data), filler.value.item())
    return layer.emit("nn.pad", attrs, (data,), output)


def _mirror_pad(layer: Layer) -> Tensor:
    layer.expect_inputs(2)
    data = layer.data(0)
    options = layer.options(MirrorPadOptions, BuiltinOptions.MirrorPadOptions)
    mode = options.number("Mode")
    if mode not in (MirrorPadMode.REFLECT, MirrorPadMode.SYMMETRIC):
        raise layer.invalid(f"has the mode {mode}; REFLECT (0) or SYMMETRIC (1) is expected")
    attrs = MirrorPadAttrs(_pads(layer, data), mode == MirrorPadMode.SYMMETRIC)
    return layer.emit("nn.mirror_pad", attrs, (data,), layer.output())


def _pads(layer: Layer, data: Tensor) -> tuple[Pair, ...]:
    amounts, rank = layer.integers(1), len(data.type.shape)
    if amounts.shape != (rank, 2):
        raise layer.invalid(
            f"has paddings of shape {list(amounts.shape)}; [{rank}, 2] is expected for {data.type}"
        )
    if amounts.size and amounts.min() < 0:
        raise layer.invalid(f"has the negative padding {amounts.min()}")
    return tuple((int(before), int(after)) for before, after in amounts)


IMPORTERS: Mapping[str, Importer] = {
    "MIRROR_PAD": _mirror_pad,
    "PAD": _pad,
    "PADV2": _padv2,
}
