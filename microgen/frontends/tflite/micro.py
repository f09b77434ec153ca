"""The oracle of ``.tflite`` files under the profile ``tflm``: every layer's output from TFLite
Micro's portable kernels, as its interpreter on this machine computes them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.frontends.model_format import OracleError
from microgen.frontends.tflite import litert
from microgen.frontends.tflite.convert import FileSignature, of_signature
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.beside import Slack
from microgen.graph.ir.graph import Array, DType, Graph, Quant
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.views import ReinterpretAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.quantization.rescale import RequantizeAttrs

# The interpreter does not report its need of memory. Memory that it does not write is not taken.
_ARENA_BYTES = 1 << 29


@dataclass(frozen=True)
class Micro:
    """The package tflite-micro. ``signature`` names one of the model's, if not the first."""

    signature: str = ""
    name = "TFLite Micro"
    kernels = "(portable kernels)"
    profile = "tflm"
    is_apart = True  # its kernels check what they assume, and abort

    def lacking(self) -> str:
        """A sentence if tflite-micro is not installed; otherwise empty."""
        if importlib.util.find_spec("tflite_micro") is None:
            return "tflite-micro is not installed (pip install tflite-micro)"
        return ""

    def layers(
        self, files: Mapping[str, bytes], samples: Sequence[Sequence[Array]]
    ) -> Iterator[dict[str, Array]]:
        """Every tensor that something uses, for each sample, with one interpreter. OracleError if
        TFLite Micro refuses the model. The error has no reason, because the interpreter only prints
        it.
        """
        (model,) = files.values()
        record = of_signature(model, file="the model", signature=self.signature)
        if record.subgraph:
            raise OracleError(f"{self.name} runs the first network of a file only")
        try:
            interpreter = _interpreter(model)
            for sample in samples:
                for number, array in enumerate(sample):
                    interpreter.set_input(array, number)
                interpreter.invoke()
                yield dict(_tensors(interpreter, record))
        except (RuntimeError, ValueError, TypeError, MemoryError) as error:
            raise OracleError(f"{self.name} refuses: {error}") from error

    def slack(self, files: Mapping[str, bytes], graph: Graph) -> Slack:
        """The slack of LiteRT, because TFLite Micro has the same float logistic."""
        del files, graph
        return litert.slack


def _interpreter(model: bytes) -> Any:
    from tflite_micro.python.tflite_micro import runtime

    make: Any = runtime.Interpreter.from_bytes  # the package has no annotations
    kept = runtime.InterpreterConfig.kPreserveAllTensors
    return make(model, arena_size=_ARENA_BYTES, intrepreter_config=kept)  # as the package spells it


def _tensors(interpreter: Any, record: FileSignature) -> Iterator[tuple[str, Array]]:
    for index in sorted(record.tensors):
        yield from record.in_graph(index, _value(interpreter, record, index)).items()


def _value(interpreter: Any, record: FileSignature, index: int) -> Array:
    """The value of a tensor, with zeros for elements that nothing writes."""
    value: Array = interpreter.GetTensor(index, 0)["tensor_data"]
    rows = record.unwritten.get(index)
    if rows is None:
        return value
    (count,) = interpreter.GetTensor(rows.number, 0)["tensor_data"]
    return rows.settled(value, int(count))


# int8 sums of ADD_N and CUMSUM, which TensorFlow Lite Micro has and LiteRT has not.
#
# Source: TFLite Micro, micro/kernels/add_n.cc and cumsum.cc, and reference/add_n.h and cumsum.h.
# Both begin a sum with the stored value 0 instead of the zero point, so it is less by the zero
# point. They multiply each term by 2**19 and scale the int32 sum, rounding twice. Where C leaves a
# sum undefined, because it exceeds int32, it is computed modulo 2**32.

_SHIFT = 19


def has_own(layer: FileLayer, data: BuiltTensor) -> bool:
    """Whether the sum is one that only TensorFlow Lite Micro has. UnsupportedError if the profile
    is another one."""
    if data.dtype is not DType.INT8:
        return False
    if layer.numerics.name != "tflm":
        raise layer.unsupported(
            f"adds {data.type}, which only TensorFlow Lite Micro computes",
            supported="float32 and int32, or int8 with --numerics tflm",
        )
    return True


def wide(layer: FileLayer, data: BuiltTensor) -> BuiltTensor:
    """The stored values as int32."""
    hint = f"{layer.output().name}/wide"
    return layer.emit("cast", CastAttrs(), (data,), dtype=DType.INT32, quant=None, hint=hint)


def plus(layer: FileLayer, data: BuiltTensor, number: int) -> BuiltTensor:
    """int32 values plus a number."""
    return layer.emit("add", AddAttrs(Activation.NONE), (data, _constant(layer, number)))


def rescaled(layer: FileLayer, total: BuiltTensor, data: BuiltTensor) -> BuiltTensor:
    """The output: int32 sums of values with the scale of ``data`` in the output's scale."""
    output, scale = layer.output(), data.type.scale
    layer.expect(output, DType.INT8)
    if not 2 * scale < 2**20 * output.type.scale:
        raise layer.unsupported(
            f"has the scale {scale:g} and an output with the scale {output.type.scale:g}, at which "
            "TensorFlow Lite Micro stops",
            supported="an output's scale of more than 1 / 524288 of the input's",
        )
    factor = _constant(layer, 2**_SHIFT)
    shifted = layer.emit("multiply", MultiplyAttrs(Activation.NONE), (total, factor))
    quant = Quant((scale / 2**_SHIFT,), (0,), None)
    attrs = ReinterpretAttrs(total.shape)
    named = layer.emit("qnn.reinterpret", attrs, (shifted,), dtype=DType.INT32, quant=quant)
    return layer.emit("qnn.requantize", RequantizeAttrs(), (named,), output)


def _constant(layer: FileLayer, number: int) -> BuiltTensor:
    return layer.constant(np.array([number], np.int32), f"{layer.output().name}/number")
