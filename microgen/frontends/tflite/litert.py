"""The oracle of ``.tflite`` files: every layer's output from LiteRT's reference kernels."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.frontends.model_format import OracleError
from microgen.frontends.tflite.convert import FileSignature, of_signature
from microgen.graph.ir.beside import Leeway, Slack
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.base import Inexact


@dataclass(frozen=True)
class LiteRT:
    """ai-edge-litert, on one thread. ``signature`` names one of the model's, if not the first."""

    signature: str = ""
    name = "LiteRT"
    kernels = "BUILTIN_REF"
    profile = "litert"
    is_apart = False

    def lacking(self) -> str:
        """A sentence if ai-edge-litert is not installed; otherwise empty."""
        if importlib.util.find_spec("ai_edge_litert") is None:
            return "ai-edge-litert is not installed (pip install ai-edge-litert)"
        return ""

    def layers(
        self, files: Mapping[str, bytes], samples: Sequence[Sequence[Array]]
    ) -> Iterator[dict[str, Array]]:
        """Every tensor that something uses, for each sample. OracleError if LiteRT refuses the
        model. It has no reference ELU, for example, and refuses square roots of negative values."""
        (model,) = files.values()
        record = of_signature(model, file="the model", signature=self.signature)
        try:
            # A new interpreter, because nothing else resets resource variables. The samples are one
            # sequence.
            interpreter = _interpreter(model)
            for sample in samples:
                _invoke(interpreter, record, sample)
                yield dict(_tensors(interpreter, record))
        except (RuntimeError, ValueError) as error:
            raise OracleError(f"LiteRT refuses: {' '.join(str(error).split())[:200]}") from error

    def slack(self, files: Mapping[str, bytes], graph: Graph) -> Slack:
        """The error that LiteRT's kernels may have in addition to the op's bound. Only the kernels
        of the float logistic have such an error.
        """
        del files, graph
        return slack


def slack(node: Node, given: Inexact) -> Leeway:
    """The slack of a node: TFLite reference/logistic.h gives exp(x) below -9, and 1 above 16.6."""
    (data, *_) = given.operands.inputs
    if node.op != "sigmoid" or data.dtype.kind != "f":
        return Leeway()
    wide = data.astype(np.float64)
    with np.errstate(over="ignore"):
        # exp(x) less the logistic function is below exp(2 x), and the function is within 2**-23 of
        # 1 above 16.
        low = np.exp(np.minimum(2 * wide, 0))
    return Leeway(np.where(wide < -9, low, np.where(wide > 16, 2.0**-23, 0)))


def _interpreter(model: bytes) -> Any:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    make: Any = Interpreter  # the package has no annotations
    interpreter = make(
        model_content=model,
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    return interpreter


def _invoke(interpreter: Any, record: FileSignature, sample: Sequence[Array]) -> None:
    # The interpreter invokes subgraph 0; the others can be run by their signatures only.
    if record.subgraph == 0:
        for detail, array in zip(interpreter.get_input_details(), sample, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        return
    runner = interpreter.get_signature_runner(record.name)
    given = dict(zip(record.inputs, sample, strict=True))
    details = runner.get_input_details().items()
    runner(**{name: given[detail["index"]] for name, detail in details})


def _tensors(interpreter: Any, record: FileSignature) -> Iterator[tuple[str, Array]]:
    for detail in interpreter.get_tensor_details(record.subgraph):
        index = detail["index"]
        if index in record.tensors:
            with contextlib.suppress(ValueError):  # it has no data, because nothing uses it
                yield from record.in_graph(index, _value(interpreter, record, index)).items()


def _value(interpreter: Any, record: FileSignature, index: int) -> Array:
    """The value of a tensor, with zeros for elements that LiteRT leaves unwritten."""
    value: Array = interpreter.get_tensor(index, record.subgraph)
    rows = record.unwritten.get(index)
    if rows is None:
        return value
    (count,) = interpreter.get_tensor(rows.number, record.subgraph)
    return rows.settled(value, int(count))
