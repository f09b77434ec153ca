"""The samples of a run: as the user gave them, as the firmware takes them, and the outputs in the
form of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from microgen.base import manifest
from microgen.base.errors import StatusRunError
from microgen.base.manifest import Manifest, PortRecord
from microgen.graph.ir.graph import Array
from microgen.running.comparing import stimuli
from microgen.running.runner import port_names, sample_axes, samples
from microgen.running.runner.samples import Given

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class OwnData:
    """``given`` is None for a run without samples. ``dequantize``: quantized outputs are returned
    as the float32 numbers that they stand for. ``is_chosen``: a comparison has chosen the samples,
    and has ``left_out`` so many of them."""

    record: Manifest
    given: Given | None
    dequantize: bool
    is_chosen: bool = False
    left_out: int = 0

    @property
    def arrays(self) -> Mapping[str, Array] | None:
        """The samples by the names of the inputs, [N, *shape] in the inputs' dtypes."""
        return None if self.given is None else self.given.arrays

    def returned(self, outputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs, each [N, *shape], in the form of the inputs."""
        if self.given is None:
            return dict(outputs)
        ports = {port.tensor: port for port in port_names.outputs(self.record)}
        return {name: self._returned(ports[name], array) for name, array in outputs.items()}

    def _returned(self, port: PortRecord, array: Array) -> Array:
        assert self.given is not None
        if self.dequantize:
            # Imported here, because most runs need none of the ops.
            from microgen.running.comparing import real_numbers

            array = real_numbers.dequantized(port, array)
        return sample_axes.shaped(port, array, self.given.form)


def of(
    project: Path,
    inputs: Mapping[str, Array] | None,
    *,
    chooses: bool,
    quantize: bool,
    dequantize: bool,
) -> OwnData:
    """The samples ``inputs``, or without any the samples that a comparison ``chooses``. Raises
    InputError if they do not fit the project, ProjectError if there is none."""
    record = manifest.load(project)
    is_chosen = inputs is None and chooses
    if is_chosen:
        # One sample of zeros, which a run without samples has, would show few differences.
        inputs = stimuli.samples(port_names.inputs(record), random=3)
    convert = None
    if quantize:
        from microgen.running.comparing import real_numbers

        convert = real_numbers.stored
    given = None if inputs is None else samples.given(record, inputs, convert)
    return OwnData(record, given, dequantize, is_chosen)


def run(
    project: Path, data: OwnData, runs: Callable[[Mapping[str, Array] | None], Result]
) -> tuple[OwnData, Result]:
    """The result of ``runs`` on the samples, and the samples. If a model returns a status for a
    sample that a comparison has chosen, only those run for which the reference has results.
    Raises the errors of ``runs``."""
    try:
        return data, runs(data.arrays)
    except StatusRunError:
        if data.given is None or not data.is_chosen:
            raise
        from microgen.running.comparing import blame

        allowed = blame.allowed(project, data.given)
        # The firmware fails for a sample that the reference allows, or there is no other one.
        if len(allowed) in (0, data.given.count):
            raise
    arrays = {name: array[allowed] for name, array in data.given.arrays.items()}
    given = replace(data.given, arrays=arrays, count=len(allowed))
    data = replace(data, given=given, left_out=data.given.count - len(allowed))
    return data, runs(data.arrays)
