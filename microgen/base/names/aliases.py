"""Second names of outputs in C, which are the names that TVM's frontend gives them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from microgen.base.names import cnames
from microgen.base.names.tvm_names import sanitize_name


def of(names: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
    """For each output, its name in the model by TVM's rule, or "" if it has no second name.

    ``names`` are the outputs' names in the model, or empty; ``fields`` their fields in C. An output
    has no second name if it is its field, the field or second name of another output, or a name
    that C, C++ or generated code uses for something else.
    """
    if not names:
        return ("",) * len(fields)
    plain = [sanitize_name(name) if name else "" for name in names]
    taken = Counter([*plain, *fields])
    pairs = zip(plain, names, strict=True)
    return tuple(
        own if taken[own] == 1 and cnames.identifier(name) == own else "" for own, name in pairs
    )
