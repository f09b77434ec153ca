"""The oracle of ``.tflite`` files under the profile ``tflm``: every layer's output from TFLite
Micro's portable kernels, as its interpreter on this machine computes them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microgen.frontends.model_format import OracleError
from microgen.frontends.tflite import litert
from microgen.frontends.tflite.convert import Signature, of_signature
from microgen.graph.ir.beside import Slack
from microgen.graph.ir.graph import Array, Graph

# The interpreter does not say how much it needs. Memory that it does not write is not taken.
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
        TFLite Micro refuses the model, which does not say why: the interpreter prints that."""
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
        """The same as of LiteRT, whose float logistic TFLite Micro has, too."""
        del files, graph
        return litert.slack


def _interpreter(model: bytes) -> Any:
    from tflite_micro.python.tflite_micro import runtime

    make: Any = runtime.Interpreter.from_bytes  # the package has no annotations
    kept = runtime.InterpreterConfig.kPreserveAllTensors
    return make(model, arena_size=_ARENA_BYTES, intrepreter_config=kept)  # as the package spells it


def _tensors(interpreter: Any, record: Signature) -> Iterator[tuple[str, Array]]:
    for index in sorted(record.tensors):
        yield from record.in_graph(index, _value(interpreter, record, index)).items()


def _value(interpreter: Any, record: Signature, index: int) -> Array:
    """The value of a tensor, with zeros where nothing writes to it."""
    value: Array = interpreter.GetTensor(index, 0)["tensor_data"]
    rows = record.unwritten.get(index)
    if rows is None:
        return value
    (count,) = interpreter.GetTensor(rows.number, 0)["tensor_data"]
    return rows.settled(value, int(count))
