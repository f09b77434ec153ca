"""Operators of resource variables."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.CallOnceOptions import CallOnceOptions
from tflite.VarHandleOptions import VarHandleOptions

from microgen.frontends.tensors import Tensor, Value
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.frontends.tflite.variables import Key, stored
from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.moves.views import ReinterpretAttrs


def _call_once(layer: Layer) -> Value:
    layer.expect_outputs(0, 0)
    options = layer.options(CallOnceOptions, BuiltinOptions.CallOnceOptions)
    if layer.variables.are_used:
        raise layer.unsupported(
            "sets variables after others have read or assigned some",
            supported="initialisation before all reads and assignments",
        )
    layer.variables.initialise(int(options.number("InitSubgraphIndex")), layer.where)
    return ()


def _var_handle(layer: Layer) -> Value:
    """A handle is no tensor of the graph. The result only has its name."""
    layer.expect_outputs(0, 1)
    layer.options(VarHandleOptions, BuiltinOptions.VarHandleOptions)
    return Tensor(layer.name, TensorType((), DType.INT32))


def _variable(layer: Layer) -> Key:
    found = layer.variable_of(0)
    if found is None:
        raise layer.invalid("has a first input that is not the handle of a variable")
    return found


def _read(layer: Layer) -> Value:
    layer.expect_outputs(1, 1)
    variable, output = _variable(layer), layer.output()
    kind = stored(output, is_unsigned=layer.makes_unsigned())
    source = layer.variables.read(variable, output, kind, layer.where)
    if source is None:
        layer.keep(variable, output)
        return output
    attrs = ReinterpretAttrs(output.type.shape)
    return layer.emit("qnn.reinterpret", attrs, (source,), output)


def _assign(layer: Layer) -> Value:
    layer.expect_outputs(2, 0)
    variable, value = _variable(layer), layer.data(1)
    kind = stored(value, is_unsigned=layer.is_unsigned(1))
    layer.variables.assign(variable, value, kind, layer.where)
    return ()


IMPORTERS: Mapping[str, Importer] = {
    "ASSIGN_VARIABLE": _assign,
    "CALL_ONCE": _call_once,
    "READ_VARIABLE": _read,
    "VAR_HANDLE": _var_handle,
}
