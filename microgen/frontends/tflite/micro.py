"""The oracle of ``.tflite`` files under the profile ``tflm``: every layer's output from TFLite
Micro's portable kernels, as its interpreter on this machine computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from microgen.frontends.model_format import OracleError
from microgen.frontends.tflite.litert import FileSignature, Interpreter
from microgen.graph.ir.graph import Array

# The interpreter does not report its need of memory. Memory that it does not write is not taken.
_ARENA_BYTES = 1 << 29


class Micro(Interpreter):
    """The package tflite-micro, with one interpreter for all samples."""

    name = "TFLite Micro"
    kernels = "(portable kernels)"
    profile = "tflm"
    is_apart = True  # its kernels check what they assume, and abort
    package = "tflite-micro"
    refusals = (RuntimeError, ValueError, TypeError, MemoryError)

    def _runs(
        self, model: bytes, record: FileSignature, samples: Sequence[Sequence[Array]]
    ) -> Iterator[Callable[[int], Array]]:
        if record.subgraph:
            raise OracleError(f"{self.name} runs the first network of a file only")
        interpreter = _interpreter(model)

        def tensor(index: int) -> Array:
            value: Array = interpreter.GetTensor(index, 0)["tensor_data"]
            return value

        for sample in samples:
            for place, array in zip(record.places, sample, strict=True):
                interpreter.set_input(array, place)
            interpreter.invoke()
            yield tensor

    def _reason(self, error: Exception) -> str:
        # It does not say why a model is refused, because the interpreter only prints that.
        return str(error)


def _interpreter(model: bytes) -> Any:
    from tflite_micro.python.tflite_micro import runtime

    make: Any = runtime.Interpreter.from_bytes  # the package has no annotations
    kept = runtime.InterpreterConfig.kPreserveAllTensors
    return make(model, arena_size=_ARENA_BYTES, intrepreter_config=kept)  # as the package spells it
