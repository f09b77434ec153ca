"""The oracle of ``.tflite`` files: every layer's output from LiteRT's reference kernels."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from microgen.frontends.model_format import OracleError
from microgen.frontends.tflite.convert import in_graph
from microgen.ir.graph import Array


class LiteRT:
    """ai-edge-litert, on one thread."""

    name = "LiteRT"
    kernels = "BUILTIN_REF"
    profile = "litert"

    def lacking(self) -> str:
        """A sentence if ai-edge-litert is not installed; otherwise empty."""
        if importlib.util.find_spec("ai_edge_litert") is None:
            return "ai-edge-litert is not installed (pip install ai-edge-litert)"
        return ""

    def layers(
        self, files: Mapping[str, bytes], samples: Sequence[Sequence[Array]]
    ) -> Iterator[dict[str, Array]]:
        """Every tensor that something uses, for each sample. OracleError if LiteRT refuses the
        model. It has no reference ELU, for example, and refuses square roots of negative values.
        """
        (model,) = files.values()
        named = in_graph(model, file="the model")
        try:
            interpreter = _interpreter(model)
            for sample in samples:
                for detail, array in zip(interpreter.get_input_details(), sample, strict=True):
                    interpreter.set_tensor(detail["index"], array)
                interpreter.invoke()
                yield dict(_tensors(interpreter, named))
        except (RuntimeError, ValueError) as error:
            raise OracleError(f"LiteRT refuses: {' '.join(str(error).split())[:200]}") from error

    def slack(self, op: str, inputs: Sequence[Array]) -> Array | float:
        """How much farther than an op's bound its kernels may be from the op's reference. Only
        those of the float logistic are."""
        if op != "sigmoid" or inputs[0].dtype.kind != "f":
            return 0.0
        # TFLite reference/logistic.h: exp(x) below -9, 1 above 16.6.
        wide = inputs[0].astype(np.float64)
        with np.errstate(over="ignore"):
            return np.where(
                wide < -9, np.exp(np.minimum(2 * wide, 0)), np.where(wide > 16, 2.0**-23, 0)
            )


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


def _tensors(
    interpreter: Any, named: Callable[[int, Array], dict[str, Array]]
) -> Iterator[tuple[str, Array]]:
    for detail in interpreter.get_tensor_details():
        with contextlib.suppress(ValueError):  # it has no data, because nothing uses it
            index = detail["index"]
            yield from named(index, interpreter.get_tensor(index)).items()
