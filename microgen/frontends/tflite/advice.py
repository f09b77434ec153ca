"""Advice to choose another numerics profile, which is given only if that profile takes the file."""

from __future__ import annotations

import re
from collections.abc import Callable

from microgen.base.errors import MicrogenError, short
from microgen.frontends import numerics
from microgen.frontends.numerics import Numerics
from microgen.graph.ir.graph import Graph

_ADVISED = re.compile(r"--numerics (\w+)")
_LONGEST = 160  # characters of the other profile's refusal

Load = Callable[[Numerics], Graph]


def loaded(load: Load, chosen: Numerics) -> Graph:
    """The graph with the ``chosen`` profile. A refusal advises another profile only if ``load``
    succeeds with it; otherwise its hint says why it does not."""
    try:
        return load(chosen)
    except MicrogenError as error:
        advised = _ADVISED.search(error.hint)
        if advised is None or advised[1] == chosen.name:
            raise
        refusal = _refusal(load, numerics.profile(advised[1]))
        if refusal is not None:
            error.hint = (
                f"convert the model with another quantization, such as float32; {advised[0]} "
                f"refuses it, too: {short(refusal.what, _LONGEST)}"
            )
        raise


def _refusal(load: Load, other: Numerics) -> MicrogenError | None:
    try:
        load(other)
    except MicrogenError as error:
        return error
    return None
