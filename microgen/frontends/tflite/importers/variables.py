"""Operators with a state: resource variables, and CIRCULAR_BUFFER."""

from __future__ import annotations

import numpy as np
from tflite.CallOnceOptions import CallOnceOptions
from tflite.VarHandleOptions import VarHandleOptions

from microgen.frontends.tflite import reader
from microgen.frontends.tflite.importers.arguments import Importer
from microgen.frontends.tflite.layers import FileLayer
from microgen.frontends.tflite.records import CIRCULAR_BUFFER
from microgen.frontends.tflite.variables import stored
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.moves.slices import SlideAttrs, StridedSliceAttrs
from microgen.graph.ops.moves.views import ReinterpretAttrs, ReshapeAttrs


def _call_once(layer: FileLayer) -> Value:
    layer.expect_inputs(0, outputs=0)
    if layer.variables.are_used:
        raise layer.unsupported(
            "sets variables after others have read or assigned some",
            supported="initialisation before all reads and assignments",
        )
    layer.variables.initialise(layer.option("InitSubgraphIndex"), layer.where)
    return ()


def _var_handle(layer: FileLayer) -> Value:
    # A handle is not a tensor of the graph, so only the name matters.
    return BuiltTensor(layer.name, ArrayType((), DType.INT32))


def _read(layer: FileLayer) -> Value:
    layer.expect_inputs(1, outputs=1)
    variable, (output,) = layer.resource(0), layer.declared_outputs()
    kind = stored(output, is_unsigned=layer.makes_unsigned())
    source = layer.variables.read(variable, output, kind, layer.where)
    if source is None:
        layer.variables.keep(variable, output)
        return output
    attrs = ReinterpretAttrs(output.type.shape)
    return layer.emit("qnn.reinterpret", attrs, (source,), output)


def _assign(layer: FileLayer) -> Value:
    layer.expect_inputs(2, outputs=0)
    variable, value = layer.resource(0), layer.data(1)
    kind = stored(value, is_unsigned=layer.is_unsigned(1))
    layer.variables.assign(variable, value, kind, layer.where)
    return ()


_PERIOD = "cycles_max"
_LONGEST = 1024  # inferences
_EACH_TIME = (5, 13, 25)  # rows of the buffers that have no period but still run the rest each time


def _circular_buffer(layer: FileLayer) -> Value:
    # Source: TFLite Micro, micro/kernels/circular_buffer.cc. Its rows begin at the zero point, to
    # which TensorFlow Lite Micro resets variables.
    outputs = layer.declared_outputs()
    layer.expect_inputs(1, outputs=2 if len(outputs) == 2 else 1)
    rows = _rows(layer, outputs[0])
    period = _period(layer, outputs[0].shape[1])
    if len(outputs) == 2:
        return (rows, _is_due(layer, period, outputs[1]))
    if period != 1:
        raise layer.unsupported(
            f"lets the layers after it run only once in {period} inferences ({_PERIOD})",
            supported=f"{_PERIOD} 1, or a second output that says whether the others shall run",
        )
    return rows


def _rows(layer: FileLayer, output: BuiltTensor) -> BuiltTensor:
    """The rows of the output without the oldest rows, followed by the input."""
    data = layer.data(0)
    layer.expect(data, DType.INT8)
    layer.expect_rank(output, 4)
    if output.shape[0] != 1 or data.shape != (1, 1, *output.shape[2:]):
        raise layer.invalid(
            f"adds {data.type} to the rows {output.type}; [1, 1, h, d] and [1, n, h, d] are "
            "expected"
        )
    if output.shape[1] == 1:
        return layer.emit("reshape", ReshapeAttrs(output.shape), (data,), output)
    zero = np.array(output.type.zero_point).astype(np.int8)  # `slide` refuses one out of range
    before = layer.state(output.type, zero, f"{output.name}/before")
    layer.become(before, layer.emit("slide", SlideAttrs(1), (before, data), output))
    return output


def _period(layer: FileLayer, rows: int) -> int:
    """The number of inferences in which the layers after this one run once."""
    options, period = layer.custom_options(), 0
    if options:
        try:
            period = int(reader.flexbuffer(options)[_PERIOD].AsInt)
        except reader.CORRUPT as error:
            raise layer.invalid(f"has custom options that cannot be read ({error})") from None
    # The window of flags has an element for each inference of a period.
    if period > _LONGEST:
        raise layer.invalid(f"has {_PERIOD} {period}; 1 to {_LONGEST} is expected")
    if period < 1 and rows not in _EACH_TIME:
        raise layer.unsupported(
            f"has no {_PERIOD}, which TensorFlow Lite Micro then guesses for two networks of its "
            "own",
            supported=f"{_PERIOD} 1, or none with 5, 13 or 25 rows",
        )
    return max(period, 1)


def _is_due(layer: FileLayer, period: int, output: BuiltTensor) -> BuiltTensor:
    """Whether this inference is the last of a period."""
    # A node rotates a window of flags, one of which is true, by one place in each inference.
    layer.expect(output, DType.BOOL)
    if output.type.size != 1:
        raise layer.invalid(f"has a second output of {output.type}; one bool is expected")
    shaped = ReshapeAttrs(output.shape)
    if period == 1:
        always = layer.constant(np.array([True]), f"{output.name}/always")
        return layer.emit("reshape", shaped, (always,), output)
    last = np.arange(period) == period - 1
    flags = layer.state(ArrayType((period,), DType.BOOL), last, f"{output.name}/flags")
    first = layer.emit("strided_slice", StridedSliceAttrs((0,), (1,), (1,)), (flags,))
    layer.become(flags, layer.emit("slide", SlideAttrs(0), (flags, first)))
    return layer.emit("reshape", shaped, (first,), output)


IMPORTERS = {
    "ASSIGN_VARIABLE": Importer(_assign),
    "CALL_ONCE": Importer(_call_once, options=CallOnceOptions),
    "READ_VARIABLE": Importer(_read),
    "VAR_HANDLE": Importer(_var_handle, (0,), VarHandleOptions),
    f"CUSTOM:{CIRCULAR_BUFFER}": Importer(_circular_buffer),
}
