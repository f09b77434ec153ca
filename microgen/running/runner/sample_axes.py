"""The shapes in which samples may be given, and in which outputs are returned."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np

from microgen.base.errors import InputError, short
from microgen.base.manifest import PortRecord
from microgen.graph.ir.graph import Array


class Form(enum.Enum):
    """How the samples are in arrays of a tensor of ``shape``."""

    ONE = "one sample, of the shape"
    ADDED = "N samples, [N, *shape]"
    REPLACED = "N samples, [N, *shape[1:]], for a shape whose first dimension is 1"


def form(port: PortRecord, array: Array) -> tuple[Form, int]:
    """The form of an input's array, and the number of its samples. Raises InputError if the array
    has none of the forms, or no samples.

    No array has two forms, except with N = 1 and a first dimension of 1: it is then one sample. An
    array of the input's own shape is always one sample, whatever its first dimension is.
    """
    if array.shape == port.shape:
        return Form.ONE, 1
    found = None
    if array.ndim and array.shape[1:] == port.shape:
        found = Form.ADDED
    elif _has_batch(port) and array.ndim and array.shape[1:] == port.shape[1:]:
        found = Form.REPLACED
    if found is None:
        raise InputError(
            f"the input {short(port.tensor)!r} has shape {list(array.shape)}, expected "
            f"{list(port.shape)}, or {_expected(port)} for N samples"
        )
    if array.shape[0] == 0:
        raise InputError(f"the input {short(port.tensor)!r} has no samples (N is 0)")
    return found, int(array.shape[0])


def common(ports: Sequence[PortRecord], forms: Sequence[tuple[Form, int]]) -> tuple[Form, int]:
    """The form of all inputs together, and the number of samples. Outputs have the same form.
    Raises InputError unless all inputs have the same number of samples."""
    counts = {count for _, count in forms}
    # The firmware reads one sample of every input at a time.
    if len(counts) > 1:
        raise _differing(ports, forms)
    found = {own for own, _ in forms}
    order = (Form.REPLACED, Form.ADDED)
    return next((own for own in order if own in found), Form.ONE), max(counts, default=1)


def shaped(port: PortRecord, array: Array, form: Form) -> Array:
    """The samples of a tensor, [N, *shape], in a form. A tensor whose first dimension is not 1
    cannot have it replaced, so an axis is added."""
    if form is Form.ONE:
        return np.asarray(array[0])
    if form is Form.REPLACED and _has_batch(port):
        return array.reshape(len(array), *port.shape[1:])
    return array


def _has_batch(port: PortRecord) -> bool:
    return port.shape[:1] == (1,)


def _expected(port: PortRecord) -> str:
    added = f"[{', '.join(map(str, ('N', *port.shape)))}]"
    replaced = f"[{', '.join(map(str, ('N', *port.shape[1:])))}]"
    return f"{replaced} or {added}" if _has_batch(port) else added


def _differing(ports: Sequence[PortRecord], forms: Sequence[tuple[Form, int]]) -> InputError:
    pairs = list(zip(ports, forms, strict=True))
    each = ", ".join(
        f"{short(port.tensor)!r} has {'one sample' if form is Form.ONE else _samples(count)}"
        for port, (form, count) in pairs
    )
    whole = next((p for p, (form, _) in pairs if form is Form.ONE and not _has_batch(p)), None)
    hint = ""
    if whole is not None:
        hint = (
            f"an array of the shape of {short(whole.tensor)!r}, {list(whole.shape)}, is one "
            f"sample; N samples are {_expected(whole)}"
        )
    return InputError(f"inputs have different numbers of samples: {each}", hint=hint)


def _samples(count: int) -> str:
    return f"{count} samples" if count != 1 else "1 sample"
