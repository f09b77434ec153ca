"""The outside oracle: every layer of a ``.tflite`` as LiteRT's reference kernels compute it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from typing import Any

from microgen.ir.graph import Array

PROFILE = "litert"  # the numerics profile whose outputs LiteRT's are


def is_installed() -> bool:
    """Whether ai-edge-litert can be imported."""
    return importlib.util.find_spec("ai_edge_litert") is not None


def layers(
    model: bytes, samples: Sequence[Sequence[Array]], names: Sequence[str]
) -> Iterator[dict[str, Array]]:
    """For each sample (one array per model input, in order) every tensor of the model by name.

    ``names`` are the graph's names of the file's tensors, in the file's order. Kernels are
    BUILTIN_REF, one thread.
    """
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    make: Any = Interpreter  # the package has no annotations
    interpreter = make(
        model_content=model,
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    indices = [d["index"] for d in interpreter.get_tensor_details() if d["index"] < len(names)]
    for sample in samples:
        for detail, array in zip(interpreter.get_input_details(), sample, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        yield {names[index]: interpreter.get_tensor(index) for index in indices}
