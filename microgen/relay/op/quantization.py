"""The types of scales and zero points in qnn ops: float32 and int32, scalars or one per channel."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import TensorType

INTEGERS = ("int8", "uint8", "int16")


def parameters(
    names: Sequence[str], types: Sequence[TensorType], channels: int | None = None
) -> None:
    """Raise ValueError unless ``types`` are scales and zero points according to their names.

    ``channels`` is the length of a vector that is allowed, too; None allows scalars only.
    """
    for name, found in zip(names, types, strict=True):
        expected = "float32" if "scale" in name else "int32"
        if found.dtype != expected or found.shape not in ((), (channels,), (1,)):
            vector = "" if channels is None else f" or Tensor[({channels}), {expected}]"
            raise ValueError(f"{name} is {found}, expected {expected}{vector}")
