"""The outside oracle: every layer of a ``.tflite`` as LiteRT's reference kernels compute it."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from microgen.errors import MicrogenError
from microgen.ir.graph import Array
from microgen.output import progress

KERNELS = "BUILTIN_REF"
PROFILE = "litert"  # the numerics profile whose outputs LiteRT's are


def is_installed() -> bool:
    """Whether ai-edge-litert can be imported."""
    return importlib.util.find_spec("ai_edge_litert") is not None


class OracleError(MicrogenError):
    """LiteRT cannot run the model with its reference kernels."""


def layers(
    model: bytes,
    samples: Sequence[Sequence[Array]],
    names: Sequence[str],
    counted: str = "samples by LiteRT",
) -> Iterator[dict[str, Array]]:
    """For each sample (one array per model input, in order) every tensor of the model by name,
    but those that nothing uses.

    ``names`` are the graph's names of the file's tensors, in the file's order. Progress is told as
    ``counted``. Kernels are BUILTIN_REF, one thread. Raises OracleError where LiteRT refuses (it
    has no reference ELU, say, and stops at the square root of a negative value).
    """
    try:
        interpreter = _interpreter(model)
        for sample in progress.counted(counted, samples, len(samples)):
            for detail, array in zip(interpreter.get_input_details(), sample, strict=True):
                interpreter.set_tensor(detail["index"], array)
            interpreter.invoke()
            yield dict(_tensors(interpreter, names))
    except (RuntimeError, ValueError) as error:
        raise OracleError(f"LiteRT refuses: {' '.join(str(error).split())[:200]}") from error


def slack(op: str, inputs: Sequence[Array]) -> Array | float:
    """How much farther than an op's bound LiteRT's reference kernels may be from its reference."""
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


def _tensors(interpreter: Any, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
    for detail in interpreter.get_tensor_details():
        if detail["index"] < len(names):
            with contextlib.suppress(ValueError):  # no data: nothing reads or writes it
                yield names[detail["index"]], interpreter.get_tensor(detail["index"])
