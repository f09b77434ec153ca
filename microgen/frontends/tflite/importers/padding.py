"""PAD and PADV2."""

from __future__ import annotations

from collections.abc import Mapping

from microgen.frontends.tflite.layers import Importer, Layer, Step
from microgen.frontends.tflite.tensors import Tensor
from microgen.ops.base import Pair
from microgen.ops.pad import PadAttrs


def _pad(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2)
    data, output = layer.data(0), layer.output()
    # TFLite fills with the stored value that means 0.
    attrs = PadAttrs(_pads(layer, data), output.type.zero_point)
    return (Step("nn.pad", attrs, (data,), output),)


def _padv2(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(3)
    data, output, filler = layer.data(0), layer.output(), layer.data(2)
    if filler.value is None:
        raise layer.unsupported(
            "pads with a value that is computed", supported="a constant value to pad with"
        )
    if filler.value.size != 1 or filler.type.quant != output.type.quant:
        raise layer.invalid(
            f"pads with {filler.type}; one value of the output's quantization is expected"
        )
    attrs = PadAttrs(_pads(layer, data), int(filler.value.flat[0]))
    return (Step("nn.pad", attrs, (data,), output),)


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
    "PAD": _pad,
    "PADV2": _padv2,
}
