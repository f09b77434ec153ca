"""Float constants that a model stores as integers, and constants whose floats are computed only
when they are looked up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping

import numpy as np

from microgen.graph.arithmetic import blocks
from microgen.graph.ir.graph import Array, Stored, frozen


def floats(stored: Stored) -> Array:
    """The constant: (stored - zero point) * scale, float32, read-only. It is made anew for each
    caller, because it has four times the bytes of int8 weights.

    Source: ONNX's operator DequantizeLinear, and LiteRT's DEQUANTIZE.
    """
    values, quant = stored.values.reshape(stored.values.shape or (1,)), stored.quant
    along = [1] * values.ndim
    if quant.axis is not None:
        along[quant.axis] = -1
    scale, zero = (
        np.broadcast_to(np.reshape(each, along), values.shape)
        for each in (quant.scales, quant.zero_point)
    )
    found = np.empty(values.shape, np.float32)
    # Several rows at a time, because int64 has eight times the bytes of int8.
    for part in blocks.slices(values):
        centred = (values[part].astype(np.int64) - zero[part]).astype(np.float32)
        with np.errstate(over="ignore"):
            found[part] = centred * scale[part]
    return frozen(found.reshape(stored.values.shape))


class Constants(MutableMapping[str, Array]):
    """Constants by name. The floats of stored integers are computed whenever they are looked up."""

    def __init__(self, given: Mapping[str, Array] | None = None) -> None:
        self._held: dict[str, Array | Stored] = {}
        if isinstance(given, Constants):
            self._held.update(given._held)
        elif given:
            self._held.update(given)

    def keep(self, name: str, stored: Stored) -> None:
        """Add the constant that the integers mean."""
        self._held[name] = stored

    def rename(self, old: str, new: str) -> None:
        """Give a constant another name."""
        self._held[new] = self._held.pop(old)

    def only(self, names: Iterable[str]) -> Constants:
        """The constants of these names, in their order; names of other tensors are left out."""
        found = Constants()
        found._held = {name: self._held[name] for name in names if name in self._held}
        return found

    def __getitem__(self, name: str) -> Array:
        held = self._held[name]
        return floats(held) if isinstance(held, Stored) else held

    def __setitem__(self, name: str, value: Array) -> None:
        self._held[name] = value

    def __delitem__(self, name: str) -> None:
        del self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, name: object) -> bool:
        return name in self._held  # without computing it
