"""Operators that change the stored form of values."""

from __future__ import annotations

from tflite.L2NormOptions import L2NormOptions

from microgen.frontends.tflite.importers.arguments import Importer
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType, Stored
from microgen.graph.ops.quantization.conversions import CastAttrs, DequantizeAttrs, QuantizeAttrs
from microgen.graph.ops.quantization.rescale import RequantizeAttrs
from microgen.graph.ops.reductions.l2_normalize import L2NormalizeAttrs
from microgen.graph.unsigned import stored


def _l2_normalization(layer: FileLayer) -> BuiltTensor:
    if layer.activation() is not Activation.NONE:
        raise layer.unsupported(
            "has a fused activation, which LiteRT refuses too", supported="no fused activation"
        )
    return layer.emit("nn.l2_normalize", L2NormalizeAttrs(), (layer.data(0),), layer.output())


def _quantize(layer: FileLayer) -> BuiltTensor:
    data, output = layer.data(0), layer.output()
    if data.type.dtype is DType.FLOAT32:
        return layer.emit("qnn.quantize", QuantizeAttrs(), (data,), output)
    return layer.emit("qnn.requantize", RequantizeAttrs(), (data,), output)


def _dequantize(layer: FileLayer) -> BuiltTensor:
    # float16 constants are float32 in the graph already, so no node is left.
    if layer.record(0).dtype == "float16":
        return layer.define(layer.constant_value(0))
    data = layer.plain(0)
    if data.value is not None and data.type.quant is not None:
        # Kernels may read the stored integers.
        return layer.define_stored(Stored(data.value, data.type.quant, data.is_int4))
    return layer.emit("qnn.dequantize", DequantizeAttrs(), (layer.data(0),), layer.output())


def _densify(layer: FileLayer) -> BuiltTensor:
    value = layer.constant_value(0)
    if layer.record(0).sparsity is None:
        raise layer.invalid("has a dense input; a sparse constant is expected")
    return layer.define(value)


def _stored(layer: FileLayer) -> BuiltTensor:
    """The input as the file stores it: quantized uint8 is uint8, not int8."""
    data = layer.plain(0)
    if not layer.is_unsigned(0):
        return data
    kind, hint = stored(data, data.name).type, f"{data.name}/uint8"
    attrs = RequantizeAttrs()
    return layer.emit(
        "qnn.requantize", attrs, (data,), dtype=kind.dtype, quant=kind.quant, hint=hint
    )


def _cast(layer: FileLayer) -> BuiltTensor:
    # The options repeat the tensors' types, or are absent; LiteRT does not read them either.
    data, output = _stored(layer), layer.plain_output()
    if not layer.makes_unsigned():
        return layer.emit("cast", CastAttrs(), (data,), output)
    kind = stored(output, output.name).type
    hint = f"{output.name}/uint8"
    values = layer.emit("cast", CastAttrs(), (data,), dtype=kind.dtype, quant=kind.quant, hint=hint)
    return layer.emit("qnn.requantize", RequantizeAttrs(), (values,), output)


IMPORTERS = {
    "CAST": Importer(_cast, (1,)),
    "DENSIFY": Importer(_densify, (1,)),
    "DEQUANTIZE": Importer(_dequantize, (1,)),
    "L2_NORMALIZATION": Importer(_l2_normalization, (1,), optional=L2NormOptions),
    "QUANTIZE": Importer(_quantize, (1,)),
}
